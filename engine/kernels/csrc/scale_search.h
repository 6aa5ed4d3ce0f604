/* Blocks from floats. For a few ranges around a sub-block's own its elements are rounded, and the scale and minimum that
 * then fit best by weighted least squares are kept if they err less. Then the block's own scales are fitted to all of its
 * sub-blocks, and each sub-block's 4, 6 or 8 bits to these. `importance` (NULL: all alike) is how much an error of each
 * element counts: the mean square of the activations that its column meets. */
#ifndef TENON_SCALE_SEARCH_H
#define TENON_SCALE_SEARCH_H

#include <math.h>

#include "blocks.h"

enum { SUPER = 256, LANES = 8 };

/* Round to nearest, ties to even. */
static uint16_t float_half(float value)
{
    const uint32_t bits = float_bits(value), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    const float to_units = 0.5f;    /* adding it leaves a multiple of 2^-24 in the low bits */
    if (magnitude > 0x7f800000u)
        return 0x7e00;
    if (magnitude >= 0x47800000u)
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u)
        return (uint16_t)(sign | (float_bits(bits_float(magnitude) + to_units) - float_bits(to_units)));
    return (uint16_t)(sign | ((magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13));
}

static float put_half(float value, uint8_t *out)
{
    const uint16_t half = float_half(value);
    memcpy(out, &half, 2);
    return half_float(half);
}

static float inverse_of(float value)
{
    return value != 0.0f && fabsf(1.0f / value) < INFINITY ? 1.0f / value : 0.0f;
}

INLINE float sum_of(const float *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* Nearest integer from -`below` to `top`. */
INLINE float rounded(float value, const float below, const float top)
{
    value = value > -below ? value : -below;
    value = value < top ? value : top;
    return value + ROUNDING - ROUNDING;
}

/* Levels of an element: the whole numbers from -`below` to `top`, or IQ4's sixteen. */
struct levels { float below, top; int iq4; };

INLINE float nearest_level(float value, const struct levels levels)
{
    if (!levels.iq4)
        return rounded(value, levels.below, levels.top);
    float level = IQ4_VALUES[0];
    UNROLL for (int i = 1; i < 16; i++)
        level += value > 0.5f * (float)(IQ4_VALUES[i - 1] + IQ4_VALUES[i]) ? (float)(IQ4_VALUES[i] - IQ4_VALUES[i - 1]) : 0.0f;
    return level;
}

/* Weighted sums over a sub-block of levels and of what they leave, `rest`. Fits correct a scale by what is left: sums of
 * the numbers themselves lose it where one column counts ten thousand times as much as the others. */
struct sums { float q, qq, rest, rest_q, error; };

/* Rounds x to scale * q + offset: the sums that a fit needs and, unless q is NULL, the levels. */
INLINE struct sums round_block(const float *restrict x, const float *restrict weight, const int count, float scale,
                               float offset, const struct levels levels, float *restrict q)
{
    const float inverse = inverse_of(scale);
    float sum_q[LANES] = {0}, sum_qq[LANES] = {0}, rest[LANES] = {0}, rest_q[LANES] = {0}, error[LANES] = {0};
    for (int i = 0; i < count; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const float value = x[i + lane], level = nearest_level((value - offset) * inverse, levels);
            const float weighted = weight[i + lane] * level, missing = value - (scale * level + offset);
            const float left = weight[i + lane] * missing;
            sum_q[lane] += weighted;
            sum_qq[lane] += weighted * level;
            rest[lane] += left;
            rest_q[lane] += left * level;
            error[lane] += left * missing;
            if (q)
                q[i + lane] = level;
        }
    return (struct sums){sum_of(sum_q), sum_of(sum_qq), sum_of(rest), sum_of(rest_q), sum_of(error)};
}

/* What a sub-block's numbers count in a fit: large ones more, and less so where it is known what a column counts. */
INLINE void weigh(const float *x, const float *importance, const int count, float *weight)
{
    float square = 0.0f;
    for (int i = 0; i < count; i++)
        square += x[i] * x[i];
    square /= (float)count;
    const float root = sqrtf(square);
    for (int i = 0; i < count; i++)
        weight[i] = importance ? importance[i] * sqrtf(4.0f * square + x[i] * x[i]) : root + fabsf(x[i]);
}

/* Levels and scales of a block, as they are tried. */
struct choice {
    float d, minimum;               /* of the block, in half precision */
    float scale[16], offset[16];    /* of its sub-blocks, in units of these */
    float q[SUPER];
    float error;
};

/* Types with minima: of `blocks` sub-blocks of `count` elements with levels from 0 to `top`, whose scales and minima are
 * whole numbers up to `finest`. */
struct minima { int blocks, count; float top, finest; };

INLINE struct levels levels_of(const struct minima type)
{
    return (struct levels){0.0f, type.top, 0};
}

/* A sub-block's scale and minimum (at least 0; it is taken off). */
INLINE void fit_minimum(const float *x, const float *weight, const struct minima type, float *scale, float *minimum)
{
    enum { STEPS = 9 };
    const float top = type.top, step_width = top < 15.0f ? 0.2f : 0.3f;
    float least = 0.0f, largest = x[0], sum_w = 0.0f, sum_x = 0.0f;
    for (int i = 0; i < type.count; i++) {
        least = x[i] < least ? x[i] : least;
        largest = x[i] > largest ? x[i] : largest;
        sum_w += weight[i];
        sum_x += weight[i] * x[i];
    }
    *scale = (largest - least) / top;
    *minimum = -least;
    if (inverse_of(*scale) == 0.0f)
        return;
    float best = INFINITY, best_scale = *scale, best_offset = least;
    for (int step = -STEPS; step <= STEPS; step++) {
        const float range = (largest - least) / (top + step_width * (float)step);
        const float middle = rounded((sum_x / sum_w - least) / range, 0.0f, top), at = least + range * middle;
        const struct levels levels = {middle, top - middle, 0};     /* from where a column that counts most stands */
        const struct sums sums = round_block(x, weight, type.count, range, at, levels, NULL);
        const float determinant = sums.qq * sum_w - sums.q * sums.q;
        if (!(determinant > 0.0f))
            continue;
        float more = (sum_w * sums.rest_q - sums.q * sums.rest) / determinant;
        float shift = (sums.qq * sums.rest - sums.q * sums.rest_q) / determinant;
        if (least + shift - more * middle > 0.0f) {     /* the lowest level may not be above zero: it is zero */
            more = (sums.rest_q + middle * sums.rest + least * (sums.q + middle * sum_w))
                   / (sums.qq + 2.0f * middle * sums.q + middle * middle * sum_w);
            shift = more * middle - least;
        }
        const float error = sums.error + more * (more * sums.qq - 2.0f * sums.rest_q)
                            + shift * (shift * sum_w - 2.0f * sums.rest + 2.0f * more * sums.q);
        if (error < best) {
            best = error;
            best_scale = range + more;
            best_offset = least + shift - more * middle;
        }
    }
    *scale = best_scale;
    *minimum = -best_offset;
}

/* Chooses each sub-block's bits, near those that its own fit asks for, and its levels. */
INLINE void choose_minima(const float *x, const float *weight, const float *scale, const float *minimum,
                          const struct minima type, struct choice *choice, float *next_d, float *next_minimum)
{
    const float inverse = inverse_of(choice->d), inverse_minimum = inverse_of(choice->minimum), finest = type.finest;
    float aa = 0.0f, ab = 0.0f, bb = 0.0f, ra = 0.0f, rb = 0.0f;
    choice->error = 0.0f;
    for (int j = 0; j < type.blocks; j++, x += type.count, weight += type.count) {
        const float nearest = rounded(scale[j] * inverse, 0.0f, finest);
        float best = INFINITY, sum_w = 0.0f, q[32];
        struct sums kept = {0};
        for (int i = 0; i < type.count; i++)
            sum_w += weight[i];
        for (float fine = nearest > 1.0f ? nearest - 1.0f : nearest; fine <= nearest + 1.0f && fine <= finest; fine++) {
            float taken = rounded(minimum[j] * inverse_minimum, 0.0f, finest);
            for (int pass = 0; pass < 2; pass++) {
                const float own = choice->d * fine, offset = -choice->minimum * taken;
                const struct sums sums = round_block(x, weight, type.count, own, offset, levels_of(type), q);
                if (sums.error < best) {
                    best = sums.error;
                    kept = sums;
                    choice->scale[j] = fine;
                    choice->offset[j] = taken;
                    memcpy(choice->q + type.count * j, q, (size_t)type.count * sizeof *q);
                }
                const float better = choice->minimum * taken - sums.rest * inverse_of(sum_w);
                const float again = rounded(better * inverse_minimum, 0.0f, finest);
                if (again == taken)
                    break;
                taken = again;
            }
        }
        const float a = choice->scale[j], b = choice->offset[j];
        choice->error += best;
        aa += a * a * kept.qq;
        ab += a * b * kept.q;
        bb += b * b * sum_w;
        ra += a * kept.rest_q;
        rb += b * kept.rest;
    }
    const float determinant = aa * bb - ab * ab;
    *next_d = choice->d + (determinant > 0.0f ? (ra * bb - ab * rb) / determinant : ra * inverse_of(aa));
    *next_minimum = choice->minimum + (determinant > 0.0f ? (ab * ra - aa * rb) / determinant : 0.0f);
}

/* Fits a block of a type with minima. */
INLINE void fit_minima(const float *x, const float *importance, const struct minima type, struct choice *best)
{
    float weight[SUPER], scale[16], minimum[16], d = 0.0f, dmin = 0.0f;
    struct choice choice;
    *best = (struct choice){.d = INFINITY, .error = INFINITY};    /* which stands where nothing fits */
    for (int j = 0; j < type.blocks; j++) {
        const int at = type.count * j;
        weigh(x + at, importance ? importance + at : NULL, type.count, weight + at);
        fit_minimum(x + at, weight + at, type, scale + j, minimum + j);
        d = scale[j] > d ? scale[j] : d;
        dmin = minimum[j] > dmin ? minimum[j] : dmin;
    }
    d /= type.finest;
    dmin /= type.finest;
    for (int pass = 0; pass < 3; pass++) {
        uint8_t halves[4];
        choice.d = put_half(d, halves);
        choice.minimum = put_half(dmin, halves + 2);
        choose_minima(x, weight, scale, minimum, type, &choice, &d, &dmin);
        if (!(choice.error < best->error))
            break;
        *best = choice;
        if (!(d > 0.0f) || !(dmin >= 0.0f))
            break;
    }
}

/* Nibbles of 32 elements: i and 16 + i share a byte; a fifth bit goes to `high`. */
INLINE void put_nibbles(const float *q, float first, uint8_t *raw, uint8_t *high)
{
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++) {
        const int low = (int)(q[i] + first), other = (int)(q[i + 16] + first);
        raw[i] = (uint8_t)((low & 15) | (other & 15) << 4);
        bits |= (uint32_t)(low >> 4) << i | (uint32_t)(other >> 4) << (i + 16);
    }
    if (high)
        memcpy(high, &bits, sizeof bits);
}

/* Q4_1 and Q5_1. */
INLINE void quantize_with_minimum(const float *x, const float *importance, const float top, uint8_t *raw)
{
    const struct minima type = {1, 32, top, 0.0f};
    float weight[32], q[32], scale, minimum;
    weigh(x, importance, 32, weight);
    fit_minimum(x, weight, type, &scale, &minimum);
    const float d = put_half(scale, raw), offset = put_half(-minimum, raw + 2);
    round_block(x, weight, 32, d, offset, levels_of(type), q);
    put_nibbles(q, 0.0f, raw + (top > 15.0f ? 8 : 4), top > 15.0f ? raw + 4 : NULL);
}

static void quantize_q2_k(const float *x, const float *importance, uint8_t *raw)
{
    struct choice best;
    fit_minima(x, importance, (struct minima){16, 16, 3.0f, 15.0f}, &best);
    memset(raw, 0, 84);
    put_half(best.d, raw + 80);
    put_half(best.minimum, raw + 82);
    for (int j = 0; j < 16; j++)
        raw[j] = (uint8_t)((int)best.scale[j] | (int)best.offset[j] << 4);
    for (int k = 0; k < SUPER; k++)
        raw[16 + k / 128 * 32 + k % 32] |= (uint8_t)((int)best.q[k] << k / 32 % 4 * 2);
}

/* Q4_K and Q5_K. */
INLINE void quantize_k(const float *x, const float *importance, const int bits, uint8_t *raw)
{
    struct choice best;
    fit_minima(x, importance, (struct minima){8, 32, bits == 5 ? 31.0f : 15.0f, 63.0f}, &best);
    uint8_t *packed = raw + 4, *qs = raw + 16;
    memset(raw, 0, bits == 5 ? 176 : 144);
    put_half(best.d, raw);
    put_half(best.minimum, raw + 2);
    for (int j = 0; j < 4; j++) {
        const int s = (int)best.scale[j], m = (int)best.offset[j];
        const int s4 = (int)best.scale[j + 4], m4 = (int)best.offset[j + 4];
        packed[j] = (uint8_t)(s | s4 >> 4 << 6);
        packed[4 + j] = (uint8_t)(m | m4 >> 4 << 6);
        packed[8 + j] = (uint8_t)((s4 & 15) | (m4 & 15) << 4);
    }
    for (int k = 0; k < SUPER; k++) {
        const int level = (int)best.q[k], group = k / 32, i = k % 32;
        if (bits == 5)
            qs[i] |= (uint8_t)(level >> 4 << group);
        qs[(bits == 5 ? 32 : 0) + group / 2 * 32 + i] |= (uint8_t)((level & 15) << group % 2 * 4);
    }
}

/* Types without minima: of `blocks` sub-blocks of `count` elements, whose scales are whole numbers from -`finest` up to
 * one less. */
struct centred { int blocks, count; struct levels levels; float finest; };

/* A sub-block's scale. Its largest number becomes about the lowest level, or with IQ4's, which differ, about either end. */
INLINE float fit_scale(const float *x, const float *weight, const struct centred type)
{
    enum { STEPS = 9 };
    const float below = type.levels.below, step_width = type.levels.iq4 ? 2.0f : below < 32.0f ? 0.1f : 0.2f;
    float largest = 0.0f, best = INFINITY;
    for (int i = 0; i < type.count; i++)
        largest = fabsf(x[i]) > fabsf(largest) ? x[i] : largest;
    float scale = largest / -below;     /* which stands where sums overflow: too large for half precision, too */
    for (int end = 0; end < 1 + type.levels.iq4; end++)
        for (int step = -STEPS; step <= STEPS; step++) {
            const float candidate = largest / ((end ? type.levels.top : -below) - step_width * (float)step);
            const struct sums sums = round_block(x, weight, type.count, candidate, 0.0f, type.levels, NULL);
            const float more = sums.rest_q * inverse_of(sums.qq), error = sums.error - more * sums.rest_q;
            if (error < best) {
                best = error;
                scale = candidate + more;
            }
        }
    return scale;
}

INLINE void choose_scales(const float *x, const float *weight, const float *scale, const struct centred type,
                          struct choice *choice, float *next_d)
{
    const float inverse = inverse_of(choice->d), finest = type.finest;
    float aa = 0.0f, ra = 0.0f;
    choice->error = 0.0f;
    for (int j = 0; j < type.blocks; j++, x += type.count, weight += type.count) {
        const float nearest = rounded(scale[j] * inverse, finest, finest - 1.0f);
        float best = INFINITY, q[32];
        struct sums kept = {0};
        for (float fine = nearest - 1.0f; fine <= nearest + 1.0f; fine++) {
            const struct sums sums = round_block(x, weight, type.count, choice->d * fine, 0.0f, type.levels, q);
            if (sums.error < best && fine >= -finest && fine < finest) {
                best = sums.error;
                kept = sums;
                choice->scale[j] = fine;
                memcpy(choice->q + type.count * j, q, (size_t)type.count * sizeof *q);
            }
        }
        choice->error += best;
        aa += choice->scale[j] * choice->scale[j] * kept.qq;
        ra += choice->scale[j] * kept.rest_q;
    }
    *next_d = choice->d + ra * inverse_of(aa);
}

/* Fits a block of a type without minima. */
INLINE void fit_scales(const float *x, const float *importance, const struct centred type, struct choice *best)
{
    float weight[SUPER], scale[16], d = 0.0f;
    struct choice choice;
    *best = (struct choice){.d = INFINITY, .error = INFINITY};    /* which stands where nothing fits */
    for (int j = 0; j < type.blocks; j++) {
        const int at = type.count * j;
        weigh(x + at, importance ? importance + at : NULL, type.count, weight + at);
        scale[j] = fit_scale(x + at, weight + at, type);
        d = fabsf(scale[j]) > fabsf(d) ? scale[j] : d;
    }
    d /= -type.finest;
    for (int pass = 0; pass < 3; pass++) {
        uint8_t half[2];
        choice.d = put_half(d, half);
        choose_scales(x, weight, scale, type, &choice, &d);
        if (!(choice.error < best->error))
            break;
        *best = choice;
    }
}

/* Brings IQ4's levels to their numbers. */
static void number_iq4(float *q, const int count)
{
    for (int i = 0; i < count; i++) {
        int number = 0;
        while (number < 15 && (float)IQ4_VALUES[number] < q[i])
            number++;
        q[i] = (float)number;
    }
}

/* Q4_0, Q5_0 and IQ4_NL. */
INLINE void quantize_centred(const float *x, const float *importance, const struct levels levels, uint8_t *raw)
{
    float weight[32], q[32];
    weigh(x, importance, 32, weight);
    const float d = put_half(fit_scale(x, weight, (struct centred){1, 32, levels, 0.0f}), raw);
    round_block(x, weight, 32, d, 0.0f, levels, q);
    if (levels.iq4)
        number_iq4(q, 32);
    put_nibbles(q, levels.iq4 ? 0.0f : levels.below, raw + (levels.below == 16.0f ? 6 : 2),
                levels.below == 16.0f ? raw + 2 : NULL);
}

static void quantize_iq4_xs(const float *x, const float *importance, uint8_t *raw)
{
    struct choice best;
    fit_scales(x, importance, (struct centred){8, 32, {127.0f, 113.0f, 1}, 32.0f}, &best);
    number_iq4(best.q, SUPER);
    memset(raw, 0, 136);
    put_half(best.d, raw);
    for (int j = 0; j < 8; j++) {
        const int scale = (int)best.scale[j] + 32;
        raw[2 + j / 4] |= (uint8_t)(scale >> 4 << j % 4 * 2);
        raw[4 + j / 2] |= (uint8_t)((scale & 15) << j % 2 * 4);
        put_nibbles(best.q + 32 * j, 0.0f, raw + 8 + 16 * j, NULL);
    }
}

static void quantize_q3_k(const float *x, const float *importance, uint8_t *raw)
{
    struct choice best;
    fit_scales(x, importance, (struct centred){16, 16, {4.0f, 3.0f, 0}, 32.0f}, &best);
    memset(raw, 0, 110);
    put_half(best.d, raw + 108);
    for (int j = 0; j < 16; j++) {
        const int scale = (int)best.scale[j] + 32;
        raw[96 + j % 8] |= (uint8_t)((scale & 15) << j / 8 * 4);
        raw[104 + j % 4] |= (uint8_t)(scale >> 4 << j / 4 * 2);
    }
    for (int k = 0; k < SUPER; k++) {
        const int level = (int)best.q[k] + 4;
        raw[k % 32] |= (uint8_t)(level >> 2 << k / 32);
        raw[32 + k / 128 * 32 + k % 32] |= (uint8_t)((level & 3) << k / 32 % 4 * 2);
    }
}

static void quantize_q6_k(const float *x, const float *importance, uint8_t *raw)
{
    struct choice best;
    fit_scales(x, importance, (struct centred){16, 16, {32.0f, 31.0f, 0}, 128.0f}, &best);
    memset(raw, 0, 210);
    put_half(best.d, raw + 208);
    for (int j = 0; j < 16; j++)
        raw[192 + j] = (uint8_t)(int8_t)best.scale[j];
    for (int k = 0; k < SUPER; k++) {
        const int level = (int)best.q[k] + 32, half = k / 128, group = k / 32 % 4, i = k % 32;
        raw[64 * half + group % 2 * 32 + i] |= (uint8_t)((level & 15) << group / 2 * 4);
        raw[128 + 32 * half + i] |= (uint8_t)(level >> 4 << 2 * group);
    }
}

#endif
