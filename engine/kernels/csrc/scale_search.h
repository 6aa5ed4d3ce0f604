/* The K types' blocks from floats. For a few ranges around a sub-block's own its elements are rounded, and the scale and
 * minimum that then fit best by weighted least squares are kept if they err less. Then the block's own two scales are
 * fitted to all of its sub-blocks, and each sub-block's 6 or 8 bits to these. */
#ifndef TENON_SCALE_SEARCH_H
#define TENON_SCALE_SEARCH_H

#include <math.h>

#include "blocks.h"

enum { SUPER = 256, LANES = 8, FINEST = 63 };

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

/* Weighted sums over a sub-block. */
struct sums { float q, qq, xq, error; };

/* Rounds x to scale * q + offset: the sums that a fit needs and, unless q is NULL, the levels and what they err by. */
INLINE struct sums round_block(const float *restrict x, const float *restrict weight, const int count, float scale,
                               float offset, const float below, const float top, float *restrict q)
{
    const float inverse = inverse_of(scale);
    float sum_q[LANES] = {0}, sum_qq[LANES] = {0}, sum_xq[LANES] = {0}, error[LANES] = {0};
    for (int i = 0; i < count; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const float value = x[i + lane], level = rounded((value - offset) * inverse, below, top);
            const float weighted = weight[i + lane] * level;
            sum_q[lane] += weighted;
            sum_qq[lane] += weighted * level;
            sum_xq[lane] += weighted * value;
            if (q) {
                const float missing = value - (scale * level + offset);
                q[i + lane] = level;
                error[lane] += weight[i + lane] * missing * missing;
            }
        }
    return (struct sums){sum_of(sum_q), sum_of(sum_qq), sum_of(sum_xq), sum_of(error)};
}

/* A sub-block's scale and minimum (at least 0; it is taken off) for levels from 0 to `top`. */
INLINE void fit_minimum(const float *x, const float *weight, const float top, float *scale, float *minimum)
{
    enum { COUNT = 32, STEPS = 5 };
    float least = 0.0f, largest = x[0], sum_w = 0.0f, sum_x = 0.0f;
    for (int i = 0; i < COUNT; i++) {
        least = x[i] < least ? x[i] : least;
        largest = x[i] > largest ? x[i] : largest;
        sum_w += weight[i];
        sum_x += weight[i] * x[i];
    }
    *scale = (largest - least) / top;
    *minimum = -least;
    if (inverse_of(*scale) == 0.0f)
        return;
    float best = 0.0f, best_scale = *scale, best_offset = least;
    for (int step = -STEPS; step <= STEPS; step++) {
        const float range = (largest - least) / (top + 0.3f * (float)step);
        const struct sums sums = round_block(x, weight, COUNT, range, least, 0.0f, top, NULL);
        const float determinant = sums.qq * sum_w - sums.q * sums.q;
        if (!(determinant > 0.0f))
            continue;
        float candidate = (sum_w * sums.xq - sums.q * sum_x) / determinant;
        float offset = (sums.qq * sum_x - sums.q * sums.xq) / determinant;
        if (offset > 0.0f) {
            candidate = sums.xq / sums.qq;
            offset = 0.0f;
        }
        const float explained = candidate * sums.xq + offset * sum_x;
        if (explained > best) {
            best = explained;
            best_scale = candidate;
            best_offset = offset;
        }
    }
    *scale = best_scale;
    *minimum = -best_offset;
}

/* Levels and scales of a block, as they are tried. */
struct choice {
    float d, minimum;               /* of the block, in half precision */
    float scale[16], offset[16];    /* of its sub-blocks, in units of these */
    float q[SUPER];
    float error;
};

/* Chooses each sub-block's 6 bits, near those that its own fit asks for, and its levels. */
INLINE void choose_minima(const float *x, const float *weight, const float *scale, const float *minimum,
                          const float top, struct choice *choice, float *next_d, float *next_minimum)
{
    const float inverse = inverse_of(choice->d), inverse_minimum = inverse_of(choice->minimum);
    float aa = 0.0f, ab = 0.0f, bb = 0.0f, xa = 0.0f, xb = 0.0f;
    choice->error = 0.0f;
    for (int j = 0; j < 8; j++, x += 32, weight += 32) {
        const float nearest = rounded(scale[j] * inverse, 0.0f, FINEST);
        float best = INFINITY, sum_w = 0.0f, sum_x = 0.0f, q[32];
        struct sums kept = {0};
        for (int i = 0; i < 32; i++) {
            sum_w += weight[i];
            sum_x += weight[i] * x[i];
        }
        for (float fine = nearest > 1.0f ? nearest - 1.0f : nearest; fine <= nearest + 1.0f && fine <= FINEST; fine++) {
            float taken = rounded(minimum[j] * inverse_minimum, 0.0f, FINEST);
            for (int pass = 0; pass < 2; pass++) {
                const float own = choice->d * fine, offset = -choice->minimum * taken;
                const struct sums sums = round_block(x, weight, 32, own, offset, 0.0f, top, q);
                if (sums.error < best) {
                    best = sums.error;
                    kept = sums;
                    choice->scale[j] = fine;
                    choice->offset[j] = taken;
                    memcpy(choice->q + 32 * j, q, sizeof q);
                }
                const float better = (own * sums.q - sum_x) * inverse_of(sum_w);
                const float again = rounded(better * inverse_minimum, 0.0f, FINEST);
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
        xa += a * kept.xq;
        xb += b * sum_x;
    }
    const float determinant = aa * bb - ab * ab;
    *next_d = determinant > 0.0f ? (xa * bb - ab * xb) / determinant : xa * inverse_of(aa);
    *next_minimum = determinant > 0.0f ? (ab * xa - aa * xb) / determinant : 0.0f;
}

/* What a sub-block's numbers count in a fit: large ones more. */
INLINE void weigh(const float *x, float *weight)
{
    float square = 0.0f;
    for (int i = 0; i < 32; i++)
        square += x[i] * x[i];
    square = sqrtf(square / 32.0f);
    for (int i = 0; i < 32; i++)
        weight[i] = square + fabsf(x[i]);
}

static void quantize_q4_1(const float *x, uint8_t *raw)
{
    const float top = 15.0f;
    float weight[32], q[32], scale, minimum;
    weigh(x, weight);
    fit_minimum(x, weight, top, &scale, &minimum);
    const float d = put_half(scale, raw), offset = put_half(-minimum, raw + 2);
    round_block(x, weight, 32, d, offset, 0.0f, top, q);
    for (int i = 0; i < 16; i++)
        raw[4 + i] = (uint8_t)((int)q[i] | (int)q[i + 16] << 4);
}

INLINE void quantize_minima(const float *x, const float top, const int bits, uint8_t *raw)
{
    float weight[SUPER], scale[8], minimum[8], d = 0.0f, dmin = 0.0f;
    struct choice choice, best = {.d = INFINITY, .error = INFINITY};    /* which stands where nothing fits */
    for (int j = 0; j < 8; j++) {
        const float *own = x + 32 * j;
        weigh(own, weight + 32 * j);
        fit_minimum(own, weight + 32 * j, top, scale + j, minimum + j);
        d = scale[j] > d ? scale[j] : d;
        dmin = minimum[j] > dmin ? minimum[j] : dmin;
    }
    d /= FINEST;
    dmin /= FINEST;
    for (int pass = 0; pass < 3; pass++) {
        uint8_t halves[4];
        choice.d = put_half(d, halves);
        choice.minimum = put_half(dmin, halves + 2);
        choose_minima(x, weight, scale, minimum, top, &choice, &d, &dmin);
        if (!(choice.error < best.error))
            break;
        best = choice;
        if (!(d > 0.0f) || !(dmin >= 0.0f))
            break;
    }
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

/* Q6_K: a scale of 8 bits for each 16 elements, levels from -32 to 31. */
INLINE float fit_scale(const float *x, const float *weight)
{
    enum { STEPS = 5 };
    float largest = 0.0f, best = 0.0f, scale = 0.0f;
    for (int i = 0; i < 16; i++)
        largest = fabsf(x[i]) > fabsf(largest) ? x[i] : largest;
    for (int step = -STEPS; step <= STEPS; step++) {
        const float candidate = largest / (-32.0f - 0.3f * (float)step);
        const struct sums sums = round_block(x, weight, 16, candidate, 0.0f, 32.0f, 31.0f, NULL);
        if (sums.qq > 0.0f && sums.xq * sums.xq > best * sums.qq) {
            best = sums.xq * sums.xq / sums.qq;
            scale = sums.xq / sums.qq;
        }
    }
    return scale;
}

INLINE void choose_scales(const float *x, const float *weight, const float *scale, struct choice *choice, float *next_d)
{
    const float inverse = inverse_of(choice->d);
    float aa = 0.0f, xa = 0.0f;
    choice->error = 0.0f;
    for (int j = 0; j < 16; j++, x += 16, weight += 16) {
        const float nearest = rounded(scale[j] * inverse, 128.0f, 127.0f);
        float best = INFINITY, q[16];
        struct sums kept = {0};
        for (float fine = nearest - 1.0f; fine <= nearest + 1.0f; fine++) {
            const struct sums sums = round_block(x, weight, 16, choice->d * fine, 0.0f, 32.0f, 31.0f, q);
            if (sums.error < best && fine >= -128.0f && fine <= 127.0f) {
                best = sums.error;
                kept = sums;
                choice->scale[j] = fine;
                memcpy(choice->q + 16 * j, q, sizeof q);
            }
        }
        choice->error += best;
        aa += choice->scale[j] * choice->scale[j] * kept.qq;
        xa += choice->scale[j] * kept.xq;
    }
    *next_d = xa * inverse_of(aa);
}

static void quantize_q6_k(const float *x, uint8_t *raw)
{
    float weight[SUPER], scale[16], d = 0.0f;
    struct choice choice, best = {.d = INFINITY, .error = INFINITY};    /* which stands where nothing fits */
    for (int i = 0; i < SUPER; i++)
        weight[i] = x[i] * x[i];
    for (int j = 0; j < 16; j++) {
        scale[j] = fit_scale(x + 16 * j, weight + 16 * j);
        d = fabsf(scale[j]) > fabsf(d) ? scale[j] : d;
    }
    d /= -128.0f;
    for (int pass = 0; pass < 3; pass++) {
        uint8_t half[2];
        choice.d = put_half(d, half);
        choose_scales(x, weight, scale, &choice, &d);
        if (!(choice.error < best.error))
            break;
        best = choice;
    }
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
