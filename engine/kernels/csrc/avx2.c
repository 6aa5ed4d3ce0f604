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
/* Sums in 16 bits, which integers of 7 bits exceed, are multiplied with their scales on the way to 32. */
#define SPREAD_PAIRS 1

INLINE ivec byte_pairs(const uint8_t *at)
{
    const ivec low = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)at));
    return _mm256_blend_epi16(low, _mm256_slli_epi32(low, 16), 0xaa);
}

#include "spread.h"

#define TILE_VECTORS 2
#define BLOCK_COLUMNS 4
#define NARROW_COLUMNS 1
#define BLOCK_CLASSES                                                                                        \
    BLOCK_CLASS(1, 0, 5, 0) BLOCK_CLASS(1, 0, 7, 0) BLOCK_CLASS(1, 0, 8, 0) BLOCK_CLASS(1, 0, 7, 1)          \
    BLOCK_CLASS(1, 0, 8, 1) BLOCK_CLASS(1, 1, 4, 0) BLOCK_CLASS(1, 1, 4, 1) BLOCK_CLASS(1, 1, 5, 0)          \
    BLOCK_CLASS(1, 1, 5, 1) BLOCK_CLASS(2, 0, 6, 0) BLOCK_CLASS(2, 0, 6, 1) BLOCK_CLASS(2, 0, 7, 0)          \
    BLOCK_CLASS(2, 0, 7, 1) BLOCK_CLASS(2, 0, 8, 1) BLOCK_CLASS(2, 1, 2, 1)
#define BF16_COLUMNS 4

/* As many steps as 16 bits hold: one adds two products of at most 127 * (2^bits - 1). Without mins a run begins so that it
 * ends within them, however it overflows before: at most 16 products of -16 to 15, or 8 of -32 to 31, with 127. */
#define RUN_STEPS(bits, mins, steps) ((bits) == 5 && (mins) ? 4 : (steps))

/* Two products, then both sums: left to order them itself, GCC makes a step's products first and runs out of registers,
 * and sums right behind their products take the place of the next ones. */
#define ADD_PRODUCTS(product, add, run, w, x)                                                                         \
    do {                                                                                                              \
        ivec first, second;                                                                                           \
        __asm__(product " %6, %4, %2\n\t" product " %6, %5, %3\n\t" add " %2, %0, %0\n\t" add " %3, %1, %1"            \
                : "+x"((run)[0]), "+x"((run)[1]), "=&x"(first), "=&x"(second) : "x"((w)[0]), "x"((w)[1]), "x"(x));    \
    } while (0)

/* Adds products by way of sums of two, which 7 bits fill 16 with. */
INLINE ivec add_pairs(ivec sum, ivec w, ivec x)
{
    ivec made;
    __asm__("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
            : "+x"(sum), "=&x"(made) : "x"(w), "x"(x), "x"(_mm256_set1_epi16(1)));
    return sum;
}

INLINE void run_steps(ivec run[], const ivec w[], ivec x, const int vectors, const int bits)
{
    UNROLL
    for (int v = 0; v < vectors && bits == 7; v++)
        run[v] = add_pairs(run[v], w[v], x);
    UNROLL
    for (int v = 0; v < vectors && bits != 7; v += 2)
        if (bits == 8)
            ADD_PRODUCTS("vpmaddwd", "vpaddd", run + v, w + v, x);
        else
            ADD_PRODUCTS("vpmaddubsw", "vpaddw", run + v, w + v, x);
}

INLINE ivec run_begin(ivec start, ivec w, ivec x, const int started, const int bits)
{
    if (bits == 8)
        return _mm256_madd_epi16(w, x);
    if (bits == 7)
        return add_pairs(start, w, x);
    if (!started)
        return _mm256_maddubs_epi16(w, x);
    if (bits == 6)      /* of two sub-blocks, whose sums begin as fast as GCC orders them */
        return _mm256_add_epi16(start, _mm256_maddubs_epi16(w, x));
    ivec made;
    __asm__("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(start), "=&x"(made) : "x"(w), "x"(x));
    return start;
}

INLINE ivec run_end(ivec run, const float *scale, const int whole, const int bits)
{
    if (!SPREAD_PAIRED(bits))
        return run;
    return _mm256_madd_epi16(run, whole ? load_bytes(scale) : _mm256_set1_epi16(1));
}

INLINE ivec add_runs(ivec a, ivec b)
{
    return _mm256_add_epi32(a, b);
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
