/* Weights of one or two bits, and trits, by a few tokens: multiplied in the registers in which they are taken out of their
 * planes, for to store them would take as long as to multiply them. Sums are those of block_tile.h, which includes this. */

#define IS_DIRECT(type)                                                                                                \
    (HAS_TRITS(type) || (type) == TENON_TQ2_0 || (type) == TENON_Q2_0 || (type) == TENON_PQ2_0 || (type) == TENON_Q1_0)

/* Else GCC takes out the weights of both terms at once, and keeps them in memory. */
#define READ_AGAIN() __asm__ volatile("" : : : "memory")

/* A step's weights of VECTOR_BYTES of planes. */
INLINE ivec direct_weights(const int type, const uint8_t *planes, const int step)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int two = BLOCK_FORMS[type].two_bit_planes;
    const ivec plane = load_bytes(planes + (two ? step / 4 * STEP_BYTES : 0));
    return centred(two ? moved_bits(plane, -2 * (step % 4), 3) : moved_bits(plane, 1 - step, 2), t.bits, t.zero);
}

/* Adds a group's sum times the scales. */
INLINE fvec direct_scaled(const struct job *job, int64_t term, ivec run, int64_t place, fvec scale, fvec value, const int bits)
{
    const int32_t start = SPREAD_SIGNED(bits) ? 0 : further(job->offset + place, term)->start;
    const float x_scale = *further(job->x_scale + place, term);
    return fused(to_float(run_end(broadcast_int(start), run, bits)), multiply_floats(scale, broadcast_float(x_scale)), value);
}

INLINE ivec direct_begin(const struct job *job, int64_t term, int64_t place, const int bits)
{
    return run_begin(broadcast_int(SPREAD_SIGNED(bits) ? 0 : further(job->offset + place, term)->start), bits);
}

INLINE void direct_group(const int type, const struct job *job, int64_t term, const uint8_t *planes, const uint8_t *halves,
                         int64_t group, int64_t token, fvec value[][BLOCK_COLUMNS], const int columns)
{
    const int bits = BLOCK_TYPES[type].bits;
    const int64_t place = place_of(job, token, group, 0);
    const uint8_t *x = job->x + place * GROUP + term;
    ivec run[MOST_VECTORS][BLOCK_COLUMNS];
    READ_AGAIN();
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            run[v][c] = direct_begin(job, term, place + c * job->groups, bits);
    UNROLL
    for (int s = 0; s < GROUP_STEPS; s++)
        UNROLL
        for (int c = 0; c < columns; c++) {
            const ivec activations = broadcast4(x + c * job->k + 4 * s);
            UNROLL
            for (int v = 0; v < MOST_VECTORS; v++)
                run[v][c] = run_step(run[v][c], direct_weights(type, planes + VECTOR_BYTES * v, s), activations, bits, s == 0);
        }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            value[v][c] = direct_scaled(job, term, run[v][c], place + c * job->groups, load_half(halves + 2 * LANES * v),
                                        value[v][c], bits);
}

/* What adds the products of a step's trits to the run of its group. */
struct trit_products {
    const struct job *job;
    int64_t term, place;        /* of the unit's first group */
};

INLINE void trit_step(struct trit_products p, ivec weights, const int step, ivec run[][BLOCK_COLUMNS], const int columns,
                      const int bits)
{
    const int g = step / GROUP_STEPS;
    UNROLL
    for (int c = 0; c < columns; c++) {
        const int first = step % GROUP_STEPS == 0;      /* no other of its group comes before it */
        if (first)
            run[g][c] = direct_begin(p.job, p.term, p.place + g + c * p.job->groups, bits);
        const ivec activations = broadcast4(p.job->x + p.place * GROUP + p.term + c * p.job->k + 4 * step);
        run[g][c] = run_step(run[g][c], weights, activations, bits, first);
    }
}

/* The runs of a unit's groups for LANES rows. */
INLINE void trit_runs(const int type, struct trit_products p, const uint8_t *unit, int v, ivec runs[][BLOCK_COLUMNS],
                      const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    ivec run[CHUNK_GROUPS][BLOCK_COLUMNS];
    const struct trit_tables tables = trit_tables(t.bits, t.zero);
    READ_AGAIN();
    UNROLL
    for (int plane = 0; plane < TRIT_PLANES(t.unit); plane++) {
        ivec trits[5];
        next_trits(type, unit, plane, v, tables, trits);
        UNROLL
        for (int i = 0; i < trits_of(t.unit, plane); i++)
            trit_step(p, trits[i], trit_place(t.unit, plane, i), run, columns, t.bits);
    }
    UNROLL
    for (int g = 0; g < t.unit / GROUP; g++)
        UNROLL
        for (int c = 0; c < columns; c++)
            runs[g][c] = run[g][c];
}

INLINE void direct_trits(const int type, const struct job *job, const uint8_t *unit, int64_t group, int64_t token,
                         fvec value[][BLOCK_COLUMNS], const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int groups = t.unit / GROUP;
    const uint8_t *halves = unit + t.unit_bytes - 2 * PANEL_ROWS;
    const int64_t place = place_of(job, token, group, 0);
    int rest[CHUNK_GROUPS], terms = 1;
    for (int g = 0; g < groups; g++) {
        rest[g] = has_rest(job, group + g, token, columns);
        terms |= rest[g] << 1;
    }
    UNROLL
    for (int v = 0; v < MOST_VECTORS; v++) {
        const fvec scale = load_half(halves + 2 * LANES * v);
        ivec run[2][CHUNK_GROUPS][BLOCK_COLUMNS];
        for (int i = 0; i <= terms >> 1; i++)
            trit_runs(type, (struct trit_products){job, i * job->rest, place}, unit, v, run[i], columns);
        for (int g = 0; g < groups; g++)
            for (int i = 0; i <= rest[g]; i++)
                UNROLL
                for (int c = 0; c < columns; c++)
                    value[v][c] = direct_scaled(job, i * job->rest, run[i][g][c], place + g + c * job->groups, scale,
                                                value[v][c], t.bits);
    }
}

/* A chunk of a panel. */
INLINE void direct_chunk(const int type, const struct job *job, const uint8_t *from, int64_t first, int groups, int64_t token,
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
            direct_trits(type, job, unit, first + g, token, value, columns);
            continue;
        }
        for (int i = 0; i < per; i++)
            for (int term = 0; term <= has_rest(job, first + g + i, token, columns); term++)
                direct_group(type, job, term * job->rest, unit + i * planes_bytes(type), unit + t.unit_bytes - 2 * PANEL_ROWS,
                             first + g + i, token, value, columns);
    }
}
