/* Every type in plain C, for processors that have none of the instruction sets below. */
#include "vector_plain.h"

#include "attention.h"
#include "rows.h"

#define SPREAD_SIGNED(bits) ((bits) < 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

#define BLOCK_COLUMNS 2
#define NARROW_COLUMNS 1
#define BLOCK_CLASSES BLOCK_CLASS(1, 0, 8) BLOCK_CLASS(1, 1, 8) BLOCK_CLASS(2, 0, 8) BLOCK_CLASS(2, 1, 8)
#define RUN_STEPS(bits, steps) 1
#define BF16_COLUMNS 2
#define BF16_X float

static int always(void)
{
    return 1;
}

INLINE ivec run_begin(ivec sum)
{
    return sum;
}

INLINE ivec run_step(ivec run, ivec w, ivec x, const int bits, const int first)
{
    ints sum = (ints)run;
    (void)bits, (void)first;
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++)
            sum[lane] += w[4 * lane + i] * (int8_t)x[i];
    return (ivec)sum;
}

INLINE ivec run_end(ivec sum, ivec run, const int bits)
{
    (void)sum, (void)bits;
    return run;
}

struct bf16_weights { fvec even, odd; };

INLINE struct bf16_weights bf16_prepare(ivec w)
{
    return (struct bf16_weights){as_float(even_bfloat16(w)), as_float(odd_bfloat16(w))};
}

INLINE fvec bf16_dot(fvec sum, struct bf16_weights w, const float *x)
{
    return fused(w.odd, broadcast_float(x[1]), fused(w.even, broadcast_float(x[0]), sum));
}

#include "bf16_tile.h"
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
