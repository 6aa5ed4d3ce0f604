/* Rows of floats into GGUF blocks, in the vectors that the file is compiled for; the bits are the same in all. */
#include "scale_search.h"

int QUANTIZE_ROW(int32_t type, const float *x, const float *importance, int64_t k, uint8_t *raw);

/* The largest magnitude may stand at any of the last levels: the scale that errs least takes a fifth off the squares of
 * what is lost at 127, and more than half where the numbers come from a coarser grid. */
static void quantize_q8_0(const float *x, uint8_t *raw)
{
    enum { TOP = 127, LEAST_TOP = 111 };
    const float largest = bits_float(largest_bits(x, 32));
    float least = INFINITY, scale = put_half(largest / TOP, raw);
    for (int top = TOP; top >= LEAST_TOP; top--) {
        uint8_t half[2];
        const float d = put_half(largest / (float)top, half), inverse = inverse_of(d);
        float errors[LANES] = {0};
        for (int i = 0; i < 32; i += LANES)
            for (int lane = 0; lane < LANES; lane++) {
                const float missing = x[i + lane] - d * rounded(x[i + lane] * inverse, TOP, TOP);
                errors[lane] += missing * missing;
            }
        const float error = sum_of(errors);
        if (error < least) {
            least = error;
            scale = d;
        }
    }
    put_half(scale, raw);
    const float inverse = inverse_of(scale);
    for (int i = 0; i < 32; i++)
        raw[2 + i] = (uint8_t)(int8_t)rounded(x[i] * inverse, TOP, TOP);
}

/* Quantizes a block; the elements and bytes of each type's are in BLOCK_FORMS. */
INLINE void quantize_block(const int32_t type, const float *x, const float *importance, uint8_t *raw)
{
    switch (type) {
    case TENON_Q8_0: quantize_q8_0(x, raw); break;      /* so fine that no element counts more */
    case TENON_Q4_0: quantize_centred(x, importance, (struct levels){8.0f, 7.0f, 0}, raw); break;
    case TENON_Q5_0: quantize_centred(x, importance, (struct levels){16.0f, 15.0f, 0}, raw); break;
    case TENON_IQ4_NL: quantize_centred(x, importance, (struct levels){127.0f, 113.0f, 1}, raw); break;
    case TENON_Q4_1: quantize_with_minimum(x, importance, 15.0f, raw); break;
    case TENON_Q5_1: quantize_with_minimum(x, importance, 31.0f, raw); break;
    case TENON_Q2_K: quantize_q2_k(x, importance, raw); break;
    case TENON_Q3_K: quantize_q3_k(x, importance, raw); break;
    case TENON_Q4_K: quantize_k(x, importance, 4, raw); break;
    case TENON_Q5_K: quantize_k(x, importance, 5, raw); break;
    case TENON_Q6_K: quantize_q6_k(x, importance, raw); break;
    case TENON_IQ4_XS: quantize_iq4_xs(x, importance, raw); break;
    }
}

/* Whether a number in half precision is finite. */
static int finite_half(const uint8_t *at)
{
    return (at[1] & 0x7c) != 0x7c;
}

/* Quantizes a row of blocks whose scale and minimum are at these bytes. */
#define QUANTIZED_ROW(type, scale, minimum)                                                                            \
    case type:                                                                                                         \
        for (int64_t i = 0; i < k; i += BLOCK_FORMS[type].elements, raw += BLOCK_FORMS[type].bytes) {                  \
            quantize_block(type, x + i, importance ? importance + i : NULL, raw);                                      \
            finite &= finite_half(raw + (scale)) && finite_half(raw + (minimum));                                      \
        }                                                                                                              \
        break;

int QUANTIZE_ROW(int32_t type, const float *x, const float *importance, int64_t k, uint8_t *raw)
{
    int finite = largest_bits(x, k) < 0x7f800000u;
    if (!finite)
        return 0;
    switch (type) {
    case TENON_F16:
        for (int64_t i = 0; i < k; i++) {
            put_half(x[i], raw + 2 * i);
            finite &= finite_half(raw + 2 * i);
        }
        break;
    case TENON_BF16:
        for (int64_t i = 0; i < k; i++) {
            const uint16_t half = bfloat16(x[i]);
            memcpy(raw + 2 * i, &half, 2);
            finite &= (half & 0x7f80) != 0x7f80;
        }
        break;
    QUANTIZED_ROW(TENON_Q8_0, 0, 0)
    QUANTIZED_ROW(TENON_Q4_0, 0, 0)
    QUANTIZED_ROW(TENON_Q5_0, 0, 0)
    QUANTIZED_ROW(TENON_IQ4_NL, 0, 0)
    QUANTIZED_ROW(TENON_Q4_1, 0, 2)
    QUANTIZED_ROW(TENON_Q5_1, 0, 2)
    QUANTIZED_ROW(TENON_Q2_K, 80, 82)
    QUANTIZED_ROW(TENON_Q3_K, 108, 108)
    QUANTIZED_ROW(TENON_Q4_K, 0, 2)
    QUANTIZED_ROW(TENON_Q5_K, 0, 2)
    QUANTIZED_ROW(TENON_Q6_K, 208, 208)
    QUANTIZED_ROW(TENON_IQ4_XS, 0, 0)
    default:
        return -1;
    }
    return finite;
}
