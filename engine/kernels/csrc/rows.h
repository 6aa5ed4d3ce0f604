/* What a decoder layer does to rows of activations between its products: one table of functions per vector width. */
#ifndef TENON_ROWS_H
#define TENON_ROWS_H

#include <stdint.h>

/* The queries of one token that share a key-value head, and the keys that they see.
 *
 * A key's index is its position in the text: those before `length` are the cache's rows of the same index, the others
 * the token's ancestors among the uncommitted rows, in order. Blocks of keys are cut by index, so what a token gets
 * depends neither on the other tokens of the forward nor on whether its ancestors are committed. */
struct attention {
    const float *queries;       /* (queries, head_dim), scaled */
    float *out;                 /* (queries, head_dim) */
    int64_t queries_count, head_dim;
    const uint16_t *keys, *values;  /* (rows, head_dim) bfloat16, of this key-value head */
    int64_t first, end;         /* indices that are seen */
    int64_t length;
    const int32_t *ancestors;   /* row - length of index length, length + 1, ...; NULL: 0, 1, ... */
    float soft_cap;             /* 0: none */
};

struct row_operations {
    /* out = x * gain / sqrt(sum(x^2) + floor); out may be x */
    void (*norm)(const float *x, const float *gain, float floor, int64_t n, float *out);
    /* x += y */
    void (*add)(float *x, const float *y, int64_t n);
    /* x = x * cosine + (x with its halves exchanged) * sine, times factor; the channels behind `rotated` only times
     * factor */
    void (*rotate)(float *x, const float *cosine, const float *sine, int64_t rotated, int64_t n, float factor);
    void (*to_bfloat16)(const float *x, int64_t n, uint16_t *out);
    /* gate = activation(gate) * up */
    void (*gate)(float *gate, const float *up, int64_t n, int32_t activation);
    void (*attend)(const struct attention *a);
};

extern const struct row_operations rows128, rows256, rows512;

#endif
