/* e^x and tanh in plain C that each file's own compiler flags turn into vector code. */
#ifndef TENON_EXPONENTIAL_H
#define TENON_EXPONENTIAL_H

#include "inline.h"

#include <math.h>

#include "quantize.h"

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

#endif
