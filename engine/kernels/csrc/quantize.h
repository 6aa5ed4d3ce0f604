/* Activations into the kernels' forms, in plain C that each file's own compiler flags turn into vector code. */
#ifndef TENON_QUANTIZE_H
#define TENON_QUANTIZE_H

#include <string.h>

#include "job.h"

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The largest magnitude's bits: as integers they order like the floats, and NaN and infinity come last. */
static inline uint32_t largest_bits(const float *x, int64_t k)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < k; i++) {
        uint32_t bits = float_bits(x[i]) & 0x7fffffffu;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

/* 1.5 * 2^23: adding it leaves the integer nearest to a small number (ties to even) in the low bits. */
static const float ROUNDING = 12582912.0f;
/* Below this the reciprocal would overflow; such a token counts as zero. */
static const float TINY = 1e-36f;

/* To -127..127 by the largest magnitude, each byte XORed with `flip` (0x80 makes them unsigned, zero point 128). */
static inline void quantize_token(const float *x, int64_t k, int64_t padded, uint8_t flip, int8_t *q, float *scale)
{
    const uint32_t largest_abs = largest_bits(x, k);
    const float largest = bits_float(largest_abs);
    const int finite = largest_abs < 0x7f800000u;
    const float inverse = finite && largest >= TINY ? 127.0f / largest : 0.0f;

    if (inverse == 0.0f) {
        memset(q, flip, (size_t)padded);
    } else {
        for (int64_t i = 0; i < k; i++)
            q[i] = (int8_t)((uint8_t)(float_bits(x[i] * inverse + ROUNDING) - float_bits(ROUNDING)) ^ flip);
        memset(q + k, flip, (size_t)(padded - k));
    }
    *scale = !finite ? bits_float(0x7fc00000u) : inverse == 0.0f ? 0.0f : largest / 127.0f;
}

static inline void quantize_signed(const float *x, int64_t k, int64_t padded, void *q, float *scale)
{
    quantize_token(x, k, padded, 0, q, scale);
}

static inline void quantize_unsigned(const float *x, int64_t k, int64_t padded, void *q, float *scale)
{
    quantize_token(x, k, padded, ZERO_POINT, q, scale);
}

static inline void quantize_groups(const float *x, int64_t k, int64_t padded, void *q, float *scale,
                                   int32_t *group_start)
{
    quantize_signed(x, k, padded, q, scale);
    for (int64_t group = 0; group < padded / GROUP; group++) {
        int32_t sum = 0;
        for (int i = 0; i < GROUP; i++)
            sum += ((const int8_t *)q)[group * GROUP + i];
        group_start[group] = -8 * sum;
    }
}

static inline void convert_to_float(const float *x, int64_t k, int64_t padded, void *converted)
{
    memcpy(converted, x, (size_t)k * sizeof *x);
    memset((float *)converted + k, 0, (size_t)(padded - k) * sizeof *x);
}

/* Round to nearest, ties to even; a NaN stays one. */
static inline uint16_t bfloat16(float value)
{
    const uint32_t bits = float_bits(value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

static inline void convert_to_bfloat16(const float *x, int64_t k, int64_t padded, void *converted)
{
    uint16_t *out = converted;
    for (int64_t i = 0; i < k; i++)
        out[i] = bfloat16(x[i]);
    memset(out + k, 0, (size_t)(padded - k) * sizeof *out);
}

#endif
