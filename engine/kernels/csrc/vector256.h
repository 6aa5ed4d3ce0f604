/* 256-bit vectors of 8 rows. */
#ifndef TENON_VECTOR256_H
#define TENON_VECTOR256_H

#include "inline.h"

#include <immintrin.h>
#include <string.h>

#include "job.h"

enum { LANES = 8 };

typedef __m256i ivec;
typedef __m256 fvec;

INLINE ivec load_bytes(const void *p) { return _mm256_loadu_si256(p); }
INLINE ivec broadcast4(const void *p) { int32_t v; memcpy(&v, p, sizeof v); return _mm256_set1_epi32(v); }
INLINE ivec broadcast_int(int32_t v) { return _mm256_set1_epi32(v); }
INLINE ivec load_ints(const int32_t *p) { return _mm256_loadu_si256((const void *)p); }
INLINE ivec low_nibbles(ivec v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }
INLINE ivec high_nibbles(ivec v) { return low_nibbles(_mm256_srli_epi16(v, 4)); }
INLINE void store_bytes(void *p, ivec v) { _mm256_storeu_si256(p, v); }
INLINE ivec broadcast_byte(int v) { return _mm256_set1_epi8((char)v); }
INLINE ivec repeat16(const void *p) { return _mm256_broadcastsi128_si256(_mm_loadu_si128(p)); }
INLINE ivec lookup(ivec table, ivec at) { return _mm256_shuffle_epi8(table, at); }
INLINE ivec and_bytes(ivec a, ivec b) { return _mm256_and_si256(a, b); }
INLINE ivec or_bytes(ivec a, ivec b) { return _mm256_or_si256(a, b); }
INLINE ivec exclusive_or(ivec a, ivec b) { return _mm256_xor_si256(a, b); }
INLINE ivec subtract_bytes(ivec a, ivec b) { return _mm256_sub_epi8(a, b); }
INLINE ivec shift_left(ivec v, int by) { return _mm256_slli_epi16(v, by); }
INLINE ivec shift_right(ivec v, int by) { return _mm256_srli_epi16(v, by); }
INLINE ivec even_bytes(ivec v) { return _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8); }
INLINE ivec odd_bytes(ivec v) { return _mm256_srai_epi16(v, 8); }
INLINE ivec even_bfloat16(ivec v) { return _mm256_slli_epi32(v, 16); }
INLINE ivec odd_bfloat16(ivec v) { return _mm256_and_si256(v, _mm256_set1_epi32((int32_t)0xffff0000)); }

INLINE fvec float_zero(void) { return _mm256_setzero_ps(); }
INLINE fvec as_float(ivec v) { return _mm256_castsi256_ps(v); }
INLINE fvec to_float(ivec v) { return _mm256_cvtepi32_ps(v); }
INLINE fvec load_floats(const float *p) { return _mm256_loadu_ps(p); }
INLINE fvec broadcast_float(float v) { return _mm256_set1_ps(v); }
INLINE fvec multiply_floats(fvec a, fvec b) { return _mm256_mul_ps(a, b); }
INLINE fvec add_floats(fvec a, fvec b) { return _mm256_add_ps(a, b); }
INLINE fvec fused(fvec a, fvec b, fvec c) { return _mm256_fmadd_ps(a, b, c); }
INLINE void store_floats(float *p, fvec v) { _mm256_storeu_ps(p, v); }
INLINE fvec load_half(const void *p) { return _mm256_cvtph_ps(_mm_loadu_si128(p)); }
INLINE fvec load_unsigned(const uint8_t *p) { return to_float(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)p))); }
INLINE fvec load_signed(const uint8_t *p) { return to_float(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)p))); }

#endif
