/* The int4 kernel of the x86 instruction sets. Before including this, a file brings a vector header and defines
 *
 *   INT4_COLUMNS                    columns per tile
 *   INT4_UNROLL                     UNROLL where the registers hold it, else empty
 *   int4_begin(start)               accumulators for a group, from what the quantizer made its start
 *   int4_dot(sum, nibbles, x)       adds products of groups of four bytes, weights 0..15
 *   int4_total(sum)                 the group's sums as floats */

#include "output.h"
#include "prefetch.h"

enum { INT4_BUSY = 3 };   /* from so many tokens on arithmetic takes longer than memory */

/* Four inner elements of every row and token of the tile. */
INLINE void int4_step(ivec sum[][INT4_COLUMNS], const ivec *nibbles, const int8_t *x, int64_t x_stride,
                      const int vectors, const int columns)
{
    UNROLL
    for (int c = 0; c < columns; c++) {
        const ivec activations = broadcast4(x + c * x_stride);
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v][c] = int4_dot(sum[v][c], nibbles[v], activations);
    }
}

/* One group of 32 inner elements: eight products per accumulator, then one fused multiply-add by the scales. */
INLINE void int4_group(const uint8_t *w, const void *scales, const int8_t *x, int64_t x_stride, const int32_t *start,
                       const float *x_scale, int64_t block_stride, struct prefetch *ahead,
                       fvec value[][INT4_COLUMNS], const int vectors, const int columns)
{
    ivec sum[32 / LANES][INT4_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v][c] = int4_begin(start[c * block_stride]);

    INT4_UNROLL
    for (int step = 0; step < GROUP / 8; step++) {
        ivec nibbles[32 / LANES];
        prefetch_step(ahead);
        UNROLL
        for (int v = 0; v < vectors; v++)
            nibbles[v] = low_nibbles(load_bytes(w + STEP_BYTES * step + 4 * LANES * v));
        int4_step(sum, nibbles, x + 8 * step, x_stride, vectors, columns);
        UNROLL
        for (int v = 0; v < vectors; v++)
            nibbles[v] = high_nibbles(load_bytes(w + STEP_BYTES * step + 4 * LANES * v));
        int4_step(sum, nibbles, x + 8 * step + 4, x_stride, vectors, columns);
    }

    UNROLL
    for (int v = 0; v < vectors; v++) {
        const fvec scale = load_bfloat16((const uint8_t *)scales + 2 * LANES * v);
        UNROLL
        for (int c = 0; c < columns; c++) {
            const fvec both = multiply_floats(scale, broadcast_float(x_scale[c * block_stride]));
            value[v][c] = fused(int4_total(sum[v][c]), both, value[v][c]);
        }
    }
}

INLINE void int4_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *block = job->weights + panel * job->panel_bytes + 4 * row;
    const uint8_t *scales = job->weights + panel * job->panel_bytes + 1024 + 2 * row;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    const int32_t *start = job->start + token * job->blocks;
    const float *x_scale = job->x_scale + token * job->blocks;
    fvec value[32 / LANES][INT4_COLUMNS];

    expect_rows(job, panel * PANEL_ROWS + row, token, vectors, columns);
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            value[v][c] = float_zero();

    for (int64_t k = 0; k < job->k; k += BLOCK, block += BLOCK_BYTES, scales += BLOCK_BYTES) {
        for (int group = 0; group < 2; group++)
            int4_group(block + 512 * group, scales + 64 * group, x + k + GROUP * group, job->k, start++, x_scale++,
                       job->blocks, &ahead, value, vectors, columns);
        prefetch_step(&ahead);      /* the block's scales are one step's worth of bytes */
    }

    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_rows(job, panel * PANEL_ROWS + row + LANES * v, token + c, value[v][c]);
}

static void int4_columns(const struct job *job, int64_t panel, int row, int64_t token, int64_t count,
                         struct prefetch ahead)
{
    switch (count) {
        COLUMN_CASES(INT4_COLUMNS, int4_tile(job, panel, row, token, ahead, 2, columns))
    }
}

static void int4_panel(const struct job *job, int64_t panel)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes;
    const int64_t blocks = (job->m + INT4_COLUMNS - 1) / INT4_COLUMNS;
    const int parts = PANEL_ROWS / (2 * LANES);
    if (job->m == 1) {
        int4_tile(job, panel, 0, 0, prefetch_pass(w, job->panel_bytes, 0, 1, 0), 2 * parts, 1);
        return;
    }
    for (int part = 0; part < parts; part++)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t token = job->m * block / blocks, end = job->m * (block + 1) / blocks;
            int4_columns(job, panel, 2 * LANES * part, token, end - token,
                         prefetch_pass(w, job->panel_bytes, part * blocks + block, parts * blocks, job->m >= INT4_BUSY));
        }
}
