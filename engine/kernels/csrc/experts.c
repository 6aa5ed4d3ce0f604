/* A layer's experts alone, for rows whose layer is computed elsewhere: one call, and each chosen expert is read once. */
#include "dispatch.h"
#include "mixture.h"
#include "pool.h"

#include <string.h>

enum { SORT, PREPARE, MULTIPLY_GATE_UP, GATE_ROWS, MULTIPLY_DOWN, ADD, STAGES };

struct experts_run {
    struct mixture_run mixture;
    const float *rows;
    float *out;
    int32_t threads;
    struct shares shares[STAGES];
};

static void run_item(struct experts_run *r, int stage, int64_t item)
{
    const struct mixture_run *x = &r->mixture;
    switch (stage) {
    case SORT:
        mixture_sort(x);
        shares_init(&r->shares[MULTIPLY_GATE_UP], mixture_items(x, GATE_UP), r->threads);
        shares_init(&r->shares[MULTIPLY_DOWN], mixture_items(x, DOWN), r->threads);
        break;
    case PREPARE: mixture_prepare(x, r->rows, item); break;
    case MULTIPLY_GATE_UP: mixture_multiply(x, GATE_UP, item); break;
    case GATE_ROWS: mixture_gate(x, item); break;
    case MULTIPLY_DOWN: mixture_multiply(x, DOWN, item); break;
    default:
        memset(r->out + item * x->hidden, 0, (size_t)x->hidden * sizeof *r->out);
        mixture_add(x, item, r->out + item * x->hidden);
    }
}

static void work(void *context, int32_t thread)
{
    struct experts_run *r = context;
    for (int i = 0; i < STAGES; i++) {
        int64_t item;
        while ((item = shares_take(&r->shares[i], thread)) >= 0) {
            run_item(r, i, item);
            shares_finish(&r->shares[i]);
        }
        shares_wait(&r->shares[i]);
    }
}

int64_t tenon_experts_scratch_bytes(const struct tenon_mixture *mixture, int64_t m)
{
    struct mixture_run r = {.mixture = mixture, .hidden = mixture->down->n, .m = m};
    return mixture_forms_bytes(mixture, m) + mixture_lay_out(&r, NULL);
}

void tenon_experts(const struct tenon_mixture *mixture, int32_t activation, const float *rows, int64_t m,
                   const int32_t *choice, const float *weight, float *out, uint8_t *scratch, int32_t threads)
{
    struct experts_run r = {
        .mixture = {mixture, dispatch_highest()->rows, activation, mixture->down->n, m},
        .rows = rows,
        .out = out,
        .threads = pool_team(threads),
    };
    r.mixture.forms = scratch;
    mixture_lay_out(&r.mixture, scratch + mixture_forms_bytes(mixture, m));
    const int64_t pairs = r.mixture.pairs, counts[STAGES] = {1, pairs, 0, pairs, 0, m};
    memcpy(r.mixture.choice, choice, (size_t)pairs * sizeof *choice);
    memcpy(r.mixture.weight, weight, (size_t)pairs * sizeof *weight);
    for (int i = 0; i < STAGES; i++)
        shares_init(&r.shares[i], counts[i], r.threads);
    pool_run(work, &r, r.threads);
}
