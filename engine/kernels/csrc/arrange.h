/* A block of each of a panel's rows into a unit of the arranged layout that tenon.h describes. `rows` is the panel's
 * height, a constant (32, or 1), and block the rows' blocks. */
#ifndef TENON_ARRANGE_H
#define TENON_ARRANGE_H

#define VECTOR_BYTES 16

#include "blocks.h"
#include "choices.h"
#include "codebooks.h"
#include "vectors.h"

static const uint8_t no_block[MOST_BLOCK_BYTES];    /* of a row that pads its panel */

/* `count` words of each block: [count][rows]. A panel's are transposed four by four, which is four times as fast. */
INLINE void take_words(const uint8_t *const *block, int at, int count, const int rows, uint8_t *restrict out)
{
    const int whole = rows % LANES ? 0 : count / LANES * LANES;
    for (int row = 0; whole && row < rows; row += LANES)
        UNROLL
        for (int i = 0; i < whole; i += LANES) {
            uvec four[LANES];
            UNROLL
            for (int lane = 0; lane < LANES; lane++)
                four[lane] = load_words(block[row + lane] + at + 4 * i);
            transpose(four);
            UNROLL
            for (int lane = 0; lane < LANES; lane++)
                store_words(out + 4 * ((i + lane) * rows + row), four[lane]);
        }
    for (int row = 0; row < rows; row++)
        UNROLL
        for (int i = whole; i < count; i++)
            memcpy(out + 4 * (i * rows + row), block[row] + at + 4 * i, 4);
}

/* Bytes of words (rows): [4][rows]. */
INLINE void part_words(const uint32_t *word, const int rows, uint8_t *restrict out)
{
    for (int i = 0; i < 4; i++)
        for (int row = 0; row < rows; row++)
            out[i * rows + row] = (uint8_t)(word[row] >> 8 * i);
}

/* Halves of words (rows): [2][rows]. */
INLINE void part_halves(const uint32_t *word, const int rows, uint8_t *restrict out)
{
    for (int i = 0; i < 2; i++)
        for (int row = 0; row < rows; row++) {
            const uint16_t half = (uint16_t)(word[row] >> 16 * i);
            memcpy(out + 2 * (i * rows + row), &half, 2);
        }
}

INLINE void take_halves(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++)
        memcpy(out + 2 * row, block[row] + at, 2);
}

INLINE void take_bytes(const uint8_t *const *block, int at, int count, const int rows, uint8_t *restrict out)
{
    uint32_t word[4 * PANEL_ROWS];
    take_words(block, at, count / 4, rows, (uint8_t *)word);
    for (int i = 0; i < count / 4; i++)
        part_words(word + i * rows, rows, out + 4 * i * rows);
    for (int row = 0; row < rows; row++)
        for (int i = count / 4 * 4; i < count; i++)
            out[i * rows + row] = block[row][at + i];
}

/* 32 bytes of each block that hold a group in their low nibbles and one in their high ones: 4 planes each. */
INLINE void split_nibbles(const uint8_t *const *block, int at, const int rows, uint8_t *restrict low,
                          uint8_t *restrict high)
{
    const uint32_t mask = 0x0f0f0f0fu;
    uint32_t word[8 * PANEL_ROWS];
    take_words(block, at, 8, rows, (uint8_t *)word);
    for (int i = 0; i < 4 * rows; i++) {
        const uint32_t first = word[i], second = word[4 * rows + i];
        const uint32_t lower = (first & mask) | (second & mask) << 4;
        const uint32_t upper = (first >> 4 & mask) | (second & ~mask);
        memcpy(low + 4 * i, &lower, 4);
        memcpy(high + 4 * i, &upper, 4);
    }
}

/* 32 bytes of each block that hold a group in each pair of bits: 2 planes each, `stride` bytes from group to group. */
INLINE void split_two_bits(const uint8_t *const *block, int at, const int rows, uint8_t *out, int stride)
{
    uint32_t word[8 * PANEL_ROWS];
    take_words(block, at, 8, rows, (uint8_t *)word);
    for (int group = 0; group < 4; group++)
        for (int plane = 0; plane < 2; plane++)
            for (int row = 0; row < rows; row++) {
                uint32_t found = 0;
                UNROLL
                for (int f = 0; f < 4; f++)
                    found |= (word[(4 * plane + f) * rows + row] >> 2 * group & 0x03030303u) << 2 * f;
                memcpy(out + group * stride + 4 * (plane * rows + row), &found, 4);
            }
}

/* 32 bytes of each block that hold a group in each bit: a plane each, by transposing 8 by 8 bits. */
INLINE void split_bits(const uint8_t *const *block, int at, const int rows, uint8_t *out, int stride)
{
    static const uint32_t low[3] = {0x55555555u, 0x33333333u, 0x0f0f0f0fu};
    uint32_t word[8 * PANEL_ROWS];
    take_words(block, at, 8, rows, (uint8_t *)word);
    UNROLL
    for (int round = 0; round < 3; round++)
        UNROLL
        for (int pair = 0; pair < 4; pair++) {
            const int by = 1 << round, first = (pair >> round << (round + 1)) + pair % by;
            uint32_t *one = word + first * rows, *other = one + by * rows;
            for (int row = 0; row < rows; row++) {
                const uint32_t moved = (one[row] >> by ^ other[row]) & low[round];
                other[row] ^= moved;
                one[row] ^= moved << by;
            }
        }
    for (int group = 0; group < 8; group++)
        memcpy(out + group * stride, word + group * rows, 4 * (size_t)rows);
}

/* A word whose bits at these places changed places with those `by` higher. */
INLINE uint32_t swap_bits(uint32_t word, const uint32_t places, const int by)
{
    const uint32_t moved = (word >> by ^ word) & places;
    return word ^ moved ^ moved << by;
}

/* Bit 4s + i of words (rows) as bit s of byte i. */
INLINE void bits_by_step(const uint32_t *word, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++) {
        uint32_t found = swap_bits(swap_bits(word[row], 0x22222222u, 1), 0x0a0a0a0au, 3);
        found = swap_bits(swap_bits(found, 0x00cc00ccu, 6), 0x0000f0f0u, 12);
        memcpy(out + 4 * row, &found, 4);
    }
}

/* A word with bit 4s + i for element 4s + i of each block: bit s of byte i. */
INLINE void spread_bits(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    uint32_t word[PANEL_ROWS];
    take_words(block, at, 1, rows, (uint8_t *)word);
    bits_by_step(word, rows, out);
}

/* 6-bit scales and minima in 12 bytes: the first four of each whole, the others' high bits above these. */
INLINE void spread_scales(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    uint32_t word[4 * PANEL_ROWS];
    take_words(block, at, 3, rows, (uint8_t *)word);
    for (int row = 0; row < rows; row++) {
        const uint32_t scale = word[row], minimum = word[rows + row], low = word[2 * rows + row];
        word[row] = scale & 0x3f3f3f3fu;
        word[rows + row] = (low & 0x0f0f0f0fu) | (scale >> 2 & 0x30303030u);
        word[2 * rows + row] = minimum & 0x3f3f3f3fu;
        word[3 * rows + row] = (low >> 4 & 0x0f0f0f0fu) | (minimum >> 2 & 0x30303030u);
    }
    for (int i = 0; i < 4; i++)
        part_words(word + i * rows, rows, out + 4 * i * rows);
}

/* `count` words whose bytes hold four elements that follow each other: byte f's pair i becomes byte i's pair f. */
INLINE void turn_pairs(const uint8_t *const *block, int at, int count, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < count; i++) {
            uint32_t word, moved;
            memcpy(&word, block[row] + at + 4 * i, 4);
            moved = (word ^ word >> 6) & 0x00cc00ccu;
            word ^= moved ^ moved << 6;
            moved = (word ^ word >> 12) & 0x0000f0f0u;
            word ^= moved ^ moved << 12;
            memcpy(out + 4 * (i * rows + row), &word, 4);
        }
}

/* 16 bytes of which 8 hold 8 elements in their low nibbles and the next 8 in their high ones: NVFP4's. */
INLINE void join_eighths(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    const uint32_t mask = 0x0f0f0f0fu;
    uint32_t word[4 * PANEL_ROWS];
    take_words(block, at, 4, rows, (uint8_t *)word);
    for (int i = 0; i < 2 * rows; i++) {
        const uint32_t first = word[i], second = word[2 * rows + i];
        const uint32_t low = (first & mask) | (second & mask) << 4, high = (first >> 4 & mask) | (second & ~mask);
        memcpy(out + 4 * i, &low, 4);
        memcpy(out + 4 * (2 * rows + i), &high, 4);
    }
}

/* Scales of which 0x7f is a NaN, computed with as zero, and the highest bit says nothing. */
INLINE void take_e4m3(const uint8_t *const *block, int count, const int rows, uint8_t *restrict out)
{
    take_bytes(block, 0, count, rows, out);
    for (int i = 0; i < count * rows; i++)
        out[i] = out[i] == 0x7f ? 0 : out[i] & 0x7f;
}

INLINE void spread_q3_scales(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++) {
        const uint8_t *from = block[row] + at;
        const int zero = block[row] == no_block ? 0 : 32;
        for (int i = 0; i < 16; i++) {
            const int low = from[i % 8] >> i / 8 * 4 & 15, high = from[8 + i % 4] >> i / 4 * 2 & 3;
            out[i * rows + row] = (uint8_t)((low | high << 4) - zero);
        }
    }
}

INLINE void spread_iq4_scales(const uint8_t *const *block, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++) {
        const uint8_t *from = block[row];
        const int zero = from == no_block ? 0 : 32;
        for (int i = 0; i < 8; i++) {
            const int low = from[4 + i / 2] >> i % 2 * 4 & 15, high = from[2 + i / 4] >> i % 4 * 2 & 3;
            out[i * rows + row] = (uint8_t)((low | high << 4) - zero);
        }
    }
}

INLINE uint16_t half_word_at(const uint8_t *at)
{
    uint16_t word;
    memcpy(&word, at, 2);
    return word;
}

/* Four times seven signs, each with a further bit. */
INLINE uint32_t signs_and_spare(uint32_t signs, uint32_t spare)
{
    uint32_t word = 0;
    UNROLL
    for (int l = 0; l < 4; l++)
        word |= (signs >> 7 * l & 127u) << 8 * l | (spare >> l & 1u) << (8 * l + 7);
    return word;
}

/* A group of blocks of a codebook type. */
INLINE void take_points(const int32_t type, const uint8_t *const *block, int group, const int rows, uint8_t *out)
{
    const int points = GROUP / CODEBOOKS[type].width;
    uint8_t *rest = out + points * rows;
    uint32_t index[2 * PANEL_ROWS], words[PANEL_ROWS];
    for (int row = 0; row < rows; row++) {
        const uint8_t *from = block[row], *at = from + 2 + points * group;
        uint32_t word = 0, spare = 0;
        switch (type) {
        case TENON_IQ2_XXS:
            at = from + 2 + 8 * group;
            word = word_at(at + 4, 0);
            word = signs_and_spare(word, word >> 28);
            break;
        case TENON_IQ2_XS:
            /* of each point nine bits of its index, then seven signs */
            at = from + 2 + 8 * group;
            word = word_at(at, 0);
            spare = word_at(at, 1);
            index[row] = (word & 255) | (word >> 8 & 0xff00) | (spare & 255) << 16 | (spare >> 16 & 255) << 24;
            word = (word >> 8 & 255) | (word >> 24) << 8 | (spare >> 8 & 255) << 16 | spare >> 24 << 24;
            word = (word >> 1 & 0x7f7f7f7fu) | (word & 0x01010101u) << 7;
            break;
        case TENON_IQ3_XXS:
            word = word_at(from + 66, group);
            word = signs_and_spare(word, word >> 28);
            break;
        case TENON_IQ2_S: case TENON_IQ3_S:
            word = word_at(from + (type == TENON_IQ2_S ? 34 : 74), group);
            rest[4 * rows + row] = from[66 + group];
            break;
        case TENON_IQ1_S:
            spare = half_word_at(from + 34 + 2 * group);
            for (int l = 0; l < 4; l++)
                word |= ((spare >> 3 * l & 7) | (spare >> (12 + l) & 1) << 3) << 4 * l;
            break;
        case TENON_IQ1_M:
            at = from + 4 * group;
            word = half_word_at(from + 32 + 2 * group);
            break;
        }
        for (int l = 0; type != TENON_IQ2_XS && l < points / 4; l++)
            index[l * rows + row] = word_at(at, l);
        if (CODEBOOKS[type].signs == NO_SIGNS) {
            rest[row] = (uint8_t)word;
            rest[rows + row] = (uint8_t)(word >> 8);
        }
        words[row] = word;
    }
    for (int l = 0; l < points / 4; l++)
        part_words(index + l * rows, rows, out + 4 * l * rows);
    if (CODEBOOKS[type].signs != NO_SIGNS)
        bits_by_step(words, rows, rest);
}

/* IQ1_M's scales: three bits each in four words of 16, whose upper four bits are the float's. */
INLINE void take_iq1_scales(const uint8_t *const *block, const int rows, uint8_t *out)
{
    for (int row = 0; row < rows; row++) {
        const uint8_t *from = block[row] + 48;
        uint16_t half = 0;
        for (int i = 0; i < 4; i++) {
            out[i * rows + row] = from[2 * i];
            half |= (uint16_t)(from[2 * i + 1] >> 4 << 4 * i);
        }
        out[4 * rows + row] = (uint8_t)((from[1] & 15) | (from[3] & 15) << 4);
        out[5 * rows + row] = (uint8_t)((from[5] & 15) | (from[7] & 15) << 4);
        memcpy(out + 6 * rows + 2 * row, &half, 2);
    }
}

/* Bytes of a group's planes, per row. */
INLINE int planes_of(const int32_t type)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    return 4 * (form->byte_planes + form->nibble_planes + form->two_bit_planes + form->bit_planes) + form->point_bytes;
}

/* A block of a type of ik_llama.cpp: a scale, bytes of scales and choices, and codes. */
INLINE void take_choices(const int32_t type, const uint8_t *const *block, const int rows, uint8_t *out, uint8_t *scales)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    const int plane = 4 * rows, stride = planes_of(type) * rows, nibbles = form->nibble_planes;
    const int at = form->bytes - 8 * planes_of(type), fine = at - 2 * form->halves;
    for (int group = 0; nibbles == planes_of(type) / 4 && group < 8; group++)
        take_words(block, at + 16 * group, 4, rows, out + group * stride);
    for (int pair = 0; nibbles && nibbles < planes_of(type) / 4 && pair < 4; pair++)
        split_nibbles(block, at + 32 * pair, rows, out + 2 * pair * stride, out + (2 * pair + 1) * stride);
    for (int half = 0; form->two_bit_planes && half < 2; half++)
        split_two_bits(block, at + 32 * (nibbles + half), rows, out + 4 * half * stride + nibbles * plane, stride);
    if (form->bit_planes)
        split_bits(block, at + 32 * (nibbles + form->two_bit_planes), rows, out + (nibbles + form->two_bit_planes) * plane,
                   stride);
    take_bytes(block, 2 * form->halves, fine, rows, scales);
    if (form->halves)
        take_halves(block, 0, rows, scales + fine * rows);
}

/* One block of each row into a unit. */
INLINE void arrange_unit(const int32_t type, const int rows, const uint8_t *const *block, uint8_t *out)
{
    const int plane = 4 * rows, stride = planes_of(type) * rows;
    uint8_t *scales = out + BLOCK_FORMS[type].elements / 32 * stride;
    for (int group = 0; CODEBOOKS[type].width && group < 8; group++)
        take_points(type, block, group, rows, out + group * stride);
    if (CHOICES[type].values)
        take_choices(type, block, rows, out, scales);
    switch (type) {
    case TENON_Q4_0: case TENON_IQ4_NL:
        take_words(block, 2, 4, rows, out);
        take_halves(block, 0, rows, scales);
        break;
    case TENON_Q4_1:
        take_words(block, 4, 4, rows, out);
        take_halves(block, 0, rows, scales);
        take_halves(block, 2, rows, scales + 2 * rows);
        break;
    case TENON_Q5_0:
        take_words(block, 6, 4, rows, out);
        spread_bits(block, 2, rows, out + 4 * plane);
        take_halves(block, 0, rows, scales);
        break;
    case TENON_Q5_1:
        take_words(block, 8, 4, rows, out);
        spread_bits(block, 4, rows, out + 4 * plane);
        take_halves(block, 0, rows, scales);
        take_halves(block, 2, rows, scales + 2 * rows);
        break;
    case TENON_Q8_0:
        take_words(block, 2, 8, rows, out);
        take_halves(block, 0, rows, scales);
        break;
    case TENON_MXFP4:
        take_words(block, 1, 4, rows, out);
        take_bytes(block, 0, 1, rows, scales);
        break;
    case TENON_NVFP4:
        for (int group = 0; group < 2; group++)
            join_eighths(block, 4 + 16 * group, rows, out + group * stride);
        take_e4m3(block, 4, rows, scales);
        break;
    case TENON_Q1_0:
        for (int group = 0; group < 4; group++)
            spread_bits(block, 2 + 4 * group, rows, out + group * stride);
        take_halves(block, 0, rows, scales);
        break;
    case TENON_Q2_0: case TENON_PQ2_0:
        turn_pairs(block, 2, BLOCK_FORMS[type].elements / 16, rows, out);
        take_halves(block, 0, rows, scales);
        break;
    case TENON_TQ2_0:
        for (int half = 0; half < 2; half++)
            split_two_bits(block, 32 * half, rows, out + 4 * half * stride, stride);
        take_halves(block, 64, rows, scales);
        break;
    case TENON_TQ1_0:
        take_words(block, 0, 13, rows, out);
        take_halves(block, 52, rows, out + 13 * plane);
        break;
    case TENON_PTQ1_0:
        take_words(block, 0, 6, rows, out);
        take_halves(block, 24, rows, out + 6 * plane);
        take_halves(block, 26, rows, out + 6 * plane + 2 * rows);
        break;
    case TENON_IQ4_XS:
        for (int group = 0; group < 8; group++)
            take_words(block, 8 + 16 * group, 4, rows, out + group * stride);
        spread_iq4_scales(block, rows, scales);
        take_halves(block, 0, rows, scales + 8 * rows);
        break;
    case TENON_Q2_K:
        for (int half = 0; half < 2; half++)
            split_two_bits(block, 16 + 32 * half, rows, out + 4 * half * stride, stride);
        take_bytes(block, 0, 16, rows, scales);
        take_halves(block, 80, rows, scales + 16 * rows);
        take_halves(block, 82, rows, scales + 18 * rows);
        break;
    case TENON_Q3_K:
        for (int half = 0; half < 2; half++)
            split_two_bits(block, 32 + 32 * half, rows, out + 4 * half * stride, stride);
        split_bits(block, 0, rows, out + 2 * plane, stride);
        spread_q3_scales(block, 96, rows, scales);
        take_halves(block, 108, rows, scales + 16 * rows);
        break;
    case TENON_Q4_K: case TENON_Q5_K:
        for (int pair = 0; pair < 4; pair++) {
            uint8_t *group = out + 2 * pair * stride;
            split_nibbles(block, (type == TENON_Q4_K ? 16 : 48) + 32 * pair, rows, group, group + stride);
        }
        if (type == TENON_Q5_K)
            split_bits(block, 16, rows, out + 4 * plane, stride);
        spread_scales(block, 4, rows, scales);
        take_halves(block, 0, rows, scales + 16 * rows);
        take_halves(block, 2, rows, scales + 18 * rows);
        break;
    case TENON_Q6_K:
        for (int half = 0; half < 2; half++) {
            for (int pair = 0; pair < 2; pair++) {
                uint8_t *group = out + (4 * half + pair) * stride;
                split_nibbles(block, 64 * half + 32 * pair, rows, group, group + 2 * stride);
            }
            split_two_bits(block, 128 + 32 * half, rows, out + 4 * half * stride + 4 * plane, stride);
        }
        take_bytes(block, 192, 16, rows, scales);
        take_halves(block, 208, rows, scales + 16 * rows);
        break;
    case TENON_IQ2_XXS: case TENON_IQ3_XXS: case TENON_IQ1_S:
        take_halves(block, 0, rows, scales);
        break;
    case TENON_IQ2_XS: case TENON_IQ2_S:
        take_bytes(block, type == TENON_IQ2_XS ? 66 : 74, 8, rows, scales);
        take_halves(block, 0, rows, scales + 8 * rows);
        break;
    case TENON_IQ3_S:
        take_bytes(block, 106, 4, rows, scales);
        take_halves(block, 0, rows, scales + 4 * rows);
        break;
    case TENON_IQ1_M:
        take_iq1_scales(block, rows, scales);
        break;
    }
}

#endif
