/* Attention in float32. Before including this, a file defines VECTOR_BYTES and ATTENTION, the table's name. */
#include <float.h>

#include "attention.h"
#include "exponential.h"
#include "vectors.h"

typedef float operand;
enum {
    STEP = 1,
    TILE_ROWS = 24,
    WEIGHTS_ROW = CHUNK,
    SCORES_PANEL = TILE_ROWS * LANES,
    CHUNK_WORDS = CHUNK * LANES,    /* of a panel of values */
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

INLINE fvec multiply_add(fvec sum, const float *x, uvec words)
{
    return sum + *x * (fvec)words;
}

static struct softmax weigh_row(const float *scores, int padded, float *weights)
{
    float lanes[LANES];
    fvec sums = zero();
    for (int i = 0; i < LANES; i++)
        lanes[i] = -FLT_MAX;
    for (int k = 0; k < padded; k += LANES, scores += SCORES_PANEL)
        for (int i = 0; i < LANES; i++) {
            const float score = scores[i];
            weights[k + i] = score;
            lanes[i] = score > lanes[i] ? score : lanes[i];
        }
    float largest = lanes[0];
    for (int i = 1; i < LANES; i++)
        largest = lanes[i] > largest ? lanes[i] : largest;
    for (int k = 0; k < padded; k++)
        weights[k] = exponential(weights[k] - largest);
    for (int k = 0; k < padded; k += LANES)
        sums += load(weights + k);
    return (struct softmax){largest, total(sums)};
}

static void weigh(const float *scores, int rows, int padded, float *weights, struct softmax *found)
{
    for (int r = 0; r < rows; r++)
        found[r] = weigh_row(scores + r * LANES, padded, weights + r * WEIGHTS_ROW);
}

static void begin_item(void) {}
static void end_item(void) {}

#include "attention_product.h"
#include "attention_template.h"
