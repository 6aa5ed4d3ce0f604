/* One product by itself: activations are brought into form, then panels are shared out among the threads. */
#include <stdlib.h>

#include "pool.h"
#include "product.h"

struct matmul {
    struct product product;
    const float *x;
    struct shares tokens, items;
};

static void multiply(void *context, int32_t thread)
{
    struct matmul *call = context;
    int64_t item;
    while ((item = shares_take(&call->tokens, thread)) >= 0) {
        product_prepare(&call->product, call->x + item * call->product.job.inner, item);
        shares_finish(&call->tokens);
    }
    shares_wait(&call->tokens);
    while ((item = shares_take(&call->items, thread)) >= 0)
        product_multiply(&call->product, item);
}

/* Below this many activations the caller prepares them alone: waking others costs more. */
enum { SHARED_PREPARATION = 32768 };

int32_t tenon_matmul(const struct tenon_matrix *matrix, const float *x, int64_t m, float *out, int32_t threads)
{
    struct matmul call = {.product = product_of(matrix, m), .x = x};
    uint8_t *memory = malloc((size_t)product_scratch_bytes(&call.product) + 63);
    if (!memory)
        return TENON_NO_MEMORY;
    product_bind(&call.product, (uint8_t *)(((uintptr_t)memory + 63) & ~(uintptr_t)63), out, matrix->n);
    threads = pool_team(threads);
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
