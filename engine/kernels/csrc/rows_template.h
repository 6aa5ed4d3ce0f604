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

const struct row_operations ROW_OPERATIONS = {
    .norm = norm,
    .add = add,
    .rotate = rotate,
    .gate = gate,
};
