/* Attention in float32. Before including this, a file defines VECTOR_BYTES and ATTENTION, the table's name. */
#include <float.h>

#include "attention.h"
#include "exponential.h"
#include "vectors.h"

typedef float operand;
enum {
    STEP = 1,
    TILE_ROWS = 24,
    SPARE_ROWS = 0,
    WEIGHTS_ROW = CHUNK,
    SCORES_PANEL = TILE_ROWS * LANES,
    CHUNK_WORDS = CHUNK * LANES,    /* of a panel of values */
    WEIGH_PIECE = 128,
};

INLINE void put_keys(uint32_t *panel, int64_t pair, uvec words)
{
    store_words(panel + 2 * pair * LANES, words << 16);
    store_words(panel + (2 * pair + 1) * LANES, words & 0xffff0000u);
}

INLINE void put_values(uint32_t *values, int64_t channel, int64_t key, const uint16_t *even, const uint16_t *odd)
{
    uint32_t *panel = values + channel / LANES * CHUNK_WORDS + key * LANES;
    for (int half = 0; half < 2; half++, panel += CHUNK_WORDS) {
        store((float *)panel, load_half(even + half * LANES));
        store((float *)panel + LANES, load_half(odd + half * LANES));
    }
}

static void to_operands(const float *x, int64_t n, float *out)
{
    memcpy(out, x, (size_t)n * sizeof *out);
}

typedef int8_t bvec __attribute__((vector_size(VECTOR_BYTES / 4)));
typedef int16_t svec __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef int32_t ivec __attribute__((vector_size(VECTOR_BYTES)));

/* By way of 16 bits, for GCC 12 takes a step over two sizes apart into elements; to the nearest, ties to even. A quiet
 * NaN stays one. */
INLINE void widen(const int8_t *q, int64_t count, float scale, uint16_t *out)
{
    for (int64_t i = 0; i < count; i += LANES) {
        bvec bytes;
        memcpy(&bytes, q + i, sizeof bytes);
        const ivec whole = __builtin_convertvector(__builtin_convertvector(bytes, svec), ivec);
        const uvec bits = (uvec)(__builtin_convertvector(whole, fvec) * scale);
        const hvec half = __builtin_convertvector((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, hvec);
        memcpy(out + i, &half, sizeof half);
    }
}

INLINE fvec multiply_add(fvec sum, const float *x, uvec words)
{
    return sum + *x * (fvec)words;
}

static struct softmax weigh_row(const float *scores, int padded, float *weights)
{
    fvec highest = zero() - FLT_MAX, sums = zero();
    for (int k = 0; k < padded; k += LANES, scores += SCORES_PANEL) {
        const fvec score = load(scores);
        const uvec above = (uvec)(score > highest);     /* no NaN is */
        highest = (fvec)(((uvec)score & above) | ((uvec)highest & ~above));
        store(weights + k, score);
    }
    float largest = highest[0];
    for (int i = 1; i < LANES; i++)
        largest = highest[i] > largest ? highest[i] : largest;
    for (int k = 0; k < padded; k++)
        weights[k] = exponential(weights[k] - largest);
    for (int k = 0; k < padded; k += LANES)
        sums += load(weights + k);
    return (struct softmax){largest, total(sums)};
}

static void weigh(const float *scores, int rows, int padded, float *weights, struct softmax *found, struct lines *next)
{
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < padded; k += WEIGH_PIECE)
            expect_lines(next);
        found[r] = weigh_row(scores + r * LANES, padded, weights + r * WEIGHTS_ROW);
    }
}

static void begin_item(void) {}
static void end_item(void) {}

#include "attention_product.h"
#include "attention_template.h"
