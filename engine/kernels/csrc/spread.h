/* Blocks spread into bytes and float scales. Before including this, a file brings a vector header and defines
 *
 *   SPREAD_SIGNED(bits)     whether integers of so many bits are wanted as signed bytes; else unsigned, a type's `zero`
 *                           too large
 *   SPREAD_WIDE(bits)       whether such integers, signed, are wanted in 16 bits: a step of four becomes two, of the first
 *                           and the third, and of the others
 *   SPREAD_PAIRS            whether whole scales are wanted in pairs, of weights that are bytes; then byte_pairs(at) makes
 *                           them of LANES bytes */
#ifndef TENON_SPREAD_H
#define TENON_SPREAD_H

#include "block_types.h"
#include "blocks.h"
#include "choices.h"
#include "codebooks.h"

/* Whether a type's scales are integers, times a float of the chunk. Where weights have fewer than 7 bits, a group's sum of
 * products times them is exact as an integer and as a float, so that sets which add integers have the bits of the others. */
static inline int has_whole_scales(int32_t type)
{
    return type == TENON_Q2_K || type == TENON_Q3_K || type == TENON_Q4_K || type == TENON_Q5_K || type == TENON_Q6_K
           || type == TENON_IQ4_XS || type == TENON_IQ1_M || CHOICES[type].values;
}

/* Whether integers of so many bits are summed in 16 bits. */
#define SPREAD_PAIRED(bits) (SPREAD_PAIRS && (bits) < 7)

/* The scales of a panel's chunk, by sub-blocks: of types with whole scales the integers, as floats or, where they are wanted
 * in pairs, twice in 16 bits, and beside them the chunk's floats. */
struct spread_scales {
    _Alignas(64) float scale[2 * CHUNK_GROUPS][PANEL_ROWS], min[2 * CHUNK_GROUPS][PANEL_ROWS], factor[PANEL_ROWS];
};

enum { SPREAD_STEPS = SPREAD_WIDE(8) ? 2 * GROUP_STEPS : GROUP_STEPS };     /* of a group, at most */

/* A panel's chunk, as products want it. */
struct spread {
    _Alignas(64) uint8_t bytes[CHUNK_GROUPS][SPREAD_STEPS][STEP_BYTES];
    struct spread_scales scales;
};

enum { VECTOR_BYTES = 4 * LANES, PLANE_VECTORS = STEP_BYTES / VECTOR_BYTES };

/* Takes off the zero point where signed bytes are wanted. */
INLINE ivec centred(ivec v, const int bits, const int zero)
{
    return SPREAD_SIGNED(bits) && zero ? subtract_bytes(v, broadcast_byte(zero)) : v;
}

/* The bits `mask` of bytes moved up by `left` places, or down where that is negative. */
INLINE ivec moved_bits(ivec v, const int left, const int mask)
{
    const ivec moved = left > 0 ? shift_left(v, left) : left < 0 ? shift_right(v, -left) : v;
    return mask == 255 ? moved : and_bytes(moved, broadcast_byte(mask));
}

/* Bytes without the bits `mask`, and v's, moved, there. */
INLINE ivec with_bits(ivec bytes, ivec v, const int left, const int mask)
{
#ifdef BITS_OF
    return BITS_OF(broadcast_byte(mask), moved_bits(v, left, 255), bytes);
#else
    return or_bytes(bytes, moved_bits(v, left, mask));
#endif
}

/* A table of 16 values, as bytes that are wanted. */
INLINE ivec table_of(const int8_t *values, const int bits, const int zero)
{
    int8_t bytes_of[16];
    UNROLL
    for (int i = 0; i < 16; i++)
        bytes_of[i] = (int8_t)(SPREAD_SIGNED(bits) ? values[i] : values[i] + zero);
    return repeat16(bytes_of);
}

/* A step's pairs of bits, with a third from a plane behind theirs. */
INLINE ivec code_in_planes(const int type, const uint8_t *planes, const int step)
{
    const ivec two = moved_bits(load_bytes(planes + step / 4 * STEP_BYTES), -2 * (step % 4), 3);
    return BLOCK_FORMS[type].bit_planes ? or_bytes(two, moved_bits(load_bytes(planes + 2 * STEP_BYTES), 2 - step, 4)) : two;
}

/* A step's weights of VECTOR_BYTES of planes. */
INLINE ivec weights_in_planes(const int type, const uint8_t *planes, const int step)
{
    const struct block_form form = BLOCK_FORMS[type];
    const struct block_type t = BLOCK_TYPES[type];
    const int is_iq4 = type == TENON_IQ4_NL || type == TENON_IQ4_XS;
    if (form.byte_planes)
        return exclusive_or(load_bytes(planes + step * STEP_BYTES), broadcast_byte(SPREAD_SIGNED(8) ? 0 : 128));
    if (form.nibble_planes) {
        const ivec both = load_bytes(planes + step % 4 * STEP_BYTES);
        const ivec four = step < 4 ? low_nibbles(both) : high_nibbles(both);
        const uint8_t *further = planes + 4 * STEP_BYTES;
        if (is_iq4 || type == TENON_MXFP4 || type == TENON_NVFP4)
            return lookup(table_of(is_iq4 ? IQ4_VALUES : MXFP4_VALUES, t.bits, t.zero), four);
        if (form.bit_planes)
            return centred(with_bits(four, load_bytes(further), 4 - step, 0x10), t.bits, t.zero);
        if (form.two_bit_planes)
            return centred(with_bits(four, load_bytes(further + step / 4 * STEP_BYTES), 4 - step % 4 * 2, 0x30), t.bits,
                           t.zero);
        return centred(four, t.bits, t.zero);
    }
    if (!form.two_bit_planes)       /* bits, doubled */
        return centred(moved_bits(load_bytes(planes), 1 - step, 2), t.bits, t.zero);
    return centred(code_in_planes(type, planes, step), t.bits, t.zero);
}

/* A group's weights in planes. All of a vector's steps are taken out before any is stored, so that a plane is read once. */
INLINE void spread_planes(const int type, const uint8_t *planes, uint8_t bytes[][STEP_BYTES])
{
    UNROLL
    for (int v = 0; v < PLANE_VECTORS; v++) {
        ivec steps[GROUP_STEPS];
        UNROLL
        for (int s = 0; s < GROUP_STEPS; s++)
            steps[s] = weights_in_planes(type, planes + VECTOR_BYTES * v, s);
        UNROLL
        for (int s = 0; s < GROUP_STEPS; s++)
            store_bytes(bytes[s] + VECTOR_BYTES * v, steps[s]);
    }
}

/* The trits of a unit: planes of STEP_BYTES, of which the last is smaller in a unit of 128 (tenon.h). */
#define TRIT_PLANES(unit) ((unit) / GROUP * 3 / 2 + 1)

INLINE int trits_of(const int unit, const int plane)
{
    return plane < TRIT_PLANES(unit) - 1 ? 5 : unit == LARGE_UNIT ? 4 : 2;
}

/* The step, of the unit's, that a plane's trit belongs to. */
INLINE int trit_place(const int unit, const int plane, const int trit)
{
    const int words = unit / GROUP, further = plane - words;
    return plane < words ? words * trit + plane
           : further < words / 2 ? 5 * words + words / 2 * trit + further
           : unit / 4 - (unit == LARGE_UNIT ? 4 : 2) + trit;
}

/* Two trits by their number below nine. */
struct trit_tables { ivec first, second; };

INLINE struct trit_tables trit_tables(const int bits, const int zero)
{
    int8_t first[16] = {0}, second[16] = {0};
    const int less = SPREAD_SIGNED(bits) ? zero : 0;
    UNROLL
    for (int i = 0; i < 9; i++) {
        first[i] = (int8_t)(i / 3 - less);
        second[i] = (int8_t)(i % 3 - less);
    }
    return (struct trit_tables){repeat16(first), repeat16(second)};
}

/* Times `base`, bytes give a digit above 8 bits, and below them what the next digits come from. A lane of 16 bits holds one
 * such product: the even bytes', or the odd ones'. */
struct digits { ivec even, odd; };

INLINE ivec next_digits(struct digits *rest, const int base)
{
    const ivec by = broadcast_int(base * 0x00010001);
    rest->even = multiply_low_bytes(rest->even, by);
    rest->odd = multiply_low_bytes(rest->odd, by);
    return or_bytes(upper_bytes(rest->even), and_bytes(rest->odd, broadcast_int((int32_t)0xff00ff00)));
}

/* A plane's trits as steps of LANES rows. */
INLINE void next_trits(const int type, const uint8_t *unit, const int plane, int v, const struct trit_tables tables, ivec trits[5])
{
    const struct block_type t = BLOCK_TYPES[type];
    const int count = trits_of(t.unit, plane);
    const uint8_t *at = unit + plane * STEP_BYTES;
    const ivec bytes = count == 2 ? load_pairs(at + VECTOR_BYTES / 2 * v) : load_bytes(at + VECTOR_BYTES * v);
    struct digits rest = {bytes, upper_bytes(bytes)};
    UNROLL
    for (int i = 0; i < 2; i++) {
        const ivec two = next_digits(&rest, 9), first = lookup(tables.first, two), second = lookup(tables.second, two);
        if (count == 2) {       /* a step's first two elements are of both bytes, and so are the others */
            trits[i] = exclusive_or(second, and_bytes(exclusive_or(first, second), broadcast_int(0xffff)));
        } else {
            trits[2 * i] = first;
            trits[2 * i + 1] = second;
        }
    }
    if (count == 5)
        trits[4] = centred(next_digits(&rest, 3), t.bits, t.zero);
}

/* A unit's trits; its groups' bytes lie `stride` steps apart. */
INLINE void spread_trits(const int type, const uint8_t *unit, uint8_t (*bytes)[STEP_BYTES], const int stride)
{
    const struct block_type t = BLOCK_TYPES[type];
    const struct trit_tables tables = trit_tables(t.bits, t.zero);
    for (int v = 0; v < PLANE_VECTORS; v++)
        UNROLL
        for (int plane = 0; plane < TRIT_PLANES(t.unit); plane++) {
            ivec trits[5];
            next_trits(type, unit, plane, v, tables, trits);
            UNROLL
            for (int i = 0; i < trits_of(t.unit, plane); i++) {
                const int step = trit_place(t.unit, plane, i);
                store_bytes(bytes[step / GROUP_STEPS * stride + step % GROUP_STEPS] + VECTOR_BYTES * v, trits[i]);
            }
        }
}

INLINE void spread_halves(const uint8_t *from, float *out)
{
    UNROLL
    for (int row = 0; row < PANEL_ROWS; row += LANES)
        store_floats(out + row, load_half(from + 2 * row));
}

/* NVFP4's: four to two groups. */
INLINE void spread_e4m3(const uint8_t *from, float out[][PANEL_ROWS])
{
    for (int sub = 0; sub < 2; sub++) {
        uint16_t halves[PANEL_ROWS];
        for (int row = 0; row < PANEL_ROWS; row++)
            halves[row] = e4m3_half(from[PANEL_ROWS * sub + row]);
        UNROLL
        for (int row = 0; row < PANEL_ROWS; row += LANES)
            store_floats(out[sub] + row, multiply_floats(load_half(halves + row), broadcast_float(E4M3_FACTOR)));
    }
}

/* Exponents of two, halved, for MXFP4's table holds doubled values. */
static void spread_exponents(const uint8_t *from, float *out)
{
    for (int row = 0; row < PANEL_ROWS; row++)
        out[row] = mxfp4_scale(from[row]);
}

/* Whole scales: bytes [subs][32]. */
INLINE void whole_scales(const uint8_t *bytes, int subs, struct spread_scales *out, const int paired)
{
    for (int sub = 0; sub < subs; sub++)
        UNROLL
        for (int row = 0; row < PANEL_ROWS; row += LANES) {
            const uint8_t *at = bytes + PANEL_ROWS * sub + row;
#if SPREAD_PAIRS
            if (paired)
                store_bytes(out->scale[sub] + row, byte_pairs(at));
            else
#endif
                store_floats(out->scale[sub] + row, load_signed(at));
        }
    (void)paired;
}

/* Mins: d is half[32], bytes [subs][32]. */
INLINE void whole_mins(const uint8_t *d, const uint8_t *bytes, int subs, float out[][PANEL_ROWS])
{
    UNROLL
    for (int row = 0; row < PANEL_ROWS; row += LANES) {
        const fvec factor = multiply_floats(load_half(d + 2 * row), broadcast_float(-1));
        for (int sub = 0; sub < subs; sub++)
            store_floats(out[sub] + row, multiply_floats(factor, load_unsigned(bytes + PANEL_ROWS * sub + row)));
    }
}

INLINE int64_t planes_bytes(const int type)
{
    const struct block_form form = BLOCK_FORMS[type];
    return (form.byte_planes + form.nibble_planes + form.two_bit_planes + form.bit_planes) * STEP_BYTES
           + form.point_bytes * PANEL_ROWS;
}

/* The planes of a chunk's group, or of its unit's first one. */
INLINE int64_t group_place(const int type, const int g)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int per = t.unit / GROUP;
    if (per == CHUNK_GROUPS)
        return g * planes_bytes(type);
    return g / per * t.unit_bytes + g % per * planes_bytes(type);
}

/* Those of a codebook type. */
INLINE void point_scales_of(const int type, const uint8_t *from, struct spread_scales *out)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int subs = LARGE_UNIT / t.sub;
    const uint8_t *behind = from + CHUNK_GROUPS * planes_bytes(type);
    const fvec part = broadcast_float(1.0f / (float)CODEBOOKS[type].parts);
    const int whole = has_whole_scales(type);
    uint8_t bytes[2 * CHUNK_GROUPS][PANEL_ROWS];
    for (int row = 0; row < PANEL_ROWS; row += LANES)
        store_floats(out->factor + row, multiply_floats(load_half(from + t.unit_bytes - 2 * PANEL_ROWS + 2 * row), part));
    UNROLL
    for (int sub = 0; sub < subs; sub++) {
        uint32_t odd[PANEL_ROWS];
        for (int row = 0; row < PANEL_ROWS; row++)
            odd[row] = 1 + 2 * fine_scale(type, from + sub * t.sub / GROUP * planes_bytes(type), behind, PANEL_ROWS, row, sub);
        for (int row = 0; row < PANEL_ROWS; row++)
            bytes[sub][row] = (uint8_t)odd[row];
        UNROLL
        for (int row = 0; row < PANEL_ROWS && !whole; row += LANES)
            store_floats(out->scale[sub] + row,
                         multiply_floats(load_floats(out->factor + row), to_float(load_bytes(odd + row))));
    }
    if (whole)
        whole_scales(bytes[0], subs, out, SPREAD_PAIRED(t.bits));
}

OUTLINE void point_scales(int32_t type, const uint8_t *from, struct spread_scales *out)
{
    switch (type) {
#define CASE(name) case TENON_##name: point_scales_of(TENON_##name, from, out); break;
    EACH_CODEBOOK_TYPE(CASE)
#undef CASE
    }
}

#include "spread_choices.h"

/* The scales of a chunk of a panel: `groups` groups, all 8 of a type whose units are of 256. */
INLINE void spread_scales(const int type, const uint8_t *from, int groups, struct spread_scales *out)
{
    const struct block_type t = BLOCK_TYPES[type];
    if (t.unit < LARGE_UNIT || HAS_TRITS(type) || type == TENON_TQ2_0) {     /* scales of a unit, or of its sub-blocks */
        const int per = t.unit / GROUP, bytes = type == TENON_MXFP4 ? 1 : type == TENON_NVFP4 ? 4 : t.mins ? 4 : 2;
        for (int g = 0; g < groups; g++) {
            const uint8_t *scales = from + (g / per + 1) * t.unit_bytes - bytes * PANEL_ROWS;
            if (type == TENON_MXFP4)
                spread_exponents(scales, out->scale[g]);
            else if (type == TENON_NVFP4)
                spread_e4m3(scales + g % per * 2 * PANEL_ROWS, out->scale + 2 * g);
            else
                spread_halves(scales, out->scale[g]);
            if (t.mins)
                spread_halves(scales + 2 * PANEL_ROWS, out->min[g]);
        }
        return;
    }
    if (CODEBOOKS[type].width) {
        point_scales(type, from, out);
        return;
    }
    if (CHOICES[type].values) {
        choice_scales(type, from, out);
        return;
    }
    const int subs = LARGE_UNIT / t.sub, bytes = subs * PANEL_ROWS, paired = SPREAD_PAIRED(t.bits);
    from += CHUNK_GROUPS * planes_bytes(type);
    const uint8_t *halves = from + t.unit_bytes - CHUNK_GROUPS * planes_bytes(type) - 2 * PANEL_ROWS * (1 + t.mins);
    spread_halves(halves, out->factor);
    if (type == TENON_Q2_K) {       /* scales in the low nibbles, mins in the high ones */
        uint8_t low[2 * CHUNK_GROUPS * PANEL_ROWS], high[sizeof low];
        for (int i = 0; i < bytes; i++) {
            low[i] = from[i] & 15;
            high[i] = from[i] >> 4;
        }
        whole_scales(low, subs, out, paired);
        whole_mins(halves + 2 * PANEL_ROWS, high, subs, out->min);
        return;
    }
    whole_scales(from, subs, out, paired);
    if (t.mins)
        whole_mins(halves + 2 * PANEL_ROWS, from + bytes, subs, out->min);
}

/* Perhaps in place: from the last step to the first. */
INLINE void widen_steps(const uint8_t narrow[][STEP_BYTES], uint8_t bytes[][STEP_BYTES])
{
    UNROLL
    for (int step = GROUP_STEPS - 1; step >= 0; step--)
        UNROLL
        for (int v = 0; v < PLANE_VECTORS; v++) {
            const ivec four = load_bytes(narrow[step] + VECTOR_BYTES * v);
            store_bytes(bytes[2 * step] + VECTOR_BYTES * v, even_bytes(four));
            store_bytes(bytes[2 * step + 1] + VECTOR_BYTES * v, odd_bytes(four));
        }
}

/* Else GCC takes indexes out of the vectors that it has stored, and holds far too many at a time. */
#define AS_STORED(index, signs) __asm__ volatile("" : : "r"(index), "r"(signs) : "memory")

/* The indexes of a group's points. */
INLINE void spread_indexes(const int type, const uint8_t *planes, uint16_t index[][PANEL_ROWS])
{
    UNROLL
    for (int l = 0; l < GROUP / CODEBOOKS[type].width; l++)
        for (int row = 0; row < PANEL_ROWS; row++)
            index[l][row] = point_index(type, planes, PANEL_ROWS, row, l);
}

#ifdef LOOKS_UP_BYTES
#include "byte_lookups.h"
#endif

/* The levels of point l of LANES rows from `row` on, four bytes of each and step. `two`: what points l and l + 1 share. */
INLINE void point_levels(const int type, const uint8_t *planes, const uint16_t *index, const int l, int row,
                         ivec two[PLANE_VECTORS], ivec level[2])
{
#ifdef LOOKS_UP_BYTES
    if (CODEBOOKS[type].signs) {
        if (l % 2 == 0 && row == 0)
            look_up_two(type, planes, l, two);
        looked_up_levels(type, two[row / LANES], l, level);
        return;
    }
#endif
    (void)two;
    const uint64_t *eights = points_of_8 + CODEBOOKS[type].first;
    const uint32_t *fours = points_of_4 + CODEBOOKS[type].first;
    const uint8_t *low = planes + l * PANEL_ROWS + row;
    const uint16_t *at = index + l * PANEL_ROWS + row;
    const int in_bytes = type == TENON_IQ2_XXS || type == TENON_IQ3_XXS;
    if (CODEBOOKS[type].width == 8) {
        const ivec first = in_bytes ? load_eights(eights, low) : load_eights(eights, at);
        const ivec second = in_bytes ? load_eights(eights, low + 2) : load_eights(eights, at + 2);
        level[0] = even_fours(first, second);
        level[1] = odd_fours(first, second);
    } else {
        level[0] = in_bytes ? load_fours(fours, low) : load_fours(fours, at);
    }
}

INLINE void spread_signs(const int type, const uint8_t *planes, uint32_t signs[PANEL_ROWS])
{
    for (int row = 0; row < PANEL_ROWS; row++)
        signs[row] = group_signs(type, planes, PANEL_ROWS, row);
}

/* What is added to the levels of a point that has no signs, four bytes of each row. */
INLINE void spread_shifts(const int type, const uint8_t *planes, const int l, uint32_t shift[PANEL_ROWS])
{
    const int lowest = SPREAD_SIGNED(BLOCK_TYPES[type].bits) ? -CODEBOOKS[type].largest : 0;
    const uint32_t down = 0x01010101u * (uint8_t)lowest, up = 0x01010101u * (uint8_t)(lowest + 2);
    for (int row = 0; row < PANEL_ROWS; row++)
        shift[row] = up ^ ((up ^ down) & (0u - shifted_down(type, planes, PANEL_ROWS, row, l)));
}

INLINE void spread_points_of(const int type, const uint8_t *planes, uint8_t bytes[][STEP_BYTES])
{
    const struct codebook c = CODEBOOKS[type];
    const int zero = SPREAD_SIGNED(BLOCK_TYPES[type].bits) ? 0 : c.largest, steps = c.width / 4;
    uint16_t index[8][PANEL_ROWS];
    uint32_t signs[PANEL_ROWS];
    ivec two[PLANE_VECTORS];
    spread_indexes(type, planes, index);
    if (c.signs)
        spread_signs(type, planes, signs);
    UNROLL
    for (int l = 0; l < GROUP / c.width; l++) {
        if (!c.signs && (l == 0 || type == TENON_IQ1_M))
            spread_shifts(type, planes, l, signs);
        UNROLL
        for (int v = 0; v < PLANE_VECTORS; v++) {
            AS_STORED(index, signs);
            const ivec sign = load_bytes(signs + LANES * v);
            ivec level[2];
            point_levels(type, planes, index[0], l, LANES * v, two, level);
            UNROLL
            for (int i = 0; i < steps; i++) {
                const int step = steps * l + i;
                const ivec up = add_bytes(broadcast_byte(zero), level[i]), down = subtract_bytes(broadcast_byte(zero), level[i]);
                store_bytes(bytes[step] + VECTOR_BYTES * v,
                            c.signs ? chosen(sign, step, down, up) : add_bytes(level[i], sign));
            }
        }
    }
}

OUTLINE void spread_points(int32_t type, const uint8_t *planes, uint8_t bytes[][STEP_BYTES])
{
    switch (type) {
#define CASE(name) case TENON_##name: spread_points_of(TENON_##name, planes, bytes); break;
    EACH_CODEBOOK_TYPE(CASE)
#undef CASE
    }
}

/* Whether a type's planes are the bytes that are wanted. */
INLINE int are_spread(const int type)
{
    return BLOCK_FORMS[type].byte_planes && SPREAD_SIGNED(8);
}

/* A group's integers, in bytes. `g`: its number within a chunk. */
INLINE void spread_group(const int type, const uint8_t *planes, int g, uint8_t bytes[][STEP_BYTES])
{
    if (CODEBOOKS[type].width)
        spread_points(type, planes, bytes);
    else if (CHOICES[type].values)
        spread_choices(type, planes, g, bytes);
    else
        spread_planes(type, planes, bytes);
}

INLINE void spread_chunk_of(const int type, const uint8_t *from, int groups, struct spread *out)
{
    const int per = BLOCK_TYPES[type].unit / GROUP;
    for (int g = 0; g < groups; g++) {
        const uint8_t *planes = from + group_place(type, g);
        const int wide = SPREAD_WIDE(BLOCK_TYPES[type].bits), as_is = wide && are_spread(type);
        if (HAS_TRITS(type) && g % per == 0)
            spread_trits(type, planes, out->bytes[g], SPREAD_STEPS);
        else if (!HAS_TRITS(type) && !as_is)
            spread_group(type, planes, g, out->bytes[g]);
        if (wide)
            widen_steps(as_is ? (const uint8_t(*)[STEP_BYTES])planes : out->bytes[g], out->bytes[g]);
    }
    spread_scales(type, from, groups, &out->scales);
}

OUTLINE void spread_chunk(int32_t type, const uint8_t *from, int groups, struct spread *out)
{
    switch (type) {
#define CASE(name) case TENON_##name: spread_chunk_of(TENON_##name, from, groups, out); break;
    EACH_QUANTIZED_TYPE(CASE)
#undef CASE
    }
}

#endif
