/* 512-bit vectors of 16 rows. */
#ifndef TENON_VECTOR512_H
#define TENON_VECTOR512_H

#include <immintrin.h>

enum { LANES = 16 };

typedef __m512i ivec;
typedef __m512 fvec;

#define OF_BITS(name) _mm512_##name
#define OF_INTS(name) _mm512_##name##_si512
#define AS_INTS _mm512_castps_si512
#define AS_FLOATS _mm512_castsi512_ps
#include "vector_x86.h"

INLINE ivec repeat16(const void *p) { return _mm512_broadcast_i32x4(_mm_loadu_si128(p)); }
/* 16 bits of each row, twice. */
INLINE ivec load_pairs(const uint8_t *p)
{
    const ivec pairs = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
    return _mm512_or_si512(pairs, _mm512_slli_epi32(pairs, 16));
}
INLINE fvec as_float(ivec v) { return _mm512_castsi512_ps(v); }
INLINE fvec load_half(const void *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(p)); }
INLINE fvec load_unsigned(const uint8_t *p) { return to_float(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p))); }
INLINE fvec load_signed(const uint8_t *p) { return to_float(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)p))); }

/* `a` where this bit of a byte is set, else b. */
INLINE ivec chosen(ivec bits, const int bit, ivec a, ivec b)
{
    return _mm512_mask_blend_epi8(_mm512_test_epi8_mask(bits, broadcast_byte(1 << bit)), b, a);
}

/* See vector_x86.h. */
#define ALL_QUARTERS(a, b, c, d) \
    _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1)), \
                       _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1), 1)
#define load_fours(table, at) \
    ALL_QUARTERS(FOUR_ENTRIES(table, at, 0), FOUR_ENTRIES(table, at, 4), FOUR_ENTRIES(table, at, 8), FOUR_ENTRIES(table, at, 12))
#define load_eights(table, at) \
    ALL_QUARTERS(TWO_ENTRIES(table, at, 0), TWO_ENTRIES(table, at, 4), TWO_ENTRIES(table, at, 8), TWO_ENTRIES(table, at, 12))

#endif
