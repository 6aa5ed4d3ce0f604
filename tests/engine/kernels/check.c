/* Multiplies random matrices with every instruction set that this machine has and compares with double precision.
 * Buffers are exactly as large as they must be, so that AddressSanitizer sees any step outside. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon.h"

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0 * 2 - 1;
}

static int64_t up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static uint16_t bfloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bfloat16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

struct matrix { int64_t n, k; double *values; void *packed; int32_t format; };
typedef struct matrix maker(int64_t n, int64_t k);

static struct matrix make_int8(int64_t n, int64_t k)
{
    const int64_t rows = up(n, 32), columns = up(k, 64);
    struct matrix a = {n, k, malloc((size_t)(n * k) * 8), calloc(1, (size_t)(rows * columns + 4 * rows)), TENON_INT8};
    uint8_t *bytes = a.packed;
    float *scale = (float *)(bytes + rows * columns);
    for (int64_t i = 0; i < n; i++) {
        scale[i] = (float)(0.01 * uniform());
        for (int64_t j = 0; j < k; j++) {
            const int8_t q = (int8_t)lrint(127 * uniform());
            bytes[((i / 32 * (columns / 4) + j / 4) * 32 + i % 32) * 4 + j % 4] = (uint8_t)(q + 128);
            a.values[i * k + j] = q * (double)scale[i];
        }
    }
    return a;
}

static struct matrix make_int4(int64_t n, int64_t k)
{
    const int64_t rows = up(n, 32), columns = up(k, 64), bytes = rows / 32 * (columns / 64) * 1152;
    struct matrix a = {n, k, malloc((size_t)(n * k) * 8), calloc(1, (size_t)bytes), TENON_INT4};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            uint8_t *block = (uint8_t *)a.packed + (i / 32 * (columns / 64) + j / 64) * 1152;
            uint16_t *scale = (uint16_t *)(block + 1024) + j % 64 / 32 * 32 + i % 32;
            if (j % 32 == 0)
                *scale = bfloat16((float)(0.1 * uniform()));
            const int q = (int)((uniform() + 1) * 7.99);
            block[j % 64 / 8 * 128 + i % 32 * 4 + j % 4] |= (uint8_t)(j % 8 < 4 ? q : q << 4);
            a.values[i * k + j] = (q - 8) * (double)from_bfloat16(*scale);
        }
    return a;
}

static struct matrix make_bf16(int64_t n, int64_t k)
{
    const int64_t rows = up(n, 32), columns = up(k, 32);
    struct matrix a = {n, k, malloc((size_t)(n * k) * 8), calloc(1, (size_t)(rows * columns) * 2), TENON_BF16};
    uint16_t *packed = a.packed;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            uint16_t *place = packed + ((i / 32 * (columns / 2) + j / 2) * 32 + i % 32) * 2 + j % 2;
            *place = bfloat16((float)uniform());
            a.values[i * k + j] = from_bfloat16(*place);
        }
    return a;
}

static int32_t multiply(const struct matrix *a, const float *x, int64_t m, const float *bias, float *out,
                        int32_t threads)
{
    const struct tenon_matrix matrix = {a->packed, bias, a->n, a->k, a->format};
    return tenon_matmul(&matrix, x, m, out, threads);
}

/* The largest error as a share of the sum of magnitudes. */
static double error_of(const struct matrix *a, const float *x, int64_t m, const float *bias, const float *out)
{
    double worst = 0;
    for (int64_t t = 0; t < m; t++)
        for (int64_t i = 0; i < a->n; i++) {
            double sum = bias ? bias[i] : 0, magnitude = fabs(sum) + 1e-30, largest = 0;
            for (int64_t j = 0; j < a->k; j++) {
                sum += a->values[i * a->k + j] * x[t * a->k + j];
                magnitude += fabs(a->values[i * a->k + j]);
                largest = fmax(largest, fabs(x[t * a->k + j]));
            }
            const double error = fabs(sum - out[t * a->n + i]) / (magnitude * fmax(largest, 1));
            worst = error > worst || isnan(error) ? error : worst;
        }
    return worst;
}

/* A token with a NaN in it gives NaN throughout; the others keep their bits. */
static int nan_stays_home(const struct matrix *a, float *x, int64_t m, const float *out)
{
    float *again = malloc((size_t)(m * a->n) * 4);
    const int64_t sick = m / 2;
    int good = 1;
    x[sick * a->k] = NAN;
    multiply(a, x, m, NULL, again, 2);
    for (int64_t t = 0; t < m; t++)
        for (int64_t i = 0; i < a->n; i++)
            good &= t == sick ? isnan(again[t * a->n + i]) : !memcmp(&again[t * a->n + i], &out[t * a->n + i], 4);
    free(again);
    return good;
}

static int check(const char *set, const char *format, maker *make, double tolerance, int64_t n, int64_t k, int64_t m)
{
    struct matrix a = make(n, k);
    float *x = malloc((size_t)(m * k) * 4), *bias = malloc((size_t)n * 4), *out = malloc((size_t)(m * n) * 4);
    for (int64_t i = 0; i < m * k; i++)
        x[i] = (float)uniform();
    for (int64_t i = 0; i < n; i++)
        bias[i] = (float)uniform();
    multiply(&a, x, m, bias, out, 2);
    const double error = error_of(&a, x, m, bias, out);
    multiply(&a, x, m, NULL, out, 3);
    const int good = error <= tolerance && nan_stays_home(&a, x, m, out);
    if (!good)
        printf("FAILED %s %s n=%d k=%d m=%d: error %g\n", set, format, (int)n, (int)k, (int)m, error);
    free(a.values), free(a.packed), free(x), free(bias), free(out);
    return !good;
}

static float *floats(int64_t count)
{
    float *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)uniform();
    return values;
}

enum { HIDDEN = 70, HEADS = 6, KV_HEADS = 2, HEAD_DIM = 48, ROTATED = 32, WIDE = 90, TEXT = 144, TILE = 16 };

/* Bytes of a row of the cache in bfloat16, and in 8 bits with two scales. */
static const int64_t row_bytes[] = {[TENON_CACHE_BF16] = 2 * HEAD_DIM, [TENON_CACHE_8_BITS] = HEAD_DIM + 4};

struct text { uint8_t *cache; float *cosine, *sine; int32_t cache_type; };

static void run_layer(const struct tenon_layer *layer, const struct text *text, float *rows, int64_t first, int64_t m,
                      int32_t threads)
{
    int32_t *depths = malloc((size_t)m * sizeof *depths);
    for (int64_t t = 0; t < m; t++)
        depths[t] = (int32_t)t + 1;
    const int64_t stride = TEXT * row_bytes[text->cache_type];
    const struct tenon_step step = {
        .m = m, .length = first, .head_stride = stride, .cache_type = text->cache_type, .window = 90, .rotated = ROTATED, .depths = depths,
        .cosine = text->cosine + first * ROTATED, .sine = text->sine + first * ROTATED,
    };
    uint8_t *scratch = aligned_alloc(64, (size_t)up(tenon_layer_scratch_bytes(layer, &step, threads), 64));
    tenon_layer_forward(layer, &step, text->cache, text->cache + KV_HEADS * stride, rows + first * HIDDEN, scratch,
                        threads);
    free(scratch), free(depths);
}

/* A layer gives a text the same bits row by row and all at once; where tiles add in another order, tile by tile. */
static int check_layer(const char *set, const char *format, maker *make, int32_t cache_type)
{
    struct matrix matrices[] = {make((HEADS + 2 * KV_HEADS) * HEAD_DIM, HIDDEN), make(HIDDEN, HEADS * HEAD_DIM),
                                make(2 * WIDE, HIDDEN), make(HIDDEN, WIDE)};
    struct tenon_matrix packed[4];
    float *gain = floats(HIDDEN), *head_gain = floats(HEAD_DIM);
    for (int i = 0; i < 4; i++)
        packed[i] = (struct tenon_matrix){matrices[i].packed, NULL, matrices[i].n, matrices[i].k, matrices[i].format};
    const struct tenon_layer layer = {
        .hidden = HIDDEN, .heads = HEADS, .kv_heads = KV_HEADS, .head_dim = HEAD_DIM, .attention_norm = gain,
        .mlp_norm = gain, .query_norm = head_gain, .key_norm = head_gain, .attention_end_norm = gain,
        .mlp_end_norm = gain, .qkv = packed[0], .output = packed[1], .gate_up = packed[2], .down = packed[3],
        .norm_floor = 1e-4f, .head_norm_floor = 1e-4f, .scale = 0.2f, .soft_cap = 5.0f, .activation = TENON_SILU,
    };
    struct text text = {malloc((size_t)(2 * KV_HEADS * TEXT * row_bytes[cache_type])), floats(TEXT * ROTATED),
                        floats(TEXT * ROTATED), cache_type};
    float *one_by_one = floats(TEXT * HIDDEN), *at_once = malloc((size_t)(TEXT * HIDDEN) * sizeof(float));
    memcpy(at_once, one_by_one, (size_t)(TEXT * HIDDEN) * sizeof(float));
    const int64_t step = !strcmp(set, "amx") && !strcmp(format, "bf16") ? TILE : 1;
    for (int64_t row = 0; row < TEXT; row += step)
        run_layer(&layer, &text, one_by_one, row, step, 2);
    run_layer(&layer, &text, at_once, 0, TEXT, 3);
    const int good = !memcmp(at_once, one_by_one, (size_t)(TEXT * HIDDEN) * sizeof(float)) && isfinite(at_once[0]);
    if (!good)
        printf("FAILED %s %s layer, cache %d\n", set, format, cache_type);
    for (int i = 0; i < 4; i++)
        free(matrices[i].packed), free(matrices[i].values);
    free(gain), free(head_gain), free(text.cache), free(text.cosine), free(text.sine), free(one_by_one), free(at_once);
    return !good;
}

int main(void)
{
    static const int64_t shapes[][3] = {{1, 1, 1},    {33, 64, 2},  {7, 65, 3},    {64, 100, 4},  {96, 31, 5},
                                        {31, 200, 7}, {40, 96, 12}, {100, 33, 13}, {65, 129, 17}, {34, 70, 40}, {50, 300, 64}};
    int failures = 0;
    int32_t usable;
    const char *set;
    for (int32_t index = 0; (set = tenon_instruction_set(index, &usable)); index++) {
        if (!usable)
            continue;
        if (strcmp(tenon_select(set), set) != 0)
            failures++;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const int64_t n = shapes[i][0], k = shapes[i][1], m = shapes[i][2];
            failures += check(set, "int8", make_int8, 0.005, n, k, m);
            failures += check(set, "int4", make_int4, 0.005, n, k, m);
            failures += check(set, "bf16", make_bf16, 0.005, n, k, m);
        }
        failures += check_layer(set, "int8", make_int8, TENON_CACHE_BF16);
        failures += check_layer(set, "int4", make_int4, TENON_CACHE_8_BITS);
        failures += check_layer(set, "bf16", make_bf16, TENON_CACHE_BF16);
        printf("%s checked\n", set);
    }
    return failures != 0;
}
