/* The f16 kernel, included after a vector header: weights are widened, activations float. Each output is one chain of
 * additions in the order of k, so the width does not change it. */

#include "output.h"
#include "prefetch.h"
#include "quantize.h"

enum { F16_COLUMNS = 4, F16_STEP = 2 * PANEL_ROWS };

INLINE void f16_tile(const struct job *job, int64_t panel, int row, int64_t token, const int vectors, const int columns)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes + 2 * row;
    const float *x = (const float *)(const void *)job->x + token * job->k;
    fvec sum[PANEL_ROWS / LANES][F16_COLUMNS];
    expect_rows(job, panel * PANEL_ROWS + row, token, vectors, columns);
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            sum[v][c] = float_zero();
    for (int64_t k = 0; k < job->k; k++, w += F16_STEP) {
        __builtin_prefetch(w + PAGE_AHEAD, 0, 2);
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const fvec weights = load_half(w + 2 * LANES * v);
            UNROLL
            for (int c = 0; c < columns; c++)
                sum[v][c] = fused(weights, broadcast_float(x[c * job->k + k]), sum[v][c]);
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_rows(job, panel * PANEL_ROWS + row + LANES * v, token + c, sum[v][c]);
}

static void f16_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const int64_t blocks = (tokens + F16_COLUMNS - 1) / F16_COLUMNS;
    if (tokens == 1) {
        f16_tile(job, panel, 0, token, PANEL_ROWS / LANES, 1);
        return;
    }
    for (int row = 0; row < PANEL_ROWS; row += 2 * LANES)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = tokens * block / blocks, count = tokens * (block + 1) / blocks - first;
            switch (count) {
                COLUMN_CASES(4, f16_tile(job, panel, row, token + first, 2, columns))
            }
        }
}
