/* NEON with the dot-product instructions (ARMv8.2); bfloat16 by shifts and fused multiply-add. */
#include "vector128.h"

#include "arm.h"
#include "neon_panel.h"
#include "int8_output.h"
#include "quantize.h"
#include "attention.h"
#include "rows.h"

extern kernel dotprod_int8, dotprod_int4, dotprod_bf16;

enum { MOST_VECTORS = PANEL_ROWS / LANES };

/* One step of four inner elements: lane `step` of the activations. The lane must be a constant. */
#define DOT_STEP(step)                                                                                         \
    INLINE void dot_step##step(ivec sum[][NEON_COLUMNS], const int8x16_t *w, const int8x16_t *x,              \
                               const int vectors, const int columns)                                          \
    {                                                                                                          \
        UNROLL                                                                                                 \
        for (int c = 0; c < columns; c++)                                                                      \
            UNROLL                                                                                             \
            for (int v = 0; v < vectors; v++)                                                                  \
                sum[v][c] = vdotq_laneq_s32(sum[v][c], w[v], x[c], step);                                      \
    }
DOT_STEP(0)
DOT_STEP(1)
DOT_STEP(2)
DOT_STEP(3)

INLINE void fill_ints(ivec sum[][NEON_COLUMNS], const int32_t *start, int64_t stride, const int vectors,
                      const int columns)
{
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v][c] = vdupq_n_s32(start ? start[c * stride] : 0);
}

INLINE void load_activations(int8x16_t *x, const int8_t *from, int64_t stride, const int columns)
{
    UNROLL
    for (int c = 0; c < columns; c++)
        x[c] = vld1q_s8(from + c * stride);
}

/* Packed int8 weights are 128 too large; flipping the highest bit makes them signed. */
INLINE void load_signed(int8x16_t *w, const uint8_t *from, const int vectors)
{
    UNROLL
    for (int v = 0; v < vectors; v++)
        w[v] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(from + 16 * v), vdupq_n_u8(INT8_ZERO)));
}

INLINE void int8_span(const uint8_t *w, const int8_t *x, int64_t stride, int64_t length, const float *x_scale,
                      int64_t blocks, struct prefetch *ahead, fvec value[][NEON_COLUMNS], const int vectors,
                      const int columns)
{
    ivec sum[MOST_VECTORS][NEON_COLUMNS];
    fill_ints(sum, NULL, 0, vectors, columns);
    for (int64_t k = 0; k < length; k += 16, w += 4 * STEP_BYTES) {
        int8x16_t weights[MOST_VECTORS], activations[NEON_COLUMNS];
        load_activations(activations, x + k, stride, columns);
#define INT8_STEP(step)                                                   \
        load_signed(weights, w + STEP_BYTES * step, vectors);             \
        prefetch_step(ahead);                                             \
        dot_step##step(sum, weights, activations, vectors, columns);
        INT8_STEP(0) INT8_STEP(1) INT8_STEP(2) INT8_STEP(3)
#undef INT8_STEP
    }
    UNROLL
    for (int c = 0; c < columns; c++) {
        const fvec scale = broadcast_float(x_scale[c * blocks]);
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = fused(to_float(sum[v][c]), scale, value[v][c]);
    }
}

INLINE void int8_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes + 4 * row;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    const float *x_scale = job->x_scale + token * job->blocks;
    fvec value[MOST_VECTORS][NEON_COLUMNS];
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

INLINE void split_nibbles(int8x16_t *low, int8x16_t *high, const uint8_t *from, const int vectors)
{
    UNROLL
    for (int v = 0; v < vectors; v++) {
        const int8x16_t packed = vld1q_s8((const int8_t *)from + 16 * v);
        low[v] = low_nibbles(packed);
        high[v] = high_nibbles(packed);
    }
}

/* Half a group: two steps of packed bytes, 16 inner elements, one vector of activations per token. */
INLINE void int4_half(ivec sum[][NEON_COLUMNS], const uint8_t *w, const int8_t *x, int64_t stride,
                      struct prefetch *ahead, const int vectors, const int columns)
{
    int8x16_t low[MOST_VECTORS], high[MOST_VECTORS], activations[NEON_COLUMNS];
    load_activations(activations, x, stride, columns);
    split_nibbles(low, high, w, vectors);
    prefetch_step(ahead);
    dot_step0(sum, low, activations, vectors, columns);
    dot_step1(sum, high, activations, vectors, columns);
    split_nibbles(low, high, w + STEP_BYTES, vectors);
    prefetch_step(ahead);
    dot_step2(sum, low, activations, vectors, columns);
    dot_step3(sum, high, activations, vectors, columns);
}

INLINE void int4_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *panel_start = job->weights + panel * job->panel_bytes;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    const int64_t groups = job->blocks;
    const int32_t *start = job->start + token * groups;
    const float *x_scale = job->x_scale + token * groups;
    fvec value[MOST_VECTORS][NEON_COLUMNS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            value[v][c] = vdupq_n_f32(0);

    for (int64_t group = 0; group < groups; group++) {
        const uint8_t *block = panel_start + group / 2 * BLOCK_BYTES;
        const uint8_t *w = block + 512 * (group % 2) + 4 * row, *scales = block + 1024 + 64 * (group % 2) + 2 * row;
        ivec sum[MOST_VECTORS][NEON_COLUMNS];
        fill_ints(sum, start + group, groups, vectors, columns);
        int4_half(sum, w, x + GROUP * group, job->k, &ahead, vectors, columns);
        int4_half(sum, w + 2 * STEP_BYTES, x + GROUP * group + 16, job->k, &ahead, vectors, columns);
        UNROLL
        for (int c = 0; c < columns; c++) {
            const fvec activations = broadcast_float(x_scale[c * groups + group]);
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const fvec scale = multiply_floats(load_bfloat16(scales + 2 * LANES * v), activations);
                value[v][c] = fused(to_float(sum[v][c]), scale, value[v][c]);
            }
        }
    }

    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_rows(job, panel * PANEL_ROWS + row + LANES * v, token + c, value[v][c]);
}

/* Two inner elements: lanes `even` and `even` + 1 of the activations. */
#define FUSED_PAIR(even)                                                                                       \
    INLINE void fused_pair##even(fvec sum[][NEON_COLUMNS], const uint8_t *w, const fvec *x, const int vectors, \
                                 const int columns)                                                            \
    {                                                                                                          \
        UNROLL                                                                                                 \
        for (int v = 0; v < vectors; v++) {                                                                    \
            const uint32x4_t pairs = vld1q_u32((const uint32_t *)(const void *)(w + 16 * v));                  \
            const fvec first = vreinterpretq_f32_u32(vshlq_n_u32(pairs, 16));                                  \
            const fvec second = vreinterpretq_f32_u32(vandq_u32(pairs, vdupq_n_u32(0xffff0000u)));             \
            UNROLL                                                                                             \
            for (int c = 0; c < columns; c++)                                                                  \
                sum[v][c] = vfmaq_laneq_f32(sum[v][c], first, x[c], even);                                     \
            UNROLL                                                                                             \
            for (int c = 0; c < columns; c++)                                                                  \
                sum[v][c] = vfmaq_laneq_f32(sum[v][c], second, x[c], even + 1);                                \
        }                                                                                                      \
    }
FUSED_PAIR(0)
FUSED_PAIR(2)

INLINE void bf16_tile(const struct job *job, int64_t panel, int row, int64_t token, struct prefetch ahead,
                      const int vectors, const int columns)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes + 4 * row;
    const float *x = (const float *)job->x + token * job->k;
    fvec sum[MOST_VECTORS][NEON_COLUMNS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            sum[v][c] = vdupq_n_f32(0);

    for (int64_t k = 0; k < job->k; k += 4, w += 2 * STEP_BYTES) {
        fvec activations[NEON_COLUMNS];
        UNROLL
        for (int c = 0; c < columns; c++)
            activations[c] = vld1q_f32(x + c * job->k + k);
        prefetch_step(&ahead);
        fused_pair0(sum, w, activations, vectors, columns);
        prefetch_step(&ahead);
        fused_pair2(sum, w + STEP_BYTES, activations, vectors, columns);
    }

    UNROLL
    for (int v = 0; v < vectors; v++)
        UNROLL
        for (int c = 0; c < columns; c++)
            store_rows(job, panel * PANEL_ROWS + row + LANES * v, token + c, sum[v][c]);
}

void dotprod_int8(const struct job *job, int64_t panel)
{
    neon_panel(int8_tile, job, panel);
}

void dotprod_int4(const struct job *job, int64_t panel)
{
    neon_panel(int4_tile, job, panel);
}

void dotprod_bf16(const struct job *job, int64_t panel)
{
    neon_panel(bf16_tile, job, panel);
}

const struct instruction_set dotprod_set = {
    .name = "dotprod",
    .usable = arm_has_dotprod,
    .int8 = dotprod_int8,
    .int8_quantize = quantize_spans,
    .int8_x_bytes = sizeof(int8_t),
    .int4 = dotprod_int4,
    .int4_quantize = quantize_groups,
    .bf16 = dotprod_bf16,
    .bf16_convert = convert_to_float,
    .bf16_x_bytes = sizeof(float),
    .rows = &rows128,
    .attention = &attention128,
};
