/* A block of each of a panel's rows into a unit of the arranged layout that tenon.h describes. `rows` is the panel's
 * height, a constant (32, or 1), and block the rows' blocks. */
#ifndef TENON_ARRANGE_H
#define TENON_ARRANGE_H

#include "blocks.h"
#include "choices.h"
#include "codebooks.h"

static const uint8_t no_block[MOST_BLOCK_BYTES];    /* of a row that pads its panel */

/* `count` words of each block: [count][rows]. */
INLINE void take_words(const uint8_t *const *block, int at, int count, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++) {
        const uint8_t *from = block[row] + at;
        UNROLL
        for (int i = 0; i < count; i++)
            memcpy(out + 4 * (i * rows + row), from + 4 * i, 4);
    }
}

INLINE void take_halves(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++)
        memcpy(out + 2 * row, block[row] + at, 2);
}

INLINE void take_bytes(const uint8_t *const *block, int at, int count, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < count; i++)
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

/* 32 bytes of each block that hold a group in each bit: a plane each. */
INLINE void split_bits(const uint8_t *const *block, int at, const int rows, uint8_t *out, int stride)
{
    uint32_t word[8 * PANEL_ROWS];
    take_words(block, at, 8, rows, (uint8_t *)word);
    for (int group = 0; group < 8; group++)
        for (int row = 0; row < rows; row++) {
            uint32_t found = 0;
            UNROLL
            for (int step = 0; step < 8; step++)
                found |= (word[step * rows + row] >> group & 0x01010101u) << step;
            memcpy(out + group * stride + 4 * row, &found, 4);
        }
}

/* Bit 4s + i of a word as bit s of byte i. */
INLINE uint32_t bits_by_step(uint32_t word)
{
    uint32_t found = 0;
    UNROLL
    for (int step = 0; step < 8; step++)
        found |= ((word >> 4 * step & 15u) * 0x00204081u & 0x01010101u) << step;
    return found;
}

/* A word with bit 4s + i for element 4s + i of each block: bit s of byte i. */
INLINE void spread_bits(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++) {
        const uint32_t found = bits_by_step(word_at(block[row] + at, 0));
        memcpy(out + 4 * row, &found, 4);
    }
}

/* 6-bit scales and minima in 12 bytes: the first four of each whole, the others' high bits above these. */
INLINE void spread_scales(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    for (int row = 0; row < rows; row++) {
        const uint8_t *from = block[row] + at;
        for (int i = 0; i < 4; i++) {
            out[i * rows + row] = from[i] & 63;
            out[(4 + i) * rows + row] = (uint8_t)((from[8 + i] & 15) | (from[i] >> 2 & 48));
            out[(8 + i) * rows + row] = from[4 + i] & 63;
            out[(12 + i) * rows + row] = (uint8_t)(from[8 + i] >> 4 | (from[4 + i] >> 2 & 48));
        }
    }
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
    for (int row = 0; row < rows; row++) {
        const uint8_t *from = block[row];
        uint32_t word = 0, spare = 0;
        int at = 2 + points * group, stride = 1;
        switch (type) {
        case TENON_IQ2_XXS:
            at = 2 + 8 * group;
            word = word_at(from + at + 4, 0);
            word = signs_and_spare(word, word >> 28);
            break;
        case TENON_IQ2_XS:
            at = 2 + 8 * group;
            stride = 2;
            for (int l = 0; l < 4; l++) {
                const uint32_t both = half_word_at(from + at + 2 * l);
                word |= both >> 9 << 7 * l;
                spare |= (both >> 8 & 1) << l;
            }
            word = signs_and_spare(word, spare);
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
            at = 4 * group;
            word = half_word_at(from + 32 + 2 * group);
            break;
        }
        for (int l = 0; l < points; l++)
            out[l * rows + row] = from[at + stride * l];
        if (CODEBOOKS[type].signs == NO_SIGNS) {
            rest[row] = (uint8_t)word;
            rest[rows + row] = (uint8_t)(word >> 8);
        } else {
            word = bits_by_step(word);
            memcpy(rest + 4 * row, &word, 4);
        }
    }
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
