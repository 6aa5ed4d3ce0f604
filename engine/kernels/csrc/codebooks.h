/* Types whose elements stand in codebooks: an index names a point of 8 or 4 levels, with signs or a shift beside it. A
 * weight is (2s + 1) * d / `parts` times a whole number of at most `largest`: level and sign, or for IQ1 eight times the
 * level and 1 more or less. */
#ifndef TENON_CODEBOOKS_H
#define TENON_CODEBOOKS_H

#include <string.h>

#include "inline.h"
#include "job.h"
#include "tenon.h"

enum { NO_SIGNS, SEVEN_SIGNS, EIGHT_SIGNS };    /* of each 8 elements; the eighth of seven makes their number even */

enum { POINTS_OF_8 = 3840, POINTS_OF_4 = 768, NEIGHBOURS = 3 };    /* so many may be read before and behind them */

struct codebook {
    int8_t width;               /* elements of a point; 0: the type has no codebook */
    int8_t signs;
    int8_t parts;
    int8_t largest;
    int16_t first;              /* its place among the points of its width */
    int8_t high;                /* of types with signs: bits of an index above eight */
};

static const struct codebook CODEBOOKS[TENON_TYPES] = {
    [TENON_IQ2_XXS] = {8, SEVEN_SIGNS, 8, 43, NEIGHBOURS},
    [TENON_IQ2_XS] = {8, SEVEN_SIGNS, 8, 43, NEIGHBOURS + 256, 1},
    [TENON_IQ2_S] = {8, EIGHT_SIGNS, 8, 43, NEIGHBOURS + 768, 2},
    [TENON_IQ1_S] = {8, NO_SIGNS, 8, 9, NEIGHBOURS + 1792},
    [TENON_IQ1_M] = {8, NO_SIGNS, 8, 9, NEIGHBOURS + 1792},
    [TENON_IQ3_XXS] = {4, SEVEN_SIGNS, 4, 62, NEIGHBOURS},
    [TENON_IQ3_S] = {4, EIGHT_SIGNS, 1, 15, NEIGHBOURS + 256, 1},
};

/* Levels of points, a byte each; of IQ1 they are eight times what they stand for, and 8 more. */
extern uint64_t points_of_8[NEIGHBOURS + POINTS_OF_8 + NEIGHBOURS];
extern uint32_t points_of_4[NEIGHBOURS + POINTS_OF_4 + NEIGHBOURS];

/* The same in bits: numbers of levels, two bits each or four, the first half of each point's and then the second one's. */
enum { MOST_POINTS = 1024 };
extern uint8_t point_halves[TENON_IQ2_S + 1][2 * MOST_POINTS];

/* Bits 25, 27, 29 and 31 of a row's signs are those of elements 7, 15, 23 and 31; where there are seven signs of eight
 * they hold something else. */
enum { SPARE_BIT = 25 };
static const uint32_t SPARE_BITS = 0xaa000000u;

/* The signs of a group, bit s of byte i of element 4s + i, with the eighth ones. */
INLINE uint32_t whole_signs(uint32_t word)
{
    const uint32_t seven = word & ~SPARE_BITS;
    uint32_t odd = seven ^ seven << 16;
    odd ^= odd << 8;
    odd ^= odd << 1;
    return seven | (odd & SPARE_BITS);
}

/* What follows a group's indexes: signs, or the halves of bytes with three bits of an index and a further one. */
INLINE uint32_t word_at(const uint8_t *words, int row)
{
    uint32_t word;
    memcpy(&word, words + 4 * row, 4);
    return word;
}

/* The index of point l of a row's group; `planes` are the group's. */
INLINE uint16_t point_index(const int32_t type, const uint8_t *planes, const int rows, int row, const int l)
{
    const uint8_t *rest = planes + GROUP / CODEBOOKS[type].width * rows;
    uint32_t high = 0;
    switch (type) {
    case TENON_IQ2_XS: high = word_at(rest, row) >> (SPARE_BIT + 2 * l) & 1; break;
    case TENON_IQ2_S: high = rest[4 * rows + row] >> 2 * l & 3; break;
    case TENON_IQ3_S: high = rest[4 * rows + row] >> l & 1; break;
    case TENON_IQ1_S: case TENON_IQ1_M: high = rest[l / 2 * rows + row] >> l % 2 * 4 & 7; break;
    }
    return (uint16_t)(planes[l * rows + row] | high << 8);
}

/* The signs of a row's group; of types without signs all bits at once of an element that is shifted down. */
INLINE uint32_t group_signs(const int32_t type, const uint8_t *planes, const int rows, int row)
{
    const uint32_t word = word_at(planes + GROUP / CODEBOOKS[type].width * rows, row);
    return CODEBOOKS[type].signs == SEVEN_SIGNS ? whole_signs(word) : word;
}

/* Whether point l of a row's group is an eighth of a level less than its levels, or more. */
INLINE uint32_t shifted_down(const int32_t type, const uint8_t *planes, const int rows, int row, const int l)
{
    const int of = type == TENON_IQ1_S ? 3 : l;
    return planes[(4 + of / 2) * rows + row] >> (3 + of % 2 * 4) & 1u;
}

/* The whole number of the scale of a sub-block, s of (2s + 1): `sub` counts within the unit, and `scales` are behind its
 * planes. */
INLINE uint32_t fine_scale(const int32_t type, const uint8_t *planes, const uint8_t *scales, const int rows, int row,
                           const int sub)
{
    uint32_t word;
    switch (type) {
    case TENON_IQ2_XS: case TENON_IQ2_S: return scales[sub / 2 * rows + row] >> sub % 2 * 4 & 15u;
    case TENON_IQ3_S: return scales[sub / 2 * rows + row] >> sub % 2 * 4 & 15u;
    case TENON_IQ1_M:
        word = scales[sub / 4 * rows + row] | (scales[(4 + sub / 8) * rows + row] >> sub / 4 % 2 * 4 & 15u) << 8;
        return word >> sub % 4 * 3 & 7;
    case TENON_IQ1_S:
        word = planes[4 * rows + row] | (uint32_t)planes[5 * rows + row] << 8;
        return (word >> 3 & 1) | (word >> 6 & 2) | (word >> 9 & 4);
    default:
        word = word_at(planes + GROUP / CODEBOOKS[type].width * rows, row);
        return (word >> 25 & 1) | (word >> 26 & 2) | (word >> 27 & 4) | (word >> 28 & 8);
    }
}

#endif
