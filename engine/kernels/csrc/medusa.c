/* Medusa heads over one row: between two forwards of a small model the starts of as many operators take longer. */
#include "dispatch.h"
#include "rows.h"
#include "tenon.h"

#include <stddef.h>

int32_t tenon_guess(const struct tenon_heads *heads, const float *x, int64_t count, float *scratch, float *logits,
                    int32_t threads)
{
    const struct row_operations *rows = dispatch_highest()->rows;
    const int64_t width = heads->first.k, further = heads->blocks - 1;
    float *found = scratch, *made = found + width;
    if (tenon_matmul(&heads->first, x, 1, made, threads))
        return TENON_NO_MEMORY;
    for (int64_t head = 0; head < count; head++) {
        float *row = made + head * width;
        rows->gate(row, NULL, width, TENON_SILU);
        rows->add(row, x, width);
        for (int64_t block = 0; block < further; block++) {
            if (tenon_matmul(&heads->further[head * further + block], row, 1, found, threads))
                return TENON_NO_MEMORY;
            rows->gate(found, NULL, width, TENON_SILU);
            rows->add(row, found, width);
        }
        if (heads->own_maps && tenon_matmul(&heads->maps[head], row, 1, logits + head * heads->maps->n, threads))
            return TENON_NO_MEMORY;
    }
    return heads->own_maps ? 0 : tenon_matmul(heads->maps, made, count, logits, threads);
}
