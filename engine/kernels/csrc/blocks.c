/* Rows of GGUF blocks into panels: bits are only moved, so it is without loss. */
#include "arrange.h"
#include "pool.h"

int64_t tenon_arranged_bytes(int32_t type, int64_t n, int64_t k)
{
    const struct block_form *form = block_form_of(type, k);
    return form && n >= 0 ? (n + PANEL_ROWS - 1) / PANEL_ROWS * block_panel_bytes(type, k) : -1;
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
#define ARRANGE(name) case TENON_##name: arrange_blocks(TENON_##name, block, units, out); break;
        switch (call->type) {
        EACH_QUANTIZED_TYPE(ARRANGE)
        case TENON_F16: arrange_floats(block, units, 1, out); break;
        case TENON_BF16: arrange_floats(block, units, 2, out); break;
        }
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
    struct arrangement call = {form, rows, row_map, out, n, k, block_panel_bytes(type, k), type, {0}};
    threads = pool_team(threads);
    shares_init(&call.panels, (n + PANEL_ROWS - 1) / PANEL_ROWS, threads);
    pool_run(arrange_panels, &call, threads);
    return 0;
}
