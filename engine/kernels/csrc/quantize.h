/* Activations into the kernels' forms, in plain C that each file's own compiler flags turn into vector code. */
#ifndef TENON_QUANTIZE_H
#define TENON_QUANTIZE_H

#include <string.h>

#include "inline.h"
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
/* Below this the reciprocal would overflow; such a block counts as zero. */
static const float TINY = 1e-36f;

/* Brings a block to -127..127 by its largest magnitude, pads it with zeros, and sums it. A NaN or an infinity makes
 * the scale NaN. */
static inline int32_t quantize_block(const float *x, int64_t count, int64_t padded, int8_t *q, float *scale)
{
    const uint32_t largest_abs = largest_bits(x, count);
    const float largest = bits_float(largest_abs);
    const int finite = largest_abs < 0x7f800000u;
    const float inverse = finite && largest >= TINY ? 127.0f / largest : 0.0f;
    int32_t sum = 0;

    *scale = !finite ? bits_float(0x7fc00000u) : inverse == 0.0f ? 0.0f : largest / 127.0f;
    memset(q + count, 0, (size_t)(padded - count));
    if (inverse == 0.0f) {
        memset(q, 0, (size_t)count);
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        const int8_t rounded = (int8_t)(float_bits(x[i] * inverse + ROUNDING) - float_bits(ROUNDING));
        q[i] = rounded;
        sum += rounded;
    }
    return sum;
}

INLINE void quantize_blocks(const float *x, int64_t k, int64_t padded, const int64_t block, const int32_t zero_point,
                            int8_t *q, float *scale, int32_t *start)
{
    int64_t at = 0;
    for (; at + block <= k; at += block)
        *start++ = -zero_point * quantize_block(x + at, block, block, q + at, scale++);
    for (; at < padded; at += block) {
        const int64_t count = k > at ? k - at : 0, size = padded - at < block ? padded - at : block;
        *start++ = -zero_point * quantize_block(x + at, count, size, q + at, scale++);
    }
}

static inline void quantize_spans(const float *x, int64_t k, int64_t padded, void *q, float *scale, int32_t *start)
{
    quantize_blocks(x, k, padded, SPAN, INT8_ZERO, q, scale, start);
}

static inline void quantize_groups(const float *x, int64_t k, int64_t padded, void *q, float *scale, int32_t *start)
{
    quantize_blocks(x, k, padded, GROUP, INT4_ZERO, q, scale, start);
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
