/* AVX2 with FMA: byte products by maddubs, which adds pairs in 16 bits. */
#include "vector256.h"

#include "attention.h"
#include "rows.h"
#include "sets.h"
#include "x86.h"

/* Bytes of 8 bits overflow maddubs' 16, so that each step would end in a sum of 32 bits and moves of the sign: products in
 * 16 bits take fewer instructions. */
#define SPREAD_SIGNED(bits) ((bits) == 8)
#define SPREAD_WIDE(bits) ((bits) == 8)
/* Sums in 16 bits are multiplied with their scales on the way to 32. */
#define SPREAD_PAIRS 1

INLINE ivec byte_pairs(const uint8_t *at)
{
    const ivec low = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)at));
    return _mm256_blend_epi16(low, _mm256_slli_epi32(low, 16), 0xaa);
}

#include "spread.h"

#define BLOCK_COLUMNS 4
#define NARROW_COLUMNS 1
#define DIRECT_POINTS 1
#define BLOCK_CLASSES                                                                            \
    BLOCK_CLASS(1, 0, 4) BLOCK_CLASS(1, 0, 5) BLOCK_CLASS(1, 0, 7) BLOCK_CLASS(1, 0, 8) BLOCK_CLASS(1, 1, 4)          \
    BLOCK_CLASS(1, 1, 5) BLOCK_CLASS(2, 0, 3) BLOCK_CLASS(2, 0, 4) BLOCK_CLASS(2, 0, 6) BLOCK_CLASS(2, 0, 7)         \
    BLOCK_CLASS(2, 1, 2)
#define BF16_COLUMNS 4

/* As many steps as 16 bits hold, where they are summed there: a step adds two products of at most 127 * (2^bits - 1). */
#define RUN_STEPS(bits, steps) \
    ((bits) == 8 ? (steps) : (bits) == 7 ? (steps) : (bits) == 6 ? 2 : (bits) == 5 || (steps) == 4 ? 4 : 8)

/* sum + product, with the product in a register of its own no longer than it takes: left to order them itself, GCC
 * makes a step's products first and runs out of registers. */
#define ADD_PRODUCT(product, add, sum, a, b)                                                                     \
    do {                                                                                                         \
        ivec made;                                                                                               \
        __asm__(product " %3, %2, %1\n\t" add " %1, %0, %0" : "+x"(sum), "=&x"(made) : "x"(a), "x"(b));          \
    } while (0)

/* The same by way of sums of two products, which fill 16 bits. */
INLINE ivec add_pairs(ivec sum, ivec w, ivec x)
{
    ivec made;
    __asm__("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
            : "+x"(sum), "=&x"(made) : "x"(w), "x"(x), "x"(_mm256_set1_epi16(1)));
    return sum;
}

INLINE ivec run_begin(ivec sum, const int bits)
{
    return bits == 7 ? sum : broadcast_byte(0);
}

INLINE ivec run_step(ivec run, ivec w, ivec x, const int bits, const int first)
{
    if (bits == 7)
        return add_pairs(run, w, x);
    if (first)
        return bits == 8 ? _mm256_madd_epi16(w, x) : _mm256_maddubs_epi16(w, x);
    if (bits == 8)
        ADD_PRODUCT("vpmaddwd", "vpaddd", run, w, x);
    else
        ADD_PRODUCT("vpmaddubsw", "vpaddw", run, w, x);
    return run;
}

INLINE ivec pair_products(ivec a, ivec b)
{
    return _mm256_madd_epi16(a, b);
}

INLINE ivec add_ints(ivec a, ivec b)
{
    return _mm256_add_epi32(a, b);
}

INLINE ivec run_end(ivec sum, ivec run, const int bits)
{
    if (bits == 7)
        return run;
    return _mm256_add_epi32(sum, bits == 8 ? run : _mm256_madd_epi16(run, _mm256_set1_epi16(1)));
}

#include "shifted_bf16.h"
#include "block_tile.h"
#include "f16_tile.h"

/* Further sets take these too. */
static const struct multiplier avx2_blocks = {block_panel, block_prepare, sizeof(int16_t)};
const struct multiplier avx2_bf16 = {bf16_panel, prepare_float, sizeof(float)};
const struct multiplier avx2_f16 = {f16_panel, prepare_float, sizeof(float)};

const struct instruction_set avx2_set = {
    .name = "avx2",
    .usable = x86_has_avx2,
    .blocks = &avx2_blocks,
    .bf16 = &avx2_bf16,
    .f16 = &avx2_f16,
    .rows = &rows256,
    .attention = &attention256,
};
