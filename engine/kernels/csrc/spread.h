/* Blocks spread into bytes and float scales. Before including this, a file brings a vector header and defines
 *
 *   SPREAD_SIGNED(bits)     whether integers of so many bits are wanted as signed bytes; else unsigned, a type's `zero`
 *                           too large */
#ifndef TENON_SPREAD_H
#define TENON_SPREAD_H

#include "block_types.h"
#include "tenon.h"

/* A panel's chunk, as products want it. */
struct spread {
    _Alignas(64) uint8_t bytes[CHUNK_GROUPS][GROUP_STEPS][STEP_BYTES];
    _Alignas(64) float scale[2 * CHUNK_GROUPS][PANEL_ROWS], min[2 * CHUNK_GROUPS][PANEL_ROWS];  /* by sub-blocks */
};

enum { VECTOR_BYTES = 4 * LANES, PLANE_VECTORS = STEP_BYTES / VECTOR_BYTES };

/* Takes off the zero point where signed bytes are wanted. */
INLINE ivec centred(ivec v, const int bits, const int zero)
{
    return SPREAD_SIGNED(bits) && zero ? subtract_bytes(v, broadcast_byte(zero)) : v;
}

/* The bits `mask` of bytes moved up by `left` places, or down where that is negative. */
INLINE ivec moved_bits(ivec v, const int left, const int mask)
{
    const ivec moved = left > 0 ? shift_left(v, left) : left < 0 ? shift_right(v, -left) : v;
    return and_bytes(moved, broadcast_byte(mask));
}

/* Nibbles with `high` further bits from planes behind theirs: 0, 1 or 2. */
INLINE void spread_nibbles(const uint8_t *planes, uint8_t bytes[][STEP_BYTES], const int high, const int zero)
{
    UNROLL
    for (int v = 0; v < PLANE_VECTORS; v++) {
        const uint8_t *from = planes + VECTOR_BYTES * v;
        ivec further[2] = {broadcast_byte(0), broadcast_byte(0)};
        for (int i = 0; i < high; i++)
            further[i] = load_bytes(from + (4 + i) * STEP_BYTES);
        UNROLL
        for (int p = 0; p < 4; p++) {
            const ivec both = load_bytes(from + p * STEP_BYTES);
            ivec low = low_nibbles(both), up = high_nibbles(both);
            if (high == 1) {
                low = or_bytes(low, moved_bits(further[0], 4 - p, 0x10));
                up = or_bytes(up, moved_bits(further[0], -p, 0x10));
            }
            if (high == 2) {
                low = or_bytes(low, moved_bits(further[0], 4 - 2 * p, 0x30));
                up = or_bytes(up, moved_bits(further[1], 4 - 2 * p, 0x30));
            }
            store_bytes(bytes[p] + VECTOR_BYTES * v, centred(low, 4 + high, zero));
            store_bytes(bytes[p + 4] + VECTOR_BYTES * v, centred(up, 4 + high, zero));
        }
    }
}

/* Pairs of bits, with a third from a plane behind theirs where `high`. */
INLINE void spread_pairs(const uint8_t *planes, uint8_t bytes[][STEP_BYTES], const int high, const int zero)
{
    UNROLL
    for (int v = 0; v < PLANE_VECTORS; v++) {
        const uint8_t *from = planes + VECTOR_BYTES * v;
        const ivec third = high ? load_bytes(from + 2 * STEP_BYTES) : broadcast_byte(0);
        UNROLL
        for (int p = 0; p < 2; p++) {
            const ivec four = load_bytes(from + p * STEP_BYTES);
            UNROLL
            for (int f = 0; f < 4; f++) {
                ivec value = moved_bits(four, -2 * f, 3);
                if (high)
                    value = or_bytes(value, moved_bits(third, 2 - (4 * p + f), 4));
                store_bytes(bytes[4 * p + f] + VECTOR_BYTES * v, centred(value, 2 + high, zero));
            }
        }
    }
}

INLINE void spread_table(const uint8_t *planes, uint8_t bytes[][STEP_BYTES], const ivec table)
{
    UNROLL
    for (int v = 0; v < PLANE_VECTORS; v++)
        UNROLL
        for (int p = 0; p < 4; p++) {
            const ivec both = load_bytes(planes + p * STEP_BYTES + VECTOR_BYTES * v);
            store_bytes(bytes[p] + VECTOR_BYTES * v, lookup(table, low_nibbles(both)));
            store_bytes(bytes[p + 4] + VECTOR_BYTES * v, lookup(table, high_nibbles(both)));
        }
}

INLINE void spread_bytes(const uint8_t *planes, uint8_t bytes[][STEP_BYTES])
{
    const ivec flip = broadcast_byte(SPREAD_SIGNED(8) ? 0 : 128);
    for (int p = 0; p < GROUP_STEPS; p++)
        UNROLL
        for (int v = 0; v < PLANE_VECTORS; v++)
            store_bytes(bytes[p] + VECTOR_BYTES * v,
                        exclusive_or(load_bytes(planes + p * STEP_BYTES + VECTOR_BYTES * v), flip));
}

INLINE void spread_halves(const uint8_t *from, float *out)
{
    UNROLL
    for (int row = 0; row < PANEL_ROWS; row += LANES)
        store_floats(out + row, load_half(from + 2 * row));
}

/* Exponents of two, halved, for MXFP4's table holds doubled values. */
static void spread_exponents(const uint8_t *from, float *out)
{
    for (int row = 0; row < PANEL_ROWS; row++) {
        const uint32_t e = from[row], bits = e < 2 ? 0x00200000u << (e & 1) : (e - 1) << 23;
        memcpy(out + row, &bits, sizeof bits);
    }
}

/* out = d * bytes by sub-blocks: d is half[32], bytes [subs][32]. */
INLINE void scaled_bytes(const uint8_t *d, const uint8_t *bytes, int subs, float out[][PANEL_ROWS], const int is_signed,
                         const float sign)
{
    UNROLL
    for (int row = 0; row < PANEL_ROWS; row += LANES) {
        const fvec factor = multiply_floats(load_half(d + 2 * row), broadcast_float(sign));
        for (int sub = 0; sub < subs; sub++) {
            const uint8_t *at = bytes + PANEL_ROWS * sub + row;
            store_floats(out[sub] + row, multiply_floats(factor, is_signed ? load_signed(at) : load_unsigned(at)));
        }
    }
}

/* Q2_K's: scales in the low nibbles, mins in the high ones. */
INLINE void scaled_nibbles(const uint8_t *d, const uint8_t *both, struct spread *out)
{
    UNROLL
    for (int row = 0; row < PANEL_ROWS; row += LANES) {
        const fvec factor = load_half(d + 2 * row);
        const fvec floor = multiply_floats(load_half(d + 64 + 2 * row), broadcast_float(-1));
        for (int sub = 0; sub < 2 * CHUNK_GROUPS; sub++) {
            uint8_t low[LANES], high[LANES];
            for (int i = 0; i < LANES; i++) {
                low[i] = both[PANEL_ROWS * sub + row + i] & 15;
                high[i] = both[PANEL_ROWS * sub + row + i] >> 4;
            }
            store_floats(out->scale[sub] + row, multiply_floats(factor, load_unsigned(low)));
            store_floats(out->min[sub] + row, multiply_floats(floor, load_unsigned(high)));
        }
    }
}

/* The values of IQ4_NL's and IQ4_XS's nibbles, and of MXFP4's, doubled. */
static const int8_t IQ4_VALUES[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
static const int8_t MXFP4_VALUES[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

INLINE ivec byte_table(const int8_t *values, const int bits, const int zero)
{
    int8_t table[16];
    for (int i = 0; i < 16; i++)
        table[i] = (int8_t)(SPREAD_SIGNED(bits) ? values[i] : values[i] + zero);
    return repeat16(table);
}

/* Types of 32: `groups` units, one after the other. */
#define SPREAD_UNITS(bytes_call, scale_call)                                                        \
    for (int g = 0; g < groups; g++) {                                                              \
        const uint8_t *unit = from + (int64_t)g * type->unit_bytes;                                 \
        bytes_call;                                                                                 \
        scale_call;                                                                                 \
    }                                                                                               \
    break

/* Types of 256: planes of all groups, then the scales. */
#define SPREAD_PLANES(planes, bytes_call)                                                           \
    for (int g = 0; g < groups; g++) {                                                              \
        const uint8_t *unit = from + g * (planes) * STEP_BYTES;                                     \
        bytes_call;                                                                                 \
    }

/* A chunk of a panel: `groups` groups, all 8 of a type whose units are of 256. */
OUTLINE void spread_chunk(const struct block_type *type, const uint8_t *from, int groups, struct spread *out)
{
    switch (type->type) {
    case TENON_Q4_0:
        SPREAD_UNITS(spread_nibbles(unit, out->bytes[g], 0, 8), spread_halves(unit + 512, out->scale[g]));
    case TENON_Q4_1:
        SPREAD_UNITS(spread_nibbles(unit, out->bytes[g], 0, 0),
                     spread_halves(unit + 512, out->scale[g]); spread_halves(unit + 576, out->min[g]));
    case TENON_Q5_0:
        SPREAD_UNITS(spread_nibbles(unit, out->bytes[g], 1, 16), spread_halves(unit + 640, out->scale[g]));
    case TENON_Q5_1:
        SPREAD_UNITS(spread_nibbles(unit, out->bytes[g], 1, 0),
                     spread_halves(unit + 640, out->scale[g]); spread_halves(unit + 704, out->min[g]));
    case TENON_Q8_0:
        SPREAD_UNITS(spread_bytes(unit, out->bytes[g]), spread_halves(unit + 1024, out->scale[g]));
    case TENON_IQ4_NL: {
        const ivec table = byte_table(IQ4_VALUES, 8, 128);
        SPREAD_UNITS(spread_table(unit, out->bytes[g], table), spread_halves(unit + 512, out->scale[g]));
    }
    case TENON_MXFP4: {
        const ivec table = byte_table(MXFP4_VALUES, 5, 12);
        SPREAD_UNITS(spread_table(unit, out->bytes[g], table), spread_exponents(unit + 512, out->scale[g]));
    }
    case TENON_Q4_K:
        SPREAD_PLANES(4, spread_nibbles(unit, out->bytes[g], 0, 0));
        scaled_bytes(from + 4608, from + 4096, 8, out->scale, 0, 1);
        scaled_bytes(from + 4672, from + 4352, 8, out->min, 0, -1);
        break;
    case TENON_Q5_K:
        SPREAD_PLANES(5, spread_nibbles(unit, out->bytes[g], 1, 0));
        scaled_bytes(from + 5632, from + 5120, 8, out->scale, 0, 1);
        scaled_bytes(from + 5696, from + 5376, 8, out->min, 0, -1);
        break;
    case TENON_Q6_K:
        SPREAD_PLANES(6, spread_nibbles(unit, out->bytes[g], 2, 32));
        scaled_bytes(from + 6656, from + 6144, 16, out->scale, 1, 1);
        break;
    case TENON_Q3_K:
        SPREAD_PLANES(3, spread_pairs(unit, out->bytes[g], 1, 4));
        scaled_bytes(from + 3584, from + 3072, 16, out->scale, 1, 1);
        break;
    case TENON_Q2_K:
        SPREAD_PLANES(2, spread_pairs(unit, out->bytes[g], 0, 0));
        scaled_nibbles(from + 2560, from + 2048, out);
        break;
    case TENON_IQ4_XS: {
        const ivec table = byte_table(IQ4_VALUES, 8, 128);
        SPREAD_PLANES(4, spread_table(unit, out->bytes[g], table));
        scaled_bytes(from + 4352, from + 4096, 8, out->scale, 1, 1);
        break;
    }
    }
}

#endif
