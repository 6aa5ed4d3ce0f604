/* Arranges random blocks of every type, and compares their floats with those of the rows themselves. Buffers are
 * exactly as large as they must be, so that AddressSanitizer sees any step outside. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

enum { ROWS = 37, SOURCES = 40, COLUMNS = 512 };

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int differ(const float *a, const float *b)
{
    for (int k = 0; k < COLUMNS; k++)
        if (memcmp(a + k, b + k, 4) && !(isnan(a[k]) && isnan(b[k])))
            return 1;
    return 0;
}

static int arranged(int32_t type, int64_t row_bytes)
{
    uint8_t *raw = malloc((size_t)(SOURCES * row_bytes));
    uint8_t *panels = malloc((size_t)tenon_arranged_bytes(type, ROWS, COLUMNS));
    float *unpacked = malloc(4 * ROWS * COLUMNS), *plain = malloc(4 * ROWS * COLUMNS);
    int32_t map[ROWS];
    int64_t rows[ROWS];
    int failures = 0, finite = 1;
    for (int64_t i = 0; i < SOURCES * row_bytes; i++)
        raw[i] = (uint8_t)(random_bits() >> 40);
    for (int i = 0; i < ROWS; i++)
        rows[i] = map[i] = (i * 7 + 5) % SOURCES;
    const int32_t told = tenon_arrange(type, raw, ROWS, COLUMNS, map, panels, 2);
    failures += tenon_unpack(type, panels, ROWS, COLUMNS, 0, ROWS, unpacked) != 0;
    failures += tenon_dequantize(type, raw, COLUMNS, rows, ROWS, plain, 2) != 0;
    for (int i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < COLUMNS; k++)   /* scales of 8 bits may be a NaN; any other may give an infinity */
            finite &= type == TENON_MXFP4   ? raw[rows[i] * row_bytes + k / 32 * 17] != 255
                      : type == TENON_NVFP4 ? (raw[rows[i] * row_bytes + k / 64 * 36 + k % 64 / 16] & 0x7f) != 0x7f
                      : BLOCK_FORMS[type].row_scale == 4
                          ? (raw[rows[i] * row_bytes + 3] & 0x7f) < 0x78
                          : isfinite(plain[i * COLUMNS + k]) != 0;
    failures += told != (finite ? 0 : TENON_NOT_FINITE);
    for (int i = 0; i < ROWS; i++)
        failures += differ(unpacked + i * COLUMNS, plain + i * COLUMNS);
    free(raw);
    free(panels);
    free(unpacked);
    free(plain);
    return failures;
}

static int quantized(int32_t type, int64_t row_bytes, float magnitude)
{
    float *x = malloc(4 * ROWS * COLUMNS), *back = malloc(4 * ROWS * COLUMNS);
    uint8_t *raw = malloc((size_t)(ROWS * row_bytes));
    double error = 0, norm = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = magnitude * (float)((double)(random_bits() >> 11) / 9007199254740992.0 - 0.4);
    int failures = tenon_quantize(type, x, NULL, ROWS, COLUMNS, raw, 2) != (magnitude > 1e6f ? TENON_NOT_FINITE : 0);
    if (!failures && magnitude <= 1e6f) {
        failures += tenon_dequantize(type, raw, COLUMNS, NULL, ROWS, back, 1) != 0;
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            error += (double)(back[i] - x[i]) * (double)(back[i] - x[i]);
            norm += (double)x[i] * (double)x[i];
        }
        failures += !(sqrt(error / norm) < (type == TENON_Q3_K ? 0.2 : row_bytes * 8 <= 5 * COLUMNS ? 0.09 : 0.04));
    }
    free(x);
    free(back);
    free(raw);
    return failures;
}

int main(void)
{
    static const int32_t writable[] = {TENON_F16,  TENON_BF16, TENON_Q8_0, TENON_Q4_0, TENON_Q4_1,   TENON_Q5_0,  TENON_Q5_1,
                                       TENON_Q4_K, TENON_Q5_K, TENON_Q6_K, TENON_Q3_K, TENON_IQ4_NL, TENON_IQ4_XS};
    int failures = 0;
    for (int32_t type = 0; type < TENON_TYPES; type++)
        if (BLOCK_FORMS[type].elements)
            failures += arranged(type, block_row_bytes(&BLOCK_FORMS[type], COLUMNS));
        else
            failures += tenon_arranged_bytes(type, ROWS, COLUMNS) != -1;
    for (size_t i = 0; i < sizeof writable / sizeof *writable; i++) {
        const struct block_form *form = &BLOCK_FORMS[writable[i]];
        const int64_t row_bytes = COLUMNS / form->elements * form->bytes;
        failures += quantized(writable[i], row_bytes, 1.0f) + quantized(writable[i], row_bytes, INFINITY);
        if (writable[i] != TENON_BF16)
            failures += quantized(writable[i], row_bytes, 3e38f);
    }
    printf("blocks %d\n", failures);
    return failures != 0;
}
