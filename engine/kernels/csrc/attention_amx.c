/* Attention by AMX's tiles of bfloat16, at every number of rows: a tile's sums do not depend on its other rows. */
#define VECTOR_BYTES 64
#define ATTENTION attention_amx
#include "attention_bf16.h"

enum { TILE_BYTES = 64, TILE_STEPS = 16 };

struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Of another library on this thread, which may have set its tiles once and for all. */
static _Thread_local struct tile_configuration found;

static void begin_item(void)
{
    struct tile_configuration c = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) {
        c.rows[tile] = 16;
        c.row_bytes[tile] = TILE_BYTES;
    }
    _tile_storeconfig(&found);
    /* GCC 12 takes the instructions to reach 8 bytes only. */
    __asm__ volatile("" : : "r"(&c) : "memory");
    _tile_loadconfig(&c);
}

static void end_item(void)
{
    __asm__ volatile("" : : "r"(&found) : "memory");
    if (found.palette)
        _tile_loadconfig(&found);
    else
        _tile_release();
}

/* Tiles 0 to 3: sums; 4: rows; 5 and 6: words of a panel. */
#define ADD(sum, tile) \
    _tile_loadd(tile, words + sum * panel_words + step * LANES, TILE_BYTES); \
    _tile_dpbf16ps(sum, 4, tile)
#define STORE(sum) _tile_stored(sum, out + sum * out_panel, out_row * (int64_t)sizeof *out)

INLINE void multiply_panels(const uint16_t *x, int64_t x_stride, const uint32_t *words, int64_t panel_words,
                            int64_t steps, float *out, int64_t out_row, int64_t out_panel, const int four)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t step = 0; step < steps; step += TILE_STEPS) {
        _tile_loadd(4, x + step * STEP, x_stride * (int64_t)sizeof *x);
        ADD(0, 5);
        ADD(1, 6);
        if (four) {
            ADD(2, 5);
            ADD(3, 6);
        }
    }
    STORE(0);
    STORE(1);
    if (four) {
        STORE(2);
        STORE(3);
    }
}

/* All of the 16 rows, by an even number of panels. */
static void multiply(const uint16_t *x, int64_t x_stride, int rows, const uint32_t *words, int64_t panel_steps,
                     int64_t steps, int64_t panels, float *out, int64_t out_row, int64_t out_panel)
{
    const int64_t panel_words = panel_steps * LANES;
    (void)rows;
    for (; panels >= 4; panels -= 4, words += 4 * panel_words, out += 4 * out_panel)
        multiply_panels(x, x_stride, words, panel_words, steps, out, out_row, out_panel, 1);
    if (panels)
        multiply_panels(x, x_stride, words, panel_words, steps, out, out_row, out_panel, 0);
}

#include "attention_template.h"
