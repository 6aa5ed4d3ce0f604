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

/* A type's block, and where its numbers of half precision stand; -1: none. */
struct form { const char *name; int32_t type; int64_t elements, bytes; int halves[2]; };

static const struct form forms[] = {
    {"F16", TENON_F16, 1, 2, {0, -1}},          {"BF16", TENON_BF16, 1, 2, {-1, -1}},
    {"Q4_0", TENON_Q4_0, 32, 18, {0, -1}},      {"Q4_1", TENON_Q4_1, 32, 20, {0, 2}},
    {"Q5_0", TENON_Q5_0, 32, 22, {0, -1}},      {"Q5_1", TENON_Q5_1, 32, 24, {0, 2}},
    {"Q8_0", TENON_Q8_0, 32, 34, {0, -1}},      {"Q2_K", TENON_Q2_K, 256, 84, {80, 82}},
    {"Q3_K", TENON_Q3_K, 256, 110, {108, -1}},  {"Q4_K", TENON_Q4_K, 256, 144, {0, 2}},
    {"Q5_K", TENON_Q5_K, 256, 176, {0, 2}},     {"Q6_K", TENON_Q6_K, 256, 210, {208, -1}},
    {"IQ4_NL", TENON_IQ4_NL, 32, 18, {0, -1}},  {"IQ4_XS", TENON_IQ4_XS, 256, 136, {0, -1}},
    {"MXFP4", TENON_MXFP4, 32, 17, {-1, -1}},
};

enum { FORMS = sizeof forms / sizeof *forms };

struct matrix { int64_t n, k; double *values; void *packed; int32_t type; };

/* Random integers with scales between 2^-10 and 2^-6. */
static struct matrix make(const struct form *form, int64_t n, int64_t k)
{
    const int64_t blocks = n * k / form->elements;
    struct matrix a = {n, k, malloc((size_t)(n * k) * 8), calloc(1, (size_t)tenon_arranged_bytes(form->type, n, k)),
                       form->type};
    uint8_t *raw = malloc((size_t)(blocks * form->bytes));
    float *floats = malloc((size_t)(n * k) * 4);
    for (int64_t block = 0; block < blocks; block++) {
        uint8_t *at = raw + block * form->bytes;
        for (int64_t i = 0; i < form->bytes; i++)
            at[i] = (uint8_t)(128 * (uniform() + 1));
        for (int i = 0; i < 2 && form->halves[i] >= 0; i++)
            at[form->halves[i] + 1] = (uint8_t)((at[form->halves[i] + 1] & 0x8f) | 0x10);
        if (form->type == TENON_MXFP4)
            at[0] = 118 + at[0] % 4;
        if (form->type == TENON_BF16)
            at[1] = (uint8_t)(0x3b | (at[1] & 0x80));
    }
    tenon_arrange(form->type, raw, n, k, NULL, a.packed, 2);
    tenon_unpack(form->type, a.packed, n, k, 0, n, floats);
    for (int64_t i = 0; i < n * k; i++)
        a.values[i] = floats[i];
    free(raw), free(floats);
    return a;
}

/* Activations of the groups above the mean have a second term. */
static const float SOME_GROUPS = 1.0f;

static int32_t multiply(const struct matrix *a, const float *x, int64_t m, const float *bias, float *out,
                        int32_t threads)
{
    const struct tenon_matrix matrix = {a->packed, bias, a->n, a->k, a->type, SOME_GROUPS};
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

static int check(const char *set, const struct form *form, int64_t n, int64_t k, int64_t m)
{
    struct matrix a = make(form, n, k);
    float *x = malloc((size_t)(m * k) * 4), *bias = malloc((size_t)n * 4), *out = malloc((size_t)(m * n) * 4);
    for (int64_t i = 0; i < m * k; i++)
        x[i] = (float)uniform();
    for (int64_t i = 0; i < n; i++)
        bias[i] = (float)uniform();
    multiply(&a, x, m, bias, out, 2);
    const double error = error_of(&a, x, m, bias, out);
    multiply(&a, x, m, NULL, out, 3);
    const int good = error <= 0.005 && nan_stays_home(&a, x, m, out);
    if (!good)
        printf("FAILED %s %s n=%d k=%d m=%d: error %g\n", set, form->name, (int)n, (int)k, (int)m, error);
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

enum { HIDDEN = 256, HEADS = 16, KV_HEADS = 2, HEAD_DIM = 48, ROTATED = 32, WIDE = 512, TEXT = 144 };

/* Bytes of a row of the cache in bfloat16, and in 8 bits with two scales. */
static const int64_t row_bytes[] = {[TENON_CACHE_BF16] = 2 * HEAD_DIM, [TENON_CACHE_8_BITS] = HEAD_DIM + 4};

struct text { uint8_t *cache; float *cosine, *sine; int32_t cache_type; };

static void run_layer(const struct tenon_layer *layer, const struct text *text, float *rows, int64_t first, int64_t m,
                      int32_t threads)
{
    int32_t *depths = malloc((size_t)m * sizeof *depths);
    for (int64_t t = 0; t < m; t++)
        depths[t] = (int32_t)t + 1;
    const struct tenon_text of_step = {.rows = m, .length = first, .capacity = TEXT, .depths = depths};
    const struct tenon_step step = {
        .m = m, .texts = 1, .text = &of_step, .cache_type = text->cache_type, .window = 90, .rotated = ROTATED,
        .cosine = text->cosine + first * ROTATED, .sine = text->sine + first * ROTATED,
    };
    uint8_t *scratch = aligned_alloc(64, (size_t)up(tenon_layer_scratch_bytes(layer, &step, threads), 64));
    void *const layers[] = {text->cache};
    void *const *const caches[] = {layers};
    tenon_layer_forward(layer, &step, caches, 0, rows + first * HIDDEN, scratch, threads);
    free(scratch), free(depths);
}

/* A layer gives a text the same bits row by row and all at once, with experts and without. */
static int check_layer(const char *set, const struct form *form, int32_t cache_type, int experts)
{
    enum { MATRICES = 8, EXPERTS = 3 };
    struct matrix matrices[MATRICES] = {
        make(form, HEADS * HEAD_DIM, HIDDEN), make(form, KV_HEADS * HEAD_DIM, HIDDEN),
        make(&forms[6], KV_HEADS * HEAD_DIM, HIDDEN), make(form, HIDDEN, HEADS * HEAD_DIM), make(form, WIDE, HIDDEN),
        make(form, WIDE, HIDDEN), make(form, HIDDEN, WIDE), make(&forms[0], EXPERTS, HIDDEN)};
    struct tenon_matrix packed[MATRICES];
    float *gain = floats(HIDDEN), *head_gain = floats(HEAD_DIM);
    for (int i = 0; i < MATRICES; i++)
        packed[i] = (struct tenon_matrix){matrices[i].packed, NULL, matrices[i].n, matrices[i].k,
                                          matrices[i].type, SOME_GROUPS};
    const struct tenon_matrix gates[EXPERTS] = {packed[4], packed[5], packed[4]};
    const struct tenon_matrix downs[EXPERTS] = {packed[6], packed[6], packed[6]};
    packed[7].refined_above = INFINITY;
    const struct tenon_mixture mixture = {
        .experts = EXPERTS, .chosen = 2, .groups = 1, .chosen_groups = 1, .gate = gates, .up = gates, .down = downs,
        .router = packed[7], .scale = 1.0f, .scores = TENON_SOFTMAX, .normalised = 1,
    };
    const struct tenon_layer layer = {
        .hidden = HIDDEN, .heads = HEADS, .kv_heads = KV_HEADS, .head_dim = HEAD_DIM, .attention_norm = gain,
        .mlp_norm = gain, .query_norm = head_gain, .key_norm = head_gain, .attention_end_norm = gain,
        .mlp_end_norm = gain, .sinks = head_gain, .q = packed[0], .k = packed[1], .v = packed[2], .output = packed[3], .gate = packed[4],
        .up = packed[5], .down = packed[6], .mixture = experts ? &mixture : NULL,
        .norm_floor = 1e-4f, .head_norm_floor = 1e-4f, .scale = 0.2f, .soft_cap = 5.0f, .residual_scale = 1.0f, .activation = TENON_SILU,
    };
    struct text text = {malloc((size_t)(2 * KV_HEADS * TEXT * row_bytes[cache_type])), floats(TEXT * ROTATED),
                        floats(TEXT * ROTATED), cache_type};
    float *one_by_one = floats(TEXT * HIDDEN), *at_once = malloc((size_t)(TEXT * HIDDEN) * sizeof(float));
    memcpy(at_once, one_by_one, (size_t)(TEXT * HIDDEN) * sizeof(float));
    for (int64_t row = 0; row < TEXT; row++)
        run_layer(&layer, &text, one_by_one, row, 1, 2);
    run_layer(&layer, &text, at_once, 0, TEXT, 3);
    const int good = !memcmp(at_once, one_by_one, (size_t)(TEXT * HIDDEN) * sizeof(float)) && isfinite(at_once[0]);
    if (!good)
        printf("FAILED %s %s layer, cache %d\n", set, form->name, cache_type);
    for (int i = 0; i < MATRICES; i++)
        free(matrices[i].packed), free(matrices[i].values);
    free(gain), free(head_gain), free(text.cache), free(text.cosine), free(text.sine), free(one_by_one), free(at_once);
    return !good;
}

int main(void)
{
    static const int64_t shapes[][3] = {{1, 32, 1},  {33, 64, 2},   {7, 96, 3},    {64, 128, 4},  {96, 32, 5},
                                        {31, 288, 7}, {40, 96, 12}, {100, 64, 13}, {65, 160, 17}, {34, 96, 40},
                                        {50, 320, 130}};
    int failures = 0;
    int32_t usable;
    const char *set;
    for (int32_t index = 0; (set = tenon_instruction_set(index, &usable)); index++) {
        if (!usable)
            continue;
        if (strcmp(tenon_select(set), set) != 0)
            failures++;
        for (int f = 0; f < FORMS; f++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                const int64_t k = forms[f].elements == 256 ? up(shapes[i][1], 256) : shapes[i][1];
                failures += check(set, &forms[f], shapes[i][0], k, shapes[i][2]);
            }
        for (int f = 0; f < FORMS; f++) {
            failures += check_layer(set, &forms[f], f % 2 ? TENON_CACHE_8_BITS : TENON_CACHE_BF16, 0);
            failures += check_layer(set, &forms[f], TENON_CACHE_BF16, 1);
        }
        printf("%s checked\n", set);
    }
    return failures != 0;
}
