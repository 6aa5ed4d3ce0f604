/* Rows of keys and values that were drafted and hold. */
#include <string.h>

#include "tenon.h"

void tenon_move_rows(void *const *caches, int64_t layers, int64_t heads, int64_t head_stride, int64_t row_bytes,
                     int64_t length, const int64_t *rows, int64_t count)
{
    for (int64_t layer = 0; layer < layers; layer++)
        for (int64_t head = 0; head < heads; head++) {
            uint8_t *first = (uint8_t *)caches[layer] + head * head_stride + length * row_bytes;
            for (int64_t i = 0; i < count; i++)
                if (rows[i] != i)
                    memcpy(first + i * row_bytes, first + rows[i] * row_bytes, row_bytes);
        }
}
