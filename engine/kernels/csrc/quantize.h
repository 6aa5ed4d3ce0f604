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

/* What a group's offsets are, one for each sub-block, or `paired`; see union offset. */
INLINE void offsets_of(const int8_t *q, float scale, const struct block_type *type, int32_t zero, const int paired,
                       union offset *offset)
{
    for (int at = 0; at < GROUP; at += type->sub, offset++) {
        int32_t sum = 0, right = 0;     /* right: of the last two of each four */
        for (int i = 0; i < type->sub; i++)
            sum += q[at + i];
        for (int i = 0; paired && i < type->sub; i++)
            right += i % 4 < 2 ? 0 : q[at + i];
        if (paired)
            offset->pair[0] = (int16_t)(-zero * (sum - right)), offset->pair[1] = (int16_t)(-zero * right);
        else if (type->mins)
            offset->sum = (float)sum * scale;
        else
            offset->start = -zero * sum;
    }
}

/* Where a token's group stands among prepared activations: row by row, or in tiles [k/32][16 tokens]. */
INLINE int64_t place_of(const struct job *job, int64_t token, int64_t group, const int tiled)
{
    return tiled ? (token / TILE_TOKENS * job->groups + group) * TILE_TOKENS + token % TILE_TOKENS
                 : token * job->groups + group;
}

/* `bytes` behind. */
#define further(pointer, bytes) ((__typeof__(pointer))(void *)((uint8_t *)(uintptr_t)(pointer) + (bytes)))

/* A group's integers as pairs of 16 bits: of each four the first and the third, then the others. */
INLINE void widen_group(const int8_t *q, int16_t *out)
{
    for (int i = 0; i < GROUP; i++)
        out[i] = q[(i & ~3) | (i & 1) << 1 | (i >> 1 & 1)];
}

/* Brings a group into form, 8 bits or `wide`, its offsets `paired` or not, `term` bytes behind the first term's; leaves its
 * integers in q. Returns its scale. */
INLINE float place_group(const struct job *job, int64_t term, const float *x, int64_t place, int32_t zero, const int wide,
                         const int paired, int8_t *q)
{
    uint8_t *out = job->x + term + (wide ? 2 : 1) * GROUP * place;
    const float scale = quantize_group(x, q);
    *further(job->x_scale + place, term) = scale;
    offsets_of(q, scale, job->type, zero, paired, further(job->offset + place * (GROUP / job->type->sub), term));
    if (wide)
        widen_group(q, (int16_t *)(void *)out);
    else
        memcpy(out, q, GROUP);
    return scale;
}

/* Quantizes a token for products of blocks; `zero` is what their bytes are too large. 8 bits of a group are as coarse as its
 * largest activation, and a few channels of a model's are far larger than the others: what quantizing leaves of those
 * groups is quantized as well. */
INLINE void quantize_token(const struct job *job, const float *x, int64_t token, int32_t zero, const int tiled,
                           const int wide, const int paired)
{
    int8_t q[GROUP];
    float sum = 0.0f;
    for (int64_t group = 0; group < job->groups; group++) {
        const int64_t place = place_of(job, token, group, tiled);
        sum += place_group(job, 0, x + group * GROUP, place, zero, wide, paired, q);
    }
    if (!job->rest)
        return;
    const float limit = job->refined_above * (sum / (float)job->groups);
    for (int64_t group = 0; group < job->groups; group++) {
        const int64_t place = place_of(job, token, group, tiled);
        const float scale = job->x_scale[place];
        float left[GROUP] = {0};
        if ((job->refined[token * job->groups + group] = scale > limit)) {
            quantize_group(x + group * GROUP, q);
            for (int i = 0; i < GROUP; i++)
                left[i] = x[group * GROUP + i] - scale * (float)q[i];
        }
        place_group(job, job->rest, left, place, zero, wide, paired, q);
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
