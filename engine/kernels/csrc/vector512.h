/* 512-bit vectors of 16 rows. */
#ifndef TENON_VECTOR512_H
#define TENON_VECTOR512_H

#include "inline.h"

#include <immintrin.h>
#include <string.h>

#include "job.h"

enum { LANES = 16 };

typedef __m512i ivec;
typedef __m512 fvec;

INLINE ivec load_bytes(const void *p) { return _mm512_loadu_si512(p); }
INLINE ivec broadcast4(const void *p) { int32_t v; memcpy(&v, p, sizeof v); return _mm512_set1_epi32(v); }
INLINE ivec broadcast_int(int32_t v) { return _mm512_set1_epi32(v); }
INLINE ivec load_ints(const int32_t *p) { return _mm512_loadu_si512((const void *)p); }
INLINE ivec low_nibbles(ivec v) { return _mm512_and_si512(v, _mm512_set1_epi8(15)); }
INLINE ivec high_nibbles(ivec v) { return low_nibbles(_mm512_srli_epi16(v, 4)); }
INLINE void store_bytes(void *p, ivec v) { _mm512_storeu_si512(p, v); }
INLINE ivec broadcast_byte(int v) { return _mm512_set1_epi8((char)v); }
INLINE ivec repeat16(const void *p) { return _mm512_broadcast_i32x4(_mm_loadu_si128(p)); }
INLINE ivec lookup(ivec table, ivec at) { return _mm512_shuffle_epi8(table, at); }
INLINE ivec and_bytes(ivec a, ivec b) { return _mm512_and_si512(a, b); }
INLINE ivec or_bytes(ivec a, ivec b) { return _mm512_or_si512(a, b); }
INLINE ivec exclusive_or(ivec a, ivec b) { return _mm512_xor_si512(a, b); }
INLINE ivec subtract_bytes(ivec a, ivec b) { return _mm512_sub_epi8(a, b); }
INLINE ivec shift_left(ivec v, int by) { return _mm512_slli_epi16(v, (unsigned)by); }
INLINE ivec shift_right(ivec v, int by) { return _mm512_srli_epi16(v, (unsigned)by); }
INLINE ivec even_bytes(ivec v) { return _mm512_srai_epi16(_mm512_slli_epi16(v, 8), 8); }
INLINE ivec odd_bytes(ivec v) { return _mm512_srai_epi16(v, 8); }
INLINE ivec even_bfloat16(ivec v) { return _mm512_slli_epi32(v, 16); }
INLINE ivec odd_bfloat16(ivec v) { return _mm512_and_si512(v, _mm512_set1_epi32((int32_t)0xffff0000)); }

INLINE fvec float_zero(void) { return _mm512_setzero_ps(); }
INLINE fvec as_float(ivec v) { return _mm512_castsi512_ps(v); }
INLINE fvec to_float(ivec v) { return _mm512_cvtepi32_ps(v); }
INLINE fvec load_floats(const float *p) { return _mm512_loadu_ps(p); }
INLINE fvec broadcast_float(float v) { return _mm512_set1_ps(v); }
INLINE fvec multiply_floats(fvec a, fvec b) { return _mm512_mul_ps(a, b); }
INLINE fvec add_floats(fvec a, fvec b) { return _mm512_add_ps(a, b); }
INLINE fvec fused(fvec a, fvec b, fvec c) { return _mm512_fmadd_ps(a, b, c); }
INLINE void store_floats(float *p, fvec v) { _mm512_storeu_ps(p, v); }
INLINE fvec load_half(const void *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(p)); }
INLINE fvec load_unsigned(const uint8_t *p) { return to_float(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p))); }
INLINE fvec load_signed(const uint8_t *p) { return to_float(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)p))); }

#endif
