/* AVX-512 with VNNI; bfloat16 by shifts and fused multiply-add. */
#include "vnni512.h"

#include "attention.h"
#include "rows.h"
#include "sets.h"
#include "x86.h"

#define BF16_COLUMNS 8
#include "shifted_bf16.h"
#include "f16_tile.h"

/* Further sets take these too. */
const struct multiplier avx512vnni_blocks = {block_panel, block_prepare, sizeof(int8_t)};
const struct multiplier avx512vnni_bf16 = {bf16_panel, prepare_float, sizeof(float)};
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
