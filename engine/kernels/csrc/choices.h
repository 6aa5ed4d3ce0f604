/* Types of ik_llama.cpp: an element's bits are a place in a table of 4 to 64 values, and each sub-block adds the type's
 * `more` to all of its elements, or nothing: that is its choice of two tables. Scales and choices are decoded from the bytes
 * of a block that are no codes, as the file has them. Source of the values and layouts: ik_llama.cpp,
 * ggml/src/ggml-common.h and ggml/src/iqk/iqk_quantize.cpp. */
#ifndef TENON_CHOICES_H
#define TENON_CHOICES_H

#include "blocks.h"
#include "inline.h"

static const int8_t IQ2_VALUES[4] = {-31, -13, 1, 17};
static const int8_t IQ3_VALUES[8] = {-63, -40, -23, -10, 1, 13, 28, 47};
static const int8_t IQ5_VALUES[32] = {-126, -114, -103, -92, -83, -74, -65, -57, -50, -43, -36, -30, -24, -18, -12, -6,
                                      -1, 5, 11, 17, 23, 29, 36, 43, 51, 59, 68, 77, 87, 97, 109, 121};
static const int8_t IQ6_VALUES[64] = {
    -127, -121, -115, -109, -104, -98, -93, -88, -84, -79, -74, -70, -66, -62, -58, -54,
    -51, -47, -44, -40, -37, -34, -31, -28, -25, -22, -19, -16, -13, -11, -8, -5,
    -2, 0, 3, 6, 9, 12, 14, 17, 20, 23, 27, 30, 33, 36, 40, 44,
    47, 51, 55, 59, 63, 68, 72, 77, 82, 87, 92, 98, 103, 109, 115, 121};

struct choices {
    const int8_t *values;       /* NULL: the type is none of these */
    int8_t count, more;
};

static const struct choices CHOICES[TENON_TYPES] = {
    [TENON_IQ2_K] = {IQ2_VALUES, 4, 5}, [TENON_IQ2_KS] = {IQ2_VALUES, 4, 5},
    [TENON_IQ3_K] = {IQ3_VALUES, 8, 4}, [TENON_IQ3_KS] = {IQ3_VALUES, 8, 4},
    [TENON_IQ4_K] = {IQ4_VALUES, 16, 4}, [TENON_IQ4_KS] = {IQ4_VALUES, 16, 4}, [TENON_IQ4_KSS] = {IQ4_VALUES, 16, 4},
    [TENON_IQ5_K] = {IQ5_VALUES, 32, 2}, [TENON_IQ5_KS] = {IQ5_VALUES, 32, 2},
    [TENON_IQ6_K] = {IQ6_VALUES, 64, 1},
};

/* IQ4_KSS's 15 bits of four codes in each 16; the lowest is a bit of the group's scale. */
INLINE uint32_t untangled(uint32_t word)
{
    word &= 0xfffefffeu;
    return word ^ word >> 1;
}

/* The scale of a sub-block, times two, and its choice: `sub` counts within the unit, `planes` are its group's, and `fine`
 * are the bytes behind the unit's planes. */
INLINE int scale_and_choice(const int32_t type, const uint8_t *planes, const uint8_t *fine, const int rows, int row,
                            const int sub)
{
#define BYTE(i) ((int)fine[(i) * rows + row])
#define NIBBLE(first, i) (BYTE((first) + (i) / 2) >> (i) % 2 * 4 & 15)
    const int extra = type == TENON_IQ4_KS || type == TENON_IQ5_KS || type == TENON_IQ4_KSS ? 0 : BYTE(0) | BYTE(1) << 8;
    int bits = 0;
    switch (type) {
    case TENON_IQ2_K: return (NIBBLE(2, sub) - 8) * 2 | (extra >> sub & 1);
    case TENON_IQ2_KS: return ((NIBBLE(2, sub) | (extra >> (8 + sub) & 1) << 4) - 16) * 2 | (extra >> sub & 1);
    case TENON_IQ3_KS:
        bits = (BYTE(2 + sub % 4) >> sub / 4 * 4 & 15) | (extra >> sub & 1) << 4;
        return (bits - 16) * 2 | (extra >> (8 + sub) & 1);
    case TENON_IQ3_K:
        bits = 2 * NIBBLE(4, sub) + 1;
        return ((BYTE(2 + sub / 8) >> sub % 8 & 1) ? -bits : bits) * 2 | (extra >> sub & 1);
    case TENON_IQ4_K: case TENON_IQ5_K:
        return ((NIBBLE(6, sub) | (BYTE(2 + sub / 4) >> sub % 4 * 2 & 3) << 4) - 32) * 2 | (extra >> sub & 1);
    case TENON_IQ6_K: return (int8_t)BYTE(2 + sub) * 2 | (extra >> sub & 1);
    case TENON_IQ4_KSS:
        UNROLL
        for (int i = 0; i < 4; i++) {
            const uint8_t *at = planes + 4 * (i * rows + row);
            bits |= ((at[0] & 1) | (at[2] & 1) << 1) << 2 * i;
        }
        break;
    default: bits = BYTE(sub);  /* IQ4_KS, IQ5_KS */
    }
    return ((bits & 254) - 127) * 2 | (bits & 1);
#undef NIBBLE
#undef BYTE
}

#endif
