/* AVX2 with FMA: byte products by maddubs, which adds pairs in 16 bits. */
#include "vector256.h"

#include "quantize.h"
#include "attention.h"
#include "rows.h"
#include "x86.h"

extern kernel avx2_bf16;

#define INT8_COLUMNS 4
#define INT8_X int16_t
#define INT4_COLUMNS 6
#define INT4_UNROLL
#define BF16_COLUMNS 4
#define BF16_X float

/* sum + product, with the product in a register of its own no longer than it takes: left to order them itself, GCC
 * makes a step's products first and runs out of registers. */
#define ADD_PRODUCT(product, add, sum, a, b)                                                                     \
    do {                                                                                                         \
        ivec made;                                                                                               \
        __asm__(product " %3, %2, %1\n\t" add " %1, %0, %0" : "+x"(sum), "=&x"(made) : "x"(a), "x"(b));          \
    } while (0)

/* Two products of bytes can overflow maddubs' 16 bits; in 16 bits madd is exact. Even and odd bytes of the weights are
 * widened apart, so that each row's sums stay in one lane, and the activations stand in the same order: k0 k2 k1 k3. */
struct int8_weights { ivec even, odd; };

INLINE struct int8_weights int8_prepare(ivec w)
{
    return (struct int8_weights){_mm256_and_si256(w, _mm256_set1_epi16(255)), _mm256_srli_epi16(w, 8)};
}

INLINE ivec int8_dot(ivec sum, struct int8_weights w, const int16_t *x)
{
    ADD_PRODUCT("vpmaddwd", "vpaddd", sum, w.even, broadcast4(x));
    ADD_PRODUCT("vpmaddwd", "vpaddd", sum, w.odd, broadcast4(x + 2));
    return sum;
}

/* Quantizes into the upper half of the token's place, then spreads from there over the whole. */
static void quantize_pairs(const float *x, int64_t k, int64_t padded, void *q, float *scale, int32_t *start)
{
    const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
    const int8_t *bytes = (const int8_t *)q + padded;
    quantize_spans(x, k, padded, (int8_t *)q + padded, scale, start);
    for (int64_t i = 0; i < padded; i += 16) {
        const __m128i quads = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(bytes + i)), order);
        _mm256_storeu_si256((void *)((int16_t *)q + i), _mm256_cvtepi8_epi16(quads));
    }
}

/* A group's sums fit 16 bits, so that widening is paid once per group: each of a row's two lanes adds eight products
 * of at most 2 * 15 * 127 to half of the start. What lies outside 16 bits on the way comes back: (q - 4) times 16
 * activations minus 4 times the other 16 is 30480 at most. */
INLINE ivec int4_begin(int32_t halves)
{
    return broadcast_int(halves);
}

INLINE ivec int4_dot(ivec sum, ivec nibbles, ivec x)
{
    ADD_PRODUCT("vpmaddubsw", "vpaddw", sum, nibbles, x);
    return sum;
}

INLINE fvec int4_total(ivec sum)
{
    return to_float(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)));
}

/* Each start, which is even, as two halves in 16 bits. */
static void quantize_halves(const float *x, int64_t k, int64_t padded, void *q, float *scale, int32_t *start)
{
    quantize_groups(x, k, padded, q, scale, start);
    for (int64_t group = 0; group < padded / GROUP; group++)
        start[group] = (int32_t)((uint32_t)(start[group] / 2 & 0xffff) * 0x10001u);
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
    .int8 = int8_panel,
    .int8_quantize = quantize_pairs,
    .int8_x_bytes = sizeof(int16_t),
    .int4 = int4_panel,
    .int4_quantize = quantize_halves,
    .bf16 = avx2_bf16,
    .bf16_convert = convert_to_float,
    .bf16_x_bytes = sizeof(float),
    .rows = &rows256,
    .attention = &attention256,
};
