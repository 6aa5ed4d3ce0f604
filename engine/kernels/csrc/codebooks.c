/* The codebooks' points, written out when the library is loaded. */
#include "codebooks.h"

#include "points.h"

uint64_t points_of_8[NEIGHBOURS + POINTS_OF_8 + NEIGHBOURS];
uint32_t points_of_4[NEIGHBOURS + POINTS_OF_4 + NEIGHBOURS];

/* Writes the points of a set behind each other. */
static void write_points(const char *set, const uint8_t *levels, uint32_t base, int width, uint8_t *out)
{
    for (uint32_t number = 0; set[number / 4]; number++) {
        const char digit = set[number / 4 ^ 1];     /* the upper half of a byte comes first */
        const int half = digit <= '9' ? digit - '0' : digit - 'a' + 10;
        if (!(half >> number % 4 & 1))
            continue;
        for (uint32_t i = 0, rest = number; i < (uint32_t)width; i++, rest /= base)
            *out++ = levels[rest % base];
    }
}

__attribute__((constructor)) static void write_all(void)
{
    static const uint8_t two_bits[] = {8, 25, 43}, one_bit[] = {0, 8, 16}, odd[] = {1, 3, 5, 7, 9, 11, 13, 15};
    static const uint8_t three_bits[] = {4, 12, 20, 28, 36, 44, 52, 62};
    write_points(IQ2_XXS_POINTS, two_bits, 3, 8, (uint8_t *)(points_of_8 + CODEBOOKS[TENON_IQ2_XXS].first));
    write_points(IQ2_XS_POINTS, two_bits, 3, 8, (uint8_t *)(points_of_8 + CODEBOOKS[TENON_IQ2_XS].first));
    write_points(IQ2_S_POINTS, two_bits, 3, 8, (uint8_t *)(points_of_8 + CODEBOOKS[TENON_IQ2_S].first));
    write_points(IQ1_POINTS, one_bit, 3, 8, (uint8_t *)(points_of_8 + CODEBOOKS[TENON_IQ1_S].first));
    write_points(IQ3_XXS_POINTS, three_bits, 8, 4, (uint8_t *)(points_of_4 + CODEBOOKS[TENON_IQ3_XXS].first));
    write_points(IQ3_S_POINTS, odd, 8, 4, (uint8_t *)(points_of_4 + CODEBOOKS[TENON_IQ3_S].first));
}
