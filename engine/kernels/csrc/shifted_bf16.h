/* Products of bfloat16 weights with float inputs, for sets without bfloat16 instructions: shifts widen the weights to
 * float. */
#ifndef TENON_SHIFTED_BF16_H
#define TENON_SHIFTED_BF16_H

#define BF16_X float

struct bf16_weights { fvec even, odd; };

INLINE struct bf16_weights bf16_prepare(ivec w)
{
    return (struct bf16_weights){as_float(even_bfloat16(w)), as_float(odd_bfloat16(w))};
}

INLINE fvec bf16_dot(fvec sum, struct bf16_weights w, const float *x)
{
    return fused(w.odd, broadcast_float(x[1]), fused(w.even, broadcast_float(x[0]), sum));
}

#include "bf16_tile.h"

#endif
