/* NEON of every 64-bit ARM processor, without dot products: bytes are multiplied into 16 bits; bfloat16 by shifts and
 * fused multiply-add. */
#include "vector128.h"

#include "arm.h"
#include "attention.h"
#include "rows.h"
#include "sets.h"

#define SPREAD_SIGNED(bits) ((bits) > 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

#define BLOCK_COLUMNS 4
#define NARROW_COLUMNS BLOCK_COLUMNS
#define BF16_COLUMNS 4

#define TILE_VECTORS 2
#define BLOCK_CLASSES                                                                                               \
    BLOCK_CLASS(1, 0, 6, 0) BLOCK_CLASS(1, 0, 8, 0) BLOCK_CLASS(1, 0, 6, 1) BLOCK_CLASS(1, 0, 8, 1) BLOCK_CLASS(1, 1, 5, 0) \
    BLOCK_CLASS(1, 1, 5, 1) BLOCK_CLASS(2, 0, 6, 0) BLOCK_CLASS(2, 0, 6, 1) BLOCK_CLASS(2, 0, 8, 0) BLOCK_CLASS(2, 0, 8, 1) \
    BLOCK_CLASS(2, 1, 2, 1)
#define RUN_STEPS(bits, mins, steps) (steps)

/* Sums of products, of two rows in each vector. Up to 6 bits each of a row's four lanes sums eight products of -32 to 31 with
 * 127 at most, which 16 bits hold; else two products that follow each other are added in 32 bits. */
#define RUN struct products
#define RUN_OF(v) ((void)(v), (struct products){vdupq_n_s16(0), vdupq_n_s16(0)})
struct products { int16x8_t low, high; };

INLINE struct products multiply_step(struct products run, const int begins, ivec w, ivec x, const int bits)
{
    const int8x16_t a = vreinterpretq_s8_s32(w), b = vreinterpretq_s8_s32(x);
    if (bits <= 6 && !begins)
        return (struct products){vmlal_s8(run.low, vget_low_s8(a), vget_low_s8(b)), vmlal_high_s8(run.high, a, b)};
    const struct products made = {vmull_s8(vget_low_s8(a), vget_low_s8(b)), vmull_high_s8(a, b)};
    if (bits <= 6)
        return made;
    const int32x4_t low = begins ? vpaddlq_s16(made.low) : vpadalq_s16(vreinterpretq_s32_s16(run.low), made.low);
    const int32x4_t high = begins ? vpaddlq_s16(made.high) : vpadalq_s16(vreinterpretq_s32_s16(run.high), made.high);
    return (struct products){vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high)};
}

INLINE void run_steps(struct products run[], const ivec w[], ivec x, const int vectors, const int bits)
{
    UNROLL
    for (int v = 0; v < vectors; v++)
        run[v] = multiply_step(run[v], 0, w[v], x, bits);
}

INLINE struct products run_begin(struct products start, ivec w, ivec x, const int started, const int bits)
{
    return multiply_step(start, !started, w, x, bits);
}

INLINE ivec run_end(struct products run, const float *scale, const int whole, const int bits)
{
    (void)scale, (void)whole;
    if (bits <= 6)
        return vpaddq_s32(vpaddlq_s16(run.low), vpaddlq_s16(run.high));
    return vpaddq_s32(vreinterpretq_s32_s16(run.low), vreinterpretq_s32_s16(run.high));
}

INLINE ivec add_runs(ivec a, ivec b)
{
    (void)a;
    return b;
}

#include "shifted_bf16.h"
#include "block_tile.h"
#include "f16_tile.h"

static const struct multiplier blocks = {block_panel, block_prepare, sizeof(int8_t)};
const struct multiplier neon_bf16 = {bf16_panel, prepare_float, sizeof(float)};
const struct multiplier neon_f16 = {f16_panel, prepare_float, sizeof(float)};

const struct instruction_set neon_set = {
    .name = "neon",
    .usable = arm_has_neon,
    .blocks = &blocks,
    .bf16 = &neon_bf16,
    .f16 = &neon_f16,
    .rows = &rows128,
    .attention = &attention128,
};
