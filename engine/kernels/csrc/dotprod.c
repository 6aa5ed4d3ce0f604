/* NEON with the dot-product instructions (ARMv8.2); bfloat16 by shifts and fused multiply-add. */
#include "vector128.h"

#include "arm.h"
#include "attention.h"
#include "rows.h"

#define SPREAD_SIGNED(bits) ((bits) > 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

#define BLOCK_COLUMNS 6
#define NARROW_COLUMNS 1
#define BF16_COLUMNS 4

INLINE ivec run_step(ivec run, ivec w, ivec x)
{
    return vdotq_s32(run, vreinterpretq_s8_s32(w), vreinterpretq_s8_s32(x));
}

#include "whole_sums.h"
#include "shifted_bf16.h"
#include "block_tile.h"
#include "f16_tile.h"

static const struct multiplier blocks = {block_panel, block_prepare, sizeof(int8_t)};
static const struct multiplier bf16 = {bf16_panel, prepare_float, sizeof(float)};
static const struct multiplier f16 = {f16_panel, prepare_float, sizeof(float)};

const struct instruction_set dotprod_set = {
    .name = "dotprod",
    .usable = arm_has_dotprod,
    .blocks = &blocks,
    .bf16 = &bf16,
    .f16 = &f16,
    .rows = &rows128,
    .attention = &attention128,
};
