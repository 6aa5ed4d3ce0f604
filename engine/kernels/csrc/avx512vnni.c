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
#define BF16_COLUMNS 8

INLINE ivec run_step(ivec run, ivec w, ivec x)
{
    return _mm512_dpbusd_epi32(run, w, x);
}

#include "whole_sums.h"
#include "shifted_bf16.h"
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
