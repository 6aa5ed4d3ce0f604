/* NEON with the dot-product instructions (ARMv8.2). */
#include "vector128.h"

#include "arm.h"
#include "attention.h"
#include "rows.h"
#include "sets.h"

/* Integers below 128 are signed bytes as they stand: their zero point is taken off where sums begin, at no cost. */
#define SPREAD_SIGNED(bits) ((bits) > 7)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

#define BLOCK_CLASSES                                                                                               \
    BLOCK_CLASS(1, 0, 7, 0) BLOCK_CLASS(1, 0, 8, 0) BLOCK_CLASS(1, 0, 7, 1) BLOCK_CLASS(1, 0, 8, 1) BLOCK_CLASS(1, 1, 5, 0) \
    BLOCK_CLASS(1, 1, 5, 1) BLOCK_CLASS(2, 0, 7, 0) BLOCK_CLASS(2, 0, 8, 0) BLOCK_CLASS(2, 0, 7, 1) BLOCK_CLASS(2, 0, 8, 1) \
    BLOCK_CLASS(2, 1, 2, 1)
#define BLOCK_COLUMNS 1
#define NARROW_COLUMNS BLOCK_COLUMNS

INLINE ivec run_step(ivec run, ivec w, ivec x)
{
    return vdotq_s32(run, vreinterpretq_s8_s32(w), vreinterpretq_s8_s32(x));
}

/* The products with one of four lanes' activations, which are loaded at once. */
INLINE ivec lane_step(ivec run, ivec w, ivec x, const int lane)
{
    const int8x16_t weights = vreinterpretq_s8_s32(w), four = vreinterpretq_s8_s32(x);
    switch (lane) {         /* the instruction's lane is a constant */
    case 0: return vdotq_laneq_s32(run, weights, four, 0);
    case 1: return vdotq_laneq_s32(run, weights, four, 1);
    case 2: return vdotq_laneq_s32(run, weights, four, 2);
    default: return vdotq_laneq_s32(run, weights, four, 3);
    }
}
#define HAS_LANES 1

#include "whole_sums.h"
#include "block_tile.h"

static const struct multiplier blocks = {block_panel, block_prepare, sizeof(int8_t)};

const struct instruction_set dotprod_set = {
    .name = "dotprod",
    .usable = arm_has_dotprod,
    .blocks = &blocks,
    .bf16 = &neon_bf16,
    .f16 = &neon_f16,
    .rows = &rows128,
    .attention = &attention128,
};
