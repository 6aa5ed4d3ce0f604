/* Floats into GGUF blocks. */
#include "pool.h"
#include "scale_search.h"

/* The largest magnitude may stand at any of the last levels: the scale that errs least takes a fifth off the squares of
 * what is lost at 127, and more than half where the numbers come from a coarser grid. */
static void quantize_q8_0(const float *x, uint8_t *raw)
{
    enum { TOP = 127, LEAST_TOP = 111 };
    const float largest = bits_float(largest_bits(x, 32));
    float least = INFINITY, scale = put_half(largest / TOP, raw);
    for (int top = TOP; top >= LEAST_TOP; top--) {
        uint8_t half[2];
        const float d = put_half(largest / (float)top, half), inverse = inverse_of(d);
        float errors[LANES] = {0};
        for (int i = 0; i < 32; i += LANES)
            for (int lane = 0; lane < LANES; lane++) {
                const float missing = x[i + lane] - d * rounded(x[i + lane] * inverse, TOP, TOP);
                errors[lane] += missing * missing;
            }
        const float error = sum_of(errors);
        if (error < least) {
            least = error;
            scale = d;
        }
    }
    put_half(scale, raw);
    const float inverse = inverse_of(scale);
    for (int i = 0; i < 32; i++)
        raw[2 + i] = (uint8_t)(int8_t)rounded(x[i] * inverse, TOP, TOP);
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
    case TENON_Q4_1:
        for (; k > 0; k -= 32, x += 32, raw += 20) {
            quantize_q4_1(x, raw);
            finite &= finite_half(raw) && finite_half(raw + 2);
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
    if (!form || (type != TENON_F16 && type != TENON_BF16 && type != TENON_Q4_1 && type != TENON_Q8_0 && type != TENON_Q4_K
                  && type != TENON_Q5_K && type != TENON_Q6_K))
        return TENON_UNKNOWN;
    struct quantization call = {.x = x, .raw = raw, .k = k, .row_bytes = k / form->elements * form->bytes, .type = type};
    atomic_init(&call.failed, 0);
    threads = pool_team(threads);
    shares_init(&call.rows, n, threads);
    pool_run(quantize_rows, &call, threads);
    return atomic_load(&call.failed) ? TENON_NOT_FINITE : 0;
}
