/* AVX-512 with VNNI and bfloat16 products; activations are rounded to bfloat16 for the latter. */
#include "vector512.h"

#include "attention.h"
#include "rows.h"
#include "sets.h"
#include "x86.h"

#define BF16_COLUMNS 8
#define BF16_X uint16_t

struct bf16_weights { ivec pairs; };

INLINE struct bf16_weights bf16_prepare(ivec w)
{
    return (struct bf16_weights){w};
}

INLINE fvec bf16_dot(fvec sum, struct bf16_weights w, const uint16_t *x)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)broadcast4(x), (__m512bh)w.pairs);
}

#include "bf16_tile.h"
#include "quantize.h"

static const struct multiplier bf16 = {bf16_panel, prepare_bfloat16, sizeof(uint16_t)};

const struct instruction_set avx512bf16_set = {
    .name = "avx512bf16",
    .usable = x86_has_avx512bf16,
    .blocks = &avx512vbmi_blocks,
    .bf16 = &bf16,
    .f16 = &avx512vnni_f16,
    .rows = &rows512,
    .attention = &attention_bf16,
};
