/* Multiplies (m, k) activations with a random matrix (n, k) some times: set, type, n, k, m, times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"
#include "random.h"

int main(int argc, char **argv)
{
    if (argc != 7 || !tenon_select(argv[1]))
        return 2;
    const int32_t type = atoi(argv[2]);
    const int64_t n = atoi(argv[3]), k = atoi(argv[4]), m = atoi(argv[5]), row_bytes = block_row_bytes(&BLOCK_FORMS[type], k);
    uint8_t *raw = malloc((size_t)(n * row_bytes)), *packed = malloc((size_t)tenon_arranged_bytes(type, n, k));
    float *x = malloc((size_t)(m * k) * 4), *out = malloc((size_t)(m * n) * 4);
    random_blocks(raw, n * row_bytes, BLOCK_FORMS[type].bytes);
    random_floats(x, m * k);
    tenon_arrange(type, raw, n, k, NULL, packed, 1);
    const struct tenon_matrix matrix = {.packed = packed, .n = n, .k = k, .type = type, .refined_above = INFINITY};
    for (int i = 0; i < atoi(argv[6]); i++)
        tenon_matmul(&matrix, x, m, out, 1);
    printf("%g\n", (double)out[0]);
    return 0;
}
