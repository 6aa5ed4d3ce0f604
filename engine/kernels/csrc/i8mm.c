/* NEON with the 8-bit matrix multiplication: two rows by two tokens by eight inner elements in one instruction. One
 * token alone is left to the dot product, which wastes nothing on it. */
#include "vector128.h"

#include "arm.h"
#include "neon_panel.h"
#include "int8_output.h"
#include "quantize.h"
#include "attention.h"
#include "rows.h"

extern kernel dotprod_int8, dotprod_int4, dotprod_bf16;

enum { ROW_VECTORS = HALF_ROWS / LANES, TOKEN_PAIRS = NEON_COLUMNS / 2 };

/* Sums of four rows by two tokens: rows 0 and 1, rows 2 and 3; in each r0t0 r0t1 r1t0 r1t1. */
struct quad { ivec upper, lower; };

/* Two tokens' eight activations. The last of an odd number stands in twice; its double is not stored. */
INLINE void load_pairs(int8x16_t *pairs, const int8_t *x, int64_t stride, const int columns)
{
    UNROLL
    for (int pair = 0; pair < (columns + 1) / 2; pair++) {
        const int other = 2 * pair + 1 < columns ? 2 * pair + 1 : 2 * pair;
        pairs[pair] = vcombine_s8(vld1_s8(x + 2 * pair * stride), vld1_s8(x + other * stride));
    }
}

/* `first` and `second` hold four rows by four inner elements each, the second's being the next four. */
INLINE void multiply_quad(struct quad *sum, int8x16_t first, int8x16_t second, const int8x16_t *pairs,
                          const int columns)
{
    const ivec a = vreinterpretq_s32_s8(first), b = vreinterpretq_s32_s8(second);
    const int8x16_t upper = vreinterpretq_s8_s32(vzip1q_s32(a, b)), lower = vreinterpretq_s8_s32(vzip2q_s32(a, b));
    UNROLL
    for (int pair = 0; pair < (columns + 1) / 2; pair++) {
        sum[pair].upper = vmmlaq_s32(sum[pair].upper, upper, pairs[pair]);
        sum[pair].lower = vmmlaq_s32(sum[pair].lower, lower, pairs[pair]);
    }
}

INLINE ivec quad_column(const struct quad *sum, int column)
{
    const struct quad *pair = &sum[column / 2];
    return column % 2 ? vuzp2q_s32(pair->upper, pair->lower) : vuzp1q_s32(pair->upper, pair->lower);
}

INLINE void clear_quads(struct quad sum[][TOKEN_PAIRS], const int vectors)
{
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int pair = 0; pair < TOKEN_PAIRS; pair++)
            sum[v][pair] = (struct quad){vdupq_n_s32(0), vdupq_n_s32(0)};
}

/* Packed int8 weights are 128 too large; flipping the highest bit makes them signed. */
INLINE int8x16_t load_signed(const uint8_t *from)
{
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(from), vdupq_n_u8(INT8_ZERO)));
}

INLINE void int8_span(const uint8_t *w, const int8_t *x, int64_t stride, int64_t length, const float *x_scale,
                      int64_t blocks, struct prefetch *ahead, fvec value[][NEON_COLUMNS], const int vectors,
                      const int columns)
{
    struct quad sum[PANEL_ROWS / LANES][TOKEN_PAIRS];
    clear_quads(sum, vectors);
    for (int64_t k = 0; k < length; k += 8, w += 2 * STEP_BYTES) {
        int8x16_t pairs[TOKEN_PAIRS];
        load_pairs(pairs, x + k, stride, columns);
        prefetch_step(ahead);
        prefetch_step(ahead);
        UNROLL
        for (int v = 0; v < vectors; v++)
            multiply_quad(sum[v], load_signed(w + 16 * v), load_signed(w + STEP_BYTES + 16 * v), pairs, columns);
    }
    UNROLL
    for (int c = 0; c < columns; c++) {
        const fvec scale = broadcast_float(x_scale[c * blocks]);
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = fused(to_float(quad_column(sum[v], c)), scale, value[v][c]);
    }
}

INLINE void int8_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes + 4 * row;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    const float *x_scale = job->x_scale + token * job->blocks;
    fvec value[PANEL_ROWS / LANES][NEON_COLUMNS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            value[v][c] = vdupq_n_f32(0);

    for (int64_t k = 0; k < job->k; k += SPAN, w += SPAN / 4 * STEP_BYTES)
        int8_span(w, x + k, job->k, job->k - k < SPAN ? job->k - k : SPAN, x_scale++, job->blocks, &ahead, value,
                  vectors, columns);

    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_int8(job, panel * PANEL_ROWS + row + LANES * v, token + c, value[v][c]);
}

INLINE void int4_group(struct quad sum[][TOKEN_PAIRS], const int8_t *w, const int8_t *x, int64_t stride,
                       struct prefetch *ahead, const int vectors, const int columns)
{
    clear_quads(sum, vectors);
    for (int step = 0; step < GROUP / 8; step++) {
        int8x16_t pairs[TOKEN_PAIRS];
        load_pairs(pairs, x + 8 * step, stride, columns);
        prefetch_step(ahead);
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const int8x16_t packed = vld1q_s8(w + STEP_BYTES * step + 16 * v);
            multiply_quad(sum[v], low_nibbles(packed), high_nibbles(packed), pairs, columns);
        }
    }
}

INLINE void int4_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *panel_start = job->weights + panel * job->panel_bytes;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    const int64_t groups = job->blocks;
    const int32_t *start = job->start + token * groups;
    const float *x_scale = job->x_scale + token * groups;
    fvec value[PANEL_ROWS / LANES][NEON_COLUMNS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            value[v][c] = vdupq_n_f32(0);

    for (int64_t group = 0; group < groups; group++) {
        const uint8_t *block = panel_start + group / 2 * BLOCK_BYTES;
        const uint8_t *w = block + 512 * (group % 2) + 4 * row, *scales = block + 1024 + 64 * (group % 2) + 2 * row;
        struct quad sum[PANEL_ROWS / LANES][TOKEN_PAIRS];
        int4_group(sum, (const int8_t *)w, x + GROUP * group, job->k, &ahead, vectors, columns);
        UNROLL
        for (int c = 0; c < columns; c++) {
            const ivec begin = vdupq_n_s32(start[c * groups + group]);
            const fvec activations = broadcast_float(x_scale[c * groups + group]);
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const fvec scale = multiply_floats(load_bfloat16(scales + 2 * LANES * v), activations);
                value[v][c] = fused(to_float(vaddq_s32(quad_column(sum[v], c), begin)), scale, value[v][c]);
            }
        }
    }

    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_rows(job, panel * PANEL_ROWS + row + LANES * v, token + c, value[v][c]);
}

static void i8mm_int8(const struct job *job, int64_t panel)
{
    if (job->m == 1)
        dotprod_int8(job, panel);
    else
        neon_panel(int8_tile, job, panel);
}

static void i8mm_int4(const struct job *job, int64_t panel)
{
    if (job->m == 1)
        dotprod_int4(job, panel);
    else
        neon_panel(int4_tile, job, panel);
}

const struct instruction_set i8mm_set = {
    .name = "i8mm",
    .usable = arm_has_i8mm,
    .int8 = i8mm_int8,
    .int8_quantize = quantize_spans,
    .int8_x_bytes = sizeof(int8_t),
    .int4 = i8mm_int4,
    .int4_quantize = quantize_groups,
    .bf16 = dotprod_bf16,
    .bf16_convert = convert_to_float,
    .bf16_x_bytes = sizeof(float),
    .rows = &rows128,
    .attention = &attention128,
};
