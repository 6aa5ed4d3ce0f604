/* AVX-512 with VNNI; bfloat16 by shifts and fused multiply-add. */
#include "vector512.h"

#include "quantize.h"
#include "attention.h"
#include "rows.h"
#include "x86.h"

extern kernel avx512vnni_int8, avx512vnni_int4;

#define INT8_COLUMNS 8
#define INT8_X int8_t
#define INT4_COLUMNS 8
#define INT4_UNROLL UNROLL
#define BF16_COLUMNS 8
#define BF16_X float

struct int8_weights { ivec bytes; };

INLINE struct int8_weights int8_prepare(ivec w)
{
    return (struct int8_weights){w};
}

INLINE ivec int8_dot(ivec sum, struct int8_weights w, const int8_t *x)
{
    return _mm512_dpbusd_epi32(sum, w.bytes, broadcast4(x));
}

INLINE ivec int4_begin(int32_t start)
{
    return broadcast_int(start);
}

INLINE ivec int4_dot(ivec sum, ivec nibbles, ivec x)
{
    return _mm512_dpbusd_epi32(sum, nibbles, x);
}

INLINE fvec int4_total(ivec sum)
{
    return to_float(sum);
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
#include "int4_tile.h"
#include "int8_tile.h"

/* For the sets above, which add nothing to them. */
void avx512vnni_int8(const struct job *job, int64_t panel)
{
    int8_panel(job, panel);
}

void avx512vnni_int4(const struct job *job, int64_t panel)
{
    int4_panel(job, panel);
}

const struct instruction_set avx512vnni_set = {
    .name = "avx512vnni",
    .usable = x86_has_avx512,
    .int8 = avx512vnni_int8,
    .int8_quantize = quantize_spans,
    .int8_x_bytes = sizeof(int8_t),
    .int4 = avx512vnni_int4,
    .int4_quantize = quantize_groups,
    .bf16 = bf16_panel,
    .bf16_convert = convert_to_float,
    .bf16_x_bytes = sizeof(float),
    .rows = &rows512,
    .attention = &attention512,
};
