/* The bf16 kernel. Before including this, a file brings a vector header and defines
 *
 *   BF16_COLUMNS             columns per tile
 *   BF16_X                   the type of a prepared activation: float or uint16_t
 *   struct bf16_weights      a vector of pairs of weights in the form that the product wants
 *   bf16_prepare(ivec)       makes it
 *   bf16_dot(sum, w, x)      adds the products of a pair; x points to the pair's activations
 *
 * Each output is one chain of additions in the order of k, whatever the tile, so the width does not change it. */

#include "output.h"
#include "prefetch.h"

enum { BF16_BUSY = 6 };   /* from so many tokens on arithmetic takes longer than memory */

INLINE void bf16_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes + 4 * row;
    const BF16_X *x = (const BF16_X *)(const void *)job->x + token * job->k;
    fvec sum[32 / LANES][BF16_COLUMNS];

    expect_rows(job, panel * PANEL_ROWS + row, token, vectors, columns);
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            sum[v][c] = float_zero();

    for (int64_t k = 0; k < job->k; k += 2, w += STEP_BYTES) {
        struct bf16_weights prepared[32 / LANES];
        UNROLL
        for (int v = 0; v < vectors; v++)
            prepared[v] = bf16_prepare(load_bytes(w + 4 * LANES * v));
        prefetch_step(&ahead);
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++)
                sum[v][c] = bf16_dot(sum[v][c], prepared[v], x + c * job->k + k);
    }

    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_rows(job, panel * PANEL_ROWS + row + LANES * v, token + c, sum[v][c]);
}

static void bf16_columns(const struct job *job, int64_t panel, int row, int64_t token, int64_t count,
                         struct prefetch ahead)
{
    switch (count) {
        COLUMN_CASES(BF16_COLUMNS, bf16_tile(job, panel, row, token, ahead, 2, columns))
    }
}

static void bf16_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes;
    const int64_t blocks = (tokens + BF16_COLUMNS - 1) / BF16_COLUMNS;
    const int parts = PANEL_ROWS / (2 * LANES);
    if (tokens == 1) {
        bf16_tile(job, panel, 0, token, prefetch_pass(w, job->panel_bytes, 0, 1, 0), 2 * parts, 1);
        return;
    }
    for (int part = 0; part < parts; part++)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = tokens * block / blocks, count = tokens * (block + 1) / blocks - first;
            bf16_columns(job, panel, 2 * LANES * part, token + first, count,
                         prefetch_pass(w, job->panel_bytes, part * blocks + block, parts * blocks, tokens >= BF16_BUSY));
        }
}
