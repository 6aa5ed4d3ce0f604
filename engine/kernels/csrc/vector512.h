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

/* Entries of a table at indexes of any type: four bytes of each of 16 rows, or 8 bytes of the first two of each four. */
#define FOUR(table, at, i) (int)(table)[(at)[i]], (int)(table)[(at)[i + 1]], (int)(table)[(at)[i + 2]], (int)(table)[(at)[i + 3]]
#define TWO(table, at, i) (long long)(table)[(at)[i]], (long long)(table)[(at)[i + 1]]
#define load_fours(table, at) \
    ((ivec)(__v16si){FOUR(table, at, 0), FOUR(table, at, 4), FOUR(table, at, 8), FOUR(table, at, 12)})
#define load_eights(table, at) ((ivec)(__v8di){TWO(table, at, 0), TWO(table, at, 4), TWO(table, at, 8), TWO(table, at, 12)})

#endif
