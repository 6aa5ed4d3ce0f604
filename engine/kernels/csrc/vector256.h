/* 256-bit vectors of 8 rows. */
#ifndef TENON_VECTOR256_H
#define TENON_VECTOR256_H

#include <immintrin.h>

enum { LANES = 8 };

typedef __m256i ivec;
typedef __m256 fvec;

#define OF_BITS(name) _mm256_##name
#define OF_INTS(name) _mm256_##name##_si256
#define AS_INTS _mm256_castps_si256
#define AS_FLOATS _mm256_castsi256_ps
#include "vector_x86.h"

INLINE ivec repeat16(const void *p) { return _mm256_broadcastsi128_si256(_mm_loadu_si128(p)); }
/* 16 bits of each row, twice. */
INLINE ivec load_pairs(const uint8_t *p)
{
    const ivec pairs = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
    return _mm256_or_si256(pairs, _mm256_slli_epi32(pairs, 16));
}
INLINE fvec as_float(ivec v) { return _mm256_castsi256_ps(v); }
INLINE fvec load_half(const void *p) { return _mm256_cvtph_ps(_mm_loadu_si128(p)); }
INLINE fvec load_unsigned(const uint8_t *p) { return to_float(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)p))); }
INLINE fvec load_signed(const uint8_t *p) { return to_float(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)p))); }

/* `a` where this bit of a byte is set, else b. */
INLINE ivec chosen(ivec bits, const int bit, ivec a, ivec b) { return _mm256_blendv_epi8(b, a, shift_left(bits, 7 - bit)); }

/* See vector_x86.h. */
#define BOTH_HALVES(low, high) _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1)
#define load_fours(table, at) BOTH_HALVES(FOUR_ENTRIES(table, at, 0), FOUR_ENTRIES(table, at, 4))
#define load_eights(table, at) BOTH_HALVES(TWO_ENTRIES(table, at, 0), TWO_ENTRIES(table, at, 4))

#endif
