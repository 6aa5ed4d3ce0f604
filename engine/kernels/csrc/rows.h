/* What a decoder layer does to rows of activations between its products, and sampling to blocks of logits: one table of
 * functions per vector width. */
#ifndef TENON_ROWS_H
#define TENON_ROWS_H

#include <stdint.h>

struct row_operations {
    /* out = x * gain / sqrt(sum(x^2) + floor); out may be x */
    void (*norm)(const float *x, const float *gain, float floor, int64_t n, float *out);
    /* out = x - mean of x; out may be x */
    void (*centre)(const float *x, int64_t n, float *out);
    /* x += y */
    void (*add)(float *x, const float *y, int64_t n);
    /* x += y * factor */
    void (*add_scaled)(float *x, const float *y, float factor, int64_t n);
    /* x = x * cosine + (x with its halves exchanged) * sine, times factor; the channels behind `rotated` only times
     * factor */
    void (*rotate)(float *x, const float *cosine, const float *sine, int64_t rotated, int64_t n, float factor);
    /* Each `width` of n elements, a power of two, by the Walsh-Hadamard matrix. */
    void (*hadamard)(float *x, int64_t n, int64_t width);
    /* gate = activation(gate) * up; `up` may be NULL for a GELU or SiLU, and is not taken for TENON_RELU2 */
    void (*gate)(float *gate, const float *up, int64_t n, int32_t activation);
    /* out = silu(bias + sum of x[i] * taps[i]), taps (count, n) */
    void (*convolve)(const float *const *x, const float *taps, const float *bias, int64_t count, int64_t n, float *out);
    float (*dot)(const float *x, const float *y, int64_t n);
    /* out (count, n) = x * state (inner, n) */
    void (*project)(const float *state, const float *const *x, int64_t count, int64_t inner, int64_t n, float *out);
    /* out = state * stays + the products of keys, times their factors, and values; out may be state */
    void (*remember)(const float *state, float stays, const float *const *keys, const float *const *values,
                     const float *factors, int64_t count, int64_t inner, int64_t n, float *out);
    /* x *= sigmoid(gate) */
    void (*multiply_sigmoid)(float *x, const float *gate, int64_t n);
    /* out = x / by for a block of BLOCK logits; the largest, or NaN where there is one */
    float (*divide)(const float *x, float by, float *out);
    /* out = e^(x - largest) for a block, none above `largest`; their sum */
    double (*exponentials)(const float *x, float largest, double *out);
};

enum { BLOCK = 64 };

extern const struct row_operations rows128, rows256, rows512;

#endif
