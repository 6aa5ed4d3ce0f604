#include "latents.h"

#include <string.h>

/* --- products of heads ------------------------------------------------------------------------------------------- */

static int64_t form_bytes(const struct head_products *s)
{
    const struct product p = product_of(s->matrices, s->m);
    return product_scratch_bytes(&p);
}

static struct product product_of_head(const struct head_products *s, int64_t head)
{
    struct product p = product_of(&s->matrices[head], s->m);
    product_bind(&p, s->forms + head * product_scratch_bytes(&p), s->out + head * s->out_width, s->heads * s->out_width);
    return p;
}

static void prepare_head(const struct head_products *s, int64_t head, const float *x, int64_t token)
{
    const struct product p = product_of_head(s, head);
    product_prepare(&p, x, token);
}

int64_t head_products_items(const struct head_products *s)
{
    if (!s->heads)
        return 0;
    const struct product p = product_of(s->matrices, s->m);
    return s->heads * product_items(&p);
}

void head_products_multiply(const struct head_products *s, int64_t item)
{
    const int64_t each = head_products_items(s) / s->heads;
    const struct product p = product_of_head(s, item / each);
    product_multiply(&p, item % each);
}

/* --- latents ----------------------------------------------------------------------------------------------------- */

static int64_t rotated(const struct latents_run *r)
{
    return r->layer->head_dim - r->latents->rank;
}

struct latents_run latents_of(const struct tenon_layer *layer, const struct row_operations *rows, struct product *into,
                              int64_t m)
{
    const struct tenon_latents *x = layer->latents;
    struct latents_run r = {.layer = layer, .latents = x, .rows = rows};
    if (!x)
        return r;
    r.query_up = products_of(into, (const struct tenon_matrix *[]){&x->query_up}, 1, m);
    r.key_up = (struct head_products){x->key_up, layer->heads, m, NULL, NULL, layer->head_dim};
    r.value_up = (struct head_products){x->value_up, layer->heads, m, NULL, NULL, x->value_up->n};
    return r;
}

int64_t latents_forms_bytes(const struct latents_run *r)
{
    if (!r->latents)
        return 0;
    const int64_t keys = form_bytes(&r->key_up), values = form_bytes(&r->value_up);
    const int64_t heads = r->layer->heads * (keys > values ? keys : values);
    struct products query_up = r->query_up;
    const int64_t queries = products_bind(&query_up, NULL, NULL, 0);
    return heads > queries ? heads : queries;
}

int64_t latents_lay_out(struct latents_run *r, uint8_t *forms, uint8_t *base, float *mapped, int64_t stride)
{
    if (!r->latents)
        return 0;
    const int64_t heads = r->layer->heads, m = r->key_up.m;
    int64_t at = 0;
    r->mapped = mapped, r->mapped_stride = stride;
    if (r->latents->query_up.n) {
        r->mapped = (float *)(void *)(base + at), r->mapped_stride = r->latents->query_up.n;
        at += float_bytes(m * r->mapped_stride);
    }
    r->queries = (float *)(void *)(base + at);
    at += float_bytes(m * heads * r->layer->head_dim);
    r->values = (float *)(void *)(base + at);
    at += float_bytes(m * heads * r->value_up.out_width);
    r->key_up.forms = r->value_up.forms = forms;
    r->key_up.out = r->queries;
    r->value_up.out = r->values;
    if (base)
        products_bind(&r->query_up, forms, r->mapped, r->mapped_stride);
    return at;
}

static void turn(const struct latents_run *r, const float *from, float *to, const float *cosine, const float *sine,
                 float factor)
{
    const int64_t count = rotated(r), half = count / 2;
    if (r->latents->interleaved)
        for (int64_t i = 0; i < half; i++)
            to[i] = from[2 * i], to[half + i] = from[2 * i + 1];
    else
        memcpy(to, from, (size_t)count * sizeof *to);
    r->rows->rotate(to, cosine, sine, count, count, factor);
}

const float *latents_begin(const struct latents_run *r, float *mapped, int64_t token, const float *cosine,
                           const float *sine)
{
    const struct tenon_layer *l = r->layer;
    const struct tenon_latents *x = r->latents;
    float *kept = r->queries + token * l->heads * l->head_dim;
    const float *latent = mapped + l->q.n;
    r->rows->norm(latent, l->key_norm, x->key_floor, x->rank, kept);
    turn(r, latent + x->rank, kept + x->rank, cosine, sine, 1.0f);
    if (x->query_up.n) {
        r->rows->norm(mapped, l->query_norm, x->query_floor, x->query_up.k, mapped);
        products_prepare(&r->query_up, mapped, token);
    }
    return kept;
}

void latents_lift(const struct latents_run *r, int64_t token, const float *cosine, const float *sine, float factor)
{
    const struct tenon_layer *l = r->layer;
    const int64_t plain = r->latents->key_up->k, rank = r->latents->rank;
    float *from = r->mapped + token * r->mapped_stride, *to = r->queries + token * l->heads * l->head_dim;
    for (int64_t head = 0; head < l->heads; head++, from += plain + rotated(r), to += l->head_dim) {
        turn(r, from + plain, to + rank, cosine, sine, factor);
        for (int64_t i = 0; i < plain; i++)
            from[i] *= factor;
        prepare_head(&r->key_up, head, from, token);
    }
}

void latents_take(const struct latents_run *r, const float *mixed, int64_t token)
{
    for (int64_t head = 0; head < r->layer->heads; head++)
        prepare_head(&r->value_up, head, mixed + head * r->layer->head_dim, token);
}
