#include "mixture.h"

#include <math.h>
#include <string.h>

enum { EXPERT_MATRICES = 3 };

struct expert {
    struct product product[EXPERT_MATRICES];
    struct products products[2];    /* by stage */
    int64_t first_item[2];
    int64_t first;                  /* place of its first pair */
};

struct chosen_experts {
    int64_t count, items[2];
    struct expert expert[];
};

static int64_t round_up(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Experts that m tokens choose at most. */
static int64_t most_chosen(const struct tenon_mixture *x, int64_t m)
{
    return m * x->chosen < x->experts ? m * x->chosen : x->experts;
}

/* The most that a tile of tokens takes, of whatever instruction set its width may choose. */
static int64_t tile_bytes(const struct tenon_matrix *const *matrices, int count)
{
    static const int64_t widths[] = {1, 3, 7, 15, TILE_TOKENS, 3 * TILE_TOKENS, 4 * TILE_TOKENS};
    int64_t most = 0;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct product product[2];
        struct products s = products_of(product, matrices, count, widths[i]);
        const int64_t tiles = (widths[i] + TILE_TOKENS - 1) / TILE_TOKENS;
        const int64_t bytes = round_up(products_bind(&s, NULL, NULL, 0) / tiles);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int64_t mixture_forms_bytes(const struct tenon_mixture *x, int64_t m)
{
    const int64_t gate_up = tile_bytes((const struct tenon_matrix *[]){x->gate, x->up}, 2);
    const int64_t down = tile_bytes((const struct tenon_matrix *[]){x->down}, 1);
    const int64_t tiles = most_chosen(x, m) + m * x->chosen / TILE_TOKENS;
    return tiles * (gate_up > down ? gate_up : down);
}

static int64_t wide(const struct tenon_mixture *x)
{
    return x->down->k;
}

int64_t mixture_lay_out(struct mixture_run *r, uint8_t *base)
{
    const struct tenon_mixture *x = r->mixture;
    const int64_t widest = 2 * wide(x) > r->hidden ? 2 * wide(x) : r->hidden;
    int64_t at = 0;
    r->pairs = r->m * x->chosen;
    r->experts = (void *)(base + at);
    at += round_up((int64_t)sizeof *r->experts + most_chosen(x, r->m) * (int64_t)sizeof(struct expert));
    int32_t **const indexes[] = {&r->choice, &r->place, &r->token, &r->owner};
    for (int i = 0; i < 4; i++) {
        *indexes[i] = (int32_t *)(void *)(base + at);
        at += round_up(r->pairs * (int64_t)sizeof(int32_t));
    }
    r->counts = (int32_t *)(void *)(base + at);
    at += round_up(x->experts * (int64_t)sizeof(int32_t));
    r->weight = (float *)(void *)(base + at);
    at += round_up(r->pairs * (int64_t)sizeof(float));
    r->gate_up = r->mapped = (float *)(void *)(base + at);
    return at + round_up(r->pairs * widest * (int64_t)sizeof(float));
}

/* The largest scores, largest first and of equal ones the first; NaN only where there is nothing else. */
static void keep_largest(int32_t *kept, float *values, int64_t *count, int64_t most, int32_t index, float value)
{
    if (*count == most && !(value > values[most - 1]))
        return;
    int64_t at = *count < most ? (*count)++ : most - 1;
    for (; at > 0 && value > values[at - 1]; at--) {
        kept[at] = kept[at - 1];
        values[at] = values[at - 1];
    }
    kept[at] = index;
    values[at] = value;
}

static float ranked(const struct tenon_mixture *x, const float *scores, int64_t expert)
{
    return x->correction ? scores[expert] + x->correction[expert] : scores[expert];
}

static int64_t choose_groups(const struct tenon_mixture *x, const float *scores, int32_t *groups)
{
    float values[TENON_MOST_GROUPS];
    int64_t count = 0;
    const int64_t each = x->experts / x->groups;
    for (int64_t g = 0; g < x->groups; g++) {
        float two[2] = {-INFINITY, -INFINITY};
        int32_t which[2];
        int64_t kept = 0;
        for (int64_t e = g * each; e < (g + 1) * each; e++)
            keep_largest(which, two, &kept, 2, (int32_t)e, ranked(x, scores, e));
        keep_largest(groups, values, &count, x->chosen_groups, (int32_t)g, x->group_scores > 1 ? two[0] + two[1] : two[0]);
    }
    return count;
}

void mixture_choose(const struct mixture_run *r, float *scores, int64_t token)
{
    const struct tenon_mixture *x = r->mixture;
    const int64_t chosen = x->chosen, each = x->experts / x->groups;
    int32_t *choice = r->choice + token * chosen;
    float *weight = r->weight + token * chosen, sum = x->sum_floor;
    int64_t count = 0;
    if (x->scores == TENON_SIGMOID)
        for (int64_t e = 0; e < x->experts; e++)
            scores[e] = 1.0f / (1.0f + expf(-scores[e]));
    if (x->groups > 1) {
        int32_t groups[TENON_MOST_GROUPS];
        const int64_t kept = choose_groups(x, scores, groups);
        for (int64_t g = 0; g < kept; g++)
            for (int64_t e = groups[g] * each; e < (groups[g] + 1) * each; e++)
                keep_largest(choice, weight, &count, chosen, (int32_t)e, ranked(x, scores, e));
    } else {
        for (int64_t e = 0; e < x->experts; e++)
            keep_largest(choice, weight, &count, chosen, (int32_t)e, ranked(x, scores, e));
    }
    if (x->scores == TENON_SOFTMAX) {
        const float largest = scores[choice[0]];
        for (int64_t e = 0; !x->normalised && e < x->experts; e++)
            sum += expf(scores[e] - largest);
        for (int64_t i = 0; i < chosen; i++)
            weight[i] = expf(scores[choice[i]] - largest);
    } else {
        for (int64_t i = 0; i < chosen; i++)
            weight[i] = scores[choice[i]];
    }
    for (int64_t i = 0; x->normalised && i < chosen; i++)
        sum += weight[i];
    const float factor = x->normalised || x->scores == TENON_SOFTMAX ? x->scale / sum : x->scale;
    for (int64_t i = 0; i < chosen; i++)
        weight[i] *= x->expert_scale ? factor * x->expert_scale[choice[i]] : factor;
}

void mixture_sort(const struct mixture_run *r)
{
    const struct tenon_mixture *x = r->mixture;
    struct chosen_experts *all = r->experts;
    int64_t place = 0, bytes[2] = {0};
    *all = (struct chosen_experts){0};
    memset(r->counts, 0, (size_t)x->experts * sizeof *r->counts);
    for (int64_t i = 0; i < r->pairs; i++)
        r->counts[r->choice[i]]++;
    for (int64_t e = 0; e < x->experts; e++) {
        const int32_t rows = r->counts[e];
        if (!rows)
            continue;
        struct expert *one = &all->expert[all->count];
        float *const out[] = {r->gate_up + place * 2 * wide(x), r->mapped + place * r->hidden};
        const int64_t strides[] = {2 * wide(x), r->hidden};
        one->products[GATE_UP] = products_of(one->product, (const struct tenon_matrix *[]){&x->gate[e], &x->up[e]}, 2,
                                             rows);
        one->products[DOWN] = products_of(one->product + 2, (const struct tenon_matrix *[]){&x->down[e]}, 1, rows);
        one->first = place;
        for (int stage = GATE_UP; stage <= DOWN; stage++) {
            bytes[stage] += products_bind(&one->products[stage], r->forms + bytes[stage], out[stage], strides[stage]);
            one->first_item[stage] = all->items[stage];
            all->items[stage] += products_items(&one->products[stage]);
        }
        r->counts[e] = (int32_t)place;
        for (int32_t i = 0; i < rows; i++)
            r->owner[place++] = (int32_t)all->count;
        all->count++;
    }
    for (int64_t i = 0; i < r->pairs; i++) {
        const int32_t at = r->counts[r->choice[i]]++;
        r->place[i] = at;
        r->token[at] = (int32_t)(i / x->chosen);
    }
}

/* Adds the choices of one token behind another's. */
static void count_repeats(int64_t *counted, const int32_t *choice, const int64_t *before, int64_t chosen)
{
    counted[0] += chosen;
    for (int64_t i = 0; i < chosen; i++)
        for (int64_t j = 0; j < chosen; j++)
            counted[1] += choice[i] == before[j];
}

void mixture_count_repeats(const struct mixture_run *r, int chain)
{
    const int64_t chosen = r->mixture->chosen;
    int64_t *counted = r->mixture->repeats, *alone = counted + 2, *last = counted + 3;
    const int32_t *choice = r->choice;
    /* Behind several rows, which may not have held, nobody knows here which of them the next one follows. */
    int known = r->m == 1 && *alone;
    for (int64_t token = 0; chain && token < r->m; token++, choice += chosen, known = 1) {
        if (known)
            count_repeats(counted, choice, last, chosen);
        for (int64_t i = 0; i < chosen; i++)
            last[i] = choice[i];
    }
    *alone = chain && r->m == 1;
}

int64_t mixture_items(const struct mixture_run *r, int stage)
{
    return r->experts->items[stage];
}

void mixture_multiply(const struct mixture_run *r, int stage, int64_t item)
{
    const struct expert *experts = r->experts->expert;
    int64_t low = 0, high = r->experts->count;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (experts[middle].first_item[stage] <= item)
            low = middle;
        else
            high = middle;
    }
    products_multiply(&experts[low].products[stage], item - experts[low].first_item[stage]);
}

void mixture_prepare(const struct mixture_run *r, const float *normed, int64_t place)
{
    const struct expert *one = &r->experts->expert[r->owner[place]];
    products_prepare(&one->products[GATE_UP], normed + r->token[place] * r->hidden, place - one->first);
}

void mixture_gate(const struct mixture_run *r, int64_t place)
{
    const struct expert *one = &r->experts->expert[r->owner[place]];
    const int64_t width = wide(r->mixture);
    float *gate = r->gate_up + place * 2 * width;
    r->rows->gate(gate, gate + width, width, r->activation);
    products_prepare(&one->products[DOWN], gate, place - one->first);
}

void mixture_add(const struct mixture_run *r, int64_t token, float *out)
{
    const int64_t chosen = r->mixture->chosen;
    for (int64_t i = token * chosen; i < (token + 1) * chosen; i++)
        r->rows->add_scaled(out, r->mapped + r->place[i] * r->hidden, r->weight[i], r->hidden);
}
