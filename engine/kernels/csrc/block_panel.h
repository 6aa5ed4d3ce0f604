/* A panel of blocks, chunk by chunk. Included after a vector header and spread.h. */
#ifndef TENON_BLOCK_PANEL_H
#define TENON_BLOCK_PANEL_H

#include "output.h"
#include "quantize.h"

/* Adds the products of the `groups` groups of a chunk, from `group` on, to (tokens, 32) values. `next`: weights that are
 * to be asked for meanwhile, `size` bytes of them. */
typedef void chunk_product(const struct job *job, const struct spread *w, int64_t group, int groups, int64_t token,
                           int64_t tokens, float values[][PANEL_ROWS], const uint8_t *next, int64_t size);

/* Whether what quantizing left of a group's activations was kept for any of a tile's first tokens; the others' are zeros,
 * and change nothing. `place`: see place_of. */
INLINE int has_rest(const struct job *job, int64_t place, const int tokens)
{
    int found = 0;
    for (int t = 0; job->rest && t < tokens; t++)
        found |= job->refined[place + t];
    return found;
}

/* The results of some tokens, (tokens, 32). */
OUTLINE void store_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens, float values[][PANEL_ROWS])
{
    const int64_t first = panel * PANEL_ROWS;
    for (int64_t t = 0; t < tokens; t++)
        UNROLL
        for (int row = 0; row < PANEL_ROWS; row += LANES)
            if (first + PANEL_ROWS <= job->n)
                store_whole(job, first + row, token + t, load_floats(values[t] + row));
            else
                store_rows(job, first + row, token + t, load_floats(values[t] + row));
}

INLINE void multiply_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens, chunk_product *multiply)
{
    const struct block_type *type = job->type;
    const uint8_t *from = job->weights + panel * job->panel_bytes;
    const int64_t group_bytes = type->unit_bytes / (type->unit / GROUP);
    _Alignas(64) float values[MOST_TOKENS][PANEL_ROWS];
    struct spread w;
    row_scales(type->type, from + job->panel_bytes, &w.scales);
    memset(values, 0, (size_t)tokens * sizeof *values);
    for (int64_t group = 0; group < job->groups; group += CHUNK_GROUPS) {
        const int groups = job->groups - group < CHUNK_GROUPS ? (int)(job->groups - group) : CHUNK_GROUPS;
        const int64_t size = groups * group_bytes;
        spread_chunk(type->type, from, groups, &w);
        from += size;
        multiply(job, &w, group, groups, token, tokens, values, from, size);
    }
    store_panel(job, panel, token, tokens, values);
}

#endif
