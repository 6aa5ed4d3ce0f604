/* AVX-512 with VNNI; bfloat16 by shifts and fused multiply-add. */
#include "vector512.h"

#include "attention.h"
#include "rows.h"
#include "sets.h"
#include "x86.h"

#define SPREAD_SIGNED(bits) ((bits) < 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

/* Twice as many columns' sums of both kinds would take all 32 registers, and went to the stack. */
#define BLOCK_COLUMNS 4
#define NARROW_COLUMNS 4
#define BLOCK_CLASSES BLOCK_CLASS(1, 0, 8) BLOCK_CLASS(1, 1, 8) BLOCK_CLASS(2, 0, 8) BLOCK_CLASS(2, 1, 8)
#define RUN_STEPS(bits, steps) (steps)
#define BF16_COLUMNS 8
#define BF16_X float

INLINE ivec run_begin(ivec sum)
{
    return sum;
}

INLINE ivec run_step(ivec run, ivec w, ivec x, const int bits, const int first)
{
    (void)bits, (void)first;
    return _mm512_dpbusd_epi32(run, w, x);
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

/* Further sets take these too. */
const struct multiplier avx512vnni_blocks = {block_panel, block_prepare, sizeof(int8_t)};
static const struct multiplier avx512vnni_bf16 = {bf16_panel, prepare_float, sizeof(float)};
const struct multiplier avx512vnni_f16 = {f16_panel, prepare_float, sizeof(float)};

const struct instruction_set avx512vnni_set = {
    .name = "avx512vnni",
    .usable = x86_has_avx512,
    .blocks = &avx512vnni_blocks,
    .bf16 = &avx512vnni_bf16,
    .f16 = &avx512vnni_f16,
    .rows = &rows512,
    .attention = &attention512,
};
