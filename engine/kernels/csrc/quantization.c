/* Floats into GGUF blocks. */
#include "dispatch.h"
#include "pool.h"

#define QUANTIZE_ROW quantize_row
#include "quantize_row.h"

typedef int row_quantizer(int32_t type, const float *x, const float *importance, int64_t k, uint8_t *raw);

#if defined(__x86_64__) || defined(_M_X64)
extern const struct instruction_set portable_set;
row_quantizer quantize_row_256;

static row_quantizer *highest(void)
{
    return dispatch_highest() == &portable_set ? quantize_row : quantize_row_256;
}
#else
static row_quantizer *highest(void)
{
    return quantize_row;
}
#endif

struct quantization {
    const float *x, *importance;
    uint8_t *raw;
    int64_t k, row_bytes;
    int32_t type;
    row_quantizer *quantize_row;
    atomic_int failed;
    struct shares rows;
};

static void quantize_rows(void *context, int32_t thread)
{
    struct quantization *call = context;
    int64_t row;
    while ((row = shares_take(&call->rows, thread)) >= 0) {
        const float *x = call->x + row * call->k;
        const int done =
            call->quantize_row(call->type, x, call->importance, call->k, call->raw + row * call->row_bytes);
        if (done != 1)
            atomic_store(&call->failed, done ? TENON_UNKNOWN : TENON_NOT_FINITE);
        shares_finish(&call->rows);
    }
    shares_wait(&call->rows);
}

int32_t tenon_quantize(int32_t type, const float *x, const float *importance, int64_t n, int64_t k, void *raw,
                       int32_t threads)
{
    const struct block_form *form = block_form_of(type, k);
    if (!form)
        return TENON_UNKNOWN;
    struct quantization call = {
        .x = x, .importance = importance, .raw = raw, .k = k, .row_bytes = k / form->elements * form->bytes, .type = type,
        .quantize_row = highest()};
    atomic_init(&call.failed, 0);
    threads = pool_team(threads);
    shares_init(&call.rows, n, threads);
    pool_run(quantize_rows, &call, threads);
    return atomic_load(&call.failed);
}
