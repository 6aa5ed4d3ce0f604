/* AMX tiles of int8 and bfloat16, from 16 tokens on; fewer go to AVX-512. A packed panel is two weight tiles as it
 * stands: 16 steps of the inner dimension are the tile's rows, 128 bytes apart. */
#include "vector512.h"

#include "int8_output.h"
#include "quantize.h"
#include "attention.h"
#include "rows.h"
#include "x86.h"

extern kernel avx512vnni_int8, avx512vnni_int4, avx512bf16_bf16;

enum { TILE_TOKENS = 16, TILE_BYTES = 64, SUMS = 0, ACTIVATIONS = 4, WEIGHTS = 6 };

/* The layout that LDTILECFG reads. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Tiles 0 and 1: sums of the panel's two halves; 4: activations; 6 and 7: weights, `steps` of four bytes. Tiles 2, 3
 * and 5 are the sums and activations of `second` further tokens, if there are any. */
static void configure(int first, int second, int steps)
{
    struct tile_configuration c = {.palette = 1};
    for (int half = 0; half < 2; half++) {
        c.rows[WEIGHTS + half] = (uint8_t)steps;
        c.row_bytes[WEIGHTS + half] = TILE_BYTES;
        for (int group = 0; group < (second ? 2 : 1); group++) {
            const int sums = SUMS + 2 * group + half;
            c.rows[sums] = c.rows[ACTIVATIONS + group] = (uint8_t)(group ? second : first);
            c.row_bytes[sums] = TILE_BYTES;
            c.row_bytes[ACTIVATIONS + group] = (uint16_t)(4 * steps);
        }
    }
    /* GCC 12 takes the instruction to read 8 bytes only, and would drop the rest of the stores. */
    __asm__ volatile("" : : "r"(&c) : "memory");
    _tile_loadconfig(&c);
}

/* Adds one half's sums, times the activations' scales and, where there are any, the rows' of this block. */
INLINE void add_scaled(const int32_t sums[TILE_TOKENS][16], const struct job *job, int64_t block, int64_t token,
                       int tokens, const fvec *row_scale, float value[][PANEL_ROWS], int half)
{
    for (int t = 0; t < tokens; t++) {
        const int64_t place = (token + t) * job->blocks + block;
        const fvec sum = to_float(_mm512_add_epi32(load_ints(sums[t]), broadcast_int(job->start[place])));
        const fvec x_scale = broadcast_float(job->x_scale[place]);
        const fvec scale = row_scale ? multiply_floats(*row_scale, x_scale) : x_scale;
        float *total = value[t] + LANES * half;
        store_floats(total, fused(sum, scale, load_floats(total)));
    }
}

/* One span of int8 for up to 16 tokens; its length is a multiple of 64. */
static void int8_span(const struct job *job, int64_t panel, int64_t span, int64_t token, int tokens,
                      float value[][PANEL_ROWS])
{
    const int64_t begin = span * SPAN, end = begin + SPAN < job->k ? begin + SPAN : job->k;
    const uint8_t *w = job->weights + panel * job->panel_bytes + begin / 4 * STEP_BYTES;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    int32_t sums[2][TILE_TOKENS][16];

    _tile_zero(0);
    _tile_zero(1);
    for (int64_t k = begin; k < end; k += BLOCK, w += 16 * STEP_BYTES) {
        _tile_loadd(4, x + k, job->k);
        _tile_loadd(6, w, STEP_BYTES);
        _tile_dpbsud(0, 4, 6);
        _tile_loadd(7, w + TILE_BYTES, STEP_BYTES);
        _tile_dpbsud(1, 4, 7);
    }
    _tile_stored(0, sums[0], TILE_BYTES);
    _tile_stored(1, sums[1], TILE_BYTES);
    for (int half = 0; half < 2; half++)
        add_scaled(sums[half], job, span, token, tokens, NULL, value, half);
}

static void int8_tokens(const struct job *job, int64_t panel, int64_t token, int tokens)
{
    float value[TILE_TOKENS][PANEL_ROWS] = {{0}};
    for (int64_t span = 0; span < job->blocks; span++)
        int8_span(job, panel, span, token, tokens, value);
    for (int t = 0; t < tokens; t++)
        for (int half = 0; half < 2; half++)
            store_int8(job, panel * PANEL_ROWS + LANES * half, token + t, load_floats(value[t] + LANES * half));
}

static void amx_int8(const struct job *job, int64_t panel)
{
    if (job->m < TILE_TOKENS) {
        avx512vnni_int8(job, panel);
        return;
    }
    int configured = 0;
    for (int64_t token = 0; token < job->m; token += TILE_TOKENS) {
        const int tokens = job->m - token < TILE_TOKENS ? (int)(job->m - token) : TILE_TOKENS;
        if (tokens != configured)
            configure(configured = tokens, 0, 16);
        int8_tokens(job, panel, token, tokens);
    }
    _tile_release();
}

/* A group's nibbles as two weight tiles of 8 steps. */
static void spread_nibbles(const uint8_t *group, uint8_t weights[2][8][TILE_BYTES])
{
    for (int half = 0; half < 2; half++)
        for (int step = 0; step < 4; step++) {
            const ivec packed = load_bytes(group + STEP_BYTES * step + TILE_BYTES * half);
            _mm512_storeu_si512(weights[half][2 * step], low_nibbles(packed));
            _mm512_storeu_si512(weights[half][2 * step + 1], high_nibbles(packed));
        }
}

/* Adds one group's products, times its scales, for up to 16 tokens. */
static void int4_tokens(const struct job *job, int64_t group, int64_t token, int tokens, const uint8_t *scales,
                        float value[][PANEL_ROWS])
{
    int32_t sums[2][TILE_TOKENS][16];
    _tile_zero(0);
    _tile_zero(1);
    _tile_loadd(4, (const int8_t *)job->x + token * job->k + group * GROUP, job->k);
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    _tile_stored(0, sums[0], TILE_BYTES);
    _tile_stored(1, sums[1], TILE_BYTES);
    for (int half = 0; half < 2; half++) {
        const fvec row_scale = load_bfloat16(scales + 2 * LANES * half);
        add_scaled(sums[half], job, group, token, tokens, &row_scale, value, half);
    }
}

enum { CHUNK_TOKENS = 4 * TILE_TOKENS };

/* Up to CHUNK_TOKENS tokens, a multiple of 16 unless they are the last: nibbles are spread once for all of them. */
static void int4_chunk(const struct job *job, int64_t panel, int64_t token, int64_t count)
{
    float value[CHUNK_TOKENS][PANEL_ROWS] = {{0}};
    uint8_t weights[2][8][TILE_BYTES];
    for (int64_t group = 0; group < job->k / GROUP; group++) {
        const uint8_t *block = job->weights + panel * job->panel_bytes + group / 2 * BLOCK_BYTES;
        int configured = 0;
        spread_nibbles(block + 512 * (group % 2), weights);
        for (int64_t t = 0; t < count; t += TILE_TOKENS) {
            const int tokens = count - t < TILE_TOKENS ? (int)(count - t) : TILE_TOKENS;
            if (tokens != configured) {
                configure(configured = tokens, 0, 8);
                _tile_loadd(6, weights[0], TILE_BYTES);
                _tile_loadd(7, weights[1], TILE_BYTES);
            }
            int4_tokens(job, group, token + t, tokens, block + 1024 + 64 * (group % 2), value + t);
        }
    }
    for (int64_t t = 0; t < count; t++)
        for (int half = 0; half < 2; half++)
            store_rows(job, panel * PANEL_ROWS + LANES * half, token + t, load_floats(value[t] + LANES * half));
}

static void amx_int4(const struct job *job, int64_t panel)
{
    if (job->m < TILE_TOKENS) {
        avx512vnni_int4(job, panel);
        return;
    }
    for (int64_t token = 0; token < job->m; token += CHUNK_TOKENS)
        int4_chunk(job, panel, token, job->m - token < CHUNK_TOKENS ? job->m - token : CHUNK_TOKENS);
    _tile_release();
}

enum { BF16_STEP = 2 * 16 };     /* inner elements of a weight tile */

/* Both halves of a panel by one group of tokens; sums stay in their tiles over the whole inner dimension. */
static void bf16_group(const uint8_t *w, const uint16_t *x, int64_t length, float sums[][PANEL_ROWS])
{
    const int64_t x_bytes = 2 * length;
    _tile_zero(0);
    _tile_zero(1);
    for (int64_t k = 0; k < length; k += BF16_STEP, w += 16 * STEP_BYTES) {
        _tile_loadd(4, x + k, x_bytes);
        _tile_loadd(6, w, STEP_BYTES);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, w + TILE_BYTES, STEP_BYTES);
        _tile_dpbf16ps(1, 4, 7);
    }
    _tile_stored(0, sums[0], STEP_BYTES);
    _tile_stored(1, sums[0] + LANES, STEP_BYTES);
}

/* The same by two groups, so that each tile is loaded for two products. */
static void bf16_groups(const uint8_t *w, const uint16_t *x, int64_t length, float sums[][PANEL_ROWS])
{
    const int64_t x_bytes = 2 * length;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t k = 0; k < length; k += BF16_STEP, w += 16 * STEP_BYTES) {
        _tile_loadd(4, x + k, x_bytes);
        _tile_loadd(6, w, STEP_BYTES);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, w + TILE_BYTES, STEP_BYTES);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, x + TILE_TOKENS * length + k, x_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sums[0], STEP_BYTES);
    _tile_stored(1, sums[0] + LANES, STEP_BYTES);
    _tile_stored(2, sums[TILE_TOKENS], STEP_BYTES);
    _tile_stored(3, sums[TILE_TOKENS] + LANES, STEP_BYTES);
}

static void amx_bf16(const struct job *job, int64_t panel)
{
    enum { MOST = 2 * TILE_TOKENS };
    if (job->m < TILE_TOKENS) {
        avx512bf16_bf16(job, panel);
        return;
    }
    const uint8_t *w = job->weights + panel * job->panel_bytes;
    float sums[MOST][PANEL_ROWS];
    int configured = 0;
    for (int64_t token = 0; token < job->m; token += MOST) {
        const int tokens = job->m - token < MOST ? (int)(job->m - token) : MOST;
        const int second = tokens > TILE_TOKENS ? tokens - TILE_TOKENS : 0;
        const uint16_t *x = (const uint16_t *)job->x + token * job->k;
        if (tokens != configured)
            configure(tokens - second, second, 16);
        configured = tokens;
        (second ? bf16_groups : bf16_group)(w, x, job->k, sums);
        for (int t = 0; t < tokens; t++)
            for (int half = 0; half < 2; half++)
                store_rows(job, panel * PANEL_ROWS + LANES * half, token + t, load_floats(sums[t] + LANES * half));
    }
    _tile_release();
}

const struct instruction_set amx_set = {
    .name = "amx",
    .usable = x86_has_amx,
    .int8 = amx_int8,
    .int8_quantize = quantize_spans,
    .int8_x_bytes = sizeof(int8_t),
    .int4 = amx_int4,
    .int4_quantize = quantize_groups,
    .bf16 = amx_bf16,
    .bf16_convert = convert_to_bfloat16,
    .bf16_x_bytes = sizeof(uint16_t),
    .rows = &rows512,
    .attention = &attention_amx,
};
