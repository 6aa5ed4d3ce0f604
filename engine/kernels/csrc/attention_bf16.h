/* Attention in bfloat16 products on AVX-512: queries and weights are rounded, sums are float32. Before including this, a
 * file defines VECTOR_BYTES as 64, TILE_ROWS and SPARE_ROWS. */
#include <float.h>
#include <immintrin.h>

#include "attention.h"
#include "exponential.h"
#include "vectors.h"

typedef uint16_t operand;
enum {
    STEP = 2,
    WEIGHTS_ROW = CHUNK,
    SCORES_PANEL = (TILE_ROWS + 1) * LANES,     /* a line more: powers of two would share few sets of the first cache */
    CHUNK_WORDS = CHUNK / STEP * LANES,     /* of a panel of values */
};

INLINE void put_keys(uint32_t *panel, int64_t pair, uvec words)
{
    store_words(panel + pair * LANES, words);
}

/* The two keys' values become pairs; quarters are brought where the unpacking within 128 bits leaves them in order. */
INLINE void put_values(uint32_t *values, int64_t channel, int64_t key, const uint16_t *even, const uint16_t *odd)
{
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    const __m512i a = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(even));
    const __m512i b = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(odd));
    uint32_t *panel = values + channel / LANES * CHUNK_WORDS + key / 2 * LANES;
    _mm512_storeu_si512(panel, _mm512_unpacklo_epi16(a, b));
    _mm512_storeu_si512(panel + CHUNK_WORDS, _mm512_unpackhi_epi16(a, b));
}

static void to_operands(const float *x, int64_t n, uint16_t *out)
{
    convert_to_bfloat16(x, n, n, out);
}

INLINE __m512 widen_16(const int8_t *q, float scale)
{
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)q))), _mm512_set1_ps(scale));
}

INLINE void widen(const int8_t *q, int64_t count, float scale, uint16_t *out)
{
    if (count == 2 * LANES)
        _mm512_storeu_si512(out, (__m512i)_mm512_cvtne2ps_pbh(widen_16(q + LANES, scale), widen_16(q, scale)));
    else
        _mm256_storeu_si256((void *)out, (__m256i)_mm512_cvtneps_pbh(widen_16(q, scale)));
}

/* 2^x, to 3e-6 of it, exact zero for minus infinity: a polynomial for the fraction above the next lower integer. */
INLINE __m512 power_of_two(__m512 x)
{
    const __m512 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m512 p = _mm512_set1_ps(1.353416819e-2f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.201146234e-2f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.414427540e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.930038356e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.000002593f));
    return _mm512_scalef_ps(p, x);
}

enum { ROWS_AT_ONCE = 4, WEIGH_PIECE = ROWS_AT_ONCE * 2 * LANES };

/* For ROWS_AT_ONCE rows; each row's scores stand SCORES_PANEL apart from one LANES keys to the next. */
INLINE void weigh_rows(const float *scores, int padded, uint16_t *weights, struct softmax *found, struct lines *next)
{
    const __m512 factor = _mm512_set1_ps(1.44269504f);      /* log2 e */
    __m512 highest[ROWS_AT_ONCE], offset[ROWS_AT_ONCE], sum[ROWS_AT_ONCE];
    UNROLL
    for (int r = 0; r < ROWS_AT_ONCE; r++)
        highest[r] = _mm512_set1_ps(-FLT_MAX);
    const float *panel = scores;
    for (int k = 0; k < padded; k += LANES, panel += SCORES_PANEL)
        UNROLL
        for (int r = 0; r < ROWS_AT_ONCE; r++)      /* the second operand is taken where the first is a NaN */
            highest[r] = _mm512_max_ps(_mm512_loadu_ps(panel + r * LANES), highest[r]);
    UNROLL
    for (int r = 0; r < ROWS_AT_ONCE; r++) {
        found[r].largest = _mm512_reduce_max_ps(highest[r]);
        offset[r] = _mm512_set1_ps(-found[r].largest * 1.44269504f);
        sum[r] = _mm512_setzero_ps();
    }
    panel = scores;
    for (int k = 0; k < padded; k += 2 * LANES, panel += 2 * SCORES_PANEL) {
        expect_lines(next);
        UNROLL
        for (int r = 0; r < ROWS_AT_ONCE; r++) {
            const __m512 a = _mm512_loadu_ps(panel + r * LANES), b = _mm512_loadu_ps(panel + SCORES_PANEL + r * LANES);
            const __m512 low = power_of_two(_mm512_fmadd_ps(a, factor, offset[r]));
            const __m512 high = power_of_two(_mm512_fmadd_ps(b, factor, offset[r]));
            sum[r] = _mm512_add_ps(sum[r], _mm512_add_ps(low, high));
            _mm512_storeu_si512(weights + r * WEIGHTS_ROW + k, (__m512i)_mm512_cvtne2ps_pbh(high, low));
        }
    }
    UNROLL
    for (int r = 0; r < ROWS_AT_ONCE; r++)
        found[r].sum = _mm512_reduce_add_ps(sum[r]);
}

static void weigh(float *scores, int rows, int padded, uint16_t *weights, struct softmax *found, struct lines *next)
{
    for (int r = 0; r < rows; r += ROWS_AT_ONCE)    /* up to three more than there are */
        weigh_rows(scores + r * LANES, padded, weights + r * WEIGHTS_ROW, found + r, next);
}
