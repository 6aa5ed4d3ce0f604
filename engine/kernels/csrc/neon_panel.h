/* How the NEON kernels go over a panel: one token takes all 32 rows at once, more take 16 rows by up to four tokens. */
#ifndef TENON_NEON_PANEL_H
#define TENON_NEON_PANEL_H

#include "prefetch.h"

enum { NEON_COLUMNS = 4, HALF_ROWS = 16 };

/* The rows' start within the panel, a vector count and a column count (constants once inlined). */
typedef void neon_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                       const int vectors, const int columns);

INLINE void neon_columns(neon_tile *tile, const struct job *job, int64_t panel, int row, int64_t token,
                         int64_t count, struct prefetch ahead)
{
    switch (count) {
        COLUMN_CASES(4, tile(job, panel, row, token, ahead, HALF_ROWS / LANES, columns))
    }
}

INLINE void neon_panel(neon_tile *tile, const struct job *job, int64_t panel)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes;
    const int64_t blocks = (job->m + NEON_COLUMNS - 1) / NEON_COLUMNS;
    if (job->m == 1) {
        tile(job, panel, 0, 0, prefetch_pass(w, job->panel_bytes, 0, 1, 0), PANEL_ROWS / LANES, 1);
        return;
    }
    for (int half = 0; half < 2; half++)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t token = job->m * block / blocks, end = job->m * (block + 1) / blocks;
            neon_columns(tile, job, panel, HALF_ROWS * half, token, end - token,
                         prefetch_pass(w, job->panel_bytes, half * blocks + block, 2 * blocks, 1));
        }
}

#endif
