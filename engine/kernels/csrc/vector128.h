/* 128-bit NEON vectors of 4 rows. */
#ifndef TENON_VECTOR128_H
#define TENON_VECTOR128_H

#include "inline.h"

#include <arm_neon.h>

#include "job.h"

enum { LANES = 4 };

typedef int32x4_t ivec;
typedef float32x4_t fvec;

INLINE ivec load_ints(const int32_t *p) { return vld1q_s32(p); }
INLINE fvec to_float(ivec v) { return vcvtq_f32_s32(v); }
INLINE fvec load_floats(const float *p) { return vld1q_f32(p); }
INLINE fvec broadcast_float(float v) { return vdupq_n_f32(v); }
INLINE fvec multiply_floats(fvec a, fvec b) { return vmulq_f32(a, b); }
INLINE fvec add_floats(fvec a, fvec b) { return vaddq_f32(a, b); }
INLINE fvec fused(fvec a, fvec b, fvec c) { return vfmaq_f32(c, a, b); }
INLINE void store_floats(float *p, fvec v) { vst1q_f32(p, v); }
INLINE fvec load_bfloat16(const void *p) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16)); }
INLINE int8x16_t low_nibbles(int8x16_t v) { return vandq_s8(v, vdupq_n_s8(15)); }
INLINE int8x16_t high_nibbles(int8x16_t v) { return vreinterpretq_s8_u8(vshrq_n_u8(vreinterpretq_u8_s8(v), 4)); }

#endif
