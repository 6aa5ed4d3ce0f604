/* AMX tiles. Blocks with one scale for a group take them from 16 tokens on, and AVX-512 below: both make the same exact
 * sums. bfloat16 takes them
 * at every width, for no other instruction adds in their order. */
#include "vector512.h"

#include "quantize.h"
#include "attention.h"
#include "rows.h"
#include "sets.h"
#include "tiles.h"
#include "x86.h"

#define SPREAD_SIGNED(bits) ((bits) > 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"
#include "block_panel.h"

enum { TILE_BYTES = 64, SUMS = 0, ACTIVATIONS = 4, WEIGHTS = 6 };

/* Tiles 0 to 3 are sums: of the panel's two halves by `first` tokens, and by `second` further ones; 4 and 5 their
 * activations; 6 and 7 the halves' weights, `steps` of four bytes each. */
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
    load_configuration(&c);
}

/* --- blocks: a token's activations stand in tiles [k/32][16 tokens][32], its scales and sums in [k/32][16] --------------- */

static void tiled_prepare(const struct job *job, const float *x, int64_t token)
{
    quantize_token(job, x, token, (struct activation_form){TILE_TOKENS, 0, GROUP, 0, 0});
}

/* The exact sums of a group of weights by up to 16 tokens: both halves of the panel. */
INLINE void tile_sums(const int8_t *x, const uint8_t *w, int32_t sums[2][TILE_TOKENS][LANES])
{
    _tile_zero(0);
    _tile_zero(1);
    load_tile(4, x, GROUP);
    load_tile(6, w, STEP_BYTES);
    _tile_dpbssd(0, 4, 6);
    load_tile(7, w + TILE_BYTES, STEP_BYTES);
    _tile_dpbssd(1, 4, 7);
    _tile_stored(0, sums[0], TILE_BYTES);
    _tile_stored(1, sums[1], TILE_BYTES);
}

enum { GROUP_SUMS = 2 * TILE_TOKENS * LANES };

/* Sums that wait to be scaled: a group's, by the activations or by what quantizing left of them. */
struct tile_term {
    int group;                  /* within the chunk */
    const float *x_scale;       /* of its tokens */
};

enum { MOST_TERMS = 2 * CHUNK_GROUPS };

/* Adds the mins of `groups` groups times the activations' sums, and then the sums of terms, GROUP_SUMS apart, for one half
 * of the panel by `tokens` tokens. */
INLINE void add_half(const struct spread_scales *w, const struct tile_term *terms, int count, const union offset *offset,
                     int groups, const int32_t *sums, int first, int half, float values[][PANEL_ROWS], const int tokens,
                     const int mins, const int whole)
{
    fvec value[TILE_TOKENS], total[TILE_TOKENS];
    UNROLL
    for (int t = 0; t < tokens; t++)
        total[t] = load_floats(values[t] + LANES * half);
    for (int group = 0; mins && group < groups; group++, offset += TILE_TOKENS)
        UNROLL
        for (int t = 0; t < tokens; t++)
            total[t] = fused(load_floats(w->min[group] + LANES * half), broadcast_float(offset[first + t].sum), total[t]);
    UNROLL
    for (int t = 0; t < tokens; t++)
        value[t] = whole ? float_zero() : total[t];
    for (const struct tile_term *term = terms; term < terms + count; term++, sums += GROUP_SUMS) {
        const fvec scale = load_floats(w->scale[term->group] + LANES * half);
        UNROLL
        for (int t = 0; t < tokens; t++) {
            const fvec sum = to_float(load_ints(sums + t * LANES)), x_scale = broadcast_float(term->x_scale[first + t]);
            value[t] = whole ? fused(multiply_floats(sum, scale), x_scale, value[t])
                             : fused(sum, multiply_floats(scale, x_scale), value[t]);
        }
    }
    UNROLL
    for (int t = 0; t < tokens; t++)
        store_floats(values[t] + LANES * half,
                     whole ? fused(value[t], load_floats(w->factor + LANES * half), total[t]) : value[t]);
}

/* Up to 16 tokens over a chunk. */
INLINE void tile_chunk(const struct job *job, const struct spread *w, int64_t group, int groups, int64_t token, int tokens,
                       float values[][PANEL_ROWS], const int mins, const int whole)
{
    _Alignas(64) int32_t sums[MOST_TERMS][2][TILE_TOKENS][LANES];
    struct tile_term terms[MOST_TERMS];
    int count = 0;
    const int64_t place = place_of(job, tile_of(job, token, TILE_TOKENS), group);
    for (int g = 0; g < groups; g++) {
        const int64_t at = place + g * TILE_TOKENS;
        const int of_group = 1 + has_rest(job, at, tokens);
        for (int i = 0; i < of_group; i++) {
            const int64_t term = i * job->rest;
            tile_sums((const int8_t *)job->x + at * GROUP + term, w->bytes[g][0], sums[count]);
            terms[count++] = (struct tile_term){g, further(job->x_scale + at, term)};
        }
    }
    for (int half = 0; half < 2; half++) {
        if (tokens == TILE_TOKENS)
            add_half(&w->scales, terms, count, job->offset + place, groups, sums[0][half][0], 0, half, values, TILE_TOKENS,
                     mins, whole);
        else
            for (int t = 0; t < tokens; t++)
                add_half(&w->scales, terms, count, job->offset + place, groups, sums[0][half][t], t, half, values + t, 1,
                         mins, whole);
    }
}

static void tiled_chunk(const struct job *job, const struct spread *w, int64_t group, int groups, int64_t token,
                        int64_t tokens, float values[][PANEL_ROWS], const uint8_t *next, int64_t size)
{
    const int64_t tiles = (tokens + TILE_TOKENS - 1) / TILE_TOKENS, share = size / tiles;
    for (int64_t tile = 0; tile < tiles; tile++) {
        const int64_t done = tile * TILE_TOKENS, left = tokens - done;
        const int count = left < TILE_TOKENS ? (int)left : TILE_TOKENS;
        for (int64_t at = 0; at < share; at += 64)
            __builtin_prefetch(next + tile * share + at, 0, 2);
        const int whole = has_whole_scales(job->type->type);
        if (job->type->mins && whole)
            tile_chunk(job, w, group, groups, token + done, count, values + done, 1, 1);
        else if (job->type->mins)
            tile_chunk(job, w, group, groups, token + done, count, values + done, 1, 0);
        else if (whole)
            tile_chunk(job, w, group, groups, token + done, count, values + done, 0, 1);
        else
            tile_chunk(job, w, group, groups, token + done, count, values + done, 0, 0);
    }
}

static void tiled_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const struct tile_configuration found = found_configuration();
    configure(TILE_TOKENS, 0, GROUP_STEPS);     /* what lies behind the last token is multiplied too, and left */
    multiply_panel(job, panel, token, tokens, tiled_chunk);
    restore_configuration(found);
}

/* --- bfloat16: activations stand in tiles [k/32][16 tokens][32] -------------------------------------------------------- */

static void bf16_prepare(const struct job *job, const float *x, int64_t token)
{
    uint16_t *tile = (uint16_t *)(void *)job->x + token / TILE_TOKENS * TILE_TOKENS * job->k;
    uint16_t *out = tile + token % TILE_TOKENS * BF16_PAD;
    for (int64_t k = 0; k < job->k; k += BF16_PAD, out += TILE_TOKENS * BF16_PAD)
        for (int i = 0; i < BF16_PAD; i++)
            out[i] = k + i < job->inner ? bfloat16(x[k + i]) : 0;
}

/* Both halves of a panel by one tile of tokens, or two; sums stay in their tiles over the whole inner dimension. */
INLINE void bf16_tiles(const uint8_t *w, const uint16_t *x, int64_t length, const uint8_t *next, int64_t next_step,
                       float sums[][PANEL_ROWS], const int second)
{
    const uint16_t *y = x + TILE_TOKENS * length;
    _tile_zero(0);
    _tile_zero(1);
    if (second) {
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t k = 0; k < length; k += BF16_PAD, w += 16 * STEP_BYTES, next += next_step) {
        for (int64_t at = 0; at < next_step; at += 64)
            __builtin_prefetch(next + at, 0, 2);
        load_tile(4, x + TILE_TOKENS * k, TILE_BYTES);
        load_tile(6, w, STEP_BYTES);
        _tile_dpbf16ps(0, 4, 6);
        load_tile(7, w + TILE_BYTES, STEP_BYTES);
        _tile_dpbf16ps(1, 4, 7);
        if (second) {
            load_tile(5, y + TILE_TOKENS * k, TILE_BYTES);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sums[0], STEP_BYTES);
    _tile_stored(1, sums[0] + LANES, STEP_BYTES);
    if (second) {
        _tile_stored(2, sums[TILE_TOKENS], STEP_BYTES);
        _tile_stored(3, sums[TILE_TOKENS] + LANES, STEP_BYTES);
    }
}

static void bf16_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    enum { MOST = 2 * TILE_TOKENS };
    const struct tile_configuration found = found_configuration();
    const uint8_t *w = job->weights + panel * job->panel_bytes;
    const int64_t passes = (tokens + MOST - 1) / MOST, share = job->panel_bytes / passes;
    const int64_t next_step = (share * BF16_PAD / job->k + 63) / 64 * 64;
    _Alignas(64) float sums[MOST][PANEL_ROWS];
    int configured = 0;
    for (int64_t done = 0; done < tokens; done += MOST) {
        const int count = tokens - done < MOST ? (int)(tokens - done) : MOST;
        const int second = count > TILE_TOKENS ? count - TILE_TOKENS : 0;
        const uint16_t *x = (const uint16_t *)(const void *)job->x + (token + done) * job->k;
        const uint8_t *next = w + job->panel_bytes + done / MOST * share;
        if (count != configured)
            configure(count - second, second, 16);
        configured = count;
        if (second)
            bf16_tiles(w, x, job->k, next, next_step, sums, 1);
        else
            bf16_tiles(w, x, job->k, next, next_step, sums, 0);
        for (int t = 0; t < count; t++)
            for (int half = 0; half < 2; half++)
                store_rows(job, panel * PANEL_ROWS + LANES * half, token + done + t,
                           load_floats(sums[t] + LANES * half));
    }
    restore_configuration(found);
}

static const struct multiplier tiled = {tiled_panel, tiled_prepare, sizeof(int8_t)};
static const struct multiplier bf16 = {bf16_panel, bf16_prepare, sizeof(uint16_t)};

const struct instruction_set amx_set = {
    .name = "amx",
    .usable = x86_has_amx,
    .blocks = &avx512vbmi_blocks,
    .tiled = &tiled,
    .tiled_from = TILE_TOKENS,
    .bf16 = &bf16,
    .f16 = &avx512vnni_f16,
    .rows = &rows512,
    .attention = &attention_amx,
};
