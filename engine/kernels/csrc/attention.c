#include "attention.h"

#include "quantize.h"
#include "tenon.h"

enum {
    ITEM_ROWS = 256,            /* most queries of an item: its keys are brought into the products' form once for all */
    WORTHWHILE_ROWS = 96,       /* for which that costs less than handing on what parts of the keys gave */
    PART_ROWS = 8,              /* for which it is done again by another thread, where there is no other work for it */
    SCALE_CHANNELS = 32,        /* of an 8-bit row that share a scale */
};

static int64_t divide_up(int64_t value, int64_t by)
{
    return (value + by - 1) / by;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Blocks that are as large as each other. */
static void cut_tokens(struct attention_plan *p, int64_t m, int64_t tokens, int64_t most)
{
    p->blocks = divide_up(m, larger(1, smaller(tokens, most)));
    p->tokens = divide_up(m, p->blocks);
}

/* Keys that any row of a text sees, by their indices. */
static void find_ends(const struct tenon_step *step, const struct tenon_text *text, int64_t *first, int64_t *end)
{
    *first = INT64_MAX, *end = 0;
    for (int64_t t = 0; t < text->rows; t++) {
        const int64_t token_end = text->length + text->depths[t];
        *first = smaller(*first, attention_first(token_end, text->ahead ? text->ahead + t : NULL, step->window));
        *end = larger(*end, token_end);
    }
}

int64_t attention_work(const struct tenon_step *step, const struct tenon_text *text)
{
    int64_t first, end;
    find_ends(step, text, &first, &end);
    return text->rows * (end - first / CHUNK * CHUNK);
}

struct attention_plan attention_plan(const struct tenon_layer *layer, const struct tenon_step *step,
                                     const struct tenon_text *text, double share,
                                     const struct attention_operations *operations, int32_t threads)
{
    const int64_t m = text->rows, group = layer->heads / layer->kv_heads;
    const int64_t wanted = threads > 1 ? larger(1, (int64_t)(share * 2 * threads)) : 1;
    int64_t first, end;
    find_ends(step, text, &first, &end);
    struct attention_plan p = {.first_chunk = first / CHUNK};
    p.chunks = divide_up(end, CHUNK) - p.first_chunk;
    cut_tokens(&p, m, larger(divide_up(WORTHWHILE_ROWS, group), m * layer->kv_heads / wanted), ITEM_ROWS / group);
    p.splits = smaller(p.chunks, divide_up(wanted, layer->kv_heads * p.blocks));
    if (layer->kv_heads * p.blocks * p.splits < wanted)     /* for want of keys */
        cut_tokens(&p, m, m * layer->kv_heads * p.splits / wanted, p.tokens);
    const int64_t items = layer->kv_heads * p.blocks * p.splits;
    p.parts = larger(1, smaller(divide_up(wanted, items), smaller(group, p.tokens * group / PART_ROWS)));
    p.items = items * p.parts;
    p.workspace_bytes = operations->workspace_bytes(p.tokens * group, layer->head_dim);
    if (p.splits > 1)
        p.partial_floats = p.chunks * m * layer->heads * attention_partial_floats(layer->head_dim);
    return p;
}

int64_t attention_row_bytes(int32_t cache_type, int64_t head_dim)
{
    return cache_type == TENON_CACHE_8_BITS ? head_dim + 2 * divide_up(head_dim, SCALE_CHANNELS) : 2 * head_dim;
}

/* Scales are rounded up, so that the largest magnitude is at most 127 of them; a NaN or an infinity makes one NaN. */
static uint16_t scale_of(const float *x, int64_t count)
{
    const uint32_t largest = largest_bits(x, count);
    if (largest >= 0x7f800000u)
        return 0x7fc0u;
    return (uint16_t)((float_bits(bits_float(largest) / 127.0f) + 0xffffu) >> 16);
}

void attention_store_row(int32_t cache_type, const float *x, int64_t head_dim, void *row)
{
    if (cache_type != TENON_CACHE_8_BITS) {
        convert_to_bfloat16(x, head_dim, head_dim, row);
        return;
    }
    int8_t *q = row;
    uint16_t *scales = (uint16_t *)(q + head_dim);
    for (int64_t begin = 0; begin < head_dim; begin += SCALE_CHANNELS) {
        const int64_t count = smaller(SCALE_CHANNELS, head_dim - begin);
        const uint16_t half = scale_of(x + begin, count);
        const float scale = bits_float((uint32_t)half << 16), inverse = scale >= TINY ? 1.0f / scale : 0.0f;
        scales[begin / SCALE_CHANNELS] = half;
        for (int64_t i = begin; i < begin + count; i++)
            q[i] = (int8_t)(float_bits(x[i] * inverse + ROUNDING) - float_bits(ROUNDING));
    }
}
