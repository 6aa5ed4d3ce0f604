/* One product by itself: activations are brought into form, then panels are shared out among the threads. */
#include <math.h>
#include <stdlib.h>

#include "pool.h"
#include "product.h"

/* Outputs near a row's largest, where only these are to have two terms: the panels in which there are any are multiplied
 * again, row by row, so that what a row's are depends on no other row. */
struct likely {
    struct tenon_matrix matrix;     /* with all of its groups in two terms */
    float within;
    float *least;                   /* (m) */
    uint8_t *forms;                 /* (m, form_bytes), one row's each; NULL: all outputs have as many terms */
    int64_t form_bytes;
    struct shares rows, panels;     /* panels by PANEL_RUN */
};

struct matmul {
    struct product product;
    const float *x;
    struct shares tokens, items;
    struct likely likely;
};

enum { PANEL_RUN = 64, MAXIMA = 16 };

static struct product likely_row(const struct matmul *call, int64_t row)
{
    const struct likely *likely = &call->likely;
    struct product p = product_of(&likely->matrix, 1);
    product_bind(&p, likely->forms + row * likely->form_bytes, call->product.job.out + row * p.job.n, p.job.n);
    return p;
}

/* The largest of n floats; of NaNs alone it is minus infinity. */
static float largest_of(const float *x, int64_t n)
{
    float most[MAXIMA], largest = -INFINITY;
    for (int lane = 0; lane < MAXIMA; lane++)
        most[lane] = largest;
    for (int64_t i = 0; i + MAXIMA <= n; i += MAXIMA)
        for (int lane = 0; lane < MAXIMA; lane++)
            most[lane] = x[i + lane] > most[lane] ? x[i + lane] : most[lane];
    for (int lane = 0; lane < MAXIMA; lane++)
        largest = most[lane] > largest ? most[lane] : largest;
    for (int64_t i = n / MAXIMA * MAXIMA; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

static void multiply_likely(const struct matmul *call, int64_t item)
{
    const int64_t runs = call->likely.panels.count / call->product.job.m;
    const int64_t row = item / runs, begin = item % runs * PANEL_RUN;
    const struct product p = likely_row(call, row);
    const float least = call->likely.least[row];
    for (int64_t panel = begin; panel < begin + PANEL_RUN && panel < product_items(&p); panel++) {
        int found = 0;
        for (int64_t i = panel * PANEL_ROWS; i < (panel + 1) * PANEL_ROWS && i < p.job.n; i++)
            found |= p.job.out[i] >= least;
        if (found)
            product_multiply(&p, panel);
    }
}

static void multiply(void *context, int32_t thread)
{
    struct matmul *call = context;
    struct likely *likely = &call->likely;
    int64_t item;
    while ((item = shares_take(&call->tokens, thread)) >= 0) {
        product_prepare(&call->product, call->x + item * call->product.job.inner, item);
        shares_finish(&call->tokens);
    }
    shares_wait(&call->tokens);
    while ((item = shares_take(&call->items, thread)) >= 0) {
        product_multiply(&call->product, item);
        shares_finish(&call->items);
    }
    if (!likely->forms)
        return;
    shares_wait(&call->items);
    while ((item = shares_take(&likely->rows, thread)) >= 0) {
        const struct product p = likely_row(call, item);
        product_prepare(&p, call->x + item * p.job.inner, 0);
        likely->least[item] = largest_of(p.job.out, p.job.n) - likely->within;
        shares_finish(&likely->rows);
    }
    shares_wait(&likely->rows);
    while ((item = shares_take(&likely->panels, thread)) >= 0)
        multiply_likely(call, item);
}

/* Below this many activations the caller prepares them alone: waking others costs more. */
enum { SHARED_PREPARATION = 32768 };

int32_t tenon_matmul(const struct tenon_matrix *matrix, const float *x, int64_t m, float *out, int32_t threads)
{
    struct matmul call = {.product = product_of(matrix, m), .x = x};
    struct likely *likely = &call.likely;
    const int64_t form_bytes = (product_scratch_bytes(&call.product) + 63) / 64 * 64;
    int64_t bytes = form_bytes;
    threads = pool_team(threads);
    if (matrix->refined_above < 0.0f && call.product.job.type) {
        likely->matrix = *matrix;
        likely->matrix.refined_above = 0.0f;
        likely->within = -matrix->refined_above;
        const struct product row = product_of(&likely->matrix, 1);
        likely->form_bytes = (product_scratch_bytes(&row) + 63) / 64 * 64;
        bytes += m * (likely->form_bytes + (int64_t)sizeof(float));
        shares_init(&likely->rows, m, threads);
        shares_init(&likely->panels, m * ((product_items(&row) + PANEL_RUN - 1) / PANEL_RUN), threads);
    }
    uint8_t *memory = malloc((size_t)bytes + 63);
    if (!memory)
        return TENON_NO_MEMORY;
    uint8_t *scratch = (uint8_t *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    product_bind(&call.product, scratch, out, matrix->n);
    if (likely->form_bytes) {
        likely->forms = scratch + form_bytes;
        likely->least = (float *)(void *)(likely->forms + m * likely->form_bytes);
    }
    shares_init(&call.items, product_items(&call.product), threads);
    if (m * matrix->k < SHARED_PREPARATION) {
        for (int64_t token = 0; token < m; token++)
            product_prepare(&call.product, x + token * matrix->k, token);
        shares_init(&call.tokens, 0, threads);
    } else {
        shares_init(&call.tokens, m, threads);
    }
    pool_run(multiply, &call, threads);
    free(memory);
    return 0;
}
