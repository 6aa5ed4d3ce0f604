/* Rows of GGUF blocks into panels: bits are only moved, so it is without loss. */
#include "arrange.h"
#include "pool.h"

int64_t tenon_arranged_bytes(int32_t type, int64_t n, int64_t k)
{
    const struct block_form *form = block_form_of(type, k);
    return form && n >= 0 ? (n + PANEL_ROWS - 1) / PANEL_ROWS * block_panel_bytes(type, k) : -1;
}

/* 1 where one of some 16-bit floats, whose exponents have these bits, is a NaN or an infinity. */
INLINE uint16_t any_not_finite(const uint8_t *at, int64_t count, const uint16_t exponent)
{
    uint16_t any = 0;
    for (int64_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, at + 2 * i, 2);
        any |= (uint16_t)((half & exponent) == exponent);
    }
    return any;
}

/* A panel of rows of quantized blocks; 1 where a scale is not finite. */
INLINE uint16_t arrange_blocks(const int32_t type, const uint8_t **block, int64_t units, uint8_t *out)
{
    const struct block_form *form = &BLOCK_FORMS[type];
    const int64_t halves = form->halves * PANEL_ROWS;
    const int64_t ahead = PANEL_ROWS * (units * form->bytes + form->row_scale);
    uint16_t wrong = 0;
    for (int row = 0; form->row_scale && row < PANEL_ROWS; row++) {
        const float scale = row_scale_at(form, block[row]);
        wrong |= (float_bits(scale) & 0x7fffffffu) >= 0x78000000u;      /* from 2^113 on, weights may be infinite */
        memcpy(out + units * form->unit_bytes * PANEL_ROWS + 4 * row, &scale, 4);
        block[row] += block[row] == no_block ? 0 : form->row_scale;
    }
    for (int64_t unit = 0; unit < units; unit++, out += form->unit_bytes * PANEL_ROWS) {
        arrange_unit(type, PANEL_ROWS, block, out);
        wrong |= any_not_finite(out + form->unit_bytes * PANEL_ROWS - 2 * halves, halves, 0x7c00);
        for (int row = 0; row < PANEL_ROWS; row++) {
            if (type == TENON_MXFP4)    /* from 2^126 on, weights may be infinite; 255 is a NaN */
                wrong |= block[row][0] >= 253;
            for (int i = 0; type == TENON_NVFP4 && i < 4; i++)
                wrong |= (block[row][i] & 0x7f) == 0x7f;
            if (block[row] == no_block)
                continue;
            for (int at = 0; at < form->bytes; at += 64)    /* the same row of the next panel */
                __builtin_prefetch(block[row] + ahead + at);
            block[row] += form->bytes;
        }
    }
    return wrong;
}

/* A panel of rows of 16-bit floats; of bfloat16 two columns at a time. 1 where one is not finite. */
INLINE uint16_t arrange_floats(const uint8_t **block, int64_t k, const int together, uint8_t *out)
{
    const int size = 2 * together;
    const uint16_t exponent = together == 2 ? 0x7f80 : 0x7c00;
    uint16_t wrong = 0;
    int64_t at = 0;
    for (; at + 32 <= k; at += 32, out += 64 * PANEL_ROWS) {
        uint32_t word[16 * PANEL_ROWS];
        take_words(block, 0, 16, PANEL_ROWS, together == 2 ? out : (uint8_t *)word);
        for (int i = 0; together == 1 && i < 16; i++)
            part_halves(word + i * PANEL_ROWS, PANEL_ROWS, out + 4 * i * PANEL_ROWS);
        wrong |= any_not_finite(out, 32 * PANEL_ROWS, exponent);
        for (int row = 0; row < PANEL_ROWS; row++)
            block[row] += block[row] == no_block ? 0 : 64;
    }
    if (together == 2 && at < k)
        memset(out, 0, 64 * PANEL_ROWS);
    for (int64_t i = at; i < k; i++)
        for (int row = 0; row < PANEL_ROWS; row++) {
            const uint8_t *from = block[row] == no_block ? no_block : block[row] + 2 * (i - at);
            memcpy(out + size * ((i - at) / together * PANEL_ROWS + row) + 2 * (i % together), from, 2);
            wrong |= any_not_finite(from, 1, exponent);
        }
    return wrong;
}

struct arrangement {
    const struct block_form *form;
    const uint8_t *rows;
    const int32_t *row_map;
    uint8_t *out;
    int64_t n, k, panel_bytes;
    int32_t type;
    atomic_int wrong;
    struct shares panels;
};

static void arrange_panels(void *context, int32_t thread)
{
    struct arrangement *call = context;
    const int64_t units = call->k / call->form->elements, row_bytes = block_row_bytes(call->form, call->k);
    int64_t panel;
    while ((panel = shares_take(&call->panels, thread)) >= 0) {
        const uint8_t *block[PANEL_ROWS];
        for (int i = 0; i < PANEL_ROWS; i++) {
            const int64_t row = panel * PANEL_ROWS + i;
            block[i] = row >= call->n ? no_block : call->rows + row_bytes * (call->row_map ? call->row_map[row] : row);
        }
        uint8_t *out = call->out + panel * call->panel_bytes;
        uint16_t wrong = 0;
#define ARRANGE(name) case TENON_##name: wrong = arrange_blocks(TENON_##name, block, units, out); break;
        switch (call->type) {
        EACH_QUANTIZED_TYPE(ARRANGE)
        case TENON_F16: wrong = arrange_floats(block, units, 1, out); break;
        case TENON_BF16: wrong = arrange_floats(block, units, 2, out); break;
        }
        if (wrong)
            atomic_store(&call->wrong, 1);
        shares_finish(&call->panels);
    }
    shares_wait(&call->panels);
}

int32_t tenon_arrange(int32_t type, const void *rows, int64_t n, int64_t k, const int32_t *row_map, void *out,
                      int32_t threads)
{
    const struct block_form *form = block_form_of(type, k);
    if (!form)
        return TENON_UNKNOWN;
    struct arrangement call = {form, rows, row_map, out, n, k, block_panel_bytes(type, k), type, 0, {0}};
    threads = pool_team(threads);
    shares_init(&call.panels, (n + PANEL_ROWS - 1) / PANEL_ROWS, threads);
    pool_run(arrange_panels, &call, threads);
    return atomic_load(&call.wrong) ? TENON_NOT_FINITE : 0;
}
