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

/* `bytes` behind. */
#define further(pointer, bytes) ((__typeof__(pointer))(void *)((uint8_t *)(uintptr_t)(pointer) + (bytes)))

/* The tile of tokens that a token stands in: up to `most` of an item's, the last one's fewer. What is prepared of a tile's
 * group stands together: activations as [4 bytes][token][4], scales as [token], offsets as [sub-block][token].
 * Activations of large tiles, of TILE_TOKENS and more, stand as [token][32]; AMX wants such tiles whole. */
struct token_tile { int64_t first; int width; };

INLINE struct token_tile tile_of(const struct job *job, int64_t token, const int most)
{
    const int64_t item = token / MOST_TOKENS * MOST_TOKENS, first = token - (token - item) % most;
    const int64_t end = item + MOST_TOKENS < job->m ? item + MOST_TOKENS : job->m;
    return (struct token_tile){first, most == TILE_TOKENS || end - first > most ? most : (int)(end - first)};
}

/* The place of a group's scale, its first token's. */
INLINE int64_t place_of(const struct job *job, struct token_tile tile, int64_t group)
{
    return tile.first * job->groups + group * tile.width;
}

/* How products want activations: in tiles of up to `most` tokens, `wide` as pairs of 16 bits, offsets by `sub` elements,
 * `paired` or not; `zero` is what the weights' bytes are too large. All but the last are constants of each call. */
struct activation_form { int most, wide, sub, paired; int32_t zero; };

/* A token's offsets of a group, one for each sub-block; see union offset. */
INLINE void place_offsets(const int8_t *q, float scale, const int32_t mins, const struct activation_form form, int width,
                          union offset *offset)
{
    UNROLL
    for (int at = 0; at < GROUP; at += form.sub, offset += width) {
        int32_t sum = 0, right = 0;     /* right: of the last two of each four */
        for (int i = 0; i < form.sub; i++)
            sum += q[at + i];
        if (mins) {
            offset->sum = (float)sum * scale;
        } else if (form.paired) {
            for (int i = 0; i < form.sub; i++)
                right += q[at + i] & -(i >> 1 & 1);
            offset->pair[0] = (int16_t)(-form.zero * (sum - right)), offset->pair[1] = (int16_t)(-form.zero * right);
        } else {
            offset->start = -form.zero * sum;
        }
    }
}

/* Of each four the first and the third, then the others. */
INLINE void place_wide(const int8_t *q, int width, int16_t *out)
{
    UNROLL
    for (int i = 0; i < GROUP; i += 2, out += 2 * width)
        out[0] = q[(i & ~3) | (i >> 1 & 1)], out[1] = q[(i & ~3) | 2 | (i >> 1 & 1)];
}

/* Puts a group's integers and their scale into form, `term` bytes behind the first term's. */
INLINE void place_group(const struct job *job, int64_t term, const int8_t *q, float scale, struct token_tile tile,
                        int column, int64_t group, const struct activation_form form)
{
    const int64_t place = place_of(job, tile, group);
    uint8_t *out = job->x + term + (form.wide ? 2 : 1) * GROUP * place;
    *further(job->x_scale + place + column, term) = scale;
    place_offsets(q, scale, job->type->mins, form, tile.width,
                  further(job->offset + place * (GROUP / form.sub) + column, term));
    if (form.most >= TILE_TOKENS)
        memcpy(out + column * GROUP, q, GROUP);
    else if (form.wide)
        place_wide(q, tile.width, (int16_t *)(void *)out + 2 * column);
    else
        UNROLL
        for (int step = 0; step < GROUP_STEPS; step++)
            memcpy(out + 4 * (step * tile.width + column), q + 4 * step, 4);
}

/* Quantizes a token for products of blocks. 8 bits of a group are as coarse as its largest activation, and a few channels of
 * a model's are far larger than the others: what quantizing leaves of those groups is quantized as well. Its part in the
 * products with mins is added to the first term's. */
INLINE void quantize_token(const struct job *job, const float *x, int64_t token, const struct activation_form form)
{
    const struct token_tile tile = tile_of(job, token, form.most);
    const int column = (int)(token - tile.first), subs = GROUP / form.sub;
    float sum = 0.0f;
    for (int64_t group = 0; group < job->groups; group++) {
        int8_t q[GROUP];
        const float scale = quantize_group(x + group * GROUP, q);
        place_group(job, 0, q, scale, tile, column, group, form);
        sum += scale;
    }
    if (!job->rest)
        return;
    const float limit = job->refined_above * (sum / (float)job->groups);
    for (int64_t group = 0; group < job->groups; group++) {
        const int64_t place = place_of(job, tile, group) + column;
        const float scale = job->x_scale[place];
        int8_t q[GROUP] = {0};
        float rest_scale = 0.0f, left[GROUP];
        if ((job->refined[place] = scale > limit)) {
            quantize_group(x + group * GROUP, q);
            for (int i = 0; i < GROUP; i++)
                left[i] = x[group * GROUP + i] - scale * (float)q[i];
            rest_scale = quantize_group(left, q);
        }
        place_group(job, job->rest, q, rest_scale, tile, column, group, form);
        for (int sub = 0; job->type->mins && sub < subs; sub++) {
            union offset *offset = job->offset + (place - column) * subs + sub * tile.width + column;
            offset->sum += further(offset, job->rest)->sum;
        }
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
