/* AVX-VNNI: four byte products and their sum in one instruction, on processors without AVX-512. */
#include "vector256.h"

#include "quantize.h"
#include "attention.h"
#include "rows.h"
#include "x86.h"

extern kernel avx2_bf16;

#define INT8_COLUMNS 6
#define INT8_X int8_t
#define INT4_COLUMNS 4
#define INT4_UNROLL

/* The same instruction exists for AVX-512, by whose encoding this file can be tested where there is no AVX-VNNI. */
#ifndef VPDPBUSD
#define VPDPBUSD "%{vex%} vpdpbusd"
#endif

/* By the intrinsic GCC 12 copies most sums before it adds to them. */
INLINE ivec add_dot(ivec sum, ivec w, ivec x)
{
    __asm__(VPDPBUSD " %2, %1, %0" : "+x"(sum) : "x"(w), "x"(x));
    return sum;
}

struct int8_weights { ivec bytes; };

INLINE struct int8_weights int8_prepare(ivec w)
{
    return (struct int8_weights){w};
}

INLINE ivec int8_dot(ivec sum, struct int8_weights w, const int8_t *x)
{
    return add_dot(sum, w.bytes, broadcast4(x));
}

INLINE ivec int4_begin(int32_t start)
{
    return broadcast_int(start);
}

INLINE ivec int4_dot(ivec sum, ivec nibbles, ivec x)
{
    return add_dot(sum, nibbles, x);
}

INLINE fvec int4_total(ivec sum)
{
    return to_float(sum);
}

#include "int4_tile.h"
#include "int8_tile.h"

const struct instruction_set avxvnni_set = {
    .name = "avxvnni",
    .usable = x86_has_avxvnni,
    .int8 = int8_panel,
    .int8_quantize = quantize_spans,
    .int8_x_bytes = sizeof(int8_t),
    .int4 = int4_panel,
    .int4_quantize = quantize_groups,
    .bf16 = avx2_bf16,
    .bf16_convert = convert_to_float,
    .bf16_x_bytes = sizeof(float),
    .rows = &rows256,
    .attention = &attention256,
};
