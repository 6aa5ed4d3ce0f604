/* From a row of logits to a token: what engine/model/sampling.py does, in a few passes over the vocabulary and without
 * sorting it. Passes go block by block, so that most blocks are done with at one look. */
#include <math.h>
#include <string.h>

#include "dispatch.h"
#include "rows.h"
#include "tenon.h"

/* What shares of one may be off by when they are added up in another order; _ROUNDING in sampling.py. */
static const double ROUNDING_ERROR = 1e-12;

/* What is left of the tokens so far. Before top-k it is all of them, and values are made from the logits block by
 * block, each time anew: that takes less than memory would that nobody has looked at since the last token. */
struct candidates {
    const struct row_operations *rows;
    const float *logits;
    float temperature;
    int64_t n;
    float *penalised;           /* (n) */
    float *largest;             /* of each block's values */
    double *sums;               /* of each block's weights */
    int32_t *ids;               /* of those that are left, in order; NULL: all */
    float *values;              /* theirs */
    double *work, *weights;
    int32_t *kept;              /* memory for ids */
};

static int64_t blocks_of(int64_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static int64_t lay_out(struct candidates *c, int64_t n, uint8_t *base)
{
    const int64_t blocks = blocks_of(n), padded = blocks * BLOCK;
    c->sums = (double *)base;
    c->work = c->sums + blocks;
    c->weights = c->work + padded;
    c->largest = (float *)(c->weights + padded);
    c->penalised = c->largest + blocks;
    c->values = c->penalised + padded;
    c->kept = (int32_t *)(c->values + padded);
    return padded * 28 + blocks * 12;
}

int64_t tenon_sample_scratch_bytes(int64_t n)
{
    return lay_out(&(struct candidates){0}, n, NULL);
}

/* A block's values, padded with what weighs nothing; the largest of them. */
static float block_values(const struct candidates *c, int64_t block, float *values)
{
    const int64_t start = block * BLOCK, count = c->n - start < BLOCK ? c->n - start : BLOCK;
    const float *x = (c->ids ? c->values : c->logits) + start;
    if (count < BLOCK) {
        for (int64_t i = 0; i < BLOCK; i++)
            values[i] = i < count ? x[i] : -INFINITY;
        x = values;
    }
    return c->rows->divide(x, c->ids ? 1.0f : c->temperature, values);
}

static double block_weights(const struct candidates *c, int64_t block, float largest, double *weights)
{
    float values[BLOCK];
    block_values(c, block, values);
    return c->rows->exponentials(values, largest, weights);
}

struct parts { int64_t above, below; double pivot; };

/* Brings what is above a pivot to the front, and what is below it behind what equals it. */
static struct parts partition(double *v, int64_t n)
{
    const double a = v[0], b = v[n / 2], c = v[n - 1];
    const double pivot = a > b ? (b > c ? b : a > c ? c : a) : (a > c ? a : b > c ? c : b);
    struct parts p = {0, n, pivot};
    for (int64_t at = 0; at < p.below;) {
        const double value = v[at];
        if (value < pivot) {
            v[at] = v[--p.below];
            v[p.below] = value;
        } else {
            if (value > pivot) {
                v[at] = v[p.above];
                v[p.above++] = value;
            }
            at++;
        }
    }
    return p;
}

static double kth_largest(double *v, int64_t n, int64_t k)
{
    for (;;) {
        const struct parts p = partition(v, n);
        if (k > p.above && k <= p.below)
            return p.pivot;
        if (k <= p.above) {
            n = p.above;
        } else {
            v += p.below;
            n -= p.below;
            k -= p.below;
        }
    }
}

/* Keeps those whose values are at least the k-th largest of theirs, and returns that value. */
static float keep_largest(struct candidates *c, int64_t *count, int64_t k)
{
    for (int64_t i = 0; i < *count; i++)
        c->work[i] = c->values[i];
    const float least = (float)kth_largest(c->work, *count, k);
    int64_t kept = 0;
    for (int64_t i = 0; i < *count; i++)
        if (c->values[i] >= least) {
            c->values[kept] = c->values[i];
            c->kept[kept++] = c->kept[i];
        }
    *count = kept;
    return least;
}

/* Leaves the k largest values and all that equal the last of them. */
static void top_k(struct candidates *c, int64_t k)
{
    float least = -INFINITY, values[BLOCK];
    int64_t count = 0, limit = 2 * k + BLOCK;
    for (int64_t block = 0; block < blocks_of(c->n); block++) {
        if (c->largest[block] < least)
            continue;
        block_values(c, block, values);
        for (int64_t i = 0; i < BLOCK && block * BLOCK + i < c->n; i++)
            if (values[i] >= least) {
                c->kept[count] = (int32_t)(block * BLOCK + i);
                c->values[count++] = values[i];
            }
        if (count > limit) {
            least = keep_largest(c, &count, k);
            limit = 2 * count + BLOCK;
        }
    }
    keep_largest(c, &count, k);
    c->ids = c->kept;
    c->n = count;
}

/* The lightest weight that top-p keeps, and how many that equal it are dropped. */
struct cut { double weight; int64_t ties; };

/* Gathers the weights above `light`, and returns the sum of the others. */
static double gather(const struct candidates *c, float largest, double light, int64_t *count)
{
    double others = 0, weights[BLOCK];
    *count = 0;
    for (int64_t block = 0; block < blocks_of(c->n); block++) {
        if (c->sums[block] <= light) {
            others += c->sums[block];
            continue;
        }
        block_weights(c, block, largest, weights);
        for (int64_t i = 0; i < BLOCK; i++) {
            if (weights[i] > light)
                c->work[(*count)++] = weights[i];
            else
                others += weights[i];
        }
    }
    return others;
}

/* Drops from the lightest on while what is dropped stays within `allowed`; the heaviest stays. */
static struct cut top_p_cut(const struct candidates *c, float largest, double allowed)
{
    double *v = c->work;
    int64_t count;
    /* So light that a handful of thousands may be dropped; where there are more, only what all may be. */
    double dropped = gather(c, largest, allowed / 4096, &count);
    if (dropped > allowed || !count)
        dropped = gather(c, largest, allowed / (2.0 * (double)c->n), &count);
    for (;;) {
        const struct parts p = partition(v, count);
        double lighter = 0;
        for (int64_t i = p.below; i < count; i++)
            lighter += v[i];
        if (p.below < count && dropped + lighter > allowed) {
            v += p.below;
            count -= p.below;
            continue;
        }
        dropped += lighter;
        struct cut cut = {p.pivot, 0};
        while (cut.ties < p.below - p.above && dropped + p.pivot <= allowed) {
            dropped += p.pivot;
            cut.ties++;
        }
        if (cut.ties < p.below - p.above)
            return cut;
        if (!p.above)
            return (struct cut){p.pivot, cut.ties - 1};
        count = p.above;
    }
}

/* Draws from what top-p and min-p keep. */
static int64_t draw_kept(const struct candidates *c, float largest, struct cut cut, double floor, double noise)
{
    const double least = cut.weight > floor ? cut.weight : floor;
    double all = 0, before = 0, weights[BLOCK];
    int32_t *indices = c->ids ? (int32_t *)c->work : c->kept;
    int64_t count = 0, at = 0;
    for (int64_t block = 0; block < blocks_of(c->n); block++) {
        /* No weight is above its block's sum, but for what rounding took. */
        if (c->sums[block] * (1 + ROUNDING_ERROR) < least)
            continue;
        block_weights(c, block, largest, weights);
        for (int64_t i = 0; i < BLOCK; i++) {
            if (weights[i] < least || weights[i] <= 0 || (cut.ties > 0 && weights[i] == cut.weight && cut.ties--))
                continue;
            indices[count] = (int32_t)(block * BLOCK + i);
            c->weights[count++] = weights[i];
            all += weights[i];
        }
    }
    while (at < count - 1 && before + c->weights[at] <= noise * all)
        before += c->weights[at++];
    return indices[at];
}

/* The index whose share of the added-up weights holds the noise. */
static int64_t draw(const struct candidates *c, float largest, double all, double noise)
{
    double before = 0, weights[BLOCK];
    int64_t last = -1;
    for (int64_t block = 0; block < blocks_of(c->n); block++) {
        if (c->sums[block] <= 0)
            continue;
        last = block;
        if (before + c->sums[block] > noise * all)
            break;
        before += c->sums[block];
    }
    int64_t index = -1;
    block_weights(c, last, largest, weights);
    for (int64_t i = 0; i < BLOCK; i++) {
        if (weights[i] <= 0)
            continue;
        index = last * BLOCK + i;
        before += weights[i];
        if (before > noise * all)
            break;
    }
    return index;
}

static void penalise(const float *logits, int64_t n, float penalty, const int32_t *seen, int64_t count, float *values)
{
    memcpy(values, logits, n * sizeof *values);
    for (int64_t i = 0; i < count; i++) {
        if (seen[i] < 0 || seen[i] >= n)
            continue;
        const float logit = logits[seen[i]];
        values[seen[i]] = logit < 0 ? logit * penalty : logit / penalty;
    }
}

int64_t tenon_sample(const float *logits, int64_t n, double temperature, int64_t k, double top_p, double min_p,
                     double penalty, const int32_t *seen, int64_t seen_count, double noise, uint8_t *scratch)
{
    struct candidates c = {.rows = dispatch_highest()->rows, .logits = logits, .n = n,
                           .temperature = temperature > 0 ? (float)temperature : 1.0f};
    lay_out(&c, n, scratch);
    if (penalty != 1 && seen_count) {
        penalise(logits, n, (float)penalty, seen, seen_count, c.penalised);
        c.logits = c.penalised;
    }
    float values[BLOCK];
    int64_t best = 0;
    for (int64_t block = 0; block < blocks_of(n); block++) {
        c.largest[block] = block_values(&c, block, values);
        if (c.largest[block] != c.largest[block])
            return -1;
        if (c.largest[block] > c.largest[best])
            best = block;
    }
    const float largest = c.largest[best];
    if (!isfinite(largest))
        return -1;
    if (temperature == 0) {
        int64_t index = best * BLOCK;
        while (c.logits[index] != largest)
            index++;
        return index;
    }

    if (k > 0 && k < n)
        top_k(&c, k);
    double all = 0, weights[BLOCK];
    for (int64_t block = 0; block < blocks_of(c.n); block++)
        all += c.sums[block] = block_weights(&c, block, largest, weights);
    int64_t index;
    if (top_p < 1)
        index = draw_kept(&c, largest, top_p_cut(&c, largest, (1 - top_p + ROUNDING_ERROR) * all), min_p, noise);
    else if (min_p > 0)
        index = draw_kept(&c, largest, (struct cut){0, 0}, min_p, noise);
    else
        index = draw(&c, largest, all, noise);
    return c.ids ? c.ids[index] : index;
}
