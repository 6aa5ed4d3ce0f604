#include "memory.h"

#include "dispatch.h"
#include "pool.h"

#include <math.h>
#include <string.h>

enum { CHUNK_TOKENS = TENON_MEMORY_CHUNK };

/* A text's frames in this layer. */
struct text_frames {
    const struct tenon_text *text;
    struct tenon_text_memory *memory;
    const struct tenon_frame *source;
    struct tenon_frame *target; /* the source itself but for a piece of a prompt */
    int64_t first_row;          /* of the forward's */
    int64_t before;             /* rows of the source before the new ones */
    int64_t committed;          /* rows of it that are committed */
};

static int64_t channels_of(const struct tenon_memory *x)
{
    return 2 * x->key_heads * x->key_dim + x->heads * x->value_dim;
}

static int64_t values_of(const struct tenon_memory *x)
{
    return x->heads * x->value_dim;
}

/* The places of queries, keys and values among the channels. */
static int64_t queries_at(const struct tenon_memory *x)
{
    return x->skip ? values_of(x) + x->key_heads * x->key_dim : 0;
}

static int64_t keys_at(const struct tenon_memory *x)
{
    return x->skip ? values_of(x) : x->key_heads * x->key_dim;
}

static int64_t values_at(const struct tenon_memory *x)
{
    return x->skip ? 0 : 2 * x->key_heads * x->key_dim;
}

static struct text_frames frames_of(const struct memory_run *r, int64_t text, int64_t first_row)
{
    struct text_frames f = {.text = &r->step->text[text], .memory = r->caches[text][r->index], .first_row = first_row};
    struct tenon_frame *frames = f.memory->frames;
    f.source = f.target = frames;
    if (f.memory->is_long) {
        const int32_t source = f.text->pending ? f.memory->current : 0;
        f.source = frames + source;
        f.target = frames + (source == 1 ? 2 : 1);
    }
    f.committed = f.text->length - f.source->base;
    f.before = f.committed + f.text->pending;
    return f;
}

static struct text_frames frames_of_row(const struct memory_run *r, int64_t row)
{
    int64_t text = 0, first = 0;
    while (row >= first + r->step->text[text].rows)
        first += r->step->text[text++].rows;
    return frames_of(r, text, first);
}

/* The place behind the boundary of the row that is `at` places from it on a new row's path. */
static int64_t path_row(const struct text_frames *f, int64_t row, int64_t at)
{
    if (at < f->committed || !f->text->ancestors)
        return at;
    return f->committed + f->text->ancestors[row * f->text->ancestors_stride + at - f->committed];
}

static int64_t path_length(const struct text_frames *f, int64_t row)
{
    return f->committed + f->text->depths[row];
}

struct memory_run memory_of(const struct tenon_layer *layer, const struct tenon_step *step,
                            const struct row_operations *rows)
{
    return (struct memory_run){.layer = layer, .memory = layer->memory, .step = step, .rows = rows};
}

/* --- scratch memory ---------------------------------------------------------------------------------------------- */

static int64_t state_floats(const struct tenon_memory *x)
{
    return x->key_dim * x->value_dim;
}

int64_t memory_workspace_bytes(const struct memory_run *r)
{
    const struct tenon_memory *x = r->memory;
    return float_bytes(KEPT_STATES * state_floats(x)) + float_bytes((2 + 1) * CHUNK_TOKENS * x->value_dim);
}

int64_t memory_lay_out(struct memory_run *r, uint8_t *base, float *mapped, int64_t stride, int32_t threads)
{
    const struct tenon_memory *x = r->memory;
    if (!x)
        return 0;
    const int64_t m = r->step->m, channels = channels_of(x);
    int64_t at = 0;
    r->mapped = mapped;
    r->mapped_stride = stride;
    r->inputs = x->joined ? (float *)(void *)(base + at) : NULL;
    at += x->joined ? float_bytes(m * channels) : 0;
    r->mixed = (float *)(void *)(base + at);
    at += float_bytes(m * channels);
    r->writes = (float *)(void *)(base + at);
    at += float_bytes(m * x->heads);
    r->decays = (float *)(void *)(base + at);
    at += float_bytes(m * x->heads);
    r->results = (float *)(void *)(base + at);
    at += float_bytes(m * x->heads * x->value_dim);
    r->workspace = base + at;
    return at + threads * memory_workspace_bytes(r);
}

/* --- tokens ------------------------------------------------------------------------------------------------------ */

void memory_gather(const struct memory_run *r, int64_t token)
{
    const struct tenon_memory *x = r->memory;
    const int64_t group = x->heads / x->key_heads * x->value_dim, keys = x->key_heads * x->key_dim;
    const float *from = r->mapped + token * r->mapped_stride;
    float *to = r->inputs + token * channels_of(x);
    for (int64_t h = 0; h < x->key_heads; h++, from += 2 * x->key_dim + 2 * group) {
        memcpy(to + h * x->key_dim, from, (size_t)x->key_dim * sizeof *to);
        memcpy(to + keys + h * x->key_dim, from + x->key_dim, (size_t)x->key_dim * sizeof *to);
        memcpy(to + 2 * keys + h * group, from + 2 * x->key_dim, (size_t)group * sizeof *to);
    }
}

static const float *inputs_of(const struct memory_run *r, int64_t token)
{
    const struct tenon_memory *x = r->memory;
    if (r->inputs)
        return r->inputs + token * channels_of(x);
    return r->mapped + token * r->mapped_stride + (x->skip ? values_of(x) : 0);
}

/* The convolution's input `back` places before a new row on its path. */
static const float *input_before(const struct memory_run *r, const struct text_frames *f, int64_t row, int64_t back)
{
    const int64_t at = path_length(f, row) - 1 - back, channels = channels_of(r->memory);
    const int64_t place = at < 0 ? at : path_row(f, row, at);
    if (place >= f->before)
        return inputs_of(r, f->first_row + place - f->before);
    return f->source->inputs + (r->memory->width + place) * channels;
}

static void keep_input(const struct memory_run *r, const struct text_frames *f, int64_t position, const float *input)
{
    const int64_t channels = channels_of(r->memory), width = r->memory->width;
    const size_t bytes = (size_t)channels * sizeof *input;
    const int64_t slot = position - f->target->base + width;
    if (slot >= 0)
        memcpy(f->target->inputs + slot * channels, input, bytes);
    for (int64_t i = 0; i < f->memory->marks; i++) {
        const int64_t at = position - f->memory->mark[i] + width;
        if (at >= 0 && at < width)
            memcpy(f->memory->mark_inputs[i] + at * channels, input, bytes);
    }
}

static void keep_key(const struct memory_run *r, const struct text_frames *f, int64_t position, const float *keys)
{
    const int64_t width = r->memory->key_heads * r->memory->key_dim, place = position - f->target->base;
    if (place >= 0)
        memcpy(f->target->keys + place * width, keys, (size_t)width * sizeof *keys);
}

static float softplus(float x)
{
    return x > 20.0f ? x : log1pf(expf(x));
}

void memory_take(const struct memory_run *r, int64_t token)
{
    const struct tenon_memory *x = r->memory;
    const struct text_frames f = frames_of_row(r, token);
    const int64_t row = token - f.first_row, channels = channels_of(x), keys = x->key_heads * x->key_dim;
    const float *before[TENON_MOST_TAPS];
    float *mixed = r->mixed + token * channels;
    for (int64_t i = 0; i <= x->width; i++)
        before[i] = input_before(r, &f, row, x->width - i);
    r->rows->convolve(before, x->kernel, x->bias, x->width + 1, channels, mixed);
    for (int64_t h = 0; !x->skip && h < 2 * x->key_heads; h++)
        r->rows->norm(mixed + h * x->key_dim, x->gains + (h < x->key_heads ? 0 : x->key_dim), 1e-6f, x->key_dim,
                      mixed + h * x->key_dim);
    const float *gates = r->mapped + token * r->mapped_stride + channels + x->heads * x->value_dim;
    const int64_t each = x->heads / x->key_heads;
    for (int64_t h = 0; x->skip && h < x->heads; h++) {
        const float time = softplus(gates[h] + x->decay_bias[h]);
        r->writes[token * x->heads + h] = time;
        r->decays[token * x->heads + h] = x->decay[h] * time;
    }
    for (int64_t h = 0; !x->skip && h < x->heads; h++) {
        const int64_t write = x->paired ? h / each * 2 * each + h % each : h, decay = write + (x->paired ? each : x->heads);
        r->writes[token * x->heads + h] = 1.0f / (1.0f + expf(-gates[write]));
        r->decays[token * x->heads + h] = x->decay[h] * softplus(gates[decay] + x->decay_bias[h]);
    }
    if (!f.memory->is_long) {
        const int64_t place = f.before + row;
        memcpy(f.target->inputs + (x->width + place) * channels, inputs_of(r, token), (size_t)channels * sizeof *mixed);
        memcpy(f.target->keys + place * keys, mixed + keys_at(x), (size_t)keys * sizeof *mixed);
        return;
    }
    if (!row)                   /* what the text has before */
        for (int64_t place = -x->width; place < f.before; place++) {
            keep_input(r, &f, f.source->base + place, f.source->inputs + (x->width + place) * channels);
            if (place >= 0)
                keep_key(r, &f, f.source->base + place, f.source->keys + place * keys);
        }
    keep_input(r, &f, f.source->base + f.before + row, inputs_of(r, token));
    keep_key(r, &f, f.source->base + f.before + row, mixed + keys_at(x));
}

const float *memory_give(const struct memory_run *r, int64_t token)
{
    const struct tenon_memory *x = r->memory;
    const int64_t each = x->heads / x->key_heads, group = 2 * x->key_dim + 2 * each * x->value_dim;
    float *results = r->results + token * x->heads * x->value_dim;
    float *mapped = (float *)r->mapped + token * r->mapped_stride;
    if (x->skip) {
        const int64_t width = each * x->value_dim;
        r->rows->gate(mapped, results, values_of(x), TENON_SILU);
        for (int64_t at = 0; at < values_of(x); at += width)
            r->rows->norm(mapped + at, x->norm + at, x->norm_floor, width, results + at);
        return results;
    }
    for (int64_t h = 0; h < x->heads; h++) {
        float *result = results + h * x->value_dim;
        float *gate = x->joined ? mapped + h / each * group + 2 * x->key_dim + (each + h % each) * x->value_dim
                                : mapped + channels_of(x) + h * x->value_dim;
        r->rows->norm(result, x->norm, x->norm_floor, x->value_dim, result);
        r->rows->gate(gate, result, x->value_dim, TENON_SILU);
        memcpy(result, gate, (size_t)x->value_dim * sizeof *gate);
    }
    return results;
}

/* --- heads ------------------------------------------------------------------------------------------------------- */

/* A chunk's rows up to a new one, as one head needs them. */
struct chunk {
    const float *keys[CHUNK_TOKENS];
    const float *values[CHUNK_TOKENS];
    float decays[CHUNK_TOKENS];
    int64_t count;
};

struct head {
    const struct memory_run *run;
    int64_t head, key_head;
    float *states;              /* (KEPT_STATES, key_dim, value_dim), of this thread */
    float *projected;           /* (2, CHUNK_TOKENS, value_dim): of keys and of queries */
    float *values;              /* (CHUNK_TOKENS, value_dim) */
    int64_t owner[KEPT_STATES]; /* the row that each state follows, or -1 */
    int64_t next;
};

static void advance(const struct head *w, const float *state, const struct chunk *c, float *out)
{
    const struct tenon_memory *x = w->run->memory;
    float factors[CHUNK_TOKENS];
    const float last = c->decays[c->count - 1];
    for (int64_t j = 0; j < c->count; j++)
        factors[j] = expf(last - c->decays[j]);
    w->run->rows->remember(state, expf(last), c->keys, c->values, factors, c->count, x->key_dim, x->value_dim, out);
}

/* Computes a new row behind the others of its chunk; projected: the state's products with its key and its query.
 * Mamba-2 takes nothing off what it writes. */
static void solve(const struct head *w, const struct chunk *c, const float *key, const float *query, const float *value,
                  float write, float decay, const float *projected_key, const float *projected_query, float *kept,
                  float *result)
{
    const struct row_operations *rows = w->run->rows;
    const struct tenon_memory *x = w->run->memory;
    const int64_t inner = x->key_dim, n = x->value_dim;
    const float since = expf(decay);
    for (int64_t i = 0; i < n; i++) {
        kept[i] = x->skip ? 0.0f : since * projected_key[i];
        result[i] = since * projected_query[i];
    }
    for (int64_t j = 0; j < c->count; j++) {
        const float stays = expf(decay - c->decays[j]);
        if (!x->skip)
            rows->add_scaled(kept, c->values[j], stays * rows->dot(key, c->keys[j], inner), n);
        rows->add_scaled(result, c->values[j], stays * rows->dot(query, c->keys[j], inner), n);
    }
    for (int64_t i = 0; i < n; i++)
        kept[i] = write * (value[i] - kept[i]);
    rows->add_scaled(result, kept, rows->dot(query, key, inner), n);
    if (x->skip)
        rows->add_scaled(result, value, x->skip[w->head], n);
}

static int64_t key_head_of(const struct tenon_memory *x, int64_t head)
{
    return x->tiled ? head % x->key_heads : head / (x->heads / x->key_heads);
}

static const float *key_of(const struct head *w, const struct tenon_frame *f, int64_t place)
{
    const struct tenon_memory *x = w->run->memory;
    return f->keys + (place * x->key_heads + w->key_head) * x->key_dim;
}

static float *value_of(const struct head *w, const struct tenon_frame *f, int64_t place)
{
    const struct tenon_memory *x = w->run->memory;
    return f->values + (place * x->heads + w->head) * x->value_dim;
}

static float *decay_of(const struct head *w, const struct tenon_frame *f, int64_t place)
{
    return f->decays + place * w->run->memory->heads + w->head;
}

/* The rows of a path from `begin` up to `end`. */
static struct chunk chunk_of(const struct head *w, const struct text_frames *f, int64_t row, int64_t begin, int64_t end)
{
    struct chunk c = {.count = end - begin};
    for (int64_t j = 0; j < c.count; j++) {
        const int64_t place = path_row(f, row, begin + j);
        c.keys[j] = key_of(w, f->source, place);
        c.values[j] = value_of(w, f->source, place);
        c.decays[j] = *decay_of(w, f->source, place);
    }
    return c;
}

/* The state at the place `begin` of a row's path; `taken`: the place among those kept, or -1 for the frame's own. */
static const float *state_at(struct head *w, const struct text_frames *f, int64_t row, int64_t begin, int64_t *taken)
{
    const int64_t size = state_floats(w->run->memory);
    *taken = -1;
    if (!begin)
        return f->source->state + w->head * size;
    const int64_t owner = path_row(f, row, begin - 1);
    for (int64_t i = 0; i < KEPT_STATES; i++)
        if (w->owner[i] == owner) {
            *taken = i;
            return w->states + i * size;
        }
    int64_t parent;
    const float *before = state_at(w, f, row, begin - CHUNK_TOKENS, &parent);
    if (w->next == parent)
        w->next = (w->next + 1) % KEPT_STATES;
    const int64_t own = w->next;
    w->next = (w->next + 1) % KEPT_STATES;
    const struct chunk c = chunk_of(w, f, row, begin - CHUNK_TOKENS, begin);
    advance(w, before, &c, w->states + own * size);
    w->owner[own] = owner;
    *taken = own;
    return w->states + own * size;
}

static const float *mixed_of(const struct head *w, const struct text_frames *f, int64_t row)
{
    return w->run->mixed + (f->first_row + row) * channels_of(w->run->memory);
}

/* Multiplies a state with the keys and the queries of new rows, or with Mamba-2's queries alone. */
static void project(const struct head *w, const struct text_frames *f, const float *state, int64_t row, int64_t count)
{
    const struct tenon_memory *x = w->run->memory;
    const float *rows[2 * CHUNK_TOKENS];
    int64_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        const float *mixed = mixed_of(w, f, row + i) + w->key_head * x->key_dim;
        if (!x->skip)
            rows[all++] = mixed + keys_at(x);
        rows[all++] = mixed + queries_at(x);
    }
    w->run->rows->project(state, rows, all, x->key_dim, x->value_dim, w->projected);
}

static void solve_row(const struct head *w, const struct text_frames *f, const struct chunk *c, int64_t row, int64_t at,
                      float *kept, float *decay)
{
    const struct tenon_memory *x = w->run->memory;
    const float *mixed = mixed_of(w, f, row), *of_head = mixed + w->key_head * x->key_dim;
    const float *projected = w->projected + (x->skip ? at : 2 * at + 1) * x->value_dim;
    const int64_t token = f->first_row + row, place = token * x->heads + w->head;
    *decay = w->run->decays[place] + (c->count ? c->decays[c->count - 1] : 0.0f);
    solve(w, c, of_head + keys_at(x), of_head + queries_at(x), mixed + values_at(x) + w->head * x->value_dim,
          w->run->writes[place], *decay, x->skip ? NULL : projected - x->value_dim, projected, kept,
          w->run->results + place * x->value_dim);
}

static void head_of_draft(struct head *w, const struct text_frames *f)
{
    const struct tenon_frame *frame = f->source;
    for (int64_t row = 0; row < f->text->rows;) {
        int64_t taken, begin = (path_length(f, row) - 1) / CHUNK_TOKENS * CHUNK_TOKENS, count = 1;
        const int64_t owner = begin ? path_row(f, row, begin - 1) : -1;
        const float *state = state_at(w, f, row, begin, &taken);
        for (; row + count < f->text->rows && count < CHUNK_TOKENS; count++) {  /* rows with the same state */
            const int64_t other = (path_length(f, row + count) - 1) / CHUNK_TOKENS * CHUNK_TOKENS;
            if (other != begin || (begin && path_row(f, row + count, begin - 1) != owner))
                break;
        }
        project(w, f, state, row, count);
        for (int64_t i = 0; i < count; i++, row++) {
            const struct chunk c = chunk_of(w, f, row, begin, path_length(f, row) - 1);
            solve_row(w, f, &c, row, i, value_of(w, frame, f->before + row), decay_of(w, frame, f->before + row));
        }
    }
}

static void head_of_prompt(struct head *w, const struct text_frames *f)
{
    const struct tenon_memory *x = w->run->memory;
    const int64_t size = state_floats(x), n = f->text->rows;
    const float *state = f->source->state + w->head * size;
    float *own = f->target->state + w->head * size;
    struct chunk c = {.count = 0};
    for (int64_t j = 0; j < f->before; j++, c.count++) {
        c.keys[j] = key_of(w, f->source, j);
        c.values[j] = value_of(w, f->source, j);
        c.decays[j] = *decay_of(w, f->source, j);
    }
    int64_t base = f->source->base;
    for (int64_t row = 0; row < n;) {
        if (c.count == CHUNK_TOKENS) {
            advance(w, state, &c, own);
            state = own;
            base += CHUNK_TOKENS;
            c.count = 0;
            for (int64_t i = 0; i < f->memory->marks; i++)
                if (f->memory->mark[i] == base)
                    memcpy(f->memory->mark_states[i] + w->head * size, state, (size_t)size * sizeof *own);
        }
        const int64_t left = CHUNK_TOKENS - c.count, count = n - row < left ? n - row : left;
        project(w, f, state, row, count);
        for (int64_t i = 0; i < count; i++, row++) {
            float *kept = w->values + c.count * x->value_dim;
            solve_row(w, f, &c, row, i, kept, &c.decays[c.count]);
            c.keys[c.count] = mixed_of(w, f, row) + keys_at(x) + w->key_head * x->key_dim;
            c.values[c.count++] = kept;
        }
    }
    if (state != own)
        memcpy(own, state, (size_t)size * sizeof *own);
    for (int64_t j = 0; j < c.count; j++) {
        memcpy(value_of(w, f->target, j), c.values[j], (size_t)x->value_dim * sizeof *own);
        *decay_of(w, f->target, j) = c.decays[j];
    }
}

void memory_head(const struct memory_run *r, int64_t head, int32_t thread)
{
    const struct tenon_memory *x = r->memory;
    uint8_t *workspace = r->workspace + thread * memory_workspace_bytes(r);
    struct head w = {.run = r, .head = head, .states = (float *)(void *)workspace};
    w.key_head = key_head_of(x, head);
    w.projected = (float *)(void *)(workspace + float_bytes(KEPT_STATES * state_floats(x)));
    w.values = w.projected + 2 * CHUNK_TOKENS * x->value_dim;
    int64_t first = 0;
    for (int64_t text = 0; text < r->step->texts; text++) {
        const struct text_frames f = frames_of(r, text, first);
        for (int64_t i = 0; i < KEPT_STATES; i++)
            w.owner[i] = -1;
        if (f.memory->is_long)
            head_of_prompt(&w, &f);
        else
            head_of_draft(&w, &f);
        first += f.text->rows;
    }
}

void memory_begin(const struct memory_run *r)
{
    for (int64_t text = 0, first = 0; r->memory && text < r->step->texts; first += r->step->text[text++].rows) {
        const struct text_frames f = frames_of(r, text, first);
        if (f.memory->is_long)
            f.target->base = (f.text->length + f.text->pending + f.text->rows - 1) / CHUNK_TOKENS * CHUNK_TOKENS;
    }
}

void memory_end(const struct memory_run *r)
{
    for (int64_t text = 0; r->memory && text < r->step->texts; text++) {
        struct tenon_text_memory *memory = r->caches[text][r->index];
        if (memory->is_long)
            memory->current = r->step->text[text].pending && memory->current == 1 ? 2 : 1;
    }
}

struct chunk_run {
    struct memory_run run;
    struct text_frames frames;
    int64_t first;
    float *state;
    struct shares shares;
};

static void add_heads(void *context, int32_t thread)
{
    struct chunk_run *r = context;
    const struct tenon_memory *x = r->run.memory;
    for (int64_t head; (head = shares_take(&r->shares, thread)) >= 0; shares_finish(&r->shares)) {
        const struct head w = {.run = &r->run, .head = head, .key_head = key_head_of(x, head)};
        const struct chunk c = chunk_of(&w, &r->frames, 0, r->first, r->first + CHUNK_TOKENS);
        advance(&w, r->frames.source->state + head * state_floats(x), &c, r->state + head * state_floats(x));
    }
    shares_wait(&r->shares);
}

void tenon_add_chunk(const struct tenon_memory *memory, const struct tenon_frame *frame, int64_t first, float *state,
                     int32_t threads)
{
    const struct tenon_layer layer = {.memory = memory};
    struct chunk_run r = {.run = memory_of(&layer, NULL, dispatch_highest()->rows), .first = first, .state = state,
                          .frames = {.source = frame, .committed = first + CHUNK_TOKENS}};
    threads = pool_team(threads);
    shares_init(&r.shares, memory->heads, threads);
    pool_run(add_heads, &r, threads);
}
