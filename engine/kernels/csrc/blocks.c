/* GGUF blocks into panels and into floats. A group's elements are only moved, so both are without loss; rows by
 * themselves become floats by way of a panel of one row. */
#include "blocks.h"

#include "pool.h"
#include "tenon.h"

enum { MOST_GROUPS = 8, SUBBLOCKS = 16 };

static const struct block_form *form_of(int32_t type, int64_t k)
{
    const struct block_form *form = type >= 0 && type < BLOCK_TYPES ? &BLOCK_FORMS[type] : NULL;
    return form && form->elements && k >= 0 && k % form->elements == 0 ? form : NULL;
}

static int64_t padded_columns(int32_t type, int64_t k)
{
    return type == TYPE_BF16 ? (k + 31) / 32 * 32 : k;
}

static int64_t panel_bytes(int32_t type, const struct block_form *form, int64_t k)
{
    return padded_columns(type, k) / form->elements * form->unit_bytes * PANEL_ROWS;
}

int64_t tenon_arranged_bytes(int32_t type, int64_t n, int64_t k)
{
    const struct block_form *form = form_of(type, k);
    return form && n >= 0 ? (n + PANEL_ROWS - 1) / PANEL_ROWS * panel_bytes(type, form, k) : -1;
}

/* Below, `rows` is the panel's height, a constant (32, or 1), and block the rows' blocks. */

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

/* A word with bit 4s + i for element 4s + i of each block: bit s of byte i. */
INLINE void spread_bits(const uint8_t *const *block, int at, const int rows, uint8_t *restrict out)
{
    uint32_t word[PANEL_ROWS];
    take_words(block, at, 1, rows, (uint8_t *)word);
    for (int row = 0; row < rows; row++) {
        uint32_t found = 0;
        UNROLL
        for (int step = 0; step < 8; step++) {
            const uint32_t nibble = word[row] >> 4 * step & 15u;
            found |= (nibble * 0x00204081u & 0x01010101u) << step;
        }
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

INLINE int planes_of(const int32_t type)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    return form->byte_planes + form->nibble_planes + form->two_bit_planes + form->bit_planes;
}

/* One block of each row into a unit. */
INLINE void arrange_unit(const int32_t type, const int rows, const uint8_t *const *block, uint8_t *out)
{
    const int plane = 4 * rows, stride = planes_of(type) * plane;
    uint8_t *scales = out + BLOCK_FORMS[type].elements / 32 * stride;
    switch (type) {
    case TYPE_Q4_0: case TYPE_IQ4_NL:
        take_words(block, 2, 4, rows, out);
        take_halves(block, 0, rows, scales);
        break;
    case TYPE_Q4_1:
        take_words(block, 4, 4, rows, out);
        take_halves(block, 0, rows, scales);
        take_halves(block, 2, rows, scales + 2 * rows);
        break;
    case TYPE_Q5_0:
        take_words(block, 6, 4, rows, out);
        spread_bits(block, 2, rows, out + 4 * plane);
        take_halves(block, 0, rows, scales);
        break;
    case TYPE_Q5_1:
        take_words(block, 8, 4, rows, out);
        spread_bits(block, 4, rows, out + 4 * plane);
        take_halves(block, 0, rows, scales);
        take_halves(block, 2, rows, scales + 2 * rows);
        break;
    case TYPE_Q8_0:
        take_words(block, 2, 8, rows, out);
        take_halves(block, 0, rows, scales);
        break;
    case TYPE_MXFP4:
        take_words(block, 1, 4, rows, out);
        take_bytes(block, 0, 1, rows, scales);
        break;
    case TYPE_IQ4_XS:
        for (int group = 0; group < 8; group++)
            take_words(block, 8 + 16 * group, 4, rows, out + group * stride);
        spread_iq4_scales(block, rows, scales);
        take_halves(block, 0, rows, scales + 8 * rows);
        break;
    case TYPE_Q2_K:
        for (int half = 0; half < 2; half++)
            split_two_bits(block, 16 + 32 * half, rows, out + 4 * half * stride, stride);
        take_bytes(block, 0, 16, rows, scales);
        take_halves(block, 80, rows, scales + 16 * rows);
        take_halves(block, 82, rows, scales + 18 * rows);
        break;
    case TYPE_Q3_K:
        for (int half = 0; half < 2; half++)
            split_two_bits(block, 32 + 32 * half, rows, out + 4 * half * stride, stride);
        split_bits(block, 0, rows, out + 2 * plane, stride);
        spread_q3_scales(block, 96, rows, scales);
        take_halves(block, 108, rows, scales + 16 * rows);
        break;
    case TYPE_Q4_K: case TYPE_Q5_K:
        for (int pair = 0; pair < 4; pair++) {
            uint8_t *group = out + 2 * pair * stride;
            split_nibbles(block, (type == TYPE_Q4_K ? 16 : 48) + 32 * pair, rows, group, group + stride);
        }
        if (type == TYPE_Q5_K)
            split_bits(block, 16, rows, out + 4 * plane, stride);
        spread_scales(block, 4, rows, scales);
        take_halves(block, 0, rows, scales + 16 * rows);
        take_halves(block, 2, rows, scales + 18 * rows);
        break;
    case TYPE_Q6_K:
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
    }
}

/* A panel of rows of quantized blocks. */
INLINE void arrange_blocks(const int32_t type, const uint8_t **block, int64_t units, uint8_t *out)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    for (int64_t unit = 0; unit < units; unit++, out += form->unit_bytes * PANEL_ROWS) {
        arrange_unit(type, PANEL_ROWS, block, out);
        for (int row = 0; row < PANEL_ROWS; row++)
            block[row] += block[row] == no_block ? 0 : form->bytes;
    }
}

/* A panel of rows of 16-bit floats; of bfloat16 two columns at a time. */
INLINE void arrange_floats(const uint8_t **block, int64_t k, const int together, uint8_t *out)
{
    const int size = 2 * together;
    int64_t at = 0;
    for (; at + 32 <= k; at += 32, out += 64 * PANEL_ROWS)
        for (int row = 0; row < PANEL_ROWS; row++) {
            const uint8_t *from = block[row] == no_block ? no_block : block[row] + 2 * at;
            UNROLL
            for (int i = 0; i < 32 / together; i++)
                memcpy(out + size * (i * PANEL_ROWS + row), from + size * i, (size_t)size);
        }
    if (together == 2 && at < k)
        memset(out, 0, 64 * PANEL_ROWS);
    for (int64_t i = at; i < k; i++)
        for (int row = 0; row < PANEL_ROWS; row++) {
            const uint8_t *from = block[row] == no_block ? no_block : block[row] + 2 * i;
            memcpy(out + size * ((i - at) / together * PANEL_ROWS + row) + 2 * (i % together), from, 2);
        }
}

struct arrangement {
    const struct block_form *form;
    const uint8_t *rows;
    const int32_t *row_map;
    uint8_t *out;
    int64_t n, k, panel_bytes;
    int32_t type;
    struct shares panels;
};

static void arrange_panels(void *context, int32_t thread)
{
    struct arrangement *call = context;
    const int64_t units = call->k / call->form->elements, row_bytes = units * call->form->bytes;
    int64_t panel;
    while ((panel = shares_take(&call->panels, thread)) >= 0) {
        const uint8_t *block[PANEL_ROWS];
        for (int i = 0; i < PANEL_ROWS; i++) {
            const int64_t row = panel * PANEL_ROWS + i;
            block[i] = row >= call->n ? no_block : call->rows + row_bytes * (call->row_map ? call->row_map[row] : row);
        }
        uint8_t *out = call->out + panel * call->panel_bytes;
#define ARRANGE(name) case TYPE_##name: arrange_blocks(TYPE_##name, block, units, out); break;
        switch (call->type) {
        EACH_QUANTIZED_TYPE(ARRANGE)
        case TYPE_F16: arrange_floats(block, units, 1, out); break;
        case TYPE_BF16: arrange_floats(block, units, 2, out); break;
        }
        shares_finish(&call->panels);
    }
    shares_wait(&call->panels);
}

int32_t tenon_arrange(int32_t type, const void *rows, int64_t n, int64_t k, const int32_t *row_map, void *out,
                      int32_t threads)
{
    const struct block_form *form = form_of(type, k);
    if (!form)
        return TENON_UNKNOWN;
    struct arrangement call = {form, rows, row_map, out, n, k, panel_bytes(type, form, k), type, {0}};
    threads = pool_team(threads);
    shares_init(&call.panels, (n + PANEL_ROWS - 1) / PANEL_ROWS, threads);
    pool_run(arrange_panels, &call, threads);
    return 0;
}

/* What a group's elements are times their scale; `planes` are a row's. */
INLINE void group_values(const int32_t type, const int rows, const uint8_t *planes, int8_t *restrict value)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    const int low_bits = form->nibble_planes ? 4 : 2;
    uint8_t byte[32] = {0}, code[32];
    UNROLL
    for (int i = 0; i < planes_of(type); i++)
        memcpy(byte + 4 * i, planes + 4 * i * rows, 4);
    const uint8_t *twos = byte + 4 * form->nibble_planes, *bits = twos + 4 * form->two_bit_planes;
    if (form->byte_planes) {
        memcpy(value, byte, 32);
        return;
    }
    for (int k = 0; k < 32; k++)
        code[k] = form->nibble_planes ? byte[k % 16] >> k / 16 * 4 & 15 : 0;
    if (form->two_bit_planes)
        for (int k = 0; k < 32; k++)
            code[k] |= (twos[k / 16 * 4 + k % 4] >> k / 4 % 4 * 2 & 3) << (form->nibble_planes ? 4 : 0);
    if (form->bit_planes)
        for (int k = 0; k < 32; k++)
            code[k] |= (bits[k % 4] >> k / 4 & 1) << low_bits;
    for (int k = 0; k < 32; k++)
        switch (type) {
        case TYPE_IQ4_NL: case TYPE_IQ4_XS: value[k] = IQ4_VALUES[code[k]]; break;
        case TYPE_MXFP4: value[k] = MXFP4_VALUES[code[k]]; break;
        case TYPE_Q3_K: value[k] = (int8_t)(code[k] - 4); break;
        case TYPE_Q4_0: value[k] = (int8_t)(code[k] - 8); break;
        case TYPE_Q5_0: value[k] = (int8_t)(code[k] - 16); break;
        case TYPE_Q6_K: value[k] = (int8_t)(code[k] - 32); break;
        default: value[k] = (int8_t)code[k];
        }
}

INLINE float half_at(const uint8_t *halves, int64_t row)
{
    uint16_t half;
    memcpy(&half, halves + 2 * row, 2);
    return half_float(half);
}

INLINE float bfloat16_at(const uint8_t *halves, int64_t row)
{
    uint16_t half;
    memcpy(&half, halves + 2 * row, 2);
    return bits_float((uint32_t)half << 16);
}

/* What each 16 elements' values are multiplied by, and what is added: minus zero, which changes nothing, where there
 * is no minimum. */
INLINE void unit_scales(const int32_t type, const int rows, const uint8_t *scales, int row, float *scale,
                        float *offset)
{
    const int count = BLOCK_FORMS[type].elements / 16;
    const int tail = type == TYPE_IQ4_XS ? 8 : count == SUBBLOCKS ? 16 : 0;     /* bytes of scales before the halves */
    const float d = type == TYPE_MXFP4 ? mxfp4_scale(scales[row]) : half_at(scales + tail * rows, row);
    for (int i = 0; i < count; i++) {
        const uint8_t fine = scales[i * rows + row], pair = scales[i / 2 * rows + row];
        scale[i] = d;
        offset[i] = -0.0f;
        switch (type) {
        case TYPE_Q4_1: case TYPE_Q5_1:
            offset[i] = half_at(scales + 2 * rows, row);
            break;
        case TYPE_Q2_K:
            scale[i] = d * (float)(fine & 15);
            offset[i] = -(half_at(scales + 18 * rows, row) * (float)(fine >> 4));
            break;
        case TYPE_Q4_K: case TYPE_Q5_K:
            scale[i] = d * (float)pair;
            offset[i] = -(half_at(scales + 18 * rows, row) * (float)scales[(8 + i / 2) * rows + row]);
            break;
        case TYPE_Q3_K: case TYPE_Q6_K:
            scale[i] = d * (float)(int8_t)fine;
            break;
        case TYPE_IQ4_XS:
            scale[i] = d * (float)(int8_t)pair;
            break;
        }
    }
}

/* A row of a unit as floats, by the same operations in the same order as the package gguf. */
INLINE void unpack_unit(const int32_t type, const int rows, const uint8_t *unit, int row, float *restrict out)
{
    const int groups = BLOCK_FORMS[type].elements / 32, stride = planes_of(type) * 4 * rows;
    float scale[SUBBLOCKS], offset[SUBBLOCKS];
    int8_t value[32];
    unit_scales(type, rows, unit + groups * stride, row, scale, offset);
    for (int group = 0; group < groups; group++) {
        group_values(type, rows, unit + group * stride + 4 * row, value);
        for (int k = 0; k < 32; k++)
            out[32 * group + k] = scale[2 * group + k / 16] * (float)value[k] + offset[2 * group + k / 16];
    }
}

INLINE void unpack_blocks(const int32_t type, const uint8_t *panel, int row, int64_t units, float *out)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    for (int64_t unit = 0; unit < units; unit++)
        unpack_unit(type, PANEL_ROWS, panel + unit * form->unit_bytes * PANEL_ROWS, row, out + unit * form->elements);
}

int32_t tenon_unpack(int32_t type, const void *arranged, int64_t n, int64_t k, int64_t first_row, int64_t count,
                     float *out)
{
    const struct block_form *form = form_of(type, k);
    if (!form || first_row < 0 || count < 0 || first_row % PANEL_ROWS || first_row + count > n)
        return TENON_UNKNOWN;
    for (int64_t i = 0; i < count; i++, out += k) {
        const uint8_t *panel = (const uint8_t *)arranged + (first_row + i) / PANEL_ROWS * panel_bytes(type, form, k);
        const int row = (int)(i % PANEL_ROWS);
#define UNPACK(name) case TYPE_##name: unpack_blocks(TYPE_##name, panel, row, k / form->elements, out); break;
        switch (type) {
        EACH_QUANTIZED_TYPE(UNPACK)
        case TYPE_F16:
            for (int64_t j = 0; j < k; j++)
                out[j] = half_at(panel + 2 * j * PANEL_ROWS, row);
            break;
        case TYPE_BF16:
            for (int64_t j = 0; j < k; j++)
                out[j] = bfloat16_at(panel, j / 2 * 2 * PANEL_ROWS + 2 * row + j % 2);
        }
    }
    return 0;
}

INLINE void dequantize_blocks(const int32_t type, const uint8_t *raw, int64_t units, float *out)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    uint8_t unit[MOST_UNIT_BYTES];
    for (; units > 0; units--, raw += form->bytes, out += form->elements) {
        arrange_unit(type, 1, &raw, unit);
        unpack_unit(type, 1, unit, 0, out);
    }
}

struct dequantization {
    const struct block_form *form;
    const uint8_t *raw;
    const int64_t *rows;
    float *out;
    int64_t k;
    int32_t type;
    struct shares shares;
};

static void dequantize_rows(void *context, int32_t thread)
{
    struct dequantization *call = context;
    const int64_t units = call->k / call->form->elements;
    int64_t item;
    while ((item = shares_take(&call->shares, thread)) >= 0) {
        const uint8_t *raw = call->raw + (call->rows ? call->rows[item] : item) * units * call->form->bytes;
        float *out = call->out + item * call->k;
#define DEQUANTIZE(name) case TYPE_##name: dequantize_blocks(TYPE_##name, raw, units, out); break;
        switch (call->type) {
        EACH_QUANTIZED_TYPE(DEQUANTIZE)
        case TYPE_F16:
            for (int64_t j = 0; j < units; j++)
                out[j] = half_at(raw, j);
            break;
        case TYPE_BF16:
            for (int64_t j = 0; j < units; j++)
                out[j] = bfloat16_at(raw, j);
        }
        shares_finish(&call->shares);
    }
    shares_wait(&call->shares);
}

/* Below this many elements the caller works alone: waking others costs more. */
enum { SHARED_ELEMENTS = 32768 };

int32_t tenon_dequantize(int32_t type, const void *raw, int64_t k, const int64_t *rows, int64_t count, float *out,
                         int32_t threads)
{
    const struct block_form *form = form_of(type, k);
    if (!form)
        return TENON_UNKNOWN;
    struct dequantization call = {form, raw, rows, out, k, type, {0}};
    threads = k * count < SHARED_ELEMENTS ? 1 : pool_team(threads);
    shares_init(&call.shares, count, threads);
    pool_run(dequantize_rows, &call, threads);
    return 0;
}
