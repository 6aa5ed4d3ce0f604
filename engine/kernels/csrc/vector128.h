/* 128-bit NEON vectors of 4 rows. */
#ifndef TENON_VECTOR128_H
#define TENON_VECTOR128_H

#include "inline.h"

#include <arm_neon.h>
#include <string.h>

#include "job.h"

enum { LANES = 4 };

typedef int32x4_t ivec;
typedef float32x4_t fvec;

INLINE uint8x16_t as_bytes(ivec v) { return vreinterpretq_u8_s32(v); }
INLINE ivec of_bytes(uint8x16_t v) { return vreinterpretq_s32_u8(v); }

INLINE ivec load_bytes(const void *p) { return of_bytes(vld1q_u8(p)); }
INLINE void store_bytes(void *p, ivec v) { vst1q_u8(p, as_bytes(v)); }
INLINE ivec broadcast_byte(int v) { return of_bytes(vdupq_n_u8((uint8_t)v)); }
INLINE ivec broadcast_int(int32_t v) { return vdupq_n_s32(v); }
INLINE ivec broadcast4(const void *p) { int32_t v; memcpy(&v, p, sizeof v); return vdupq_n_s32(v); }
INLINE ivec repeat16(const void *p) { return load_bytes(p); }
INLINE ivec low_nibbles(ivec v) { return of_bytes(vandq_u8(as_bytes(v), vdupq_n_u8(15))); }
INLINE ivec high_nibbles(ivec v) { return of_bytes(vshrq_n_u8(as_bytes(v), 4)); }
INLINE ivec and_bytes(ivec a, ivec b) { return vandq_s32(a, b); }
INLINE ivec or_bytes(ivec a, ivec b) { return vorrq_s32(a, b); }
INLINE ivec exclusive_or(ivec a, ivec b) { return veorq_s32(a, b); }
INLINE ivec subtract_bytes(ivec a, ivec b) { return of_bytes(vsubq_u8(as_bytes(a), as_bytes(b))); }
INLINE ivec add_bytes(ivec a, ivec b) { return of_bytes(vaddq_u8(as_bytes(a), as_bytes(b))); }
INLINE ivec shift_left(ivec v, int by) { return of_bytes(vshlq_u8(as_bytes(v), vdupq_n_s8((int8_t)by))); }
INLINE ivec shift_right(ivec v, int by) { return of_bytes(vshlq_u8(as_bytes(v), vdupq_n_s8((int8_t)-by))); }
/* The upper bytes of 16-bit lanes. */
INLINE ivec upper_bytes(ivec v) { return vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s32(v), 8)); }
INLINE ivec lookup(ivec table, ivec at) { return of_bytes(vqtbl1q_u8(as_bytes(table), as_bytes(at))); }
INLINE ivec multiply_low_bytes(ivec v, ivec by)
{
    const uint16x8_t low = vandq_u16(vreinterpretq_u16_s32(v), vdupq_n_u16(255));
    return vreinterpretq_s32_u16(vmulq_u16(low, vreinterpretq_u16_s32(by)));
}
INLINE ivec load_pairs(const uint8_t *p)
{
    const uint16x4_t pairs = vreinterpret_u16_u8(vld1_u8(p));
    return vreinterpretq_s32_u16(vcombine_u16(vzip1_u16(pairs, pairs), vzip2_u16(pairs, pairs)));
}
INLINE ivec even_bytes(ivec v) { return vreinterpretq_s32_s16(vshrq_n_s16(vshlq_n_s16(vreinterpretq_s16_s32(v), 8), 8)); }
INLINE ivec odd_bytes(ivec v) { return vreinterpretq_s32_s16(vshrq_n_s16(vreinterpretq_s16_s32(v), 8)); }
INLINE ivec even_bfloat16(ivec v) { return vshlq_n_s32(v, 16); }
INLINE ivec odd_bfloat16(ivec v) { return vandq_s32(v, vdupq_n_s32((int32_t)0xffff0000)); }
/* `a` where this bit of a byte is set, else b. */
INLINE ivec chosen(ivec bits, const int bit, ivec a, ivec b)
{
    return vbslq_s32(vreinterpretq_u32_u8(vtstq_s8(vreinterpretq_s8_s32(bits), vdupq_n_s8((int8_t)(1 << bit)))), a, b);
}

/* a's bits where the mask's are set, else b's. */
#define BITS_OF(mask, a, b) vbslq_s32(vreinterpretq_u32_s32(mask), a, b)

/* Every second four bytes of a and then b. */
INLINE ivec even_fours(ivec a, ivec b) { return vuzp1q_s32(a, b); }
INLINE ivec odd_fours(ivec a, ivec b) { return vuzp2q_s32(a, b); }

/* Entries of a table at indexes of any type: four bytes of each of 4 rows, or 8 bytes of two. */
#define load_fours(table, at) ((ivec){(int)(table)[(at)[0]], (int)(table)[(at)[1]], (int)(table)[(at)[2]], (int)(table)[(at)[3]]})
#define load_eights(table, at) vreinterpretq_s32_u64(vcombine_u64(vld1_u64((table) + (at)[0]), vld1_u64((table) + (at)[1])))

INLINE fvec float_zero(void) { return vdupq_n_f32(0); }
INLINE fvec as_float(ivec v) { return vreinterpretq_f32_s32(v); }
INLINE fvec to_float(ivec v) { return vcvtq_f32_s32(v); }
INLINE fvec load_floats(const float *p) { return vld1q_f32(p); }
INLINE fvec broadcast_float(float v) { return vdupq_n_f32(v); }
INLINE fvec multiply_floats(fvec a, fvec b) { return vmulq_f32(a, b); }
INLINE fvec add_floats(fvec a, fvec b) { return vaddq_f32(a, b); }
INLINE fvec fused(fvec a, fvec b, fvec c) { return vfmaq_f32(c, a, b); }
INLINE void store_floats(float *p, fvec v) { vst1q_f32(p, v); }
INLINE fvec load_half(const void *p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
INLINE uint8x8_t four_bytes(const uint8_t *p) { uint32_t v; memcpy(&v, p, sizeof v); return vreinterpret_u8_u32(vdup_n_u32(v)); }
INLINE fvec load_unsigned(const uint8_t *p) { return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(four_bytes(p))))); }
INLINE fvec load_signed(const uint8_t *p)
{
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(four_bytes(p))))));
}

#define ASKS_AHEAD 0        /* llama.cpp's kernels for these processors ask for nothing either */

#endif
