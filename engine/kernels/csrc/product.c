#include "product.h"

#include <math.h>

#include "block_types.h"
#include "blocks.h"
#include "dispatch.h"
#include "quantize.h"
#include "rows.h"

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

struct product product_of(const struct tenon_matrix *a, int64_t m)
{
    const struct instruction_set *set = dispatch_set(a->type, m);
    struct product p = {.job = {.weights = a->packed, .bias = a->bias, .m = m, .n = a->n, .inner = a->k,
                                .refined_above = INFINITY, .factor = a->factor ? *a->factor : 1.0f},
                        .matrix = a};
    struct job *job = &p.job;
    if (a->type == TENON_BF16 || a->type == TENON_F16) {
        p.multiplier = a->type == TENON_BF16 ? set->bf16 : set->f16;
        job->k = a->type == TENON_BF16 ? round_up(a->k, BF16_PAD) : a->k;
        job->panel_bytes = 2 * PANEL_ROWS * job->k;
    } else {
        job->type = &BLOCK_TYPES[a->type];
        const int tiled = set->tiled && m >= set->tiled_from && job->type->sub == GROUP;
        p.multiplier = tiled ? set->tiled : set->blocks;
        job->k = a->k;
        job->groups = a->k / GROUP;
        job->panel_bytes = block_panel_bytes(a->type, a->k);
        job->refined_above = a->refined_above < 0.0f ? INFINITY : a->refined_above;
    }
    return p;
}

int64_t product_items(const struct product *p)
{
    return (p->job.n + PANEL_ROWS - 1) / PANEL_ROWS * ((p->job.m + MOST_TOKENS - 1) / MOST_TOKENS);
}

static int bound_alike(const float *a, const float *b)
{
    return a == b || (a && b && a[0] == b[0] && a[1] == b[1]);
}

int product_shares_form(const struct product *a, const struct product *b)
{
    const struct block_type *s = a->job.type, *t = b->job.type;
    return a->multiplier == b->multiplier && a->job.k == b->job.k && a->job.refined_above == b->job.refined_above
           && a->matrix->rotated == b->matrix->rotated && a->matrix->signs == b->matrix->signs
           && a->matrix->order == b->matrix->order && bound_alike(a->matrix->bounds, b->matrix->bounds)
           && (s == t || (s && t && s->sub == t->sub && s->mins == t->mins && s->zero == t->zero));
}

/* Tiles are whole. */
static int64_t x_bytes(const struct product *p)
{
    return round_up(p->job.m, TILE_TOKENS) * p->job.k * p->multiplier->x_bytes;
}

static int64_t scales(const struct product *p)
{
    return round_up(p->job.m, TILE_TOKENS) * p->job.groups;
}

/* One term of the activations, with scales and offsets. */
static int64_t term_bytes(const struct product *p)
{
    const int64_t subs = p->job.type ? GROUP / p->job.type->sub : 0;
    return round_up(x_bytes(p), 64) + round_up(scales(p) * (int64_t)sizeof(float), 64)
           + round_up(scales(p) * subs * (int64_t)sizeof(union offset), 64);
}

static int is_refined(const struct product *p)
{
    return p->job.refined_above < INFINITY;
}

/* Of the activations in the kernel's form. */
static int64_t form_bytes(const struct product *p)
{
    return is_refined(p) ? 2 * term_bytes(p) + round_up(scales(p), 64) : term_bytes(p);
}

int64_t product_scratch_bytes(const struct product *p)
{
    return form_bytes(p) + (p->matrix->rotated || p->matrix->bounds ? float_bytes(p->job.m * p->job.inner) : 0);
}

void product_bind(struct product *p, uint8_t *scratch, float *out, int64_t out_stride)
{
    p->job.out = out;
    p->job.out_stride = out_stride;
    p->job.x = scratch;
    p->job.x_scale = (float *)(void *)(scratch + round_up(x_bytes(p), 64));
    p->job.offset = (union offset *)(void *)((uint8_t *)p->job.x_scale + round_up(scales(p) * (int64_t)sizeof(float), 64));
    if (is_refined(p)) {
        p->job.rest = term_bytes(p);
        p->job.refined = scratch + 2 * p->job.rest;
    }
    p->changed = (float *)(void *)(scratch + form_bytes(p));
}

/* A NaN stays one. */
static void bound(const float *x, const float *bounds, int64_t n, float *out)
{
    const float least = bounds[0], most = bounds[1];
    for (int64_t i = 0; i < n; i++) {
        const float risen = x[i] < least ? least : x[i];
        out[i] = risen > most ? most : risen;
    }
}

void product_prepare(const struct product *p, const float *x, int64_t token)
{
    const struct tenon_matrix *a = p->matrix;
    float *changed = p->changed + token * a->k;
    if (a->rotated) {
        for (int64_t i = 0; i < a->k; i++)
            changed[i] = x[a->order ? a->order[i] : i] * a->signs[i];
        dispatch_highest()->rows->hadamard(changed, a->k, a->rotated);
    }
    if (a->bounds)
        bound(x, a->bounds, a->k, changed);
    p->multiplier->prepare(&p->job, a->rotated || a->bounds ? changed : x, token);
}

void tenon_hadamard(float *x, int64_t k, int64_t width)
{
    dispatch_highest()->rows->hadamard(x, k, width);
}

void product_multiply(const struct product *p, int64_t item)
{
    const int64_t panels = (p->job.n + PANEL_ROWS - 1) / PANEL_ROWS, token = item / panels * MOST_TOKENS;
    const int64_t left = p->job.m - token, tokens = left < MOST_TOKENS ? left : MOST_TOKENS;
    p->multiplier->multiply(&p->job, item % panels, token, tokens);
    const int64_t first = item % panels * PANEL_ROWS, rest = p->job.n - first;
    float *out = p->job.out + token * p->job.out_stride + first;
    for (int64_t i = 0; p->matrix->bounds && i < tokens; i++, out += p->job.out_stride)
        bound(out, p->matrix->bounds + 2, rest < PANEL_ROWS ? rest : PANEL_ROWS, out);
}

struct products products_of(struct product *into, const struct tenon_matrix *const *matrices, int count, int64_t m)
{
    struct products s = {into, into};
    for (int i = 0; i < count; i++)
        if (matrices[i]->n)
            *s.end++ = product_of(matrices[i], m);
    return s;
}

/* A product takes the form of the one before it where it can. */
static int has_form_before(const struct products *s, const struct product *p)
{
    return p > s->first && product_shares_form(p - 1, p);
}

int64_t products_items(const struct products *s)
{
    int64_t items = 0;
    for (const struct product *p = s->first; p < s->end; p++)
        items += product_items(p);
    return items;
}

void products_prepare(const struct products *s, const float *x, int64_t token)
{
    for (const struct product *p = s->first; p < s->end; p++)
        if (!has_form_before(s, p))
            product_prepare(p, x, token);
}

void products_multiply(const struct products *s, int64_t item)
{
    const struct product *p = s->first;
    for (int64_t items; item >= (items = product_items(p)); p++)
        item -= items;
    product_multiply(p, item);
}

int64_t products_bind(struct products *s, uint8_t *base, float *out, int64_t out_stride)
{
    int64_t at = 0, last = 0;
    for (struct product *p = s->first; p < s->end; out += p->job.n, p++) {
        if (!has_form_before(s, p)) {
            last = at;
            at += product_scratch_bytes(p);
        }
        if (base)
            product_bind(p, base + last, out, out_stride);
    }
    return at;
}
