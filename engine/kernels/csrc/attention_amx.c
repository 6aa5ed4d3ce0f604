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
#define ZERO(p) if (panels > p) _tile_zero(p)
#define ADD(p, words_tile) \
    if (panels > p) { \
        _tile_loadd(words_tile, words + p * panel_words + step * LANES, TILE_BYTES); \
        _tile_dpbf16ps(p, 4, words_tile); \
    }
#define STORE(p) if (panels > p) _tile_stored(p, out + p * LANES, out_stride * (int64_t)sizeof *out)

INLINE void multiply_panels(const uint16_t *x, int64_t x_stride, const uint32_t *words, int64_t panel_words,
                            int64_t steps, float *out, int64_t out_stride, const int panels)
{
    ZERO(0); ZERO(1); ZERO(2); ZERO(3);
    for (int64_t step = 0; step < steps; step += TILE_STEPS) {
        _tile_loadd(4, x + step * STEP, x_stride * (int64_t)sizeof *x);
        ADD(0, 5)
        ADD(1, 6)
        ADD(2, 5)
        ADD(3, 6)
    }
    STORE(0); STORE(1); STORE(2); STORE(3);
}

/* out (16, panels * LANES) = x (16, steps * STEP) by panels of `panel_steps` steps, of which `steps` are taken. */
static void multiply(const uint16_t *x, int64_t x_stride, int rows, const uint32_t *words, int64_t panel_steps,
                     int64_t steps, int64_t panels, float *out, int64_t out_stride)
{
    const int64_t panel_words = panel_steps * LANES;
    (void)rows;
    for (; panels >= 4; panels -= 4, words += 4 * panel_words, out += 4 * LANES)
        multiply_panels(x, x_stride, words, panel_words, steps, out, out_stride, 4);
    for (; panels > 0; panels -= 2, words += 2 * panel_words, out += 2 * LANES)     /* always an even number */
        multiply_panels(x, x_stride, words, panel_words, steps, out, out_stride, 2);
}

#include "attention_template.h"
