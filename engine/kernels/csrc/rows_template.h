/* The row operations in the compiler's vectors. Before including this, a file defines
 *
 *   VECTOR_BYTES     16, 32 or 64
 *   ROW_OPERATIONS   the table's name */

#include <math.h>

#include "inline.h"
#include "quantize.h"
#include "rows.h"
#include "tenon.h"

enum { LANES = VECTOR_BYTES / 4, KEY_BLOCK = 64, QUERIES = VECTOR_BYTES == 64 ? 4 : 2, KEYS = 4, VECTORS = 2 };

typedef float fvec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t uvec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t hvec __attribute__((vector_size(VECTOR_BYTES / 2)));

INLINE fvec load(const float *p) { fvec v; memcpy(&v, p, sizeof v); return v; }
INLINE void store(float *p, fvec v) { memcpy(p, &v, sizeof v); }
INLINE fvec zero(void) { return (fvec){0}; }

INLINE fvec load_half(const uint16_t *p)
{
    hvec half;
    memcpy(&half, p, sizeof half);
    return (fvec)(__builtin_convertvector(half, uvec) << 16);
}

/* A sum over the lanes, by halves. */
INLINE float total(fvec v)
{
    float lanes[LANES];
    store(lanes, v);
    UNROLL
    for (int width = LANES / 2; width > 0; width /= 2)
        UNROLL
        for (int i = 0; i < width; i++)
            lanes[i] += lanes[i + width];
    return lanes[0];
}

static void norm(const float *x, const float *gain, float floor, int64_t n, float *out)
{
    fvec squares = zero();
    float sum = floor;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        squares += load(x + i) * load(x + i);
    for (; i < n; i++)
        sum += x[i] * x[i];
    const float scale = 1.0f / sqrtf(sum + total(squares));
    for (i = 0; i < n; i++)
        out[i] = x[i] * scale * gain[i];
}

static void add(float *x, const float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
}

static void rotate(float *x, const float *cosine, const float *sine, int64_t rotated, int64_t n, float factor)
{
    const int64_t half = rotated / 2;
    for (int64_t i = 0; i < half; i++) {
        const float a = x[i], b = x[i + half];
        x[i] = (a * cosine[i] + b * sine[i]) * factor;
        x[i + half] = (b * cosine[i + half] + a * sine[i + half]) * factor;
    }
    for (int64_t i = rotated; i < n; i++)
        x[i] *= factor;
}

static void to_bfloat16(const float *x, int64_t n, uint16_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bfloat16(x[i]);
}

/* e^x by 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (Cephes' expf); exact zeros below -87, x at most 88. */
INLINE float exponential(float x)
{
    const float clamped = x > -87.0f ? x : -87.0f;
    const float shifted = clamped * 1.44269504f + ROUNDING;     /* the nearest integer in its low bits */
    const float n = shifted - ROUNDING;
    const float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const float power = bits_float((float_bits(shifted) << 23) + 0x3f800000u);
    return x > -87.0f ? p * power : x != x ? x : 0.0f;
}

INLINE float hyperbolic_tangent(float x)
{
    const float magnitude = fabsf(x) < 10.0f ? fabsf(x) : 10.0f;
    const float e = exponential(-2.0f * magnitude);
    const float t = (1.0f - e) / (1.0f + e);
    return x != x ? x : copysignf(t, x);
}

static void gate_silu(float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float x = gate[i];
        gate[i] = x / (1.0f + exponential(x < -80.0f ? 80.0f : -x)) * up[i];
    }
}

static void gate_gelu_tanh(float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float x = gate[i];
        gate[i] = 0.5f * x * (1.0f + hyperbolic_tangent(0.79788456f * (x + 0.044715f * x * x * x))) * up[i];
    }
}

static void gate_gelu(float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        gate[i] = 0.5f * gate[i] * (1.0f + erff(gate[i] * 0.70710678f)) * up[i];
}

static void gate(float *gate, const float *up, int64_t n, int32_t activation)
{
    if (activation == TENON_SILU)
        gate_silu(gate, up, n);
    else if (activation == TENON_GELU_TANH)
        gate_gelu_tanh(gate, up, n);
    else
        gate_gelu(gate, up, n);
}

/* Scores of up to QUERIES queries with KEYS keys. */
INLINE void score_tile(const struct attention *a, int64_t query, const uint16_t *const *keys, float scores[][KEY_BLOCK],
                       int key, const int queries)
{
    fvec sum[QUERIES][KEYS];
    UNROLL
    for (int q = 0; q < queries; q++)
        UNROLL
        for (int k = 0; k < KEYS; k++)
            sum[q][k] = zero();
    for (int64_t d = 0; d < a->head_dim; d += LANES) {
        fvec channels[KEYS];
        UNROLL
        for (int k = 0; k < KEYS; k++)
            channels[k] = load_half(keys[key + k] + d);
        UNROLL
        for (int q = 0; q < queries; q++) {
            const fvec x = load(a->queries + (query + q) * a->head_dim + d);
            UNROLL
            for (int k = 0; k < KEYS; k++)
                sum[q][k] += x * channels[k];
        }
    }
    UNROLL
    for (int q = 0; q < queries; q++)
        UNROLL
        for (int k = 0; k < KEYS; k++)
            scores[q][key + k] = total(sum[q][k]);
}

/* out += weights * values for up to QUERIES queries by `vectors` vectors of channels, keys in order. */
INLINE void mix_tile(const struct attention *a, int64_t query, const uint16_t *const *values, int count,
                     float weights[][KEY_BLOCK], int64_t channel, const int queries, const int vectors)
{
    fvec sum[QUERIES][VECTORS];
    float *const out = a->out + query * a->head_dim + channel;
    UNROLL
    for (int q = 0; q < queries; q++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[q][v] = load(out + q * a->head_dim + v * LANES);
    for (int k = 0; k < count; k++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const fvec channels = load_half(values[k] + channel + v * LANES);
            UNROLL
            for (int q = 0; q < queries; q++)
                sum[q][v] += weights[q][k] * channels;
        }
    UNROLL
    for (int q = 0; q < queries; q++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            store(out + q * a->head_dim + v * LANES, sum[q][v]);
}

struct softmax { float largest, sum; };

/* Scores into weights, relative to the largest score so far; returns what earlier weights are to be multiplied by. */
static float weigh(float *scores, int count, float soft_cap, struct softmax *state)
{
    if (soft_cap > 0.0f)
        for (int k = 0; k < count; k++)
            scores[k] = soft_cap * hyperbolic_tangent(scores[k] / soft_cap);
    for (int k = count; k < KEY_BLOCK; k++)
        scores[k] = -INFINITY;
    float largest = state->largest;
    for (int k = 0; k < count; k++)
        largest = scores[k] > largest ? scores[k] : largest;
    fvec sums = zero();
    for (int k = 0; k < KEY_BLOCK; k++)
        scores[k] = exponential(scores[k] - largest);
    for (int k = 0; k < KEY_BLOCK; k += LANES)
        sums += load(scores + k);
    const float rescale = exponential(state->largest - largest);
    state->largest = largest;
    state->sum = state->sum * rescale + total(sums);
    return rescale;
}

/* One block of keys for up to QUERIES queries. */
INLINE void attend_block(const struct attention *a, int64_t query, const uint16_t *const *keys,
                         const uint16_t *const *values, int count, struct softmax *state, const int queries)
{
    float scores[QUERIES][KEY_BLOCK];
    for (int key = 0; key < count; key += KEYS)
        score_tile(a, query, keys, scores, key, queries);
    for (int q = 0; q < queries; q++) {
        const float rescale = weigh(scores[q], count, a->soft_cap, &state[q]);
        float *const out = a->out + (query + q) * a->head_dim;
        if (rescale != 1.0f)
            for (int64_t d = 0; d < a->head_dim; d++)
                out[d] *= rescale;
    }
    int64_t channel = 0;
    for (; channel + VECTORS * LANES <= a->head_dim; channel += VECTORS * LANES)
        mix_tile(a, query, values, count, scores, channel, queries, VECTORS);
    for (; channel < a->head_dim; channel += LANES)
        mix_tile(a, query, values, count, scores, channel, queries, 1);
}

/* Where the rows of a block lie; up to KEYS - 1 more repeat the last, so that tiles are whole. */
static int block_rows(const struct attention *a, int64_t begin, int64_t end, const uint16_t **keys,
                      const uint16_t **values)
{
    const int count = (int)(end - begin);
    for (int i = 0; i < count; i++) {
        const int64_t index = begin + i, behind = index - a->length;
        const int64_t row = behind < 0 || !a->ancestors ? index : a->length + a->ancestors[behind];
        keys[i] = a->keys + row * a->head_dim;
        values[i] = a->values + row * a->head_dim;
    }
    for (int i = count; i % KEYS; i++)
        keys[i] = keys[count - 1];
    return count;
}

INLINE void attend_queries(const struct attention *a, int64_t query, const int queries)
{
    struct softmax state[QUERIES];
    for (int q = 0; q < queries; q++)
        state[q] = (struct softmax){-INFINITY, 0.0f};
    memset(a->out + query * a->head_dim, 0, (size_t)(queries * a->head_dim) * sizeof(float));
    for (int64_t begin = a->first; begin < a->end;) {
        const uint16_t *keys[KEY_BLOCK], *values[KEY_BLOCK];
        const int64_t next = (begin / KEY_BLOCK + 1) * KEY_BLOCK, end = next < a->end ? next : a->end;
        const int count = block_rows(a, begin, end, keys, values);
        attend_block(a, query, keys, values, count, state, queries);
        begin = end;
    }
    for (int q = 0; q < queries; q++) {
        float *const out = a->out + (query + q) * a->head_dim;
        const float inverse = 1.0f / state[q].sum;
        for (int64_t d = 0; d < a->head_dim; d++)
            out[d] *= inverse;
    }
}

static void attend(const struct attention *a)
{
    int64_t query = 0;
    for (; query + QUERIES <= a->queries_count; query += QUERIES)
        attend_queries(a, query, QUERIES);
    for (; query + 2 <= a->queries_count; query += 2)
        attend_queries(a, query, 2);
    if (query < a->queries_count)
        attend_queries(a, query, 1);
}

const struct row_operations ROW_OPERATIONS = {
    .norm = norm,
    .add = add,
    .rotate = rotate,
    .to_bfloat16 = to_bfloat16,
    .gate = gate,
    .attend = attend,
};
