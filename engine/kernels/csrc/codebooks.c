/* The codebooks' points, written out when the library is loaded. */
#include "codebooks.h"

#include "points.h"

uint64_t points_of_8[NEIGHBOURS + POINTS_OF_8 + NEIGHBOURS];
uint32_t points_of_4[NEIGHBOURS + POINTS_OF_4 + NEIGHBOURS];
uint8_t point_halves[TENON_IQ2_S + 1][2 * MOST_POINTS];

/* Writes the points of a type behind each other. */
static void write_points(int32_t type, const char *set, const uint8_t *levels, int base)
{
    const struct codebook c = CODEBOOKS[type];
    uint8_t *out = c.width == 8 ? (uint8_t *)(points_of_8 + c.first) : (uint8_t *)(points_of_4 + c.first);
    uint8_t *half = point_halves[type];
    for (uint32_t number = 0; set[number / 4]; number++) {
        const char digit = set[number / 4 ^ 1];     /* the upper half of a byte comes first */
        const int bits = digit <= '9' ? digit - '0' : digit - 'a' + 10;
        if (!(bits >> number % 4 & 1))
            continue;
        for (int i = 0, rest = (int)number; i < c.width; i++, rest /= base) {
            *out++ = levels[rest % base];
            if (c.signs)
                half[(2 * i / c.width) * (256 << c.high)] |= (uint8_t)(rest % base << i % (c.width / 2) * 16 / c.width);
        }
        half++;
    }
}

__attribute__((constructor)) static void write_all(void)
{
    static const uint8_t two_bits[] = {8, 25, 43}, one_bit[] = {0, 8, 16}, odd[] = {1, 3, 5, 7, 9, 11, 13, 15};
    static const uint8_t three_bits[] = {4, 12, 20, 28, 36, 44, 52, 62};
    write_points(TENON_IQ2_XXS, IQ2_XXS_POINTS, two_bits, 3);
    write_points(TENON_IQ2_XS, IQ2_XS_POINTS, two_bits, 3);
    write_points(TENON_IQ2_S, IQ2_S_POINTS, two_bits, 3);
    write_points(TENON_IQ1_S, IQ1_POINTS, one_bit, 3);
    write_points(TENON_IQ3_XXS, IQ3_XXS_POINTS, three_bits, 8);
    write_points(TENON_IQ3_S, IQ3_S_POINTS, odd, 8);
}
