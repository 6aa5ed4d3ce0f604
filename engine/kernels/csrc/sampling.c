/* From a row of logits to a token: what engine/model/sampling.py does, in a few passes over the vocabulary and without
 * sorting it. Passes go block by block, so that most blocks are done with at one look. */
#include <math.h>
#include <string.h>

#include "dispatch.h"
#include "rows.h"
#include "tenon.h"

/* What shares of one may be off by when they are added up in another order; _ROUNDING in sampling.py. */
static const double ROUNDING_ERROR = 1e-12;

struct buffers {
    float *values, *chosen, *largest;   /* of all tokens, of those that top-k keeps, of each block */
    double *weights, *work, *sums;
    int32_t *ids;
};

static int64_t blocks_of(int64_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static int64_t lay_out(struct buffers *b, int64_t n, uint8_t *base)
{
    const int64_t blocks = blocks_of(n), padded = blocks * BLOCK;
    b->weights = (double *)base;
    b->work = b->weights + padded;
    b->sums = b->work + padded;
    b->values = (float *)(b->sums + blocks);
    b->chosen = b->values + padded;
    b->largest = b->chosen + padded;
    b->ids = (int32_t *)(b->largest + blocks);
    return padded * 28 + blocks * 12;
}

int64_t tenon_sample_scratch_bytes(int64_t n)
{
    return lay_out(&(struct buffers){0}, n, NULL);
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

/* Keeps the ids whose values are at least the k-th largest of theirs, and returns that value. */
static float keep_largest(const struct buffers *b, int64_t *count, int64_t k)
{
    for (int64_t i = 0; i < *count; i++)
        b->work[i] = b->values[b->ids[i]];
    const float least = (float)kth_largest(b->work, *count, k);
    int64_t kept = 0;
    for (int64_t i = 0; i < *count; i++)
        if (b->values[b->ids[i]] >= least)
            b->ids[kept++] = b->ids[i];
    *count = kept;
    return least;
}

/* The ids of the k largest values and of all that equal the last of them, in order; returns how many. */
static int64_t top_k_ids(const struct buffers *b, int64_t n, int64_t k)
{
    float least = -INFINITY;
    int64_t count = 0, limit = 2 * k + BLOCK;
    for (int64_t start = 0; start < n; start += BLOCK) {
        if (b->largest[start / BLOCK] < least)
            continue;
        for (int64_t i = start; i < start + BLOCK && i < n; i++)
            if (b->values[i] >= least)
                b->ids[count++] = (int32_t)i;
        if (count > limit) {
            least = keep_largest(b, &count, k);
            limit = 2 * count + BLOCK;
        }
    }
    keep_largest(b, &count, k);
    return count;
}

/* The lightest weight that top-p keeps, and how many that equal it are dropped. */
struct cut { double weight; int64_t ties; };

/* Drops from the lightest on while what is dropped stays within `allowed`; the heaviest stays. */
static struct cut top_p_cut(const struct buffers *b, int64_t blocks, int64_t n, double allowed)
{
    /* So light that all of these together may be dropped. */
    const double light = allowed / (2.0 * (double)n);
    double dropped = 0, *v = b->work;
    int64_t count = 0;
    for (int64_t block = 0; block < blocks; block++) {
        if (b->sums[block] <= light) {
            dropped += b->sums[block];
            continue;
        }
        for (int64_t i = block * BLOCK; i < (block + 1) * BLOCK && i < n; i++) {
            if (b->weights[i] > light)
                v[count++] = b->weights[i];
            else
                dropped += b->weights[i];
        }
    }
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

/* Clears the weights that top-p drops, and those below min-p. */
static void drop(const struct buffers *b, int64_t blocks, struct cut cut, double floor)
{
    const double least = cut.weight > floor ? cut.weight : floor;
    for (int64_t block = 0; block < blocks; block++) {
        double sum = 0;
        /* No weight is above its block's sum, but for what rounding took. */
        if (b->sums[block] * (1 + ROUNDING_ERROR) >= least)
            for (int64_t i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
                double *weight = &b->weights[i];
                if (*weight < least || (cut.ties > 0 && *weight == cut.weight && cut.ties--))
                    *weight = 0;
                sum += *weight;
            }
        b->sums[block] = sum;
    }
}

/* The index whose share of the added-up weights holds the noise. */
static int64_t draw(const struct buffers *b, int64_t blocks, double noise)
{
    double all = 0, before = 0;
    int64_t last = -1;
    for (int64_t block = 0; block < blocks; block++)
        all += b->sums[block];
    for (int64_t block = 0; block < blocks; block++) {
        if (b->sums[block] <= 0)
            continue;
        last = block;
        if (before + b->sums[block] > noise * all)
            break;
        before += b->sums[block];
    }
    int64_t index = -1;
    for (int64_t i = last * BLOCK; i < (last + 1) * BLOCK; i++) {
        if (b->weights[i] <= 0)
            continue;
        index = i;
        before += b->weights[i];
        if (before > noise * all)
            break;
    }
    return index;
}

static void pad(float *values, int64_t n)
{
    for (int64_t i = n; i < blocks_of(n) * BLOCK; i++)
        values[i] = -INFINITY;
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

int64_t tenon_sample(const float *logits, int64_t n, double temperature, int64_t top_k, double top_p, double min_p,
                     double penalty, const int32_t *seen, int64_t seen_count, double noise, uint8_t *scratch)
{
    const struct row_operations *rows = dispatch_highest()->rows;
    struct buffers b;
    lay_out(&b, n, scratch);
    if (penalty != 1 && seen_count) {
        penalise(logits, n, (float)penalty, seen, seen_count, b.values);
        logits = b.values;
    }
    int64_t blocks = blocks_of(n), best = 0;
    for (int64_t block = 0; block < blocks; block++) {
        const float *x = logits + block * BLOCK;
        float *out = b.values + block * BLOCK;
        if ((block + 1) * BLOCK > n) {
            memmove(out, x, (n - block * BLOCK) * sizeof *out);
            pad(b.values, n);
            x = out;
        }
        b.largest[block] = rows->divide(x, temperature > 0 ? (float)temperature : 1.0f, out);
        if (b.largest[block] != b.largest[block])
            return -1;
        if (b.largest[block] > b.largest[best])
            best = block;
    }
    const float largest = b.largest[best];
    if (temperature == 0) {
        int64_t index = best * BLOCK;
        while (b.values[index] != largest)
            index++;
        return index;
    }
    if (!isfinite(largest))
        return -1;

    const int filtered = top_k > 0 && top_k < n;
    const float *values = b.values;
    if (filtered) {
        n = top_k_ids(&b, n, top_k);
        for (int64_t i = 0; i < n; i++)
            b.chosen[i] = b.values[b.ids[i]];
        pad(b.chosen, n);
        values = b.chosen;
        blocks = blocks_of(n);
    }
    double all = 0;
    for (int64_t block = 0; block < blocks; block++)
        all += b.sums[block] = rows->exponentials(values + block * BLOCK, largest, b.weights + block * BLOCK);
    if (top_p < 1 || min_p > 0)
        drop(&b, blocks, top_p < 1 ? top_p_cut(&b, blocks, n, (1 - top_p + ROUNDING_ERROR) * all) : (struct cut){0, 0},
             min_p);
    const int64_t index = draw(&b, blocks, noise);
    return filtered ? b.ids[index] : index;
}
