/* Attention by AMX's tiles of bfloat16, at every number of rows: a tile's sums do not depend on its other rows. */
#define VECTOR_BYTES 64
#define ATTENTION attention_amx
enum { TILE_ROWS = 32, SPARE_ROWS = 15 };
#include "attention_bf16.h"
#include "tiles.h"

enum { TILE = 16, TILE_BYTES = 64 };

/* Of another library on this thread, which may have set its tiles once and for all. */
static _Thread_local struct tile_configuration found;

static void begin_item(void)
{
    struct tile_configuration c = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) {
        c.rows[tile] = 16;
        c.row_bytes[tile] = TILE_BYTES;
    }
    found = found_configuration();
    load_configuration(&c);
}

static void end_item(void)
{
    restore_configuration(found);
}

/* Tiles 0 to 3: sums; 4 and 5: rows; 6 and 7: words. */
#define BEGIN(sum, at) \
    if (more) \
        load_tile(sum, at, out_row * (int64_t)sizeof *out); \
    else \
        _tile_zero(sum)
#define END(sum, at) _tile_stored(sum, at, out_row * (int64_t)sizeof *out)
#define ROWS(tile, first) load_tile(tile, x + (first) * x_stride + step * STEP, x_stride * (int64_t)sizeof *x)
#define WORDS(tile, panel) load_tile(tile, words + (panel) * panel_words + step * LANES, TILE_BYTES)

/* TILE rows by four panels, or by two. */
static void multiply_tile(const uint16_t *x, int64_t x_stride, const uint32_t *words, int64_t panel_words, int64_t steps,
                          float *out, int64_t out_row, int64_t out_panel, int more, int four)
{
    BEGIN(0, out);
    BEGIN(1, out + out_panel);
    if (four) {
        BEGIN(2, out + 2 * out_panel);
        BEGIN(3, out + 3 * out_panel);
    }
    for (int64_t step = 0; step < steps; step += TILE) {
        ROWS(4, 0);
        WORDS(6, 0);
        _tile_dpbf16ps(0, 4, 6);
        WORDS(7, 1);
        _tile_dpbf16ps(1, 4, 7);
        if (four) {
            WORDS(6, 2);
            _tile_dpbf16ps(2, 4, 6);
            WORDS(7, 3);
            _tile_dpbf16ps(3, 4, 7);
        }
    }
    END(0, out);
    END(1, out + out_panel);
    if (four) {
        END(2, out + 2 * out_panel);
        END(3, out + 3 * out_panel);
    }
}

/* Twice as many rows by two panels: words come from the second cache, and that is what takes the time. */
static void multiply_two_tiles(const uint16_t *x, int64_t x_stride, const uint32_t *words, int64_t panel_words,
                               int64_t steps, float *out, int64_t out_row, int64_t out_panel, int more)
{
    float *lower = out + TILE * out_row;
    BEGIN(0, out);
    BEGIN(1, out + out_panel);
    BEGIN(2, lower);
    BEGIN(3, lower + out_panel);
    for (int64_t step = 0; step < steps; step += TILE) {
        ROWS(4, 0);
        WORDS(6, 0);
        _tile_dpbf16ps(0, 4, 6);
        ROWS(5, TILE);
        _tile_dpbf16ps(2, 5, 6);
        WORDS(7, 1);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
    }
    END(0, out);
    END(1, out + out_panel);
    END(2, lower);
    END(3, lower + out_panel);
}

/* By an even number of panels. */
static void multiply(const uint16_t *x, int64_t x_stride, int rows, const uint32_t *words, int64_t panel_steps,
                     int64_t steps, int64_t panels, float *out, int64_t out_row, int64_t out_panel, int more)
{
    const int64_t panel_words = panel_steps * LANES;
    for (; rows >= 2 * TILE; rows -= 2 * TILE, x += 2 * TILE * x_stride, out += 2 * TILE * out_row)
        for (int64_t panel = 0; panel < panels; panel += 2)
            multiply_two_tiles(x, x_stride, words + panel * panel_words, panel_words, steps, out + panel * out_panel,
                               out_row, out_panel, more);
    for (; rows > 0; rows -= TILE, x += TILE * x_stride, out += TILE * out_row)
        for (int64_t panel = 0; panel < panels; panel += 4) {
            const int count = panels - panel < 4 ? 2 : 4;
            const uint32_t *from = words + panel * panel_words;
            float *to = out + panel * out_panel, some[4][TILE][LANES];
            if (rows >= TILE) {
                multiply_tile(x, x_stride, from, panel_words, steps, to, out_row, out_panel, more, count == 4);
                continue;
            }
            for (int p = 0; more && p < count; p++)
                for (int r = 0; r < rows; r++)
                    memcpy(some[p][r], to + p * out_panel + r * out_row, sizeof some[p][r]);
            multiply_tile(x, x_stride, from, panel_words, steps, some[0][0], LANES, TILE * LANES, more, count == 4);
            for (int p = 0; p < count; p++)
                for (int r = 0; r < rows; r++)
                    memcpy(to + p * out_panel + r * out_row, some[p][r], sizeof some[p][r]);
        }
}

#include "attention_template.h"
