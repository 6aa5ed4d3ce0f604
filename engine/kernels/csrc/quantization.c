/* Floats into GGUF blocks. */
#include "pool.h"
#include "scale_search.h"

/* As GGML's own reference has it: halves are rounded away from zero. */
static void quantize_q8_0(const float *x, uint8_t *raw)
{
    const float d = bits_float(largest_bits(x, 32)) / 127.0f, inverse = inverse_of(d);
    put_half(d, raw);
    for (int i = 0; i < 32; i++) {
        const float value = x[i] * inverse;
        const int32_t whole = (int32_t)value;
        const float rest = value - (float)whole;
        raw[2 + i] = (uint8_t)(whole + (rest >= 0.5f) - (rest <= -0.5f));
    }
}

struct quantization {
    const float *x;
    uint8_t *raw;
    int64_t k, row_bytes;
    int32_t type;
    atomic_int failed;
    struct shares rows;
};

/* Whether a block's two half-precision numbers, or a float's own, are finite. */
static int finite_half(const uint8_t *at)
{
    return (at[1] & 0x7c) != 0x7c;
}

static int quantize_row(int32_t type, const float *x, int64_t k, uint8_t *raw)
{
    int finite = largest_bits(x, k) < 0x7f800000u;
    if (!finite)
        return 0;
    switch (type) {
    case TENON_F16:
        for (int64_t i = 0; i < k; i++) {
            put_half(x[i], raw + 2 * i);
            finite &= finite_half(raw + 2 * i);
        }
        break;
    case TENON_BF16:
        for (int64_t i = 0; i < k; i++) {
            const uint16_t half = bfloat16(x[i]);
            memcpy(raw + 2 * i, &half, 2);
            finite &= (half & 0x7f80) != 0x7f80;
        }
        break;
    case TENON_Q8_0:
        for (; k > 0; k -= 32, x += 32, raw += 34) {
            quantize_q8_0(x, raw);
            finite &= finite_half(raw);
        }
        break;
    case TENON_Q4_K:
        for (; k > 0; k -= SUPER, x += SUPER, raw += 144) {
            quantize_minima(x, 15.0f, 4, raw);
            finite &= finite_half(raw) && finite_half(raw + 2);
        }
        break;
    case TENON_Q5_K:
        for (; k > 0; k -= SUPER, x += SUPER, raw += 176) {
            quantize_minima(x, 31.0f, 5, raw);
            finite &= finite_half(raw) && finite_half(raw + 2);
        }
        break;
    case TENON_Q6_K:
        for (; k > 0; k -= SUPER, x += SUPER, raw += 210) {
            quantize_q6_k(x, raw);
            finite &= finite_half(raw + 208);
        }
        break;
    }
    return finite;
}

static void quantize_rows(void *context, int32_t thread)
{
    struct quantization *call = context;
    int64_t row;
    while ((row = shares_take(&call->rows, thread)) >= 0) {
        if (!quantize_row(call->type, call->x + row * call->k, call->k, call->raw + row * call->row_bytes))
            atomic_store(&call->failed, 1);
        shares_finish(&call->rows);
    }
    shares_wait(&call->rows);
}

int32_t tenon_quantize(int32_t type, const float *x, int64_t n, int64_t k, void *raw, int32_t threads)
{
    const struct block_form *form = block_form_of(type, k);
    if (!form || (type != TENON_F16 && type != TENON_BF16 && type != TENON_Q8_0 && type != TENON_Q4_K && type != TENON_Q5_K
                  && type != TENON_Q6_K))
        return TENON_UNKNOWN;
    struct quantization call = {.x = x, .raw = raw, .k = k, .row_bytes = k / form->elements * form->bytes, .type = type};
    atomic_init(&call.failed, 0);
    threads = pool_team(threads);
    shares_init(&call.rows, n, threads);
    pool_run(quantize_rows, &call, threads);
    return atomic_load(&call.failed) ? TENON_NOT_FINITE : 0;
}
