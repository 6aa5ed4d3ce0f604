/* Blocks as floats, by the same operations in the same order as in the package gguf. A row by itself becomes floats by
 * way of a panel of one row. */
#include "arrange.h"
#include "block_types.h"
#include "pool.h"

enum { SUBBLOCKS = 16 };

/* What a group's elements are times their scale; `planes` are a row's. */
INLINE void group_values(const int32_t type, const int rows, const uint8_t *planes, int8_t *restrict value)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    const int low_bits = form->nibble_planes ? 4 : form->two_bit_planes;
    uint8_t byte[32] = {0}, code[32];
    UNROLL
    for (int i = 0; i < planes_of(type) / 4; i++)
        memcpy(byte + 4 * i, planes + 4 * i * rows, 4);
    for (int i = 0; type == TENON_IQ4_KSS && i < 4; i++) {
        const uint32_t word = untangled(word_at(byte, i));
        memcpy(byte + 4 * i, &word, 4);
    }
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
    for (int k = 0; CHOICES[type].values && k < 32; k++)
        value[k] = CHOICES[type].values[code[k]];
    for (int k = 0; !CHOICES[type].values && k < 32; k++)
        switch (type) {
        case TENON_IQ4_NL: case TENON_IQ4_XS: value[k] = IQ4_VALUES[code[k]]; break;
        case TENON_MXFP4: case TENON_NVFP4: value[k] = MXFP4_VALUES[code[k]]; break;
        case TENON_Q1_0: value[k] = (int8_t)(2 * code[k] - 1); break;
        case TENON_Q2_0: case TENON_PQ2_0: case TENON_TQ2_0: value[k] = (int8_t)(code[k] - 1); break;
        case TENON_Q3_K: value[k] = (int8_t)(code[k] - 4); break;
        case TENON_Q4_0: value[k] = (int8_t)(code[k] - 8); break;
        case TENON_Q5_0: value[k] = (int8_t)(code[k] - 16); break;
        case TENON_Q6_K: value[k] = (int8_t)(code[k] - 32); break;
        default: value[k] = (int8_t)code[k];
        }
}

/* The same for a whole unit of trits. */
INLINE void trit_values(const int32_t type, const int rows, const uint8_t *unit, int row, int8_t *restrict value)
{
    const int elements = BLOCK_FORMS[type].elements, last = elements / 64;
    for (int part = 0, words = elements / 32; part < 2; part++, words /= 2) {
        for (int i = 0; i < 4 * words; i++) {
            uint8_t digits = unit[i / 4 * 4 * rows + 4 * row + i % 4];
            for (int t = 0; t < 5; t++, digits = (uint8_t)(3 * digits))
                value[4 * words * t + i] = (int8_t)((3 * digits >> 8) - 1);
        }
        unit += words * 4 * rows;
        value += words * 20;
    }
    for (int i = 0; i < last; i++) {
        uint8_t digits = unit[last * row + i];
        for (int t = 0; t < 4; t++, digits = (uint8_t)(3 * digits))
            value[last * t + i] = (int8_t)((3 * digits >> 8) - 1);
    }
}

/* The same of a codebook type's row; `planes` are the panel's. */
INLINE void point_values(const int32_t type, const int rows, const uint8_t *planes, int row, int8_t *restrict value)
{
    const struct codebook c = CODEBOOKS[type];
    const uint32_t signs = group_signs(type, planes, rows, row);
    UNROLL
    for (int l = 0; l < GROUP / c.width; l++) {
        const int index = c.first + point_index(type, planes, rows, row, l);
        int8_t levels[8];
        if (c.width == 8)
            memcpy(levels, points_of_8 + index, 8);
        else
            memcpy(levels, points_of_4 + index, 4);
        for (int i = 0; i < c.width; i++) {
            const int at = c.width * l + i, down = c.signs ? 0 : (int)shifted_down(type, planes, rows, row, l);
            const int negative = c.signs && signs >> (at % 4 * 8 + at / 4) & 1;
            value[at] = (int8_t)(negative ? -levels[i] : c.signs ? levels[i] : levels[i] - 7 - 2 * down);
        }
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

/* scale_and_choice of 16 elements of a unit. */
INLINE int choice_at(const int32_t type, const int rows, const uint8_t *fine, int row, int sixteenth)
{
    const uint8_t *planes = fine - (8 - sixteenth / 2) * planes_of(type) * rows;
    return scale_and_choice(type, planes, fine, rows, row, BLOCK_TYPES[type].sub == GROUP ? sixteenth / 2 : sixteenth);
}

/* What each 16 elements' values are multiplied by, and what is added: minus zero, which changes nothing, where there
 * is no minimum. `of_row`: the scale of the whole row, where it has one. */
INLINE void unit_scales(const int32_t type, const int rows, const uint8_t *scales, int row, float of_row, float *scale,
                        float *offset)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    const int count = form->elements / 16;
    const int tail = form->unit_bytes - count / 2 * planes_of(type) - 2 * form->halves;      /* bytes before the halves */
    const float d = type == TENON_MXFP4   ? mxfp4_scale(scales[row])
                    : form->row_scale     ? of_row
                    : type == TENON_NVFP4 ? 0
                                          : half_at(scales + tail * rows, row);
    for (int i = 0; i < count; i++) {
        const uint8_t fine = scales[i * rows + row], pair = scales[i / 2 * rows + row];
        scale[i] = d;
        offset[i] = -0.0f;
        if (CODEBOOKS[type].width) {
            const int sub = BLOCK_TYPES[type].sub == GROUP ? i / 2 : i;
            const uint8_t *planes = scales - (count / 2 - i / 2) * planes_of(type) * rows;
            scale[i] = d * (float)(2 * fine_scale(type, planes, scales, rows, row, sub) + 1) / (float)CODEBOOKS[type].parts;
        }
        if (CHOICES[type].values)
            scale[i] = d * (float)(choice_at(type, rows, scales, row, i) >> 1);
        switch (type) {
        case TENON_Q4_1: case TENON_Q5_1:
            offset[i] = half_at(scales + 2 * rows, row);
            break;
        case TENON_Q2_K:
            scale[i] = d * (float)(fine & 15);
            offset[i] = -(half_at(scales + 18 * rows, row) * (float)(fine >> 4));
            break;
        case TENON_Q4_K: case TENON_Q5_K:
            scale[i] = d * (float)pair;
            offset[i] = -(half_at(scales + 18 * rows, row) * (float)scales[(8 + i / 2) * rows + row]);
            break;
        case TENON_Q3_K: case TENON_Q6_K:
            scale[i] = d * (float)(int8_t)fine;
            break;
        case TENON_IQ4_XS:
            scale[i] = d * (float)(int8_t)pair;
            break;
        case TENON_NVFP4:
            scale[i] = half_float(e4m3_half(fine)) * E4M3_FACTOR;
            break;
        }
    }
}

/* A row of a unit as floats. */
INLINE void unpack_unit(const int32_t type, const int rows, const uint8_t *unit, int row, float of_row,
                        float *restrict out)
{
    const int groups = BLOCK_FORMS[type].elements / 32, stride = planes_of(type) * rows;
    float scale[SUBBLOCKS], offset[SUBBLOCKS];
    int8_t values[16 * SUBBLOCKS];
    unit_scales(type, rows, unit + groups * stride, row, of_row, scale, offset);
    if (HAS_TRITS(type))
        trit_values(type, rows, unit, row, values);
    for (int group = 0; group < groups; group++) {
        int8_t *value = values + 32 * group;
        if (CODEBOOKS[type].width)
            point_values(type, rows, unit + group * stride, row, value);
        else if (!HAS_TRITS(type))
            group_values(type, rows, unit + group * stride + 4 * row, value);
        for (int k = 0; CHOICES[type].values && k < 32; k++)
            value[k] += (int8_t)(CHOICES[type].more * (choice_at(type, rows, unit + groups * stride, row, 2 * group + k / 16) & 1));
        for (int k = 0; k < 32; k++)
            out[32 * group + k] = scale[2 * group + k / 16] * (float)value[k] + offset[2 * group + k / 16];
    }
}

INLINE void unpack_blocks(const int32_t type, const uint8_t *panel, int row, int64_t units, float *out)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    float of_row = 0;
    if (form->row_scale)
        memcpy(&of_row, panel + units * form->unit_bytes * PANEL_ROWS + 4 * row, 4);
    for (int64_t unit = 0; unit < units; unit++)
        unpack_unit(type, PANEL_ROWS, panel + unit * form->unit_bytes * PANEL_ROWS, row, of_row, out + unit * form->elements);
}

int32_t tenon_unpack(int32_t type, const void *arranged, int64_t n, int64_t k, int64_t first_row, int64_t count,
                     float *out)
{
    const struct block_form *form = block_form_of(type, k);
    if (!form || first_row < 0 || count < 0 || first_row % PANEL_ROWS || first_row + count > n)
        return TENON_UNKNOWN;
    for (int64_t i = 0; i < count; i++, out += k) {
        const uint8_t *panel = (const uint8_t *)arranged + (first_row + i) / PANEL_ROWS * block_panel_bytes(type, k);
        const int row = (int)(i % PANEL_ROWS);
#define UNPACK(name) case TENON_##name: unpack_blocks(TENON_##name, panel, row, k / form->elements, out); break;
        switch (type) {
        EACH_QUANTIZED_TYPE(UNPACK)
        case TENON_F16:
            for (int64_t j = 0; j < k; j++)
                out[j] = half_at(panel + 2 * j * PANEL_ROWS, row);
            break;
        case TENON_BF16:
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
    const float of_row = form->row_scale ? row_scale_at(form, raw) : 0;
    for (raw += form->row_scale; units > 0; units--, raw += form->bytes, out += form->elements) {
        arrange_unit(type, 1, &raw, unit);
        unpack_unit(type, 1, unit, 0, of_row, out);
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
        const uint8_t *raw = call->raw + (call->rows ? call->rows[item] : item) * block_row_bytes(call->form, call->k);
        float *out = call->out + item * call->k;
        int64_t done = 0;
#define DEQUANTIZE(name) case TENON_##name: dequantize_blocks(TENON_##name, raw, units, out); break;
        switch (call->type) {
        EACH_QUANTIZED_TYPE(DEQUANTIZE)
        case TENON_F16:
            for (; units - done >= 32; done += 32)  /* a constant number of rounds becomes vectors */
                for (int j = 0; j < 32; j++)
                    out[done + j] = half_at(raw, done + j);
            for (; done < units; done++)
                out[done] = half_at(raw, done);
            break;
        case TENON_BF16:
            for (; done < units; done++)
                out[done] = bfloat16_at(raw, done);
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
    const struct block_form *form = block_form_of(type, k);
    if (!form)
        return TENON_UNKNOWN;
    struct dequantization call = {form, raw, rows, out, k, type, {0}};
    threads = k * count < SHARED_ELEMENTS ? 1 : pool_team(threads);
    shares_init(&call.shares, count, threads);
    pool_run(dequantize_rows, &call, threads);
    return 0;
}
