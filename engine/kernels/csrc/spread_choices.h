/* Types with choices (choices.h), spread. spread.h includes this. */
#ifndef TENON_SPREAD_CHOICES_H
#define TENON_SPREAD_CHOICES_H

/* The scales of a chunk. */
INLINE void choice_scales_of(const int type, const uint8_t *from, struct spread_scales *out)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int subs = LARGE_UNIT / t.sub;
    const uint8_t *fine = from + CHUNK_GROUPS * planes_bytes(type);
    uint8_t bytes[2 * CHUNK_GROUPS][PANEL_ROWS];
    UNROLL
    for (int sub = 0; sub < subs; sub++)
        for (int row = 0; row < PANEL_ROWS; row++)
            bytes[sub][row] = (uint8_t)(scale_and_choice(type, from + sub * t.sub / GROUP * planes_bytes(type), fine,
                                                         PANEL_ROWS, row, sub) >> 1);
    whole_scales(bytes[0], subs, out, SPREAD_PAIRED(t.bits));
    if (BLOCK_FORMS[type].halves)
        spread_halves(from + t.unit_bytes - 2 * PANEL_ROWS, out->factor);
}

/* A group's elements: the values of their codes, and more by choice. `g`: its number within the unit. */
INLINE void spread_choices_of(const int type, const uint8_t *planes, const int g, uint8_t bytes[][STEP_BYTES])
{
    const struct block_form form = BLOCK_FORMS[type];
    const struct block_type t = BLOCK_TYPES[type];
    const struct choices c = CHOICES[type];
    const int subs = GROUP / t.sub, zero = SPREAD_SIGNED(t.bits) ? 0 : t.zero, nibbles = form.nibble_planes;
    const uint8_t *fine = planes + (CHUNK_GROUPS - g) * planes_bytes(type), *further = planes + nibbles * STEP_BYTES;
    uint32_t more[2][PANEL_ROWS];
    ivec table[4];
    UNROLL
    for (int part = 0; part < 4; part++) {
        int8_t values[16];
        UNROLL
        for (int i = 0; i < 16; i++)
            values[i] = (int8_t)(c.values[(16 * part + i) % c.count] + zero);
        table[part] = repeat16(values);
    }
    UNROLL
    for (int sub = 0; sub < subs; sub++)
        for (int row = 0; row < PANEL_ROWS; row++)
            more[sub][row] = 0x01010101u * (uint32_t)c.more
                             * (uint32_t)(scale_and_choice(type, planes, fine, PANEL_ROWS, row, subs * g + sub) & 1);
    UNROLL
    for (int v = 0; v < PLANE_VECTORS; v++)
        UNROLL
        for (int s = 0; s < GROUP_STEPS; s++) {
            ivec found;
            if (nibbles) {
                ivec four = load_bytes(planes + s % 4 * STEP_BYTES + VECTOR_BYTES * v);
                if (type == TENON_IQ4_KSS) {    /* untangled() */
                    four = and_bytes(four, broadcast_int((int32_t)0xfffefffeu));
                    four = exclusive_or(four, or_bytes(moved_bits(four, -1, 0x7f), moved_bits(upper_bytes(four), 7, 0x80)));
                }
                const ivec code = s < 4 ? low_nibbles(four) : high_nibbles(four);
                found = lookup(table[0], code);
                if (form.bit_planes)
                    found = chosen(load_bytes(further + VECTOR_BYTES * v), s, lookup(table[1], code), found);
                if (form.two_bit_planes) {
                    const ivec two = load_bytes(further + s / 4 * STEP_BYTES + VECTOR_BYTES * v);
                    const int bit = s % 4 * 2;
                    found = chosen(two, bit + 1, chosen(two, bit, lookup(table[3], code), lookup(table[2], code)),
                                   chosen(two, bit, lookup(table[1], code), found));
                }
            } else {
                found = lookup(table[0], code_in_planes(type, planes + VECTOR_BYTES * v, s));
            }
            store_bytes(bytes[s] + VECTOR_BYTES * v, add_bytes(found, load_bytes(more[s * subs / GROUP_STEPS] + LANES * v)));
        }
}

OUTLINE void choice_scales(int32_t type, const uint8_t *from, struct spread_scales *out)
{
    switch (type) {
#define CASE(name) case TENON_##name: choice_scales_of(TENON_##name, from, out); break;
    EACH_CHOICE_TYPE(CASE)
#undef CASE
    }
}

OUTLINE void spread_choices(int32_t type, const uint8_t *planes, int g, uint8_t bytes[][STEP_BYTES])
{
    switch (type) {
#define CASE(name) case TENON_##name: spread_choices_of(TENON_##name, planes, g, bytes); break;
    EACH_CHOICE_TYPE(CASE)
#undef CASE
    }
}

/* The scales of whole rows, from behind a panel. */
INLINE void row_scales(int32_t type, const uint8_t *end, struct spread_scales *out)
{
    if (row_scales_bytes(type))
        memcpy(out->factor, end - row_scales_bytes(type), sizeof out->factor);
}

#endif
