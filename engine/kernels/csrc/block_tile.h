/* Products with blocks that are spread into bytes. Before including this, a file brings a vector header and spread.h and
 * defines
 *
 *   BLOCK_COLUMNS                     columns per tile, as many as the registers hold
 *   BLOCK_CLASSES                     a BLOCK_CLASS(subs, mins, bits) for each arithmetic that it tells apart
 *   RUN_STEPS(bits, steps)            steps after which a run of products is added to the sums
 *   run_begin(sum)                    a run, from the sums so far
 *   run_step(run, w, x, bits, first)  adds products of groups of four bytes
 *   run_end(sum, run)                 the sums with the run
 *
 * A sub-block's sum is exact in 32 bits; sub-blocks are added in order, by fused multiply-add with the product of both
 * scales, and where there are mins by another of the min and the activations' sum. */

#include "block_panel.h"
#include "quantize.h"

/* The tokens' part of a tile. */
struct tile_rows {
    const int8_t *x;
    const float *x_scale;
    const union offset *offset;
    float (*value)[PANEL_ROWS];
};

INLINE struct tile_rows tile_rows_of(const struct job *job, int64_t group, int64_t token, const int subs)
{
    return (struct tile_rows){
        .x = (const int8_t *)job->x + token * job->k + group * GROUP,
        .x_scale = job->x_scale + token * job->groups + group,
        .offset = job->offset + (token * job->groups + group) * subs,
    };
}

/* The weights to come: asked for evenly, while others are multiplied. */
struct ahead {
    const uint8_t *at;
    int64_t step;
};

INLINE void block_sub(const struct job *job, const uint8_t w[][STEP_BYTES], int row, const int8_t *x,
                      const union offset *offset, struct ahead *ahead, ivec sum[][BLOCK_COLUMNS], const int vectors,
                      const int columns, const int subs, const int mins, const int bits)
{
    enum { MOST_VECTORS = PANEL_ROWS / LANES };
    const int steps = GROUP_STEPS / subs, run = RUN_STEPS(bits, steps);
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v][c] = broadcast_int(mins ? 0 : offset[c * job->groups * subs].start);
    UNROLL
    for (int begin = 0; begin < steps; begin += run) {
        ivec part[MOST_VECTORS][BLOCK_COLUMNS];
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++)
                part[v][c] = run_begin(sum[v][c]);
        UNROLL
        for (int s = begin; s < begin + run; s++) {
            ivec weights[MOST_VECTORS];
            UNROLL
            for (int v = 0; v < vectors; v++)
                weights[v] = load_bytes(w[s] + 4 * row + VECTOR_BYTES * v);
            __builtin_prefetch(ahead->at, 0, 2);
            ahead->at += ahead->step;
            UNROLL
            for (int c = 0; c < columns; c++) {
                const ivec activations = broadcast4(x + c * job->k + 4 * s);
                UNROLL
                for (int v = 0; v < vectors; v++)
                    part[v][c] = run_step(part[v][c], weights[v], activations, bits, s == begin);
            }
        }
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++)
                sum[v][c] = run_end(sum[v][c], part[v][c]);
    }
}

/* `vectors` * LANES rows, from `row` within the panel, by `columns` tokens, over a chunk. */
INLINE void block_tile(const struct job *job, const struct spread *w, int64_t group, int groups, int row, int64_t token,
                       float values[][PANEL_ROWS], struct ahead *ahead, const int vectors, const int columns,
                       const int subs, const int mins, const int bits)
{
    enum { MOST_VECTORS = PANEL_ROWS / LANES };
    const int first = (int)(group % CHUNK_GROUPS);
    const struct tile_rows r = tile_rows_of(job, group, token, subs);
    fvec value[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = load_floats(values[c] + row + LANES * v);

    for (int g = 0; g < groups; g++)
        UNROLL
        for (int sub = 0; sub < subs; sub++) {
            const union offset *offset = r.offset + g * subs + sub;
            const int place = (first + g) * subs + sub;
            ivec sum[MOST_VECTORS][BLOCK_COLUMNS];
            block_sub(job, w->bytes[first + g] + GROUP_STEPS / subs * sub, row, r.x + g * GROUP + GROUP / subs * sub, offset,
                      ahead, sum, vectors, columns, subs, mins, bits);
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const fvec scale = load_floats(w->scale[place] + row + LANES * v);
                const fvec min = mins ? load_floats(w->min[place] + row + LANES * v) : scale;
                UNROLL
                for (int c = 0; c < columns; c++) {
                    const fvec both = multiply_floats(scale, broadcast_float(r.x_scale[c * job->groups + g]));
                    value[v][c] = fused(to_float(sum[v][c]), both, value[v][c]);
                    if (mins)
                        value[v][c] = fused(min, broadcast_float(offset[c * job->groups * subs].sum), value[v][c]);
                }
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
    enum { MOST_VECTORS = PANEL_ROWS / LANES, PARTS = MOST_VECTORS / 2 };
    const int steps = GROUP_STEPS * groups;
    if (tokens == 1) {
        struct ahead ahead = {next, (size / steps + 15) / 16 * 16};
        block_tile(job, w, group, groups, 0, token, values, &ahead, MOST_VECTORS, 1, subs, mins, bits);
        return;
    }
    const int64_t blocks = (tokens + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    struct ahead ahead = {next, (size / (steps * PARTS * blocks) + 15) / 16 * 16};
    for (int part = 0; part < PARTS; part++)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = tokens * block / blocks, count = tokens * (block + 1) / blocks - first;
            switch (count) {
                COLUMN_CASES(BLOCK_COLUMNS, block_tile(job, w, group, groups, 2 * LANES * part, token + first,
                                                       values + first, &ahead, 2, columns, subs, mins, bits))
            }
        }
}

static void block_prepare(const struct job *job, const float *x, int64_t token)
{
    quantize_token(job, x, token, SPREAD_SIGNED(job->type->bits) ? 0 : job->type->zero);
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

static void block_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const struct block_type *type = job->type;
    chunk_product *multiply = NULL;
#define BLOCK_CLASS(subs, mins_, bits_) \
    if (GROUP / type->sub == subs && type->mins == mins_ && (type->bits <= bits_) && !multiply) \
        multiply = block_chunk_##subs##_##mins_##_##bits_;
    BLOCK_CLASSES
#undef BLOCK_CLASS
    multiply_panel(job, panel, token, tokens, multiply);
}
