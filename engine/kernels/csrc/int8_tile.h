/* The int8 kernel of the x86 instruction sets. Before including this, a file brings a vector header and defines
 *
 *   INT8_COLUMNS            columns per tile, as many as the registers hold
 *   INT8_X                  the type of a prepared activation
 *   struct int8_weights     a vector of weights (unsigned, 128 too large) in the form that the product wants
 *   int8_prepare(ivec)      makes it
 *   int8_dot(sum, w, x)     adds products of groups of four bytes; x points to four activations
 *
 * A span's sum is exact in 32 bits; spans are added in order, by fused multiply-add with the activations' scale. */

#include "int8_output.h"
#include "prefetch.h"

enum { INT8_BUSY = 6 };   /* from so many tokens on arithmetic takes longer than memory */

/* One span: sums from their start, which takes off what the weights are too large. */
INLINE void int8_span(const uint8_t *w, const INT8_X *x, int64_t x_stride, int64_t length, const int32_t *start,
                      const float *x_scale, int64_t block_stride, struct prefetch *ahead,
                      fvec value[][INT8_COLUMNS], const int vectors, const int columns)
{
    ivec sum[32 / LANES][INT8_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v][c] = broadcast_int(start[c * block_stride]);

    for (const INT8_X *end = x + length; x < end; x += 4, w += STEP_BYTES) {
        struct int8_weights prepared[32 / LANES];
        UNROLL
        for (int v = 0; v < vectors; v++)
            prepared[v] = int8_prepare(load_bytes(w + 4 * LANES * v));
        prefetch_step(ahead);
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++)
                sum[v][c] = int8_dot(sum[v][c], prepared[v], x + c * x_stride);
    }

    UNROLL
    for (int c = 0; c < columns; c++) {
        const fvec scale = broadcast_float(x_scale[c * block_stride]);
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = fused(to_float(sum[v][c]), scale, value[v][c]);
    }
}

/* `vectors` * LANES rows, from `row` within the panel, by `columns` tokens. */
INLINE void int8_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes + 4 * row;
    const INT8_X *x = (const INT8_X *)job->x + token * job->k;
    const int32_t *start = job->start + token * job->blocks;
    const float *x_scale = job->x_scale + token * job->blocks;
    fvec value[32 / LANES][INT8_COLUMNS];

    expect_rows(job, panel * PANEL_ROWS + row, token, vectors, columns);
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            value[v][c] = float_zero();

    for (int64_t k = 0; k < job->k; k += SPAN, w += SPAN / 4 * STEP_BYTES)
        int8_span(w, x + k, job->k, job->k - k < SPAN ? job->k - k : SPAN, start++, x_scale++, job->blocks, &ahead,
                  value, vectors, columns);

    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_int8(job, panel * PANEL_ROWS + row + LANES * v, token + c, value[v][c]);
}

static void int8_columns(const struct job *job, int64_t panel, int row, int64_t token, int64_t count,
                         struct prefetch ahead)
{
    switch (count) {
        COLUMN_CASES(INT8_COLUMNS, int8_tile(job, panel, row, token, ahead, 2, columns))
    }
}

static void int8_panel(const struct job *job, int64_t panel)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes;
    const int64_t blocks = (job->m + INT8_COLUMNS - 1) / INT8_COLUMNS;
    const int parts = PANEL_ROWS / (2 * LANES);
    if (job->m == 1) {
        int8_tile(job, panel, 0, 0, prefetch_pass(w, job->panel_bytes, 0, 1, 0), 2 * parts, 1);
        return;
    }
    for (int part = 0; part < parts; part++)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t token = job->m * block / blocks, end = job->m * (block + 1) / blocks;
            int8_columns(job, panel, 2 * LANES * part, token, end - token,
                         prefetch_pass(w, job->panel_bytes, part * blocks + block, parts * blocks, job->m >= INT8_BUSY));
        }
}
