/* A whole decoder layer in one call, so that threads meet at barriers of their own and never sleep in between. */
#include "attention.h"
#include "dispatch.h"
#include "latents.h"
#include "memory.h"
#include "mixture.h"
#include "pool.h"
#include "product.h"
#include "rows.h"

#include <math.h>
#include <string.h>

enum { MATRICES = 16 };

/* A text's part of the rows, and of attention's items. */
struct text_run {
    const struct tenon_text *text;
    struct attention_plan plan;
    int64_t first_row, first_item, first_partial;
    int64_t head_stride;        /* bytes of keys or values from one head's to the next */
    uint8_t *keys, *values;
};

struct layer_run {
    const struct tenon_layer *layer;
    const struct tenon_step *step;
    const struct row_operations *rows;
    const struct attention_operations *attention;
    struct text_run *texts;     /* of the step's */
    int64_t workspace_bytes;    /* of attention, of a thread */
    int64_t attention_items, partial_floats;    /* of all texts */
    float *partials;            /* of attention, where keys are split */
    struct product product[MATRICES];
    struct products qkv_products, output_product, gate_up_products, down_product;
    struct products router_product;     /* where the router has rows of its own */
    struct products input_gate_product, input_projection_product;
    struct mixture_run mixture;
    struct latents_run latents;
    struct memory_run memory;
    struct shares *shares;      /* of the stages: those of the experts' products are known when tokens have chosen */
    int32_t threads;
    float *hidden;              /* (m, hidden), in place */
    float *normed, *qkv, *mixed, *mapped;
    int64_t qkv_width;
    const float *queries;       /* of attention, rows query_stride apart */
    int64_t query_stride;
    float *gate_up;             /* (m, gate_up_width): gate and up, the router's logits, the shared gate */
    int64_t gate_up_width;
    int64_t shared_gate;        /* its place there */
    const float *inputs;        /* this layer's own, rows the step's inputs_stride apart */
    uint8_t *workspace;         /* of attention, this thread's */
    int64_t turning;            /* query and key heads */
    int64_t row_heads;          /* and value heads */
    float *gates;               /* (m, heads, head_dim) of gated queries */
    int32_t thread;
};

/* --- stages: what one item of each does -------------------------------------------------------------------------- */

static void norm_row(const struct layer_run *r, const float *hidden, const float *gain, const float *shift, float *out)
{
    if (shift)
        r->rows->centre(hidden, r->layer->hidden, out);
    r->rows->norm(shift ? out : hidden, gain, r->layer->norm_floor, r->layer->hidden, out);
    if (shift)
        r->rows->add(out, shift, r->layer->hidden);
}

static void begin(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    const float *hidden = r->hidden + token * l->hidden;
    float *normed = r->normed + token * l->hidden;
    if (l->attention_norm)
        norm_row(r, hidden, l->attention_norm, l->attention_shift, normed);
    products_prepare(&r->qkv_products, l->attention_norm ? normed : hidden, token);
}

static const struct text_run *text_of_row(const struct layer_run *r, int64_t row)
{
    const struct text_run *x = r->texts;
    while (row >= x->first_row + x->text->rows)
        x++;
    return x;
}

static const struct text_run *text_of_item(const struct layer_run *r, int64_t item)
{
    const struct text_run *x = r->texts;
    while (item >= x->first_item + x->plan.items)
        x++;
    return x;
}

/* Bytes from a head's first key or value to a new row's. */
static int64_t place_of(const struct layer_run *r, const struct text_run *x, int64_t token)
{
    const int64_t row = x->text->length + x->text->pending + token - x->first_row;
    return row * attention_row_bytes(r->step->cache_type, r->layer->head_dim);
}

/* Brings queries side by side, and their gates elsewhere. */
static void part_gates(const struct layer_run *r, int64_t token)
{
    const int64_t width = r->layer->head_dim, heads = r->layer->heads;
    const size_t bytes = (size_t)width * sizeof(float);
    float *row = r->qkv + token * r->qkv_width, *gates = r->gates + token * heads * width;
    for (int64_t h = 0; h < heads; h++) {
        memcpy(gates + h * width, row + (2 * h + 1) * width, bytes);
        memmove(row + h * width, row + 2 * h * width, bytes);
    }
    memmove(row + heads * width, row + 2 * heads * width, (size_t)(r->row_heads - heads) * bytes);
}

static void keep_latent(const struct layer_run *r, int64_t token)
{
    if (r->layer->memory || r->layer->gated) {
        if (r->layer->memory)
            memory_gather(&r->memory, token);
        else
            part_gates(r, token);
        return;
    }
    const struct tenon_step *s = r->step;
    const struct text_run *x = text_of_row(r, token);
    const int64_t turned = token * s->rotated;
    const float *kept = latents_begin(&r->latents, r->qkv + token * r->qkv_width, token, s->cosine + turned, s->sine + turned);
    attention_store_row(s->cache_type, kept, r->layer->head_dim, x->keys + place_of(r, x, token));
}

static void turn(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    const struct tenon_step *s = r->step;
    if (l->memory) {
        memory_take(&r->memory, token);
        return;
    }
    const float query_factor = l->scale * (s->query_factors ? s->query_factors[token] : 1.0f);
    if (l->latents) {
        latents_lift(&r->latents, token, s->cosine + token * s->rotated, s->sine + token * s->rotated, query_factor);
        return;
    }
    const struct text_run *x = text_of_row(r, token);
    const int64_t width = l->head_dim, place = place_of(r, x, token);
    float *head = r->qkv + token * r->qkv_width;
    if (l->keys == TENON_KEYS_ARE_VALUES)
        memcpy(head + r->turning * width, head + l->heads * width, (size_t)(l->kv_heads * width) * sizeof *head);
    for (int64_t h = 0; h < r->turning; h++, head += width) {
        const int is_query = h < l->heads;
        const float *gain = is_query ? l->query_norm : l->key_norm;
        if (gain)
            r->rows->norm(head, gain, l->head_norm_floor, width, head);
        if (is_query || s->rotated)
            r->rows->rotate(head, s->cosine + token * s->rotated, s->sine + token * s->rotated, s->rotated, width,
                            is_query ? query_factor : 1.0f);
        if (!is_query)
            attention_store_row(s->cache_type, head, width, x->keys + (h - l->heads) * x->head_stride + place);
    }
    for (int64_t h = 0; h < r->row_heads - r->turning; h++, head += width) {
        if (l->value_norm)
            r->rows->norm(head, l->value_norm, l->head_norm_floor, width, head);
        attention_store_row(s->cache_type, head, width, x->values + h * x->head_stride + place);
    }
}

/* The keys that an item begins with: few rows take less time than their keys take to come. */
static void find_first_keys(const struct layer_run *r, int64_t item, const uint8_t **keys, const uint8_t **end)
{
    const struct text_run *x = text_of_item(r, item);
    const struct attention_plan *p = &x->plan;
    item -= x->first_item;
    const int64_t row_bytes = attention_row_bytes(r->step->cache_type, r->layer->head_dim);
    const int64_t first = (p->first_chunk + p->chunks * (item % p->splits) / p->splits) * CHUNK;
    const int64_t left = x->text->length - first, count = left < 0 ? 0 : left < CHUNK ? left : CHUNK;
    *keys = x->keys + item / p->splits / p->blocks / p->parts * x->head_stride + first * row_bytes;
    *end = *keys + count * row_bytes;
}

/* A text's items are ordered by key-value head, so that a thread stays with the same keys. */
static void attend(const struct layer_run *r, int64_t item)
{
    const uint8_t *next = NULL, *next_end = NULL;
    if (r->layer->memory) {
        memory_head(&r->memory, item, r->thread);
        return;
    }
    if (item + 1 < r->attention_items)
        find_first_keys(r, item + 1, &next, &next_end);
    const struct tenon_layer *l = r->layer;
    const struct tenon_step *s = r->step;
    const struct text_run *x = text_of_item(r, item);
    const struct tenon_text *t = x->text;
    const struct attention_plan *p = &x->plan;
    item -= x->first_item;
    const int64_t split = item % p->splits, token = item / p->splits % p->blocks * p->tokens;
    const int64_t place = item / p->splits / p->blocks, kv_head = place / p->parts, part = place % p->parts;
    const int64_t all = l->heads / l->kv_heads, first_head = all * part / p->parts;
    const int64_t head = kv_head * all + first_head, partial = attention_partial_floats(l->head_dim);
    const int64_t first = p->chunks * split / p->splits, row = x->first_row + token;
    const struct attention a = {
        .queries = r->queries + row * r->query_stride + head * l->head_dim,
        .out = r->mixed + (row * l->heads + head) * l->head_dim,
        .query_stride = r->query_stride,
        .out_stride = l->heads * l->head_dim,
        .tokens = t->rows - token < p->tokens ? t->rows - token : p->tokens,
        .group = all * (part + 1) / p->parts - first_head,
        .head_dim = l->head_dim,
        .keys = x->keys + kv_head * x->head_stride,
        .values = x->values + kv_head * x->head_stride,
        .cache_type = s->cache_type,
        .soft_cap = l->soft_cap,
        .sinks = l->sinks ? l->sinks + head : NULL,
        .length = t->length,
        .window = s->window,
        .depths = t->depths + token,
        .ancestors = t->ancestors ? t->ancestors + token * t->ancestors_stride : NULL,
        .ancestors_stride = t->ancestors_stride,
        .ahead = t->ahead ? t->ahead + token : NULL,
        .first_chunk = p->first_chunk + first,
        .end_chunk = p->first_chunk + p->chunks * (split + 1) / p->splits,
        .partials = p->partial_floats
            ? r->partials + x->first_partial + ((first * t->rows + token) * l->heads + head) * partial : NULL,
        .partial_token_stride = l->heads * partial,
        .partial_chunk_stride = t->rows * l->heads * partial,
        .workspace = r->workspace,
        .next = next,
        .next_end = next_end,
    };
    r->attention->attend(&a);
}

/* What the parts of a row's keys gave, where they are split. */
static void merge_parts(const struct layer_run *r, int64_t row)
{
    const struct tenon_layer *l = r->layer;
    const struct text_run *x = text_of_row(r, row);
    const struct tenon_text *t = x->text;
    if (!x->plan.partial_floats)
        return;
    const int64_t token = row - x->first_row;
    const int64_t partial = attention_partial_floats(l->head_dim), stride = t->rows * l->heads * partial;
    const int64_t end = t->length + t->depths[token];
    const int64_t first = attention_first(end, t->ahead ? t->ahead + token : NULL, r->step->window) / CHUNK;
    const float *parts = r->partials + x->first_partial + (first - x->plan.first_chunk) * stride + token * l->heads * partial;
    float *out = r->mixed + row * l->heads * l->head_dim;
    for (int64_t head = 0; head < l->heads; head++, parts += partial, out += l->head_dim)
        r->attention->merge(parts, stride, (end + CHUNK - 1) / CHUNK - first, l->sinks ? l->sinks + head : NULL, l->head_dim,
                            out);
}

static void take_values(const struct layer_run *r, int64_t token)
{
    merge_parts(r, token);
    latents_take(&r->latents, r->mixed + token * r->layer->heads * r->layer->head_dim, token);
}

/* Multiplies attention's result by the sigmoid of the gates, which stand beside queries, keys and values: one for each
 * channel, or one for each head. */
static void multiply_gates(const struct layer_run *r, int64_t token, float *mixed)
{
    const struct tenon_layer *l = r->layer;
    const float *gates = r->qkv + token * r->qkv_width + r->row_heads * l->head_dim;
    if (l->attention_gate.n != l->heads) {
        r->rows->multiply_sigmoid(mixed, gates, l->attention_gate.n);
        return;
    }
    for (int64_t h = 0; h < l->heads; h++, mixed += l->head_dim) {
        const float factor = 1.0f / (1.0f + expf(-gates[h]));
        for (int64_t i = 0; i < l->head_dim; i++)
            mixed[i] *= factor;
    }
}

static void prepare_output(const struct layer_run *r, int64_t token)
{
    float *mixed = r->mixed;
    if (r->layer->memory) {
        products_prepare(&r->output_product, memory_give(&r->memory, token), token);
        return;
    }
    if (r->layer->latents)
        mixed = r->latents.values;
    else
        merge_parts(r, token);
    mixed += token * r->layer->output.k;
    if (r->layer->gated)
        r->rows->multiply_sigmoid(mixed, r->gates + token * r->layer->output.k, r->layer->output.k);
    if (r->layer->attention_gate.n)
        multiply_gates(r, token, mixed);
    products_prepare(&r->output_product, mixed, token);
}

/* Adds what a half of the layer gives to the hidden state. */
static void add_residual(const struct layer_run *r, int64_t token, const float *end_norm)
{
    const struct tenon_layer *l = r->layer;
    float *mapped = r->mapped + token * l->hidden;
    if (end_norm)
        r->rows->norm(mapped, end_norm, l->end_norm_floor, l->hidden, mapped);
    r->rows->add_scaled(r->hidden + token * l->hidden, mapped, l->residual_scale, l->hidden);
}

static void middle(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    float *normed = r->normed + token * l->hidden;
    if (l->output.n)
        add_residual(r, token, l->attention_end_norm);
    if (!l->mlp_norm)
        return;
    norm_row(r, r->hidden + token * l->hidden, l->router_norm ? l->router_norm : l->mlp_norm, l->mlp_shift, normed);
    products_prepare(l->router_norm ? &r->router_product : &r->gate_up_products, normed, token);
}

/* The network's rows, where the router has others. */
static void prepare_network(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    float *normed = r->normed + token * l->hidden;
    r->rows->norm(r->hidden + token * l->hidden, l->mlp_norm, l->norm_floor, l->hidden, normed);
    products_prepare(&r->gate_up_products, normed, token);
}

static void gate(const struct layer_run *r, int64_t token)
{
    const int64_t width = r->layer->down.k;
    float *gate = r->gate_up + token * r->gate_up_width;
    r->rows->gate(gate, r->layer->gate.n + r->layer->up.n > width ? gate + width : NULL, width, r->layer->activation);
    products_prepare(&r->down_product, gate, token);
    if (r->mixture.mixture)
        mixture_choose(&r->mixture, gate + r->layer->gate.n + r->layer->up.n, token);
    const struct tenon_layer *l = r->layer;
    if (l->experts_norm)        /* the network's rows are in form already */
        r->rows->norm(r->hidden + token * l->hidden, l->experts_norm, l->norm_floor, l->hidden,
                      r->normed + token * l->hidden);
}

static void prepare_expert(const struct layer_run *r, int64_t place)
{
    mixture_prepare(&r->mixture, r->normed, place);
}

/* What the layer's own network gave, times the shared gate, and what the token's experts gave. */
static void add_experts(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    const struct tenon_mixture *x = r->mixture.mixture;
    const int64_t hidden = l->hidden;
    float *mapped = r->mapped + token * hidden;
    if (!r->layer->down.n) {
        memset(mapped, 0, (size_t)hidden * sizeof *mapped);
    } else if (x->shared_gate.n) {
        const float logit = r->gate_up[token * r->gate_up_width + r->shared_gate], factor = 1.0f / (1.0f + expf(-logit));
        for (int64_t i = 0; i < hidden; i++)
            mapped[i] *= factor;
    }
    if (!l->experts_end_norm) {
        mixture_add(&r->mixture, token, mapped);
        return;
    }
    float *mixed = r->normed + token * hidden;      /* which the experts have taken */
    memset(mixed, 0, (size_t)hidden * sizeof *mixed);
    mixture_add(&r->mixture, token, mixed);
    r->rows->norm(mixed, l->experts_end_norm, l->norm_floor, hidden, mixed);
    r->rows->norm(mapped, l->network_end_norm, l->norm_floor, hidden, mapped);
    r->rows->add(mapped, mixed, hidden);
}

static void multiply_by_scalar(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    float *hidden = r->hidden + token * l->hidden;
    for (int64_t i = 0; l->scalar && i < l->hidden; i++)
        hidden[i] *= *l->scalar;
}

static void end(const struct layer_run *r, int64_t token)
{
    if (r->mixture.mixture)
        add_experts(r, token);
    add_residual(r, token, r->layer->mlp_end_norm);
    if (r->layer->input_gate.n)
        products_prepare(&r->input_gate_product, r->hidden + token * r->layer->hidden, token);
    else
        multiply_by_scalar(r, token);
}

/* The layer's own input meets its gate. */
static void enter(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    float *gate = r->gate_up + token * r->gate_up_width;
    r->rows->gate(gate, r->inputs + token * r->step->inputs_stride, l->input_gate.n, l->activation);
    products_prepare(&r->input_projection_product, gate, token);
}

static void add_input(const struct layer_run *r, int64_t token)
{
    const struct tenon_layer *l = r->layer;
    float *mapped = r->mapped + token * l->hidden;
    r->rows->norm(mapped, l->input_norm, l->norm_floor, l->hidden, mapped);
    r->rows->add(r->hidden + token * l->hidden, mapped, l->hidden);
    multiply_by_scalar(r, token);
}

static void multiply_router(const struct layer_run *r, int64_t item) { products_multiply(&r->router_product, item); }
static void multiply_input_gate(const struct layer_run *r, int64_t i) { products_multiply(&r->input_gate_product, i); }
static void multiply_input(const struct layer_run *r, int64_t i) { products_multiply(&r->input_projection_product, i); }
static void multiply_qkv(const struct layer_run *r, int64_t item) { products_multiply(&r->qkv_products, item); }
static void multiply_query_up(const struct layer_run *r, int64_t i) { products_multiply(&r->latents.query_up, i); }
static void multiply_key_up(const struct layer_run *r, int64_t i) { head_products_multiply(&r->latents.key_up, i); }
static void multiply_value_up(const struct layer_run *r, int64_t i) { head_products_multiply(&r->latents.value_up, i); }
static void multiply_output(const struct layer_run *r, int64_t item) { products_multiply(&r->output_product, item); }
static void multiply_gate_up(const struct layer_run *r, int64_t item) { products_multiply(&r->gate_up_products, item); }
static void multiply_down(const struct layer_run *r, int64_t item) { products_multiply(&r->down_product, item); }
static void multiply_expert_gate_up(const struct layer_run *r, int64_t i) { mixture_multiply(&r->mixture, GATE_UP, i); }
static void gate_expert(const struct layer_run *r, int64_t place) { mixture_gate(&r->mixture, place); }
static void multiply_expert_down(const struct layer_run *r, int64_t item) { mixture_multiply(&r->mixture, DOWN, item); }

/* --- the run ----------------------------------------------------------------------------------------------------- */

typedef void stage(const struct layer_run *r, int64_t item);

static stage sort_experts;

static stage *const stages[] = {begin, multiply_qkv, keep_latent, multiply_query_up, turn, multiply_key_up, attend,
                                take_values, multiply_value_up, prepare_output, multiply_output, middle,
                                multiply_router, prepare_network,
                                multiply_gate_up, gate, multiply_down,
                                sort_experts, prepare_expert, multiply_expert_gate_up, gate_expert, multiply_expert_down,
                                end, multiply_input_gate, enter, multiply_input, add_input};

enum { STAGES = sizeof stages / sizeof *stages, SORT_EXPERTS = 17, EXPERTS_GATE_UP = 19, EXPERTS_DOWN = 21 };

static void sort_experts(const struct layer_run *r, int64_t item)
{
    (void)item;
    mixture_sort(&r->mixture);
    if (r->mixture.mixture->repeats)
        mixture_count_repeats(&r->mixture, r->step->texts == 1 && !r->step->text->ancestors);
    shares_init(&r->shares[EXPERTS_GATE_UP], mixture_items(&r->mixture, GATE_UP), r->threads);
    shares_init(&r->shares[EXPERTS_DOWN], mixture_items(&r->mixture, DOWN), r->threads);
}

struct shared_run {
    struct layer_run run;
    struct shares shares[STAGES];
};

static void work(void *context, int32_t thread)
{
    struct shared_run *shared = context;
    struct layer_run run = shared->run;
    run.workspace += thread * run.workspace_bytes;
    run.thread = thread;
    for (int i = 0; i < STAGES; i++) {
        int64_t item;
        while ((item = shares_take(&shared->shares[i], thread)) >= 0) {
            stages[i](&run, item);
            shares_finish(&shared->shares[i]);
        }
        shares_wait(&shared->shares[i]);
    }
}

static int64_t bytes_of_texts(const struct tenon_step *step)
{
    return (step->texts * (int64_t)sizeof(struct text_run) + 63) / 64 * 64;
}

/* Divides attention among the texts by their work; with `texts` NULL it only counts. */
static void plan_texts(struct layer_run *r, int32_t threads, struct text_run *texts)
{
    const struct tenon_step *s = r->step;
    int64_t row = 0;
    double work = 0.0;
    r->texts = texts;
    for (int64_t i = 0; i < s->texts; i++)
        work += (double)attention_work(s, &s->text[i]);
    for (int64_t i = 0; i < s->texts; i++) {
        const struct tenon_text *t = &s->text[i];
        const double share = s->texts > 1 ? (double)attention_work(s, t) / work : 1.0;
        const struct attention_plan p = r->layer->memory || !r->layer->output.n ? (struct attention_plan){0}
            : attention_plan(r->layer, s, t, share, r->attention, threads);
        if (texts)
            texts[i] = (struct text_run){
                t, p, row, r->attention_items, r->partial_floats,
                t->capacity * attention_row_bytes(s->cache_type, r->layer->head_dim), NULL, NULL};
        row += t->rows;
        r->attention_items += p.items;
        r->partial_floats += p.partial_floats;
        r->workspace_bytes = p.workspace_bytes > r->workspace_bytes ? p.workspace_bytes : r->workspace_bytes;
    }
}

/* Hands out scratch memory; with base NULL it only counts. The buffers of the two halves of a layer share theirs. */
static int64_t lay_out(struct layer_run *r, int64_t m, int32_t threads, uint8_t *base)
{
    const struct tenon_layer *l = r->layer;
    struct products *const stages_of[] = {&r->qkv_products, &r->output_product, &r->gate_up_products, &r->down_product,
                                          &r->router_product, &r->input_gate_product, &r->input_projection_product};
    const int64_t strides[] = {r->qkv_width, l->hidden, r->gate_up_width, l->hidden,
                               r->gate_up_width, r->gate_up_width, l->hidden};
    enum { BOUND = sizeof strides / sizeof *strides };
    int64_t at = l->mixture ? mixture_forms_bytes(l->mixture, m) : 0;
    for (int i = 0; i <= BOUND; i++) {
        const int64_t bytes = i < BOUND ? products_bind(stages_of[i], NULL, NULL, 0) : latents_forms_bytes(&r->latents);
        at = bytes > at ? bytes : at;
    }
    r->mixture.forms = base;
    r->normed = r->mapped = (float *)(base + at);
    at += float_bytes(m * l->hidden);
    if (l->mixture) {           /* the experts take normed rows when others are mapped already */
        r->mapped = (float *)(base + at);
        at += float_bytes(m * l->hidden);
    }
    const int64_t half = at;
    r->gate_up = r->qkv = (float *)(base + at);
    at += float_bytes(m * r->qkv_width);
    at += latents_lay_out(&r->latents, base, base ? base + at : NULL, r->qkv, r->qkv_width);
    r->queries = l->latents ? r->latents.queries : r->qkv;
    r->mixed = (float *)(base + at);
    at += float_bytes(m * l->heads * l->head_dim);
    r->gates = (float *)(base + at);
    at += l->gated ? float_bytes(m * l->heads * l->head_dim) : 0;
    at += memory_lay_out(&r->memory, base ? base + at : NULL, r->qkv, r->qkv_width, threads);
    r->partials = (float *)(base + at);
    at += float_bytes(r->partial_floats);
    r->workspace = base + at;
    at += threads * r->workspace_bytes;
    int64_t other = half + float_bytes(m * r->gate_up_width);
    if (l->mixture)
        other += mixture_lay_out(&r->mixture, base + other);
    float *const router = r->gate_up + l->gate.n + l->up.n;
    float *const out[] = {r->qkv, r->mapped, r->gate_up, r->mapped, router, r->gate_up, r->mapped};
    for (int i = 0; base && i < BOUND; i++)
        products_bind(stages_of[i], base, out[i], strides[i]);
    return at > other ? at : other;
}

static void set_up(struct layer_run *r, const struct tenon_layer *l, const struct tenon_step *step, int32_t threads,
                   uint8_t *scratch)
{
    const int64_t m = step->m;
    r->layer = l;
    r->step = step;
    r->rows = dispatch_highest()->rows;   /* at every width, so that a row's bits do not depend on it */
    r->attention = dispatch_highest()->attention;
    r->turning = l->heads + (l->keys == TENON_SHARED_KEYS ? 0 : l->kv_heads);
    r->row_heads = r->turning + (l->keys == TENON_SHARED_KEYS ? 0 : l->kv_heads);
    r->qkv_width = l->latents ? l->q.n + l->k.n : (r->row_heads + (l->gated ? l->heads : 0)) * l->head_dim + l->attention_gate.n;
    if (l->memory)
        r->qkv_width = l->q.n + l->k.n + l->v.n + l->memory->more.n;
    r->query_stride = l->latents ? l->heads * l->head_dim : r->qkv_width;
    plan_texts(r, threads, (struct text_run *)scratch);
    r->qkv_products = products_of(
        r->product + 12,
        (const struct tenon_matrix *[]){&l->q, &l->k, &l->v, l->memory ? &l->memory->more : &l->attention_gate}, 4, m);
    r->output_product = products_of(r->product + 3, (const struct tenon_matrix *[]){&l->output}, 1, m);
    const struct tenon_mixture *x = l->mixture;
    r->gate_up_products = products_of(
        r->product + 4, (const struct tenon_matrix *[]){&l->gate, &l->up, x ? &x->router : NULL, x ? &x->shared_gate : NULL},
        x && !l->router_norm ? 4 : 2, m);
    const int apart = x && l->router_norm;
    r->router_product = products_of(r->product + 6, (const struct tenon_matrix *[]){x ? &x->router : NULL}, apart, m);
    r->input_gate_product = products_of(r->product + 9, (const struct tenon_matrix *[]){&l->input_gate}, 1, m);
    r->input_projection_product = products_of(r->product + 10, (const struct tenon_matrix *[]){&l->input_projection}, 1, m);
    r->shared_gate = l->gate.n + l->up.n + (x ? x->experts : 0);
    r->gate_up_width = r->shared_gate + (x ? x->shared_gate.n : 0);
    if (r->gate_up_width < l->input_gate.n)
        r->gate_up_width = l->input_gate.n;
    r->down_product = products_of(r->product + 8, (const struct tenon_matrix *[]){&l->down}, 1, m);
    r->latents = latents_of(l, r->rows, r->product + 11, m);
    r->memory = memory_of(l, step, r->rows);
    r->mixture = (struct mixture_run){
        .mixture = x, .rows = r->rows, .activation = l->activation, .hidden = l->hidden, .m = m};
}

int64_t tenon_layer_scratch_bytes(const struct tenon_layer *layer, const struct tenon_step *step, int32_t threads)
{
    struct layer_run r = {0};
    threads = pool_team(threads);
    set_up(&r, layer, step, threads, NULL);
    return bytes_of_texts(step) + lay_out(&r, step->m, threads, NULL);
}

/* Runs the stages from one up to another, which are all of them or those before or behind the choice of experts: then
 * scratch memory is laid out twice alike, and what the first half left in it is there for the second. Returns the
 * choice of experts. */
static const int32_t *run_stages(const struct tenon_layer *layer, const struct tenon_step *step,
                                 void *const *const *caches, int64_t index, float *hidden, uint8_t *scratch,
                                 int32_t threads, int first, int end)
{
    struct shared_run shared = {.run = {.hidden = hidden}};
    struct layer_run *r = &shared.run;
    threads = pool_team(threads);
    set_up(r, layer, step, threads, scratch);
    r->memory.caches = caches;
    r->memory.index = index;
    if (first == 0)
        memory_begin(&r->memory);
    for (int64_t i = 0; i < step->texts && !layer->memory && layer->output.n; i++) {
        r->texts[i].keys = caches[i][index];
        r->texts[i].values = r->texts[i].keys + (layer->latents ? 0 : layer->kv_heads * r->texts[i].head_stride);
    }
    if (layer->input_gate.n)
        r->inputs = step->inputs + index * layer->input_gate.n;
    lay_out(r, step->m, threads, scratch + bytes_of_texts(step));
    const int64_t m = step->m, pairs = r->mixture.pairs;
    const int64_t routed = products_items(&r->router_product) ? m : 0, given = layer->input_gate.n ? m : 0;
    const int64_t latents = layer->latents ? m : 0, parted = layer->gated || (layer->memory && layer->memory->joined) ? m : 0;
    const int64_t mixes = layer->output.n ? m : 0, maps = layer->mlp_norm ? m : 0;
    const int64_t attended = layer->memory ? layer->memory->heads : r->attention_items;
    const int64_t counts[STAGES] = {mixes, products_items(&r->qkv_products), latents + parted,
                                    products_items(&r->latents.query_up), mixes,
                                    head_products_items(&r->latents.key_up), attended, latents,
                                    head_products_items(&r->latents.value_up), mixes, products_items(&r->output_product), m,
                                    products_items(&r->router_product), routed,
                                    products_items(&r->gate_up_products), maps,
                                    products_items(&r->down_product), layer->mixture != NULL, pairs, 0, pairs, 0, maps,
                                    products_items(&r->input_gate_product), given,
                                    products_items(&r->input_projection_product), given};
    r->shares = shared.shares;
    r->threads = threads;
    for (int i = 0; i < STAGES; i++)
        shares_init(&shared.shares[i], i >= first && i < end ? counts[i] : 0, threads);
    pool_run(work, &shared, threads);
    if (first == 0)
        memory_end(&r->memory);
    return r->mixture.choice;
}

void tenon_layer_forward(const struct tenon_layer *layer, const struct tenon_step *step, void *const *const *caches,
                         int64_t index, float *hidden, uint8_t *scratch, int32_t threads)
{
    run_stages(layer, step, caches, index, hidden, scratch, threads, 0, STAGES);
}

const int32_t *tenon_layer_choose(const struct tenon_layer *layer, const struct tenon_step *step,
                                  void *const *const *caches, int64_t index, float *hidden, uint8_t *scratch,
                                  int32_t threads)
{
    return run_stages(layer, step, caches, index, hidden, scratch, threads, 0, SORT_EXPERTS);
}

void tenon_layer_mix(const struct tenon_layer *layer, const struct tenon_step *step, void *const *const *caches,
                     int64_t index, float *hidden, uint8_t *scratch, int32_t threads)
{
    run_stages(layer, step, caches, index, hidden, scratch, threads, SORT_EXPERTS, STAGES);
}
