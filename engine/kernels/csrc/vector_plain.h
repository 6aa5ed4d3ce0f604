/* Vectors of 16 bytes by the compiler's own types, for processors with none of the instruction sets. */
#ifndef TENON_VECTOR_PLAIN_H
#define TENON_VECTOR_PLAIN_H

#include "inline.h"

#include <string.h>

#include "blocks.h"
#include "job.h"

enum { LANES = 4 };

typedef uint8_t ivec __attribute__((vector_size(16)));
typedef uint16_t pairs __attribute__((vector_size(16)));
typedef int16_t shorts __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
typedef uint64_t long_words __attribute__((vector_size(16)));
typedef float fvec __attribute__((vector_size(16)));

INLINE ivec load_bytes(const void *p) { ivec v; memcpy(&v, p, sizeof v); return v; }
INLINE void store_bytes(void *p, ivec v) { memcpy(p, &v, sizeof v); }
INLINE ivec broadcast_byte(int v) { return (ivec){0} + (uint8_t)v; }
INLINE ivec broadcast_int(int32_t v) { return (ivec)((ints){0} + v); }
INLINE ivec broadcast4(const void *p) { int32_t v; memcpy(&v, p, sizeof v); return broadcast_int(v); }
INLINE ivec repeat16(const void *p) { return load_bytes(p); }
INLINE ivec low_nibbles(ivec v) { return v & 15; }
INLINE ivec high_nibbles(ivec v) { return v >> 4; }
INLINE ivec and_bytes(ivec a, ivec b) { return a & b; }
INLINE ivec or_bytes(ivec a, ivec b) { return a | b; }
INLINE ivec exclusive_or(ivec a, ivec b) { return a ^ b; }
INLINE ivec subtract_bytes(ivec a, ivec b) { return a - b; }
INLINE ivec add_bytes(ivec a, ivec b) { return a + b; }
INLINE ivec shift_left(ivec v, int by) { return (ivec)((pairs)v << by); }
INLINE ivec shift_right(ivec v, int by) { return (ivec)((pairs)v >> by); }
OUTLINE ivec lookup(ivec table, ivec at)
{
    ivec out;
    for (int i = 0; i < 16; i++)
        out[i] = table[at[i] & 15];
    return out;
}

/* The upper bytes of 16-bit lanes. */
INLINE ivec upper_bytes(ivec v) { return (ivec)((pairs)v >> 8); }
/* The lower bytes of 16-bit lanes times the lanes of `by`, which are below 128. */
INLINE ivec multiply_low_bytes(ivec v, ivec by) { return (ivec)(((pairs)v & 255) * (pairs)by); }
/* 16 bits of each row, twice. */
INLINE ivec load_pairs(const uint8_t *p)
{
    return (ivec){p[0], p[1], p[0], p[1], p[2], p[3], p[2], p[3], p[4], p[5], p[4], p[5], p[6], p[7], p[6], p[7]};
}

/* `a` where this bit of a byte is set, else b. */
INLINE ivec chosen(ivec bits, const int bit, ivec a, ivec b)
{
    const ivec set = (ivec)((bits & (uint8_t)(1 << bit)) != 0);
    return (a & set) | (b & ~set);
}

/* Every second four bytes of a and then b. */
INLINE ivec even_fours(ivec a, ivec b)
{
    const ints x = (ints)a, y = (ints)b;
    return (ivec)(ints){x[0], x[2], y[0], y[2]};
}

INLINE ivec odd_fours(ivec a, ivec b)
{
    const ints x = (ints)a, y = (ints)b;
    return (ivec)(ints){x[1], x[3], y[1], y[3]};
}

/* Entries of a table at indexes of any type: four bytes of each of 4 rows, or 8 bytes of two. */
#define load_fours(table, at) ((ivec)(words){(table)[(at)[0]], (table)[(at)[1]], (table)[(at)[2]], (table)[(at)[3]]})
#define load_eights(table, at) ((ivec)(long_words){(table)[(at)[0]], (table)[(at)[1]]})

INLINE fvec float_zero(void) { return (fvec){0}; }
INLINE fvec to_float(ivec v) { return __builtin_convertvector((ints)v, fvec); }
INLINE fvec load_floats(const float *p) { fvec v; memcpy(&v, p, sizeof v); return v; }
INLINE fvec broadcast_float(float v) { return (fvec){0} + v; }
INLINE fvec multiply_floats(fvec a, fvec b) { return a * b; }
INLINE fvec add_floats(fvec a, fvec b) { return a + b; }
INLINE fvec fused(fvec a, fvec b, fvec c) { return a * b + c; }
INLINE void store_floats(float *p, fvec v) { memcpy(p, &v, sizeof v); }
INLINE ivec even_bytes(ivec v) { return (ivec)((shorts)((pairs)v << 8) >> 8); }
INLINE ivec odd_bytes(ivec v) { return (ivec)((shorts)v >> 8); }
INLINE ivec even_bfloat16(ivec v) { return (ivec)((ints)v << 16); }
INLINE ivec odd_bfloat16(ivec v) { return (ivec)((ints)v & (int32_t)0xffff0000); }
INLINE fvec as_float(ivec v) { return (fvec)v; }

INLINE fvec load_half(const void *p)
{
    uint16_t halves[LANES];
    memcpy(halves, p, sizeof halves);
    return (fvec){half_float(halves[0]), half_float(halves[1]), half_float(halves[2]), half_float(halves[3])};
}

INLINE fvec load_unsigned(const uint8_t *p) { return (fvec){p[0], p[1], p[2], p[3]}; }
INLINE fvec load_signed(const uint8_t *p)
{
    return (fvec){(int8_t)p[0], (int8_t)p[1], (int8_t)p[2], (int8_t)p[3]};
}

#endif
