/* The three products: activations are brought into form, then panels are shared out among the threads. */
#include <stdlib.h>

#include "dispatch.h"
#include "pool.h"
#include "tenon.h"

struct product {
    struct job job;
    const struct instruction_set *set;
    kernel *kernel;
    const float *x;
    int64_t k;                  /* as given, unpadded */
    uint8_t *prepared;          /* activations in the kernel's form, x_bytes each */
    int32_t x_bytes;
    quantizer *quantize;        /* NULL: bf16 */
    float *x_scale;             /* integer formats, with the job's blocks per token */
    int32_t *start;
    struct shares tokens, panels;
};

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static void *aligned_memory(int64_t bytes, void **base)
{
    *base = malloc((size_t)bytes + 63);
    return *base ? (void *)(((uintptr_t)*base + 63) & ~(uintptr_t)63) : NULL;
}

static void prepare_token(const struct product *p, int64_t token)
{
    const float *x = p->x + token * p->k;
    const int64_t padded = p->job.k;
    uint8_t *prepared = p->prepared + token * padded * p->x_bytes;
    const int64_t first_block = token * p->job.blocks;
    if (p->quantize)
        p->quantize(x, p->k, padded, prepared, p->x_scale + first_block, p->start + first_block);
    else
        p->set->bf16_convert(x, p->k, padded, prepared);
}

static void multiply(void *context, int32_t thread)
{
    struct product *p = context;
    int64_t item;
    while ((item = shares_take(&p->tokens, thread)) >= 0) {
        prepare_token(p, item);
        shares_finish(&p->tokens);
    }
    shares_wait(&p->tokens);
    while ((item = shares_take(&p->panels, thread)) >= 0)
        p->kernel(&p->job, item);
}

/* Below this many activations the caller prepares them alone: waking others costs more. */
enum { SHARED_PREPARATION = 32768 };

static void run(struct product *p, int32_t threads)
{
    const struct job *job = &p->job;
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    shares_init(&p->panels, round_up(job->n, PANEL_ROWS) / PANEL_ROWS, threads);
    if (job->m * job->k < SHARED_PREPARATION) {
        for (int64_t token = 0; token < job->m; token++)
            prepare_token(p, token);
        shares_init(&p->tokens, 0, threads);
    } else {
        shares_init(&p->tokens, job->m, threads);
    }
    pool_run(multiply, p, threads);
}

/* Gets scratch memory for the activations, and goes. */
static int32_t prepare_and_run(struct product *p, int32_t threads)
{
    struct job *job = &p->job;
    void *base;
    const int64_t x_bytes = round_up(job->m * job->k * p->x_bytes, 64);
    p->prepared = aligned_memory(x_bytes + 8 * job->m * job->blocks, &base);
    if (!p->prepared)
        return TENON_NO_MEMORY;
    job->x = p->prepared;
    job->x_scale = p->x_scale = (float *)(p->prepared + x_bytes);
    job->start = p->start = (int32_t *)(p->x_scale + job->m * job->blocks);
    run(p, threads);
    free(base);
    return 0;
}

int32_t tenon_int8_matmul(const void *packed, int64_t n, int64_t k, const float *x, int64_t m, const float *bias,
                          float *out, int32_t threads)
{
    const struct instruction_set *set = dispatch_set(TENON_INT8, m);
    const int64_t padded_k = round_up(k, BLOCK), padded_n = round_up(n, PANEL_ROWS);
    const uint8_t *weights = packed;
    struct product p = {
        .job = {.weights = weights, .row_scale = (const float *)(weights + padded_n * padded_k),
                .blocks = round_up(padded_k, SPAN) / SPAN,
                .bias = bias, .out = out, .m = m, .n = n, .k = padded_k, .panel_bytes = PANEL_ROWS * padded_k},
        .set = set, .kernel = set->int8, .quantize = set->int8_quantize, .x_bytes = set->int8_x_bytes, .x = x,
        .k = k,
    };
    return prepare_and_run(&p, threads);
}

int32_t tenon_int4_matmul(const void *packed, int64_t n, int64_t k, const float *x, int64_t m, const float *bias,
                          float *out, int32_t threads)
{
    const struct instruction_set *set = dispatch_set(TENON_INT4, m);
    const int64_t padded_k = round_up(k, BLOCK);
    struct product p = {
        .job = {.weights = packed, .bias = bias, .out = out, .m = m, .n = n, .k = padded_k,
                .panel_bytes = padded_k / BLOCK * BLOCK_BYTES, .blocks = padded_k / GROUP},
        .set = set, .kernel = set->int4, .quantize = set->int4_quantize, .x_bytes = sizeof(int8_t), .x = x, .k = k,
    };
    return prepare_and_run(&p, threads);
}

int32_t tenon_bf16_matmul(const void *packed, int64_t n, int64_t k, const float *x, int64_t m, const float *bias,
                          float *out, int32_t threads)
{
    const struct instruction_set *set = dispatch_set(TENON_BF16, m);
    const int64_t padded_k = round_up(k, BF16_PAD);
    struct product p = {
        .job = {.weights = packed, .bias = bias, .out = out, .m = m, .n = n, .k = padded_k,
                .panel_bytes = 2 * PANEL_ROWS * padded_k},
        .set = set, .kernel = set->bf16, .x_bytes = set->bf16_x_bytes, .x = x, .k = k,
    };
    return prepare_and_run(&p, threads);
}
