/* A layer's mixture of experts in pieces that any thread can take. Each token chooses experts; then one thread sorts the
 * pairs of token and expert by expert, so that an expert's matrices are read once for all tokens that chose it; and
 * what the experts of a token gave is added up in the order of its choices, which is the token's own. */
#ifndef TENON_MIXTURE_H
#define TENON_MIXTURE_H

#include "product.h"
#include "rows.h"

struct chosen_experts;

struct mixture_run {
    const struct tenon_mixture *mixture;    /* NULL: there is none */
    const struct row_operations *rows;
    int32_t activation;
    int64_t hidden, m, pairs;
    struct chosen_experts *experts;         /* written by mixture_sort */
    int32_t *choice;            /* (m, chosen): experts */
    float *weight;              /* (m, chosen): of what they give */
    int32_t *place;             /* (m, chosen): of the pair, sorted by expert */
    int32_t *token, *owner;     /* (pairs) by place: the token, and which of the chosen experts */
    int32_t *counts;            /* (experts) */
    uint8_t *forms;             /* of the activations; gate and up's, then down's */
    float *gate_up, *mapped;    /* (pairs, 2 wide), then (pairs, hidden) in the same memory */
};

/* Bytes for the forms of the activations of m tokens, however they choose. */
int64_t mixture_forms_bytes(const struct tenon_mixture *mixture, int64_t m);

/* Hands out the rest of the scratch memory, and returns its bytes; with base NULL it only counts. */
int64_t mixture_lay_out(struct mixture_run *r, uint8_t *base);

/* Chooses a token's experts by the router's logits (experts), which become scores. */
void mixture_choose(const struct mixture_run *r, float *logits, int64_t token);

/* Sorts the pairs, once all tokens have chosen. */
void mixture_sort(const struct mixture_run *r);

/* Counts the choices that the token before had made too, where the tokens are a chain. */
void mixture_count_repeats(const struct mixture_run *r, int chain);

/* The two stages of products, and their items. */
enum { GATE_UP, DOWN };
int64_t mixture_items(const struct mixture_run *r, int stage);
void mixture_multiply(const struct mixture_run *r, int stage, int64_t item);

/* Brings the token at a place, of the normed rows (m, hidden), into form. */
void mixture_prepare(const struct mixture_run *r, const float *normed, int64_t place);

/* Brings what gate and up gave at a place into form. */
void mixture_gate(const struct mixture_run *r, int64_t place);

/* Adds what a token's experts gave to out (hidden). */
void mixture_add(const struct mixture_run *r, int64_t token, float *out);

#endif
