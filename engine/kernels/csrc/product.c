#include "product.h"

#include "dispatch.h"

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static struct product int8_product(const struct tenon_matrix *a, const struct instruction_set *set)
{
    const int64_t k = round_up(a->k, BLOCK), n = round_up(a->n, PANEL_ROWS);
    const uint8_t *weights = a->packed;
    return (struct product){
        .job = {.row_scale = (const float *)(weights + n * k), .k = k, .panel_bytes = PANEL_ROWS * k,
                .blocks = round_up(k, SPAN) / SPAN},
        .kernel = set->int8, .quantize = set->int8_quantize, .x_bytes = set->int8_x_bytes,
    };
}

static struct product int4_product(const struct tenon_matrix *a, const struct instruction_set *set)
{
    const int64_t k = round_up(a->k, BLOCK);
    return (struct product){
        .job = {.k = k, .panel_bytes = k / BLOCK * BLOCK_BYTES, .blocks = k / GROUP},
        .kernel = set->int4, .quantize = set->int4_quantize, .x_bytes = sizeof(int8_t),
    };
}

static struct product bf16_product(const struct tenon_matrix *a, const struct instruction_set *set)
{
    const int64_t k = round_up(a->k, BF16_PAD);
    return (struct product){
        .job = {.k = k, .panel_bytes = 2 * PANEL_ROWS * k},
        .kernel = set->bf16, .convert = set->bf16_convert, .x_bytes = set->bf16_x_bytes,
    };
}

struct product product_of(const struct tenon_matrix *a, int64_t m)
{
    const struct instruction_set *set = dispatch_set(a->format, m);
    struct product p = a->format == TENON_INT8   ? int8_product(a, set)
                       : a->format == TENON_INT4 ? int4_product(a, set)
                                                 : bf16_product(a, set);
    p.k = a->k;
    p.job.n = a->n;
    p.job.weights = a->packed;
    p.job.bias = a->bias;
    return p;
}

int64_t product_panels(const struct product *p)
{
    return (p->job.n + PANEL_ROWS - 1) / PANEL_ROWS;
}

int64_t product_scratch_bytes(const struct product *p, int64_t m)
{
    const int64_t scales = m * p->job.blocks * (int64_t)(sizeof *p->x_scale + sizeof *p->start);
    return round_up(m * p->job.k * p->x_bytes, 64) + round_up(scales, 64);
}

void product_bind(struct product *p, int64_t m, uint8_t *scratch, float *out)
{
    p->job.m = m;
    p->job.out = out;
    p->job.x = p->prepared = scratch;
    p->job.x_scale = p->x_scale = (float *)(scratch + round_up(m * p->job.k * p->x_bytes, 64));
    p->job.start = p->start = (int32_t *)(p->x_scale + m * p->job.blocks);
}

void product_prepare(const struct product *p, const float *x, int64_t token)
{
    const int64_t padded = p->job.k, first_block = token * p->job.blocks;
    uint8_t *prepared = p->prepared + token * padded * p->x_bytes;
    if (p->quantize)
        p->quantize(x, p->k, padded, prepared, p->x_scale + first_block, p->start + first_block);
    else
        p->convert(x, p->k, padded, prepared);
}

void product_panel(const struct product *p, int64_t panel)
{
    p->kernel(&p->job, panel);
}
