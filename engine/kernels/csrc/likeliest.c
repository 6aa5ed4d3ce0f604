/* The likeliest tokens of a row of logits, without threads that would go on waiting for more work beside the pool's. */
#include <math.h>

#include "dispatch.h"
#include "rows.h"
#include "tenon.h"

enum { MOST = 64 };

struct found { float *values; int32_t *tokens; int64_t count, most; };

/* Keeps a token among the largest; those that came before stay in front of equal ones. */
static void keep(struct found *f, float value, int32_t token)
{
    int64_t at = f->count < f->most ? f->count++ : f->most - 1;
    for (; at && f->values[at - 1] < value; at--) {
        f->values[at] = f->values[at - 1];
        f->tokens[at] = f->tokens[at - 1];
    }
    f->values[at] = value;
    f->tokens[at] = token;
}

/* A block of logits, padded with what weighs nothing, by the temperature; the largest. */
static float block_of(const struct row_operations *rows, const float *x, int64_t count, float temperature, float *out)
{
    float padded[BLOCK];
    if (count < BLOCK) {
        for (int64_t i = 0; i < BLOCK; i++)
            padded[i] = i < count ? x[i] : -INFINITY;
        x = padded;
    }
    return rows->divide(x, temperature, out);
}

static void likeliest(const float *x, int64_t n, float temperature, struct found *f)
{
    const struct row_operations *rows = dispatch_highest()->rows;
    float block[BLOCK];
    double weights[BLOCK], sum = 0.0;
    int usable = 1;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t count = n - start < BLOCK ? n - start : BLOCK;
        const float largest = block_of(rows, x + start, count, temperature, block);
        usable = usable && largest < INFINITY;  /* false for NaN too */
        if (!usable)
            break;
        if (f->count == f->most && largest <= f->values[f->most - 1])
            continue;
        for (int64_t i = 0; i < count; i++)
            if (f->count < f->most || block[i] > f->values[f->most - 1])
                keep(f, block[i], (int32_t)(start + i));
    }
    usable = usable && f->values[0] > -INFINITY;
    for (int64_t start = 0; usable && start < n; start += BLOCK) {
        block_of(rows, x + start, n - start < BLOCK ? n - start : BLOCK, temperature, block);
        sum += rows->exponentials(block, f->values[0], weights);
    }
    const float all = usable ? f->values[0] + (float)log(sum) : 0.0f;
    for (int64_t i = 0; i < f->most; i++)
        f->values[i] = usable ? f->values[i] - all : -INFINITY;
}

void tenon_likeliest(const float *logits, int64_t rows, int64_t n, int64_t count, float temperature, int32_t *tokens,
                     float *values)
{
    for (int64_t row = 0; row < rows; row++) {
        struct found found = {values + row * count, tokens + row * count, 0, count < MOST ? count : MOST};
        likeliest(logits + row * n, n, temperature, &found);
    }
}
