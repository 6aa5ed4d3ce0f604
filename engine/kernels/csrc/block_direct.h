/* Weights of one or two bits, and trits, by a few tokens: multiplied in the registers in which they are taken out of their
 * planes, for to store them would take as long as to multiply them. Sums are those of block_tile.h, which includes this. */

/* Adds a group's sum times the scales. */
INLINE fvec direct_scaled(RUN run, float x_scale, fvec scale, fvec value, const int bits)
{
    return fused(to_float(run_end(run, NULL, 0, bits)), multiply_floats(scale, broadcast_float(x_scale)), value);
}

/* A run's sum with the products of a step of its group. */
INLINE RUN direct_step(RUN run, ivec weights, struct group_x x, const int step, const int c, const int columns,
                        const int bits)
{
    const int started = !SPREAD_SIGNED(bits);
    const RUN start = step ? run : RUN_OF(started ? broadcast4(x.offset + c) : broadcast_int(0));
    return run_begin(start, weights, broadcast4(x.x + 4 * (step * columns + c)), step || started, bits);
}

INLINE void direct_group(const int type, struct group_x x, const uint8_t *planes, const uint8_t *halves,
                         fvec value[][BLOCK_COLUMNS], const int columns)
{
    RUN run[MOST_VECTORS][BLOCK_COLUMNS];
    READ_AGAIN();
    UNROLL
    for (int s = 0; s < GROUP_STEPS; s++)
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < MOST_VECTORS; v++)
                run[v][c] = direct_step(run[v][c], weights_in_planes(type, planes + VECTOR_BYTES * v, s), x, s, c, columns,
                                        BLOCK_TYPES[type].bits);
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            value[v][c] = direct_scaled(run[v][c], x.scale[c], load_half(halves + 2 * LANES * v), value[v][c],
                                        BLOCK_TYPES[type].bits);
}

/* The runs of a unit's groups for LANES rows, by one term of the activations. */
INLINE void trit_runs(const int type, const struct job *job, int64_t place, int64_t term, const uint8_t *unit, int v,
                      RUN runs[][BLOCK_COLUMNS], const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    RUN run[CHUNK_GROUPS][BLOCK_COLUMNS];
    const struct trit_tables tables = trit_tables(t.bits, t.zero);
    READ_AGAIN();
    UNROLL
    for (int plane = 0; plane < TRIT_PLANES(t.unit); plane++) {
        ivec trits[5];
        next_trits(type, unit, plane, v, tables, trits);
        UNROLL
        for (int i = 0; i < trits_of(t.unit, plane); i++) {
            const int step = trit_place(t.unit, plane, i), g = step / GROUP_STEPS;      /* a group's first comes first */
            const struct group_x x = group_at(job, place + g * columns, term, 1, t.bits);
            UNROLL
            for (int c = 0; c < columns; c++)
                run[g][c] = direct_step(run[g][c], trits[i], x, step % GROUP_STEPS, c, columns, t.bits);
        }
    }
    UNROLL
    for (int g = 0; g < t.unit / GROUP; g++)
        UNROLL
        for (int c = 0; c < columns; c++)
            runs[g][c] = run[g][c];
}

INLINE void direct_trits(const int type, const struct job *job, const uint8_t *unit, int64_t place,
                         fvec value[][BLOCK_COLUMNS], const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int groups = t.unit / GROUP;
    const uint8_t *halves = unit + t.unit_bytes - 2 * PANEL_ROWS;
    int rest[CHUNK_GROUPS], terms = 1;
    for (int g = 0; g < groups; g++) {
        rest[g] = has_rest(job, place + g * columns, columns);
        terms |= rest[g] << 1;
    }
    UNROLL
    for (int v = 0; v < MOST_VECTORS; v++) {
        const fvec scale = load_half(halves + 2 * LANES * v);
        RUN run[2][CHUNK_GROUPS][BLOCK_COLUMNS];
        for (int i = 0; i <= terms >> 1; i++)
            trit_runs(type, job, place, i * job->rest, unit, v, run[i], columns);
        for (int g = 0; g < groups; g++)
            for (int i = 0; i <= rest[g]; i++) {
                const struct group_x x = group_at(job, place + g * columns, i * job->rest, 1, t.bits);
                UNROLL
                for (int c = 0; c < columns; c++)
                    value[v][c] = direct_scaled(run[i][g][c], x.scale[c], scale, value[v][c], t.bits);
            }
    }
}

/* A chunk of a panel. `place`: its first group's, see place_of. */
INLINE void direct_chunk(const int type, const struct job *job, const uint8_t *from, int64_t place, int groups,
                         fvec value[][BLOCK_COLUMNS], const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int per = t.unit / GROUP;
    for (int g = 0; g < groups; g += per) {
        const uint8_t *unit = from + g / per * t.unit_bytes;
        UNROLL
        for (int64_t at = 0; at < t.unit_bytes; at += 64)
            __builtin_prefetch(unit + VECTOR_AHEAD + at, 0, 2);
        if (HAS_TRITS(type)) {
            direct_trits(type, job, unit, place + g * columns, value, columns);
            continue;
        }
        for (int i = 0; i < per; i++) {
            const int64_t at = place + (g + i) * columns;
            for (int term = 0; term <= has_rest(job, at, columns); term++)
                direct_group(type, group_at(job, at, term * job->rest, 1, t.bits), unit + i * planes_bytes(type),
                             unit + t.unit_bytes - 2 * PANEL_ROWS, value, columns);
        }
    }
}

#if SPREAD_WIDE(8)
/* Adds the products of the `g`-th group of a chunk of a type that HAS_DIGITS: its values are looked up as their digits to base
 * sixteen, whose products fit 16 bits. */
INLINE void digit_group(const int type, const uint8_t *planes, const struct spread_scales *scales, int g, struct group_x x,
                        fvec value[][BLOCK_COLUMNS], const int columns)
{
    const int whole = has_whole_scales(type), zero = BLOCK_TYPES[type].zero;
    const uint8_t *choice = planes + (CHUNK_GROUPS - g) * planes_bytes(type) + PANEL_ROWS * g;  /* IQ4_KS's: a scale's bit 0 */
    int8_t digits[2][16];
    UNROLL
    for (int i = 0; i < 16; i++) {
        digits[0][i] = (int8_t)((IQ4_VALUES[i] + zero) & 15);
        digits[1][i] = (int8_t)((IQ4_VALUES[i] + zero) >> 4);
    }
    const ivec table[] = {repeat16(digits[0]), repeat16(digits[1])};
    UNROLL
    for (int v = 0; v < MOST_VECTORS; v++) {
        ivec run[2][BLOCK_COLUMNS], chosen_rows = broadcast_int(0);
        READ_AGAIN();
        UNROLL
        for (int i = 0; i < GROUP_STEPS; i++) {
            const ivec both = load_bytes(planes + i / 2 * STEP_BYTES + VECTOR_BYTES * v);
            const ivec code = i % 2 ? high_nibbles(both) : low_nibbles(both);
            const ivec digit[] = {lookup(table[0], code), lookup(table[1], code)};
            UNROLL
            for (int c = 0; c < columns; c++) {
                const ivec activations = broadcast4(x.x + 4 * ((i / 2 + i % 2 * 4) * columns + c));
                UNROLL
                for (int d = 0; d < 2; d++)
                    run[d][c] = run_begin(run[d][c], digit[d], activations, i > 0, 5);
            }
        }
        if (type == TENON_IQ4_KS) {
            chosen_rows = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(choice + LANES * v)));
            chosen_rows = _mm256_srai_epi32(_mm256_slli_epi32(chosen_rows, 31), 31);
        }
        const fvec by = load_floats(scales->scale[g] + LANES * v);
        UNROLL
        for (int c = 0; c < columns; c++) {
            const ivec ones = _mm256_madd_epi16(run[0][c], _mm256_set1_epi16(1));
            const ivec sixteens = _mm256_madd_epi16(run[1][c], _mm256_set1_epi16(16));
            ivec sum = add_runs(add_runs(ones, sixteens), broadcast4(x.offset + c));
            if (type == TENON_IQ4_KS)
                sum = add_runs(sum, and_bytes(chosen_rows, broadcast_int(-x.offset[c].start / zero * CHOICES[type].more)));
            const fvec x_scale = broadcast_float(x.scale[c]);
            value[v][c] = whole ? fused(multiply_floats(to_float(sum), by), x_scale, value[v][c])
                                : fused(to_float(sum), multiply_floats(by, x_scale), value[v][c]);
        }
    }
}
#endif
