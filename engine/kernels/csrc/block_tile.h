/* Products with blocks that are spread into bytes. Before including this, a file brings a vector header and spread.h and
 * defines
 *
 *   BLOCK_COLUMNS                     columns per tile, as many as the registers hold
 *   NARROW_COLUMNS                    columns for which memory takes longer than arithmetic
 *   BLOCK_CLASSES                     a BLOCK_CLASS(subs, mins, bits) for each arithmetic that it tells apart
 *   RUN_STEPS(bits, steps)            steps after which a run of products is added to the sums
 *   run_begin(sum)                    a run, from the sums so far
 *   run_step(run, w, x, bits, first)  adds products of groups of four bytes
 *   run_end(sum, run, bits)           the sums with the run
 *
 * A sub-block's sum is exact in 32 bits; sub-blocks are added in order, by fused multiply-add with the product of both
 * scales, and where there are mins by another of the min and the activations' sum. */

#include "block_panel.h"
#include "quantize.h"

enum { MOST_VECTORS = PANEL_ROWS / LANES, VECTOR_AHEAD = 12288 };

/* The weights to come: asked for evenly, while others are multiplied. */
struct ahead {
    const uint8_t *at;
    int64_t step;
};

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
                part[v][c] = run_begin(begin ? sum[v][c] : broadcast_int(start[c]));
        UNROLL
        for (int s = begin; s < begin + run; s++) {
            ivec weights[MOST_VECTORS];
            UNROLL
            for (int v = 0; v < vectors; v++)
                weights[v] = step_weights(w, s, 4 * row + VECTOR_BYTES * v, narrow);
            if (ahead && s % (SPREAD_WIDE(bits) ? 2 : 1) == 0) {
                __builtin_prefetch(ahead->at, 0, 2);
                ahead->at += ahead->step;
            }
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

/* Adds the products of a group: `vectors` * LANES rows, from `row` within the panel, by `columns` tokens, whose activations
 * are `term` bytes behind the first term's. Scales and mins are by sub-blocks; for `ahead` see block_sub. */
INLINE void block_group(const struct job *job, int64_t term, const uint8_t w[][STEP_BYTES], const float scale[][PANEL_ROWS],
                        const float min[][PANEL_ROWS], int64_t group, int row, int64_t token, struct ahead *ahead,
                        fvec value[][BLOCK_COLUMNS], const int vectors, const int columns, const int subs, const int mins,
                        const int bits)
{
    const int wide = SPREAD_WIDE(bits) ? 2 : 1, steps = wide * GROUP_STEPS / subs;
    const uint8_t *x = job->x + (token * job->k + group * GROUP) * wide + term;
    const float *x_scale = further(job->x_scale + token * job->groups + group, term);
    const union offset *offset = further(job->offset + (token * job->groups + group) * subs, term);
    UNROLL
    for (int sub = 0; sub < subs; sub++) {
        ivec sum[MOST_VECTORS][BLOCK_COLUMNS];
        int32_t start[BLOCK_COLUMNS];
        UNROLL
        for (int c = 0; c < columns; c++)
            start[c] = mins || SPREAD_SIGNED(bits) ? 0 : offset[c * job->groups * subs + sub].start;
        block_sub(job->k * wide, w + GROUP_STEPS * (ahead ? wide : 1) / subs * sub, row, x + 4 * steps * sub, start, ahead,
                  sum, vectors, columns, steps, !ahead && wide == 2, bits);
        fvec scales[MOST_VECTORS];
        UNROLL
        for (int v = 0; v < vectors; v++)
            scales[v] = load_floats(scale[sub] + row + LANES * v);
        UNROLL
        for (int c = 0; c < columns; c++) {
            const fvec x_scales = broadcast_float(x_scale[c * job->groups]);
            const fvec x_sums = mins ? broadcast_float(offset[c * job->groups * subs + sub].sum) : x_scales;
            UNROLL
            for (int v = 0; v < vectors; v++) {
                value[v][c] = fused(to_float(sum[v][c]), multiply_floats(scales[v], x_scales), value[v][c]);
                if (mins)
                    value[v][c] = fused(load_floats(min[sub] + row + LANES * v), x_sums, value[v][c]);
            }
        }
    }
}

/* The same over a chunk; what quantizing left of a group's activations comes behind the group. */
INLINE void block_tile(const struct job *job, const struct spread *w, int64_t group, int groups, int row, int64_t token,
                       float values[][PANEL_ROWS], struct ahead *ahead, const int vectors, const int columns,
                       const int subs, const int mins, const int bits, const int refined)
{
    fvec value[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = load_floats(values[c] + row + LANES * v);
    for (int g = 0; g < groups; g++) {
        const float(*scale)[PANEL_ROWS] = w->scales.scale + g * subs, (*min)[PANEL_ROWS] = w->scales.min + g * subs;
        block_group(job, 0, w->bytes[g], scale, min, group + g, row, token, ahead, value, vectors, columns, subs, mins,
                    bits);
        if (refined && has_rest(job, group + g, token, columns)) {
            /* Else GCC keeps a group's weights in registers for this, and its sums in memory. */
            __asm__ volatile("" : : : "memory");
            block_group(job, job->rest, w->bytes[g], scale, min, group + g, row, token, ahead, value, vectors, columns, subs,
                        mins, bits);
        }
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            store_floats(values[c] + row + LANES * v, value[v][c]);
}

/* All tokens of an item over a chunk. `next`: the panel's bytes that are to be asked for, `size` of them. */
INLINE void block_chunk(const struct job *job, const struct spread *w, int64_t group, int groups, int64_t token,
                        int64_t tokens, float values[][PANEL_ROWS], const uint8_t *next, int64_t size, const int subs,
                        const int mins, const int bits)
{
    enum { PARTS = MOST_VECTORS / 2 };
    const int steps = GROUP_STEPS * groups;
    const int64_t blocks = (tokens + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
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
        quantize_token(job, x, token, zero, 0, 1);
    else
        quantize_token(job, x, token, zero, 0, 0);
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

/* A panel by a few tokens, where memory takes longer than arithmetic: weights are multiplied as they are spread, and every
 * line is asked for far ahead (the processor's own prefetchers fall behind: without it products read at 0.74 to 0.82 of the
 * speed of plain reads, with every other line at 0.81 to 0.9, with all at 0.93 to 0.98). */
INLINE void block_vectors_of(const int type, const struct job *job, int64_t panel, int64_t token, const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int subs = GROUP / t.sub;
    const uint8_t *from = job->weights + panel * job->panel_bytes;
    const int64_t chunk_bytes = t.unit_bytes * (LARGE_UNIT / t.unit);
    struct spread_scales scales;
    fvec value[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            value[v][c] = float_zero();
    expect_rows(job, panel * PANEL_ROWS, token, MOST_VECTORS, columns);
    for (int64_t first = 0; first < job->groups; first += CHUNK_GROUPS, from += chunk_bytes) {
        const int groups = job->groups - first < CHUNK_GROUPS ? (int)(job->groups - first) : CHUNK_GROUPS;
        spread_scales(type, from, groups, &scales);
        for (int g = 0; g < groups; g++) {
            uint8_t spread[GROUP_STEPS][STEP_BYTES], (*bytes)[STEP_BYTES] = spread;
            const uint8_t *planes = from + g * group_stride(type);
            const uint8_t *ahead = from + VECTOR_AHEAD + g * (chunk_bytes / CHUNK_GROUPS);  /* a chunk's scales too */
            UNROLL
            for (int64_t at = 0; at < chunk_bytes / CHUNK_GROUPS; at += 64)
                __builtin_prefetch(ahead + at, 0, 2);
            if (t.bits == 8 && SPREAD_SIGNED(8) && BLOCK_FORMS[type].byte_planes)
                bytes = (uint8_t(*)[STEP_BYTES])(uintptr_t)planes;      /* as they are */
            else
                spread_group(type, planes, spread);
            const int terms = 1 + has_rest(job, first + g, token, columns);
            for (int i = 0; i < terms; i++)
                block_group(job, i * job->rest, bytes, scales.scale + g * subs, scales.min + g * subs, first + g, 0,
                            token, NULL, value, MOST_VECTORS, columns, subs, t.mins, t.bits);
        }
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            store_rows(job, panel * PANEL_ROWS + LANES * v, token + c, value[v][c]);
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
