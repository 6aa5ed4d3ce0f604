/* Products with blocks that are spread into bytes. Before including this, a file brings a vector header and spread.h and
 * defines
 *
 *   BLOCK_COLUMNS                     columns per tile, as many as the registers hold
 *   NARROW_COLUMNS                    columns for which memory takes longer than arithmetic
 *   DIRECT_POINTS                     whether points of codebooks are multiplied with one column as they are looked up
 *   BLOCK_CLASSES                     a BLOCK_CLASS(subs, mins, bits) for each arithmetic that it tells apart
 *   RUN_STEPS(bits, steps)            steps after which a run of products is added to the sums
 *   run_begin(sum, bits)              a run, from the sums so far
 *   run_step(run, w, x, bits, first)  adds products of groups of four bytes
 *   run_end(sum, run, bits)           the sums with the run
 *
 * A sub-block's sum is exact in 32 bits; sub-blocks are added in order, by fused multiply-add with the product of both
 * scales, and where there are mins by another of the min and the activations' sum. With whole scales (spread.h) a group's
 * sum is exact; groups are added in order by fused multiply-add with the activations' scale, and chunks by another with
 * the weights' factor. */

#include "block_panel.h"
#include "quantize.h"

enum {
    MOST_VECTORS = PANEL_ROWS / LANES,
    VECTOR_AHEAD = 12288,
    WHOLE_COLUMNS = BLOCK_COLUMNS < 4 ? BLOCK_COLUMNS : 4,      /* per tile with whole scales, whose sums take two registers */
};

/* The weights to come: asked for evenly, while others are multiplied, and each of their lines, for with few columns a step
 * is longer than a line, and one that was left out is waited for. */
struct ahead {
    const uint8_t *at;
    int64_t step;
};

INLINE void ask(struct ahead *ahead)
{
    __builtin_prefetch(ahead->at, 0, 2);
    for (int64_t line = 64; line < ahead->step; line += 64)
        __builtin_prefetch(ahead->at + line, 0, 2);
    ahead->at += ahead->step;
}

/* A step's weights; `narrow`: they are to be widened here. */
INLINE ivec step_weights(const uint8_t w[][STEP_BYTES], const int step, int at, const int narrow)
{
    const ivec four = load_bytes(w[narrow ? step / 2 : step] + at);
    return !narrow ? four : step % 2 ? odd_bytes(four) : even_bytes(four);
}

/* The integers' sums of a sub-block. Without `ahead` nothing is asked for; `narrow`: weights of 16 bits are still in bytes. */
INLINE void block_sub(int64_t stride, const uint8_t w[][STEP_BYTES], int row, const uint8_t *x, const int32_t start[],
                      struct ahead *ahead, ivec sum[][BLOCK_COLUMNS], const int vectors, const int columns, const int steps,
                      const int narrow, const int bits)
{
    const int run = RUN_STEPS(bits, steps);
    UNROLL
    for (int begin = 0; begin < steps; begin += run) {
        ivec part[MOST_VECTORS][BLOCK_COLUMNS];
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++)
                part[v][c] = run_begin(begin ? sum[v][c] : broadcast_int(start[c]), bits);
        UNROLL
        for (int s = begin; s < begin + run; s++) {
            ivec weights[MOST_VECTORS];
            UNROLL
            for (int v = 0; v < vectors; v++)
                weights[v] = step_weights(w, s, 4 * row + VECTOR_BYTES * v, narrow);
            if (ahead && s % (SPREAD_WIDE(bits) ? 2 : 1) == 0)
                ask(ahead);
            UNROLL
            for (int c = 0; c < columns; c++) {
                const ivec activations = broadcast4(x + c * stride + 4 * s);
                UNROLL
                for (int v = 0; v < vectors; v++)
                    part[v][c] = run_step(part[v][c], weights[v], activations, bits, s == begin);
            }
        }
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++)
                sum[v][c] = run_end(begin ? sum[v][c] : broadcast_int(start[c]), part[v][c], bits);
    }
}

#if SPREAD_PAIRS
/* The same as block_group does for a type with whole scales. Sums of a sub-block stay in 16 bits, where they begin so that
 * they end within them, however they overflow before: at most 8 products of (-32 to 31) * 127. Their scales are multiplied
 * with them on the way to 32. */
INLINE void paired_group(const struct job *job, int64_t term, const uint8_t w[][STEP_BYTES], const struct spread_scales *scales,
                         int g, int64_t group, int row, int64_t token, struct ahead *ahead, fvec value[][BLOCK_COLUMNS],
                         const int vectors, const int columns, const int bits)
{
    const int steps = GROUP_STEPS / 2;
    UNROLL
    for (int c = 0; c < columns; c++) {
        const int64_t place = place_of(job, token + c, group, 0);
        const uint8_t *x = job->x + place * GROUP + term;
        const union offset *starts = further(job->offset + 2 * place, term);
        ivec sum[MOST_VECTORS];
        UNROLL
        for (int sub = 0; sub < 2; sub++) {
            ivec part[MOST_VECTORS];
            UNROLL
            for (int v = 0; v < vectors; v++)
                part[v] = broadcast4(starts + sub);
            UNROLL
            for (int s = sub * steps; s < (sub + 1) * steps; s++) {
                const ivec activations = broadcast4(x + 4 * s);
                if (ahead && c == 0)
                    ask(ahead);
                UNROLL
                for (int v = 0; v < vectors; v++)
                    part[v] = run_step(part[v], step_weights(w, s, 4 * row + VECTOR_BYTES * v, 0), activations, bits, 0);
            }
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const ivec scale = load_bytes(scales->scale[2 * g + sub] + row + LANES * v);
                sum[v] = sub ? add_ints(sum[v], pair_products(part[v], scale)) : pair_products(part[v], scale);
            }
        }
        const fvec x_scales = broadcast_float(*further(job->x_scale + place, term));
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = fused(to_float(sum[v]), x_scales, value[v][c]);
    }
}
#endif

/* Adds the products of a group, the `g`-th of its chunk: `vectors` * LANES rows, from `row` within the panel, by `columns`
 * tokens, whose activations are `term` bytes behind the first term's. For `ahead` see block_sub. */
INLINE void block_group(const struct job *job, int64_t term, const uint8_t w[][STEP_BYTES], const struct spread_scales *scales,
                        int g, int64_t group, int row, int64_t token, struct ahead *ahead, fvec value[][BLOCK_COLUMNS],
                        const int vectors, const int columns, const int subs, const int mins, const int bits)
{
    const int wide = SPREAD_WIDE(bits) ? 2 : 1, steps = wide * GROUP_STEPS / subs, whole = WHOLE_SCALES(subs, mins, bits);
#if SPREAD_PAIRS
    if (whole) {
        paired_group(job, term, w, scales, g, group, row, token, ahead, value, vectors, columns, bits);
        return;
    }
#endif
    const int64_t place = place_of(job, token, group, 0);
    const uint8_t *x = job->x + place * wide * GROUP + term;
    const float *x_scale = further(job->x_scale + place, term);
    const union offset *offset = further(job->offset + place * subs, term);
    fvec found[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int sub = 0; sub < subs; sub++) {
        ivec sum[MOST_VECTORS][BLOCK_COLUMNS];
        int32_t start[BLOCK_COLUMNS];
        UNROLL
        for (int c = 0; c < columns; c++)
            start[c] = mins || SPREAD_SIGNED(bits) ? 0 : offset[c * job->groups * subs + sub].start;
        block_sub(job->k * wide, w + GROUP_STEPS * (ahead ? wide : 1) / subs * sub, row, x + 4 * steps * sub, start, ahead,
                  sum, vectors, columns, steps, !ahead && wide == 2, bits);
        fvec scale[MOST_VECTORS];
        UNROLL
        for (int v = 0; v < vectors; v++)
            scale[v] = load_floats(scales->scale[subs * g + sub] + row + LANES * v);
        UNROLL
        for (int c = 0; c < columns; c++) {
            const fvec x_scales = broadcast_float(x_scale[c * job->groups]);
            const fvec x_sums = mins ? broadcast_float(offset[c * job->groups * subs + sub].sum) : x_scales;
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const fvec product = to_float(sum[v][c]);
                if (whole)
                    found[v][c] = sub ? fused(product, scale[v], found[v][c]) : multiply_floats(product, scale[v]);
                else
                    value[v][c] = fused(product, multiply_floats(scale[v], x_scales), value[v][c]);
                if (mins)
                    value[v][c] = fused(load_floats(scales->min[subs * g + sub] + row + LANES * v), x_sums, value[v][c]);
            }
        }
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            if (whole)
                value[v][c] = fused(found[v][c], broadcast_float(x_scale[c * job->groups]), value[v][c]);
}

/* The same over a chunk; what quantizing left of a group's activations comes behind the group. */
INLINE void block_tile(const struct job *job, const struct spread *w, int64_t group, int groups, int row, int64_t token,
                       float values[][PANEL_ROWS], struct ahead *ahead, const int vectors, const int columns,
                       const int subs, const int mins, const int bits, const int refined)
{
    const int whole = WHOLE_SCALES(subs, mins, bits);
    fvec value[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = whole ? float_zero() : load_floats(values[c] + row + LANES * v);
    for (int g = 0; g < groups; g++) {
        block_group(job, 0, w->bytes[g], &w->scales, g, group + g, row, token, ahead, value, vectors, columns, subs, mins,
                    bits);
        if (refined && has_rest(job, group + g, token, columns)) {
            /* Else GCC keeps a group's weights in registers for this, and its sums in memory. */
            __asm__ volatile("" : : : "memory");
            block_group(job, job->rest, w->bytes[g], &w->scales, g, group + g, row, token, ahead, value, vectors, columns,
                        subs, mins, bits);
        }
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            float *at = values[c] + row + LANES * v;
            const fvec factor = load_floats(w->scales.factor + row + LANES * v);
            store_floats(at, whole ? fused(value[v][c], factor, load_floats(at)) : value[v][c]);
        }
}

/* All tokens of an item over a chunk. `next`: the panel's bytes that are to be asked for, `size` of them. */
INLINE void block_chunk(const struct job *job, const struct spread *w, int64_t group, int groups, int64_t token,
                        int64_t tokens, float values[][PANEL_ROWS], const uint8_t *next, int64_t size, const int subs,
                        const int mins, const int bits)
{
    enum { PARTS = MOST_VECTORS / 2 };
    const int steps = GROUP_STEPS * groups, most = WHOLE_SCALES(subs, mins, bits) ? WHOLE_COLUMNS : BLOCK_COLUMNS;
    const int64_t blocks = (tokens + most - 1) / most;
    struct ahead ahead = {next, (size / (steps * PARTS * blocks) + 15) / 16 * 16};
    for (int part = 0; part < PARTS; part++)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = tokens * block / blocks, count = tokens * (block + 1) / blocks - first;
            if (job->rest) {
                switch (count) {
                    COLUMN_CASES(BLOCK_COLUMNS, block_tile(job, w, group, groups, 2 * LANES * part, token + first,
                                                           values + first, &ahead, 2, columns, subs, mins, bits, 1))
                }
            } else {
                switch (count) {
                    COLUMN_CASES(BLOCK_COLUMNS, block_tile(job, w, group, groups, 2 * LANES * part, token + first,
                                                           values + first, &ahead, 2, columns, subs, mins, bits, 0))
                }
            }
        }
}

static void block_prepare(const struct job *job, const float *x, int64_t token)
{
    const int32_t zero = SPREAD_SIGNED(job->type->bits) ? 0 : job->type->zero;
    if (SPREAD_WIDE(job->type->bits))
        quantize_token(job, x, token, zero, 0, 1, 0);
    else if (SPREAD_PAIRS && WHOLE_SCALES(GROUP / job->type->sub, job->type->mins, job->type->bits))
        quantize_token(job, x, token, zero, 0, 0, 1);
    else
        quantize_token(job, x, token, zero, 0, 0, 0);
}

#define BLOCK_CLASS(subs, mins, bits)                                                                                 \
    static void block_chunk_##subs##_##mins##_##bits(const struct job *job, const struct spread *w, int64_t group,    \
                                                     int groups, int64_t token, int64_t tokens,                       \
                                                     float values[][PANEL_ROWS], const uint8_t *next, int64_t size)   \
    {                                                                                                                 \
        block_chunk(job, w, group, groups, token, tokens, values, next, size, subs, mins, bits);                      \
    }
BLOCK_CLASSES
#undef BLOCK_CLASS

/* The products of a codebook type's group by one token: levels are multiplied as they are looked up, by activations with
 * their signs, and by both terms of these. */
INLINE void point_group(const int type, const struct job *job, const uint8_t *planes, const struct spread_scales *scales,
                        int g, int64_t group, int64_t token, fvec value[][BLOCK_COLUMNS], const int terms)
{
    const struct block_type t = BLOCK_TYPES[type];
    const struct codebook c = CODEBOOKS[type];
    const int subs = GROUP / t.sub, whole = WHOLE_SCALES(subs, t.mins, t.bits), paired = SPREAD_PAIRS && whole;
    const int bits = c.largest > 15 ? 6 : c.signs ? 4 : 5, run = RUN_STEPS(bits, GROUP_STEPS / subs);
    const int64_t place = place_of(job, token, group, 0);
    uint16_t index[8][PANEL_ROWS];
    uint32_t signs[PANEL_ROWS];
    fvec found[2][2][MOST_VECTORS];     /* by terms and sub-blocks */
    spread_indexes(type, planes, index);
    if (c.signs)
        spread_signs(type, planes, signs);
    UNROLL
    for (int sub = 0; sub < subs; sub++) {
        ivec sum[2][MOST_VECTORS], part[2][MOST_VECTORS];
        UNROLL
        for (int term = 0; term < terms; term++) {
            const union offset *offset = further(job->offset + place * subs, term * job->rest) + sub;
            UNROLL
            for (int v = 0; v < MOST_VECTORS; v++)
                sum[term][v] = paired ? broadcast4(offset) : broadcast_int(c.signs || SPREAD_SIGNED(t.bits) ? 0 : offset->start);
        }
        UNROLL
        for (int l = sub * t.sub / c.width; l < (sub + 1) * t.sub / c.width; l++) {
            if (!c.signs && (l == 0 || type == TENON_IQ1_M))
                spread_shifts(type, planes, l, signs);
            ivec plus[2][2], minus[2][2];
            UNROLL
            for (int at = 0; at < terms * c.width / 4; at++) {
                const int term = at % terms, i = at / terms;
                plus[term][i] = broadcast4(job->x + place * GROUP + term * job->rest + c.width * l + 4 * i);
                minus[term][i] = subtract_bytes(broadcast_byte(0), plus[term][i]);
            }
            UNROLL
            for (int v = 0; v < MOST_VECTORS; v++) {
                AS_STORED(index, signs);
                const ivec sign = load_bytes(signs + LANES * v);
                ivec level[2];
                point_levels(type, planes, index[0], l, LANES * v, level);
                UNROLL
                for (int at = 0; at < terms * c.width / 4; at++) {
                    const int term = at % terms, i = at / terms, step = l * c.width / 4 + i, of_run = step % run;
                    const ivec bit = shift_left(sign, 7 - step), w = c.signs ? level[i] : add_bytes(level[i], sign);
                    const ivec x = c.signs ? chosen(bit, minus[term][i], plus[term][i]) : plus[term][i];
                    if (paired) {
                        sum[term][v] = run_step(sum[term][v], w, x, bits, 0);
                        continue;
                    }
                    if (of_run == 0)
                        part[term][v] = run_begin(sum[term][v], bits);
                    part[term][v] = run_step(part[term][v], w, x, bits, of_run == 0);
                    if (of_run == run - 1)
                        sum[term][v] = run_end(sum[term][v], part[term][v], bits);
                }
            }
        }
        UNROLL
        for (int at = 0; at < terms * MOST_VECTORS; at++) {
            const int term = at / MOST_VECTORS, v = at % MOST_VECTORS;
#if SPREAD_PAIRS
            if (paired)
                sum[term][v] = pair_products(sum[term][v], load_bytes(scales->scale[subs * g + sub] + LANES * v));
#endif
            found[term][sub][v] = to_float(sum[term][v]);
            if (whole && !paired)
                found[term][sub][v] = multiply_floats(found[term][sub][v], load_floats(scales->scale[subs * g + sub] + LANES * v));
        }
    }
    UNROLL
    for (int term = 0; term < terms; term++) {
        const fvec x_scales = broadcast_float(*further(job->x_scale + place, term * job->rest));
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++) {
            if (whole) {
                value[v][0] = fused(add_floats(found[term][0][v], found[term][1][v]), x_scales, value[v][0]);
                continue;
            }
            UNROLL
            for (int sub = 0; sub < subs; sub++) {
                const fvec scale = load_floats(scales->scale[subs * g + sub] + LANES * v);
                value[v][0] = fused(found[term][sub][v], multiply_floats(scale, x_scales), value[v][0]);
            }
        }
    }
}

#include "block_direct.h"

/* A panel by a few tokens, where memory takes longer than arithmetic: weights are multiplied as they are spread, and every
 * line is asked for far ahead (the processor's own prefetchers fall behind: without it products read at 0.74 to 0.82 of the
 * speed of plain reads, with every other line at 0.81 to 0.9, with all at 0.93 to 0.98). */
INLINE void block_vectors_of(const int type, const struct job *job, int64_t panel, int64_t token, const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int subs = GROUP / t.sub, whole = WHOLE_SCALES(subs, t.mins, t.bits);
    const uint8_t *from = job->weights + panel * job->panel_bytes;
    const int64_t chunk_bytes = t.unit_bytes * (LARGE_UNIT / t.unit);
    struct spread_scales scales;
    fvec value[MOST_VECTORS][BLOCK_COLUMNS], total[MOST_VECTORS][BLOCK_COLUMNS];     /* of the chunk, and of all */
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            value[v][c] = total[v][c] = float_zero();
    expect_rows(job, panel * PANEL_ROWS, token, MOST_VECTORS, columns);
    for (int64_t first = 0; first < job->groups; first += CHUNK_GROUPS, from += chunk_bytes) {
        const int groups = job->groups - first < CHUNK_GROUPS ? (int)(job->groups - first) : CHUNK_GROUPS;
        if (IS_DIRECT(type)) {
            direct_chunk(type, job, from, first, groups, token, value, columns);
            continue;
        }
        spread_scales(type, from, groups, &scales);
        for (int g = 0; g < groups; g++) {
            uint8_t spread[GROUP_STEPS][STEP_BYTES], (*bytes)[STEP_BYTES] = spread;
            const uint8_t *planes = from + group_place(type, g);
            const uint8_t *ahead = from + VECTOR_AHEAD + g * (chunk_bytes / CHUNK_GROUPS);  /* a chunk's scales too */
            UNROLL
            for (int64_t at = 0; at < chunk_bytes / CHUNK_GROUPS; at += 64)
                __builtin_prefetch(ahead + at, 0, 2);
            const int terms = 1 + has_rest(job, first + g, token, columns);
            if (CODEBOOKS[type].width && columns == 1 && DIRECT_POINTS) {
                if (terms == 2)
                    point_group(type, job, planes, &scales, g, first + g, token, value, 2);
                else
                    point_group(type, job, planes, &scales, g, first + g, token, value, 1);
                continue;
            }
            if (t.bits == 8 && SPREAD_SIGNED(8) && BLOCK_FORMS[type].byte_planes)
                bytes = (uint8_t(*)[STEP_BYTES])(uintptr_t)planes;      /* as they are */
            else
                spread_group(type, planes, spread);
            for (int i = 0; i < terms; i++)
                block_group(job, i * job->rest, bytes, &scales, g, first + g, 0, token, NULL, value, MOST_VECTORS, columns,
                            subs, t.mins, t.bits);
        }
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < MOST_VECTORS; v++)
                if (whole) {
                    total[v][c] = fused(value[v][c], load_floats(scales.factor + LANES * v), total[v][c]);
                    value[v][c] = float_zero();
                }
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            store_rows(job, panel * PANEL_ROWS + LANES * v, token + c, whole ? total[v][c] : value[v][c]);
}

static void block_vectors(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    switch (job->type->type) {
#define CASE(name) \
    case TENON_##name: \
        switch (tokens) { COLUMN_CASES(NARROW_COLUMNS, block_vectors_of(TENON_##name, job, panel, token, columns)) } \
        break;
    EACH_QUANTIZED_TYPE(CASE)
#undef CASE
    }
}

static void block_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const struct block_type *type = job->type;
    chunk_product *multiply = NULL;
    if (tokens <= NARROW_COLUMNS) {
        block_vectors(job, panel, token, tokens);
        return;
    }
#define BLOCK_CLASS(subs, mins_, bits_) \
    if (GROUP / type->sub == subs && type->mins == mins_ && (type->bits <= bits_) && !multiply) \
        multiply = block_chunk_##subs##_##mins_##_##bits_;
    BLOCK_CLASSES
#undef BLOCK_CLASS
    multiply_panel(job, panel, token, tokens, multiply);
}
