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

/* `a` where a byte's highest bit is set, else b. */
INLINE ivec chosen(ivec bits, ivec a, ivec b) { return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bits), b, a); }

/* Entries of a table, four bytes of each of 16 rows; or 8 bytes, of the first two of each four rows. */
INLINE ivec load_fours(const uint32_t *table, const uint16_t *at)
{
#define FOUR(i) (int)table[at[i]]
    return _mm512_setr_epi32(FOUR(0), FOUR(1), FOUR(2), FOUR(3), FOUR(4), FOUR(5), FOUR(6), FOUR(7), FOUR(8), FOUR(9),
                             FOUR(10), FOUR(11), FOUR(12), FOUR(13), FOUR(14), FOUR(15));
#undef FOUR
}

INLINE ivec load_eights(const uint64_t *table, const uint16_t *at)
{
#define EIGHT(i) (long long)table[at[i]]
    return _mm512_setr_epi64(EIGHT(0), EIGHT(1), EIGHT(4), EIGHT(5), EIGHT(8), EIGHT(9), EIGHT(12), EIGHT(13));
#undef EIGHT
}

#endif
