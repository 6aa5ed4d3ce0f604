/* GGUF's block types: how large their blocks are, and how rows of them are arranged for the kernels. */
#ifndef TENON_BLOCKS_H
#define TENON_BLOCKS_H

#include <stdint.h>
#include <string.h>

#include "quantize.h"
#include "tenon.h"

/* A call for each type of quantized blocks. */
#define EACH_QUANTIZED_TYPE(X) X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q8_0) X(IQ4_NL) X(MXFP4) \
    X(Q2_K) X(Q3_K) X(Q4_K) X(Q5_K) X(Q6_K) X(IQ4_XS) EACH_CODEBOOK_TYPE(X) \
    X(TQ1_0) X(TQ2_0) X(NVFP4) X(Q1_0) X(Q2_0) X(PQ2_0) X(PTQ1_0) \
    EACH_CHOICE_TYPE(X)
#define EACH_CHOICE_TYPE(X) \
    X(IQ2_K) X(IQ2_KS) X(IQ3_K) X(IQ3_KS) X(IQ4_K) X(IQ4_KS) X(IQ4_KSS) X(IQ5_K) X(IQ5_KS) X(IQ6_K)
#define EACH_CODEBOOK_TYPE(X) X(IQ2_XXS) X(IQ2_XS) X(IQ2_S) X(IQ3_XXS) X(IQ3_S) X(IQ1_S) X(IQ1_M)

enum { MOST_UNIT_BYTES = 276, MOST_BLOCK_BYTES = 212 };

struct block_form {
    int16_t elements, bytes;                /* of a block as GGUF stores it; 0: no such type */
    int8_t byte_planes, nibble_planes, two_bit_planes, bit_planes;      /* of each group of 32 elements; 0, all: of trits */
    int16_t unit_bytes;                     /* of a block, per row, as arranged */
    int8_t halves;                          /* its scale and its minimum, which come last in a unit */
    int8_t point_bytes;                     /* of a codebook type's group, per row, in the planes' place */
    int8_t row_scale;                       /* bytes of the scale before a row's blocks: a half, a float, or none */
};

/* By type. Floats count as blocks of one element here; bfloat16's columns are padded to 32 as well. */
static const struct block_form BLOCK_FORMS[TENON_TYPES] = {
    [TENON_F16] = {1, 2, 0, 0, 0, 0, 2, 1},
    [TENON_BF16] = {1, 2, 0, 0, 0, 0, 2, 1},
    [TENON_Q4_0] = {32, 18, 0, 4, 0, 0, 18, 1},
    [TENON_Q4_1] = {32, 20, 0, 4, 0, 0, 20, 2},
    [TENON_Q5_0] = {32, 22, 0, 4, 0, 1, 22, 1},
    [TENON_Q5_1] = {32, 24, 0, 4, 0, 1, 24, 2},
    [TENON_Q8_0] = {32, 34, 8, 0, 0, 0, 34, 1},
    [TENON_IQ4_NL] = {32, 18, 0, 4, 0, 0, 18, 1},
    [TENON_MXFP4] = {32, 17, 0, 4, 0, 0, 17, 0},
    [TENON_Q2_K] = {256, 84, 0, 0, 2, 0, 84, 2},
    [TENON_Q3_K] = {256, 110, 0, 0, 2, 1, 114, 1},
    [TENON_Q4_K] = {256, 144, 0, 4, 0, 0, 148, 2},
    [TENON_Q5_K] = {256, 176, 0, 4, 0, 1, 180, 2},
    [TENON_Q6_K] = {256, 210, 0, 4, 2, 0, 210, 1},
    [TENON_IQ4_XS] = {256, 136, 0, 4, 0, 0, 138, 1},
    [TENON_TQ1_0] = {256, 54, 0, 0, 0, 0, 54, 1},
    [TENON_TQ2_0] = {256, 66, 0, 0, 2, 0, 66, 1},
    [TENON_NVFP4] = {64, 36, 0, 4, 0, 0, 36, 0},
    [TENON_Q1_0] = {128, 18, 0, 0, 0, 1, 18, 1},
    [TENON_Q2_0] = {64, 18, 0, 0, 2, 0, 18, 1},
    [TENON_PQ2_0] = {128, 34, 0, 0, 2, 0, 34, 1},
    [TENON_PTQ1_0] = {128, 28, 0, 0, 0, 0, 28, 1},
    [TENON_IQ2_XXS] = {256, 66, 0, 0, 0, 0, 66, 1, 8},
    [TENON_IQ2_XS] = {256, 74, 0, 0, 0, 0, 74, 1, 8},
    [TENON_IQ2_S] = {256, 82, 0, 0, 0, 0, 82, 1, 9},
    [TENON_IQ3_XXS] = {256, 98, 0, 0, 0, 0, 98, 1, 12},
    [TENON_IQ3_S] = {256, 110, 0, 0, 0, 0, 110, 1, 13},
    [TENON_IQ1_S] = {256, 50, 0, 0, 0, 0, 50, 1, 6},
    [TENON_IQ1_M] = {256, 56, 0, 0, 0, 0, 56, 1, 6},
    [TENON_IQ2_K] = {256, 76, 0, 0, 2, 0, 76, 1},
    [TENON_IQ2_KS] = {256, 70, 0, 0, 2, 0, 70, 0, 0, 2},
    [TENON_IQ3_K] = {256, 110, 0, 0, 2, 1, 110, 1},
    [TENON_IQ3_KS] = {256, 102, 0, 0, 2, 1, 102, 0, 0, 2},
    [TENON_IQ4_K] = {256, 144, 0, 4, 0, 0, 144, 1},
    [TENON_IQ4_KS] = {256, 136, 0, 4, 0, 0, 136, 0, 0, 4},
    [TENON_IQ4_KSS] = {256, 128, 0, 4, 0, 0, 128, 0, 0, 4},
    [TENON_IQ5_K] = {256, 176, 0, 4, 0, 1, 176, 1},
    [TENON_IQ5_KS] = {256, 168, 0, 4, 0, 1, 168, 0, 0, 4},
    [TENON_IQ6_K] = {256, 212, 0, 4, 2, 0, 212, 1},
};

/* A type's form; NULL where there is none, or k is no multiple of its block. */
static inline const struct block_form *block_form_of(int32_t type, int64_t k)
{
    const struct block_form *form = type >= 0 && type < TENON_TYPES ? &BLOCK_FORMS[type] : NULL;
    return form && form->elements && k >= 0 && k % form->elements == 0 ? form : NULL;
}

/* Bytes of a row as GGUF stores it. */
static inline int64_t block_row_bytes(const struct block_form *form, int64_t k)
{
    return k / form->elements * form->bytes + form->row_scale;
}

/* Bytes of a panel's scales of whole rows, behind its units. */
static inline int64_t row_scales_bytes(int32_t type)
{
    return BLOCK_FORMS[type].row_scale ? PANEL_ROWS * (int64_t)sizeof(float) : 0;
}

/* Bytes of an arranged panel. */
static inline int64_t block_panel_bytes(int32_t type, int64_t k)
{
    const int64_t padded = type == TENON_BF16 ? (k + 31) / 32 * 32 : k;
    return padded / BLOCK_FORMS[type].elements * BLOCK_FORMS[type].unit_bytes * PANEL_ROWS + row_scales_bytes(type);
}

/* Whether five elements share a byte, as digits to base three. */
#define HAS_TRITS(type) ((type) == TENON_TQ1_0 || (type) == TENON_PTQ1_0)

/* IQ4_NL's and IQ4_XS's values (and of the further IQ4 types), and MXFP4's and NVFP4's doubled. */
static const int8_t IQ4_VALUES[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
static const int8_t MXFP4_VALUES[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static inline float half_float(uint16_t half)
{
    const uint32_t magnitude = half & 0x7fffu, shifted = (magnitude << 13) + (112u << 23);
    const uint32_t small = float_bits((float)(int32_t)magnitude * 0x1p-24f);    /* below 2^-14 */
    const uint32_t bits = magnitude < 0x0400u ? small : magnitude < 0x7c00u ? shifted : shifted + (112u << 23);
    return bits_float(bits | (uint32_t)(half & 0x8000u) << 16);
}

/* A number of four bits of exponent and three of mantissa, arranged: its NaN is zero, its sign is left out. Half of it is
 * 128 times the number of half precision with the same bits, NVFP4's scale, whose values are doubled. */
static inline uint16_t e4m3_half(uint8_t scale)
{
    return (uint16_t)(scale << 7);
}

/* The scale before a row's blocks. */
static inline float row_scale_at(const struct block_form *form, const uint8_t *row)
{
    uint16_t half;
    float whole;
    memcpy(&half, row, 2);
    memcpy(&whole, row, 4);
    return form->row_scale == 2 ? half_float(half) : whole;
}

enum { E4M3_FACTOR = 128 };

/* Half of 2^(exponent - 127): MXFP4's scale, whose values are doubled. */
static inline float mxfp4_scale(uint8_t exponent)
{
    return bits_float(exponent < 2 ? 0x00200000u << exponent : (uint32_t)(exponent - 1) << 23);
}

#endif
