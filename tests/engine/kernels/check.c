/* Multiplies random matrices, and runs layers, with every instruction set that this machine has, and compares with double
 * precision. An argument names one part: products, layers or states. Buffers are exactly as large as they must be, so
 * that AddressSanitizer sees any step outside. */
#include <float.h>
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

static int64_t between(int64_t least, int64_t most)
{
    return least + (int64_t)((uniform() + 1) / 2 * (double)(most - least + 1));
}

static int64_t up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* A type's block, where its numbers of half precision stand (-1: none), and bytes of a scale before each row. */
struct form { const char *name; int32_t type; int64_t elements, bytes; int halves[2]; int64_t head; };

static const struct form forms[] = {
    {"F16", TENON_F16, 1, 2, {0, -1}},          {"BF16", TENON_BF16, 1, 2, {-1, -1}},
    {"Q4_0", TENON_Q4_0, 32, 18, {0, -1}},      {"Q4_1", TENON_Q4_1, 32, 20, {0, 2}},
    {"Q5_0", TENON_Q5_0, 32, 22, {0, -1}},      {"Q5_1", TENON_Q5_1, 32, 24, {0, 2}},
    {"Q8_0", TENON_Q8_0, 32, 34, {0, -1}},      {"Q2_K", TENON_Q2_K, 256, 84, {80, 82}},
    {"Q3_K", TENON_Q3_K, 256, 110, {108, -1}},  {"Q4_K", TENON_Q4_K, 256, 144, {0, 2}},
    {"Q5_K", TENON_Q5_K, 256, 176, {0, 2}},     {"Q6_K", TENON_Q6_K, 256, 210, {208, -1}},
    {"IQ4_NL", TENON_IQ4_NL, 32, 18, {0, -1}},  {"IQ4_XS", TENON_IQ4_XS, 256, 136, {0, -1}},
    {"MXFP4", TENON_MXFP4, 32, 17, {-1, -1}},
    {"IQ2_XXS", TENON_IQ2_XXS, 256, 66, {0, -1}}, {"IQ2_XS", TENON_IQ2_XS, 256, 74, {0, -1}},
    {"IQ2_S", TENON_IQ2_S, 256, 82, {0, -1}},   {"IQ3_XXS", TENON_IQ3_XXS, 256, 98, {0, -1}},
    {"IQ3_S", TENON_IQ3_S, 256, 110, {0, -1}},  {"IQ1_S", TENON_IQ1_S, 256, 50, {0, -1}},
    {"IQ1_M", TENON_IQ1_M, 256, 56, {54, -1}},  /* the upper four bits of its number */
    {"TQ1_0", TENON_TQ1_0, 256, 54, {52, -1}},  {"TQ2_0", TENON_TQ2_0, 256, 66, {64, -1}},
    {"NVFP4", TENON_NVFP4, 64, 36, {-1, -1}},   {"Q1_0", TENON_Q1_0, 128, 18, {0, -1}},
    {"Q2_0", TENON_Q2_0, 64, 18, {0, -1}},      {"PQ2_0", TENON_PQ2_0, 128, 34, {0, -1}},
    {"PTQ1_0", TENON_PTQ1_0, 128, 28, {26, -1}}, {"IQ2_K", TENON_IQ2_K, 256, 76, {0, -1}},
    {"IQ3_K", TENON_IQ3_K, 256, 110, {0, -1}},  {"IQ4_K", TENON_IQ4_K, 256, 144, {0, -1}},
    {"IQ5_K", TENON_IQ5_K, 256, 176, {0, -1}},  {"IQ6_K", TENON_IQ6_K, 256, 212, {0, -1}},
    {"IQ2_KS", TENON_IQ2_KS, 256, 70, {-1, -1}, 2}, {"IQ3_KS", TENON_IQ3_KS, 256, 102, {-1, -1}, 2},
    {"IQ4_KS", TENON_IQ4_KS, 256, 136, {-1, -1}, 4}, {"IQ4_KSS", TENON_IQ4_KSS, 256, 128, {-1, -1}, 4},
    {"IQ5_KS", TENON_IQ5_KS, 256, 168, {-1, -1}, 4},
};

enum { FORMS = sizeof forms / sizeof *forms };

struct matrix { int64_t n, k; double *values; void *packed; int32_t type; };

/* Random integers with scales between 2^-10 and 2^-6. */
static struct matrix make(const struct form *form, int64_t n, int64_t k)
{
    const int64_t row_blocks = k / form->elements, row_bytes = form->head + row_blocks * form->bytes;
    struct matrix a = {n, k, malloc((size_t)(n * k) * 8), calloc(1, (size_t)tenon_arranged_bytes(form->type, n, k)),
                       form->type};
    uint8_t *raw = malloc((size_t)(n * row_bytes));
    float *floats = malloc((size_t)(n * k) * 4);
    for (int64_t row = 0; row < n && form->head; row++) {
        const float scale = 0x1p-8f + 0x1p-10f * (float)uniform();
        const uint16_t half = (uint16_t)(0x1c00 | (row * 37 & 0x83ff));
        memcpy(raw + row * row_bytes, form->head == 4 ? (const void *)&scale : &half, (size_t)form->head);
    }
    for (int64_t block = 0; block < n * row_blocks; block++) {
        uint8_t *at = raw + block / row_blocks * row_bytes + form->head + block % row_blocks * form->bytes;
        for (int64_t i = 0; i < form->bytes; i++)
            at[i] = (uint8_t)(128 * (uniform() + 1));
        for (int i = 0; i < 2 && form->halves[i] >= 0; i++)
            at[form->halves[i] + 1] = (uint8_t)((at[form->halves[i] + 1] & 0x8f) | 0x10);
        if (form->type == TENON_MXFP4)
            at[0] = 118 + at[0] % 4;
        for (int i = 0; form->type == TENON_NVFP4 && i < 4; i++)
            at[i] %= 32;
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
    const struct tenon_matrix matrix = {a->packed, bias, a->n, a->k, a->type, SOME_GROUPS, .factor = NULL};
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

/* A token gives the same bits alone and beside others. */
static int same_alone(const struct matrix *a, const float *x, int64_t m, const float *out)
{
    const int64_t t = between(0, m - 1);
    float *alone = malloc((size_t)a->n * 4);
    multiply(a, x + t * a->k, 1, NULL, alone, 1);
    const int good = !memcmp(alone, out + t * a->n, (size_t)a->n * 4);
    free(alone);
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
    const int good = error <= 0.005 && same_alone(&a, x, m, out) && nan_stays_home(&a, x, m, out);
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

enum { HIDDEN = 256, HEADS = 16, KV_HEADS = 2, HEAD_DIM = 48, ROTATED = 32, WIDE = 256, TEXT = 80 };

/* Bytes of a row of the cache in bfloat16, and in 8 bits with two scales. */
static const int64_t row_bytes[] = {[TENON_CACHE_BF16] = 2 * HEAD_DIM, [TENON_CACHE_8_BITS] = HEAD_DIM + 4};

struct text { uint8_t *cache; float *cosine, *sine; int32_t cache_type; };

static void forward(const struct tenon_layer *layer, const struct tenon_step *step, void *const *const *caches,
                    float *hidden, int32_t threads)
{
    uint8_t *scratch = aligned_alloc(64, (size_t)up(tenon_layer_scratch_bytes(layer, step, threads), 64));
    tenon_layer_forward(layer, step, caches, 0, hidden, scratch, threads);
    free(scratch);
}

static void run_layer(const struct tenon_layer *layer, const struct text *text, float *rows, int64_t first, int64_t m,
                      int32_t threads)
{
    int32_t *depths = malloc((size_t)m * sizeof *depths);
    for (int64_t t = 0; t < m; t++)
        depths[t] = (int32_t)t + 1;
    const struct tenon_text of_step = {.rows = m, .length = first, .capacity = TEXT, .depths = depths};
    const struct tenon_step step = {
        .m = m, .texts = 1, .text = &of_step, .cache_type = text->cache_type, .window = 50, .rotated = ROTATED,
        .cosine = text->cosine + first * ROTATED, .sine = text->sine + first * ROTATED,
    };
    void *const layers[] = {text->cache};
    void *const *const caches[] = {layers};
    forward(layer, &step, caches, rows + first * HIDDEN, threads);
    free(depths);
}

/* A layer gives a text the same bits in small pieces and all at once, with experts and gates and without. */
static int check_layer(const char *set, const struct form *form, int32_t cache_type, int experts)
{
    enum { MATRICES = 8, EXPERTS = 3 };
    struct matrix matrices[MATRICES] = {
        make(form, (1 + experts) * HEADS * HEAD_DIM, HIDDEN), make(form, KV_HEADS * HEAD_DIM, HIDDEN),
        make(&forms[6], KV_HEADS * HEAD_DIM, HIDDEN), make(form, HIDDEN, HEADS * HEAD_DIM), make(form, WIDE, HIDDEN),
        make(form, WIDE, HIDDEN), make(form, HIDDEN, WIDE), make(&forms[0], EXPERTS, HIDDEN)};
    struct tenon_matrix packed[MATRICES];
    float *gain = floats(HIDDEN), *head_gain = floats(HEAD_DIM);
    for (int i = 0; i < MATRICES; i++)
        packed[i] = (struct tenon_matrix){matrices[i].packed, NULL, matrices[i].n, matrices[i].k,
                                          matrices[i].type, SOME_GROUPS, .factor = NULL};
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
        .gated = experts,
    };
    struct text text = {malloc((size_t)(2 * KV_HEADS * TEXT * row_bytes[cache_type])), floats(TEXT * ROTATED),
                        floats(TEXT * ROTATED), cache_type};
    float *in_pieces = floats(TEXT * HIDDEN), *at_once = malloc((size_t)(TEXT * HIDDEN) * sizeof(float));
    memcpy(at_once, in_pieces, (size_t)(TEXT * HIDDEN) * sizeof(float));
    for (int64_t row = 0, m; row < TEXT; row += m) {
        m = between(1, TEXT - row < 12 ? TEXT - row : 12);
        run_layer(&layer, &text, in_pieces, row, m, 2);
    }
    run_layer(&layer, &text, at_once, 0, TEXT, 3);
    const int good = !memcmp(at_once, in_pieces, (size_t)(TEXT * HIDDEN) * sizeof(float)) && isfinite(at_once[0]);
    if (!good)
        printf("FAILED %s %s layer, cache %d\n", set, form->name, cache_type);
    for (int i = 0; i < MATRICES; i++)
        free(matrices[i].packed), free(matrices[i].values);
    free(gain), free(head_gain), free(text.cache), free(text.cosine), free(text.sine), free(in_pieces), free(at_once);
    return !good;
}

enum { NARROW = 64, NETWORK = 96, CHUNK = TENON_MEMORY_CHUNK, MOST_TEXT = 60, MOST_PENDING = 20, MOST_NODES = 40 };

static int64_t channels_of(const struct tenon_memory *x)
{
    return 2 * x->key_heads * x->key_dim + x->heads * x->value_dim;
}

/* A layer with a state, and its matrices. */
struct stateful { struct tenon_layer layer; struct tenon_memory memory; struct matrix maps, output, gate, up, down; };

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static void norm(const double *x, const float *gain, double floor, int64_t n, double *out)
{
    double sum = floor;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] * gain[i] / sqrt(sum);
}

/* Adds x (k) times the matrix's transpose to out. */
static void add_product(const struct matrix *a, const double *x, double *out)
{
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < a->k; j++)
            out[i] += a->values[i * a->k + j] * x[j];
}

/* Computes a row's results (heads, value_dim) from its products and its convolved channels, and updates the state. */
static void step(const struct tenon_memory *x, const double *mapped, double *mixed, double *states, double *results)
{
    const int64_t inner = x->key_dim, n = x->value_dim, keys = x->key_heads * inner, values = x->heads * n;
    const int64_t each = x->heads / x->key_heads, group = each * n, joint = 2 * (inner + group);
    const double *gates = mapped + channels_of(x) + values;
    for (int64_t h = 0; !x->skip && h < 2 * x->key_heads; h++)
        norm(mixed + h * inner, x->gains + h / x->key_heads * inner, 1e-6, inner, mixed + h * inner);
    for (int64_t h = 0; h < x->heads; h++) {
        const int64_t from = (x->tiled ? h % x->key_heads : h / each) * inner;
        const int64_t write = x->paired ? h / each * 2 * each + h % each : h;
        const int64_t decay = x->skip ? h : write + (x->paired ? each : x->heads);
        const double *query = mixed + (x->skip ? values + keys : 0) + from, *key = mixed + (x->skip ? values : keys) + from;
        const double *value = mixed + (x->skip ? 0 : 2 * keys) + h * n;
        const double time = log1p(exp(gates[decay] + x->decay_bias[h])), stays = exp(x->decay[h] * time);
        const double share = x->skip ? time : 1 / (1 + exp(-gates[write]));
        for (int64_t v = 0; v < n; v++) {
            double *state = states + h * inner * n + v, known = 0, result = 0;
            for (int64_t i = 0; i < inner; i++)
                known += (state[i * n] *= stays) * key[i];
            const double added = share * (value[v] - (x->skip ? 0 : known));
            for (int64_t i = 0; i < inner; i++)
                result += (state[i * n] += key[i] * added) * query[i];
            results[h * n + v] = result + (x->skip ? x->skip[h] * value[v] : 0);
        }
        if (!x->skip)
            norm(results + h * n, x->norm, x->norm_floor, n, results + h * n);
    }
    for (int64_t i = 0; i < values; i++) {
        const int64_t joined = i / group * joint + 2 * inner + group + i % group;
        results[i] *= silu(mapped[x->skip ? i : x->joined ? joined : channels_of(x) + i]);
    }
    for (int64_t at = 0; x->skip && at < values; at += group)
        norm(results + at, x->norm + at, x->norm_floor, group, results + at);
}

/* Returns where an input of the convolution stands among a row's products. */
static int64_t place_of(const struct tenon_memory *x, int64_t channel)
{
    const int64_t inner = x->key_dim, keys = x->key_heads * inner, group = x->heads / x->key_heads * x->value_dim;
    const int64_t joint = 2 * (inner + group), value = channel - 2 * keys;
    if (!x->joined)
        return channel + (x->skip ? x->heads * x->value_dim : 0);
    return value < 0 ? channel % keys / inner * joint + channel / keys * inner + channel % inner
                     : value / group * joint + 2 * inner + value % group;
}

/* Computes the rows (count, NARROW) that the layer makes of a path's rows, step by step in double precision. */
static void follow(const struct stateful *s, const float *const *path, int64_t count, double *out)
{
    const struct tenon_memory *x = &s->memory;
    const int64_t channels = channels_of(x), values = x->heads * x->value_dim;
    double *inputs = calloc((size_t)((x->width + count) * channels), 8), *mixed = malloc((size_t)channels * 8);
    double *states = calloc((size_t)(values * x->key_dim), 8), *results = malloc((size_t)values * 8);
    for (int64_t t = 0; t < count; t++, out += NARROW) {
        double *mapped = calloc((size_t)s->maps.n, 8), normed[NARROW], gate[NETWORK] = {0}, up[NETWORK] = {0};
        for (int64_t i = 0; i < NARROW; i++)
            out[i] = path[t][i];
        norm(out, s->layer.attention_norm, s->layer.norm_floor, NARROW, normed);
        add_product(&s->maps, normed, mapped);
        for (int64_t c = 0; c < channels; c++) {
            double sum = x->bias[c];
            inputs[(x->width + t) * channels + c] = mapped[place_of(x, c)];
            for (int64_t j = 0; j <= x->width; j++)
                sum += x->kernel[j * channels + c] * inputs[(t + j) * channels + c];
            mixed[c] = silu(sum);
        }
        step(x, mapped, mixed, states, results);
        add_product(&s->output, results, out);
        norm(out, s->layer.mlp_norm, s->layer.norm_floor, NARROW, normed);
        add_product(&s->gate, normed, gate);
        add_product(&s->up, normed, up);
        for (int64_t i = 0; i < NETWORK; i++)
            gate[i] = silu(gate[i]) * up[i];
        add_product(&s->down, gate, out);
        free(mapped);
    }
    free(inputs), free(mixed), free(states), free(results);
}

/* Each addition on the longest way to a result rounds by at most half an epsilon. The errors add up like a random walk, and
 * four of its standard deviations are allowed. */
static int is_near(const struct stateful *s, const float *out, const double *wanted, int64_t count)
{
    const struct tenon_memory *x = &s->memory;
    const int64_t additions = 3 * NARROW + NETWORK + x->width + 2 * x->key_dim + (1 + x->heads) * x->value_dim + MOST_TEXT;
    double largest = 0, error = 0;
    for (int64_t i = 0; i < count * NARROW; i++) {
        const double off = fabs(out[i] - wanted[i]);
        largest = fmax(largest, fabs(wanted[i]));
        error = off > error || isnan(off) ? off : error;
    }
    return error <= 2 * sqrt((double)additions) * FLT_EPSILON * largest;
}

static struct tenon_frame new_frame(const struct tenon_memory *x, int64_t rows)
{
    return (struct tenon_frame){
        .inputs = calloc((size_t)((x->width + rows) * channels_of(x)), sizeof(float)),
        .state = calloc((size_t)(x->heads * x->key_dim * x->value_dim), sizeof(float)),
        .keys = calloc((size_t)(rows * x->key_heads * x->key_dim), sizeof(float)),
        .values = calloc((size_t)(rows * x->heads * x->value_dim), sizeof(float)),
        .decays = calloc((size_t)(rows * x->heads), sizeof(float)),
    };
}

static void free_frame(struct tenon_frame f)
{
    free(f.inputs), free(f.state), free(f.keys), free(f.values), free(f.decays);
}

/* Returns a text's frame from a boundary on, given the states at all boundaries. */
static struct tenon_frame frame_from(const struct tenon_memory *x, const struct tenon_frame *f, float *states, int64_t base)
{
    return (struct tenon_frame){
        base, f->inputs + base * channels_of(x), states + base / CHUNK * x->heads * x->key_dim * x->value_dim,
        f->keys + base * x->key_heads * x->key_dim, f->values + base * x->heads * x->value_dim, f->decays + base * x->heads};
}

static int same(const float *x, const float *y, int64_t count)
{
    return !memcmp(x, y, (size_t)count * sizeof *x);
}

static int same_frames(const struct tenon_memory *x, struct tenon_frame a, struct tenon_frame b, int64_t rows)
{
    return a.base == b.base && same(a.state, b.state, x->heads * x->key_dim * x->value_dim) &&
           same(a.inputs, b.inputs, (x->width + rows) * channels_of(x)) &&
           same(a.keys, b.keys, rows * x->key_heads * x->key_dim) &&
           same(a.values, b.values, rows * x->heads * x->value_dim) && same(a.decays, b.decays, rows * x->heads);
}

static void run_states(const struct stateful *s, const struct tenon_text *texts, struct tenon_text_memory *const *memories,
                       int64_t count, float *hidden)
{
    struct tenon_step of_texts = {.texts = count, .text = texts};
    void *const *caches[2];
    for (int64_t i = 0; i < count; i++) {
        of_texts.m += texts[i].rows;
        caches[i] = (void *const *)&memories[i];
    }
    forward(&s->layer, &of_texts, caches, hidden, (int32_t)between(1, 3));
}

static struct stateful make_stateful(int mamba)
{
    const int64_t key_heads = between(1, 2), heads = key_heads * between(1, 2), key_dim = 16 * between(1, 4);
    const int64_t value_dim = 16 * between(1, 10), values = heads * value_dim, width = between(1, 4);
    const int64_t channels = 2 * key_heads * key_dim + values;
    struct stateful s = {
        .memory = {
            .key_heads = key_heads, .heads = heads, .key_dim = key_dim, .value_dim = value_dim, .width = width,
            .kernel = floats((width + 1) * channels), .bias = floats(channels), .gains = floats(2 * key_dim),
            .decay = floats(heads), .decay_bias = floats(heads), .skip = mamba ? floats(heads) : NULL,
            .norm = floats(values), .norm_floor = 0.5f, .tiled = (int32_t)between(0, 1),
            .joined = !mamba && between(0, 1), .paired = !mamba && between(0, 1)},
        .maps = make(&forms[0], channels + values + (2 - mamba) * heads, NARROW), .output = make(&forms[0], NARROW, values),
        .gate = make(&forms[0], NETWORK, NARROW), .up = make(&forms[0], NETWORK, NARROW),
        .down = make(&forms[0], NARROW, NETWORK)};
    float *gain = floats(NARROW), *decay = (float *)s.memory.decay;
    for (int64_t i = 0; i < NARROW; i++)
        gain[i] *= 512;
    for (int64_t h = 0; h < heads; h++)
        decay[h] *= decay[h] * -0.1f;
    const struct matrix *const matrices[] = {&s.maps, &s.output, &s.gate, &s.up, &s.down};
    struct tenon_matrix packed[5];
    for (int i = 0; i < 5; i++)
        packed[i] = (struct tenon_matrix){matrices[i]->packed, NULL, matrices[i]->n, matrices[i]->k, matrices[i]->type, 0};
    s.layer = (struct tenon_layer){
        .hidden = NARROW, .heads = 1, .kv_heads = 1, .head_dim = 16, .attention_norm = gain, .mlp_norm = gain,
        .q = packed[0], .output = packed[1], .gate = packed[2], .up = packed[3], .down = packed[4],
        .norm_floor = 1e-6f, .residual_scale = 1.0f, .activation = TENON_SILU};
    return s;
}

static void free_stateful(struct stateful *s)
{
    const struct tenon_memory *x = &s->memory;
    const float *const all[] = {x->kernel, x->bias, x->gains, x->decay, x->decay_bias, x->skip, x->norm,
                                s->layer.attention_norm};
    struct matrix *const matrices[] = {&s->maps, &s->output, &s->gate, &s->up, &s->down};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free((void *)all[i]);
    for (int i = 0; i < 5; i++)
        free(matrices[i]->values), free(matrices[i]->packed);
}

/* A layer with a state gives rows near to double precision's, and the same bits row by row, in pieces of a prompt beside a
 * tree of guesses of another text, and each guess alone with its path. */
static int check_states(const char *set, int mamba)
{
    struct stateful s = make_stateful(mamba);
    const struct tenon_memory *x = s.layer.memory = &s.memory;
    const int64_t size = x->heads * x->key_dim * x->value_dim, length = between(CHUNK + 2, MOST_TEXT);
    const int64_t pending = between(1, MOST_PENDING), nodes = between(1, MOST_NODES), all = length + pending + nodes;
    struct tenon_frame whole = new_frame(x, all);
    float *states = calloc((size_t)((length / CHUNK + 1) * size), sizeof *states), *rows = floats(all * NARROW);
    float *out = malloc((size_t)(all * NARROW) * sizeof *out), *hidden = malloc((size_t)(2 * all * NARROW) * sizeof *out);
    double *wanted = malloc((size_t)(all * NARROW) * sizeof *wanted);
    const float *path[MOST_TEXT + MOST_PENDING + MOST_NODES];
    int32_t depths[2][MOST_TEXT], ancestors[MOST_NODES][MOST_PENDING + MOST_NODES], one = 1;
    int wrong = 0;
    for (int64_t i = 0; i < all * NARROW; i++)
        out[i] = rows[i] /= 64;
    for (int64_t t = 0; t < length; t++) {
        struct tenon_frame from = frame_from(x, &whole, states, t < CHUNK ? 0 : (t - 1) / CHUNK * CHUNK);
        if (t && t % CHUNK == 0)
            tenon_add_chunk(x, &(struct tenon_frame){0, whole.inputs, from.state, whole.keys, whole.values, whole.decays},
                            t - CHUNK, from.state + size, (int32_t)between(1, 3));
        struct tenon_text_memory memory = {.frames = {frame_from(x, &whole, states, t / CHUNK * CHUNK)}};
        run_states(&s, &(struct tenon_text){.rows = 1, .length = t, .depths = &one},
                   (struct tenon_text_memory *[]){&memory}, 1, out + t * NARROW);
        path[t] = rows + t * NARROW;
    }
    follow(&s, path, length, wanted);
    wrong |= is_near(&s, out, wanted, length) ? 0 : 1;

    /* A piece of a prompt beside guesses that are a chain, then the next piece beside a tree. */
    const int64_t known = between(0, length - 2), cut = between(known + 1, length - 1), last = (length - 1) / CHUNK * CHUNK;
    const int64_t first = (known - (known > 0 && between(0, 1))) / CHUNK * CHUNK, guesses = pending + nodes;
    struct tenon_text_memory draft = {0}, prompt = {
        .frames = {frame_from(x, &whole, states, first), new_frame(x, CHUNK), new_frame(x, CHUNK)}, .is_long = 1};
    struct tenon_frame marks[MOST_TEXT / CHUNK];
    for (int64_t base = first + CHUNK; base <= last; base += CHUNK, prompt.marks++) {
        marks[prompt.marks] = new_frame(x, 0);
        marks[prompt.marks].base = prompt.mark[prompt.marks] = base;
        prompt.mark_inputs[prompt.marks] = marks[prompt.marks].inputs;
        prompt.mark_states[prompt.marks] = marks[prompt.marks].state;
    }
    struct tenon_text texts[] = {
        {.rows = cut - known, .length = known, .depths = depths[0]},
        {.rows = pending, .length = length, .depths = depths[1], .ancestors_stride = MOST_PENDING + MOST_NODES}};
    for (int piece = 0; piece < 2; piece++) {
        const int64_t begin = piece ? cut : known, end = piece ? length : cut, guessed = piece * pending;
        const int64_t base = between(0, last / CHUNK) * CHUNK, count = piece ? nodes : pending;
        draft.frames[0] = frame_from(x, &whole, states, base);
        texts[0].rows = end - begin, texts[0].pending = begin - known;
        texts[1].rows = count, texts[1].pending = guessed;
        for (int32_t i = 0; i < end - begin; i++)
            depths[0][i] = (int32_t)(begin - known) + i + 1;
        for (int32_t i = 0; i < count; i++)
            depths[1][i] = i + 1;
        for (int32_t i = 0; piece && i < nodes; i++) {
            const int32_t all_before = (int32_t)pending + i;
            const int32_t parent = between(0, 3) ? all_before - 1 : (int32_t)between(-1, all_before - 1);
            depths[1][i] = parent < pending ? parent + 2 : depths[1][parent - pending] + 1;
            for (int32_t j = 0; j < depths[1][i] - 1; j++)
                ancestors[i][j] = parent < pending ? j : ancestors[parent - pending][j];
            ancestors[i][depths[1][i] - 1] = all_before;
        }
        texts[1].ancestors = piece ? ancestors[0] : NULL;
        memcpy(hidden, rows + begin * NARROW, (size_t)((end - begin) * NARROW) * sizeof *rows);
        memcpy(hidden + (end - begin) * NARROW, rows + (length + guessed) * NARROW, (size_t)(count * NARROW) * sizeof *rows);
        run_states(&s, texts, (struct tenon_text_memory *[]){&prompt, &draft}, 2, hidden);
        wrong |= same(hidden, out + begin * NARROW, (end - begin) * NARROW) ? 0 : 2;
        memcpy(out + (length + guessed) * NARROW, hidden + (end - begin) * NARROW, (size_t)(count * NARROW) * sizeof *rows);
    }
    wrong |= same_frames(x, prompt.frames[prompt.current], frame_from(x, &whole, states, last), length - last) ? 0 : 4;
    for (int64_t i = 0; i < prompt.marks; i++) {
        wrong |= same_frames(x, marks[i], frame_from(x, &whole, states, marks[i].base), 0) ? 0 : 8;
        free_frame(marks[i]);
    }

    /* Each guess alone with its path, behind another text's. */
    struct tenon_text_memory other = {.frames = {new_frame(x, guesses)}};
    int32_t chain[MOST_PENDING + MOST_NODES];
    for (int32_t i = 0; i < guesses; i++)
        chain[i] = i + 1;
    for (int64_t i = 0; i < nodes; i++) {
        const int64_t depth = depths[1][i];
        const float *result = out + (length + pending + i) * NARROW;
        for (int64_t j = 0; j < depth; j++) {
            path[length + j] = rows + (length + ancestors[i][j]) * NARROW;
            memcpy(hidden + j * NARROW, path[length + j], NARROW * sizeof *hidden);
            memcpy(hidden + (depth + j) * NARROW, path[length + j], NARROW * sizeof *hidden);
        }
        draft.frames[0] = frame_from(x, &whole, states, between(0, last / CHUNK) * CHUNK);
        run_states(&s, (struct tenon_text[]){{.rows = depth, .depths = chain},
                                             {.rows = depth, .length = length, .depths = chain}},
                   (struct tenon_text_memory *[]){&other, &draft}, 2, hidden);
        wrong |= same(hidden + (2 * depth - 1) * NARROW, result, NARROW) ? 0 : 16;
        if (i % 8)
            continue;
        follow(&s, path, length + depth, wanted);
        wrong |= is_near(&s, result, wanted + (length + depth - 1) * NARROW, 1) ? 0 : 32;
    }
    if (wrong)
        printf("FAILED %s states, %s: %d\n", set, mamba ? "Mamba-2" : "gated DeltaNet", wrong);
    free_frame(prompt.frames[1]), free_frame(prompt.frames[2]), free_frame(other.frames[0]), free_frame(whole);
    free_stateful(&s);
    free(states), free(rows), free(out), free(hidden), free(wanted);
    return wrong != 0;
}

int main(int count, char **arguments)
{
    static const int64_t shapes[][3] = {{1, 32, 1},  {33, 64, 2},   {7, 96, 3},    {64, 128, 4},  {96, 32, 5},
                                        {31, 288, 7}, {40, 96, 12}, {100, 64, 13}, {65, 160, 17}, {34, 96, 40},
                                        {50, 320, 514}};
    static const int of_layers[] = {0, 1, 6, 9, 11};     /* one form of each kind; the products meet all */
    const char *part = count > 1 ? arguments[1] : NULL;
    const int products = !part || !strcmp(part, "products"), layers = !part || !strcmp(part, "layers");
    const int states = !part || !strcmp(part, "states");
    int failures = !(products || layers || states);
    int32_t usable;
    const char *set;
    for (int32_t index = 0; (set = tenon_instruction_set(index, &usable)); index++) {
        if (!usable)
            continue;
        if (strcmp(tenon_select(set), set) != 0)
            failures++;
        for (int f = 0; products && f < FORMS; f++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                const int64_t k = up(shapes[i][1], forms[f].elements);
                failures += check(set, &forms[f], shapes[i][0], k, shapes[i][2]);
            }
        for (size_t i = 0; layers && i < sizeof of_layers / sizeof *of_layers; i++) {
            failures += check_layer(set, &forms[of_layers[i]], i % 2 ? TENON_CACHE_8_BITS : TENON_CACHE_BF16, 0);
            failures += check_layer(set, &forms[of_layers[i]], TENON_CACHE_BF16, 1);
        }
        for (int i = 0; states && i < 12; i++)
            failures += check_states(set, i % 3 == 2);
        printf("%s checked\n", set);
    }
    return failures != 0;
}
