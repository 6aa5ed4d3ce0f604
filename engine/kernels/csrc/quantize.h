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

/* Brings a group to -127..127 by its largest magnitude. Returns its scale: NaN where there is a NaN or an infinity. */
static inline float quantize_group(const float *x, int8_t *q)
{
    const uint32_t largest_abs = largest_bits(x, GROUP);
    const float largest = bits_float(largest_abs);
    const int finite = largest_abs < 0x7f800000u;
    const float inverse = finite && largest >= TINY ? 127.0f / largest : 0.0f;
    if (inverse == 0.0f) {
        memset(q, 0, GROUP);
        return finite ? 0.0f : bits_float(0x7fc00000u);
    }
    for (int i = 0; i < GROUP; i++)
        q[i] = (int8_t)(float_bits(x[i] * inverse + ROUNDING) - float_bits(ROUNDING));
    return largest / 127.0f;
}

/* What a group's offsets are, one for each sub-block; see union offset. */
INLINE void offsets_of(const int8_t *q, float scale, const struct block_type *type, int32_t zero, union offset *offset)
{
    for (int at = 0; at < GROUP; at += type->sub, offset++) {
        int32_t sum = 0;
        for (int i = 0; i < type->sub; i++)
            sum += q[at + i];
        if (type->mins)
            offset->sum = (float)sum * scale;
        else
            offset->start = -zero * sum;
    }
}

/* Quantizes a token for products of blocks; `zero` is what their bytes are too large. */
INLINE void quantize_token(const struct job *job, const float *x, int64_t token, int32_t zero)
{
    const int subs = GROUP / job->type->sub;
    int8_t *q = (int8_t *)job->x + token * job->k;
    float *scale = job->x_scale + token * job->groups;
    union offset *offset = job->offset + token * job->groups * subs;
    for (int64_t group = 0; group < job->groups; group++, x += GROUP, q += GROUP, offset += subs) {
        scale[group] = quantize_group(x, q);
        offsets_of(q, scale[group], job->type, zero, offset);
    }
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

/* A token for products of floats. */
static inline void prepare_bfloat16(const struct job *job, const float *x, int64_t token)
{
    convert_to_bfloat16(x, job->inner, job->k, (uint16_t *)(void *)job->x + token * job->k);
}

static inline void prepare_float(const struct job *job, const float *x, int64_t token)
{
    float *out = (float *)(void *)job->x + token * job->k;
    memcpy(out, x, (size_t)job->inner * sizeof *x);
    memset(out + job->inner, 0, (size_t)(job->k - job->inner) * sizeof *x);
}

#endif
