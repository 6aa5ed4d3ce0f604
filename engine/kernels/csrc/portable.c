/* Every type in plain C, for processors that have none of the instruction sets below. */
#include "vector_plain.h"

#include "attention.h"
#include "rows.h"

#define SPREAD_SIGNED(bits) ((bits) < 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

#define BLOCK_COLUMNS 2
#define NARROW_COLUMNS 0
#define BF16_COLUMNS 2

static int always(void)
{
    return 1;
}

INLINE ivec run_step(ivec run, ivec w, ivec x)
{
    ints sum = (ints)run;
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++)
            sum[lane] += w[4 * lane + i] * (int8_t)x[4 * lane + i];
    return (ivec)sum;
}

#include "whole_sums.h"
#include "shifted_bf16.h"
#include "block_tile.h"
#include "f16_tile.h"

static const struct multiplier blocks = {block_panel, block_prepare, sizeof(int8_t)};
static const struct multiplier bf16 = {bf16_panel, prepare_float, sizeof(float)};
static const struct multiplier f16 = {f16_panel, prepare_float, sizeof(float)};

const struct instruction_set portable_set = {
    .name = "portable",
    .usable = always,
    .blocks = &blocks,
    .bf16 = &bf16,
    .f16 = &f16,
    .rows = &rows128,
    .attention = &attention128,
};
