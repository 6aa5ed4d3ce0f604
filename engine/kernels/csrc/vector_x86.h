/* Operations that vectors of 256 and of 512 bits have in common. vector256.h and vector512.h include it after they have
 * defined the types and the two macros for names of intrinsics. */
#ifndef TENON_VECTOR_X86_H
#define TENON_VECTOR_X86_H

#include "inline.h"

#include <immintrin.h>
#include <string.h>

#include "job.h"

INLINE ivec load_bytes(const void *p) { return OF_INTS(loadu)(p); }
INLINE ivec broadcast4(const void *p) { int32_t v; memcpy(&v, p, sizeof v); return OF_BITS(set1_epi32)(v); }
INLINE ivec broadcast_int(int32_t v) { return OF_BITS(set1_epi32)(v); }
INLINE ivec load_ints(const int32_t *p) { return OF_INTS(loadu)((const void *)p); }
INLINE ivec low_nibbles(ivec v) { return OF_INTS(and)(v, OF_BITS(set1_epi8)(15)); }
INLINE ivec high_nibbles(ivec v) { return low_nibbles(OF_BITS(srli_epi16)(v, 4)); }
INLINE void store_bytes(void *p, ivec v) { OF_INTS(storeu)(p, v); }
INLINE ivec broadcast_byte(int v) { return OF_BITS(set1_epi8)((char)v); }
INLINE ivec lookup(ivec table, ivec at) { return OF_BITS(shuffle_epi8)(table, at); }
INLINE ivec and_bytes(ivec a, ivec b) { return OF_INTS(and)(a, b); }
INLINE ivec or_bytes(ivec a, ivec b) { return OF_INTS(or)(a, b); }
INLINE ivec exclusive_or(ivec a, ivec b) { return OF_INTS(xor)(a, b); }
INLINE ivec subtract_bytes(ivec a, ivec b) { return OF_BITS(sub_epi8)(a, b); }
INLINE ivec add_bytes(ivec a, ivec b) { return OF_BITS(add_epi8)(a, b); }
INLINE ivec shift_left(ivec v, int by) { return OF_BITS(slli_epi16)(v, by); }
INLINE ivec shift_right(ivec v, int by) { return OF_BITS(srli_epi16)(v, by); }
/* The upper bytes of 16-bit lanes. */
INLINE ivec upper_bytes(ivec v) { return OF_BITS(srli_epi16)(v, 8); }
/* The lower bytes of 16-bit lanes times the lanes of `by`, which are below 128. */
INLINE ivec multiply_low_bytes(ivec v, ivec by) { return OF_BITS(maddubs_epi16)(v, by); }
INLINE ivec even_bytes(ivec v) { return OF_BITS(srai_epi16)(OF_BITS(slli_epi16)(v, 8), 8); }
INLINE ivec odd_bytes(ivec v) { return OF_BITS(srai_epi16)(v, 8); }
INLINE ivec even_bfloat16(ivec v) { return OF_BITS(slli_epi32)(v, 16); }
INLINE ivec odd_bfloat16(ivec v) { return OF_INTS(and)(v, OF_BITS(set1_epi32)((int32_t)0xffff0000)); }

/* Every second four bytes of a and then b, within each 16 bytes. */
INLINE ivec even_fours(ivec a, ivec b) { return AS_INTS(OF_BITS(shuffle_ps)(AS_FLOATS(a), AS_FLOATS(b), 0x88)); }
INLINE ivec odd_fours(ivec a, ivec b) { return AS_INTS(OF_BITS(shuffle_ps)(AS_FLOATS(a), AS_FLOATS(b), 0xdd)); }

/* Entries of a table at indexes of any type: four bytes of each of 4 rows, or 8 bytes of 2. An
 * entry is loaded in its place, with its neighbours: blends take fewer instructions than inserts. */
#define ENTRY(table, at, lane, each) \
    _mm_loadu_si128((const void *)((const uint8_t *)(table) + sizeof *(table) * (size_t)(at)[lane] - sizeof *(table) * ((lane) % (each))))
#define FOUR_ENTRIES(table, at, lane)                                                                                  \
    _mm_blend_epi32(_mm_blend_epi32(_mm_blend_epi32(ENTRY(table, at, lane, 4), ENTRY(table, at, lane + 1, 4), 2),      \
                                    ENTRY(table, at, lane + 2, 4), 4), ENTRY(table, at, lane + 3, 4), 8)
#define TWO_ENTRIES(table, at, lane) _mm_blend_epi32(ENTRY(table, at, lane, 2), ENTRY(table, at, lane + 1, 2), 12)

INLINE fvec float_zero(void) { return OF_BITS(setzero_ps)(); }
INLINE fvec to_float(ivec v) { return OF_BITS(cvtepi32_ps)(v); }
INLINE fvec load_floats(const float *p) { return OF_BITS(loadu_ps)(p); }
INLINE fvec broadcast_float(float v) { return OF_BITS(set1_ps)(v); }
INLINE fvec multiply_floats(fvec a, fvec b) { return OF_BITS(mul_ps)(a, b); }
INLINE fvec add_floats(fvec a, fvec b) { return OF_BITS(add_ps)(a, b); }
INLINE fvec fused(fvec a, fvec b, fvec c) { return OF_BITS(fmadd_ps)(a, b, c); }
INLINE void store_floats(float *p, fvec v) { OF_BITS(storeu_ps)(p, v); }

#endif
