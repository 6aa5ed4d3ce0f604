/* The row operations in the compiler's vectors. Before including this, a file defines
 *
 *   VECTOR_BYTES     16, 32 or 64
 *   ROW_OPERATIONS   the table's name */

#include <math.h>

#include "exponential.h"
#include "quantize.h"
#include "rows.h"
#include "tenon.h"
#include "vectors.h"

#include "memory_template.h"

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

static void centre(const float *x, int64_t n, float *out)
{
    fvec sums = zero();
    float sum = 0.0f;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sums += load(x + i);
    for (; i < n; i++)
        sum += x[i];
    const float mean = (sum + total(sums)) / (float)n;
    for (i = 0; i < n; i++)
        out[i] = x[i] - mean;
}

static void add(float *x, const float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
}

static void add_scaled(float *x, const float *y, float factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i] * factor;
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

/* Sums and differences of elements further and further apart, in the same order in all widths of vectors. */
static void hadamard(float *x, int64_t n, int64_t width)
{
    for (int64_t first = 0; first < n; first += width)
        for (int64_t apart = 1; apart < width; apart *= 2)
            for (float *a = x + first; a < x + first + width; a += 2 * apart) {
                float *b = a + apart;
                for (int64_t i = 0; i < apart && apart < LANES; i++) {
                    const float sum = a[i] + b[i], difference = a[i] - b[i];
                    a[i] = sum;
                    b[i] = difference;
                }
                for (int64_t i = 0; i < apart && apart >= LANES; i += LANES) {
                    const fvec left = load(a + i), right = load(b + i);
                    store(a + i, left + right);
                    store(b + i, left - right);
                }
            }
}

INLINE float silu(float x)
{
    return x / (1.0f + exponential(x < -80.0f ? 80.0f : -x));
}

INLINE float gelu_tanh(float x)
{
    return 0.5f * x * (1.0f + hyperbolic_tangent(0.79788456f * (x + 0.044715f * x * x * x)));
}

INLINE float gelu(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

#define GATE(activation)                                                    \
    static void gate_##activation(float *gate, const float *up, int64_t n)  \
    {                                                                       \
        if (up)                                                             \
            for (int64_t i = 0; i < n; i++)                                 \
                gate[i] = activation(gate[i]) * up[i];                      \
        else                                                                \
            for (int64_t i = 0; i < n; i++)                                 \
                gate[i] = activation(gate[i]);                              \
    }
GATE(silu)
GATE(gelu_tanh)
GATE(gelu)
#undef GATE

static void gate_clamped(float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float x = gate[i] > 7.0f ? 7.0f : gate[i], most = up[i] > 7.0f ? 7.0f : up[i];
        const float y = most < -7.0f ? -7.0f : most, turned = -1.702f * x;
        gate[i] = x / (1.0f + exponential(turned > 80.0f ? 80.0f : turned)) * (y + 1.0f);
    }
}

static void square_positive(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] > 0.0f ? x[i] * x[i] : 0.0f;
}

static void gate(float *gate, const float *up, int64_t n, int32_t activation)
{
    if (activation == TENON_RELU2)
        square_positive(gate, n);
    else if (activation == TENON_SILU)
        gate_silu(gate, up, n);
    else if (activation == TENON_GELU_TANH)
        gate_gelu_tanh(gate, up, n);
    else if (activation == TENON_CLAMPED_SWIGLU)
        gate_clamped(gate, up, n);
    else
        gate_gelu(gate, up, n);
}

static float divide(const float *x, float by, float *out)
{
    fvec largest = zero() - INFINITY;
    uvec unordered = {0};
    for (int i = 0; i < BLOCK; i += LANES) {
        const fvec v = load(x + i) / by;
        const uvec above = (uvec)(v > largest);
        store(out + i, v);
        largest = (fvec)(((uvec)v & above) | ((uvec)largest & ~above));
        unordered |= (uvec)(v != v);
    }
    float most = -INFINITY;
    uint32_t any = 0;
    for (int i = 0; i < LANES; i++) {
        most = largest[i] > most ? largest[i] : most;
        any |= unordered[i];
    }
    return any ? NAN : most;
}

/* e^x for x at most 0 by 2^n times Taylor's polynomial on [-ln 2 / 2, ln 2 / 2]; exact zeros below -700. */
INLINE dvec wide_exponential(dvec x)
{
    static const double terms[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                   1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
    const double rounding = 6755399441055744.0;                 /* 1.5 * 2^52 */
    const dvec shifted = x * 1.4426950408889634 + rounding;     /* the nearest integer in its low bits */
    const dvec n = shifted - rounding;
    const dvec r = x - n * 0.693147180369123816490 - n * 1.90821492927058770002e-10;
    dvec p = r * (1.0 / 6227020800);
    UNROLL
    for (int i = 0; i < (int)(sizeof terms / sizeof *terms); i++)
        p = i ? p * r + terms[i] : p + terms[i];
    const lvec power = ((lvec)shifted << 52) + ((int64_t)1023 << 52);
    return (dvec)((lvec)(p * (dvec)power) & (lvec)(x > -700.0));
}

static double exponentials(const float *x, float largest, double *out)
{
    enum { WIDE = VECTOR_BYTES / sizeof(double) };
    typedef float narrow __attribute__((vector_size(VECTOR_BYTES / 2)));
    dvec sum = {0};
    for (int i = 0; i < BLOCK; i += WIDE) {
        narrow v;
        memcpy(&v, x + i, sizeof v);
        const dvec e = wide_exponential(__builtin_convertvector(v, dvec) - (double)largest);
        memcpy(out + i, &e, sizeof e);
        sum += e;
    }
    double all = 0;
    for (int i = 0; i < (int)WIDE; i++)
        all += sum[i];
    return all;
}

const struct row_operations ROW_OPERATIONS = {
    .norm = norm,
    .centre = centre,
    .add = add,
    .add_scaled = add_scaled,
    .rotate = rotate,
    .hadamard = hadamard,
    .gate = gate,
    .convolve = convolve,
    .dot = dot,
    .project = project,
    .remember = remember,
    .multiply_sigmoid = multiply_sigmoid,
    .divide = divide,
    .exponentials = exponentials,
};
