/* AVX-512 with VNNI and bfloat16 products; activations are rounded to bfloat16 for the latter. */
#include "vector512.h"

#include "quantize.h"
#include "attention.h"
#include "rows.h"
#include "x86.h"

extern kernel avx512vnni_int8, avx512vnni_int4, avx512bf16_bf16;

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

/* For AMX, whose processors all have it. */
void avx512bf16_bf16(const struct job *job, int64_t panel)
{
    bf16_panel(job, panel);
}

const struct instruction_set avx512bf16_set = {
    .name = "avx512bf16",
    .usable = x86_has_avx512bf16,
    .int8 = avx512vnni_int8,
    .int8_quantize = quantize_spans,
    .int8_x_bytes = sizeof(int8_t),
    .int4 = avx512vnni_int4,
    .int4_quantize = quantize_groups,
    .bf16 = avx512bf16_bf16,
    .bf16_convert = convert_to_bfloat16,
    .bf16_x_bytes = sizeof(uint16_t),
    .rows = &rows512,
    .attention = &attention_bf16,
};
