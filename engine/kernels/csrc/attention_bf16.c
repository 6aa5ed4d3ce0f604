/* Attention by AVX-512's dot products of bfloat16 pairs. */
#define VECTOR_BYTES 64
#define ATTENTION attention_bf16
enum { TILE_ROWS = 24, SPARE_ROWS = 0 };
#include "attention_bf16.h"

INLINE fvec multiply_add(fvec sum, const uint16_t *x, uvec words)
{
    int32_t pair;
    memcpy(&pair, x, sizeof pair);
    return (fvec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)words, (__m512bh)_mm512_set1_epi32(pair));
}

static void begin_item(void) {}
static void end_item(void) {}

#include "attention_product.h"
#include "attention_template.h"
