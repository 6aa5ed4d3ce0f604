/* AVX2 with FMA: byte products by maddubs, which adds pairs in 16 bits. */
#include "vector256.h"

#include "quantize.h"
#include "x86.h"

extern kernel avx2_bf16;

#define INT8_COLUMNS 4
#define INT8_UNSIGNED 0
#define INT4_COLUMNS 4
#define BF16_COLUMNS 4
#define BF16_X float

/* maddubs wants one side unsigned: |w| times x with w's sign. Two products fit 16 bits (2 * 128 * 127 < 32768). */
struct int8_weights { ivec signed_, magnitude; };

INLINE struct int8_weights int8_prepare(ivec w)
{
    return (struct int8_weights){w, _mm256_abs_epi8(w)};
}

INLINE ivec int8_dot(ivec sum, struct int8_weights w, ivec x)
{
    const ivec pairs = _mm256_maddubs_epi16(w.magnitude, _mm256_sign_epi8(x, w.signed_));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* A group's eight products of at most 2 * 15 * 127 fit 16 bits, so that widening is paid once per group. */
INLINE ivec int4_begin(int32_t start)
{
    (void)start;
    return int_zero();
}

INLINE ivec int4_dot(ivec sum, ivec nibbles, ivec x)
{
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(nibbles, x));
}

INLINE fvec int4_total(ivec sum, int32_t start)
{
    return to_float(_mm256_add_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)), broadcast_int(start)));
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

/* For the sets above, which add nothing to it. */
void avx2_bf16(const struct job *job, int64_t panel)
{
    bf16_panel(job, panel);
}

const struct instruction_set avx2_set = {
    .name = "avx2",
    .usable = x86_has_avx2,
    .quantize = quantize_token,
    .int8 = int8_panel,
    .int4 = int4_panel,
    .bf16 = avx2_bf16,
    .convert = convert_to_float,
    .converted_bytes = sizeof(float),
};
