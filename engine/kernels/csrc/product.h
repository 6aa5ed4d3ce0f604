/* A matrix product in pieces that any thread can take: tokens to bring into the kernel's form, then panels by blocks of
 * tokens. */
#ifndef TENON_PRODUCT_H
#define TENON_PRODUCT_H

#include "job.h"
#include "tenon.h"

struct product {
    struct job job;
    const struct multiplier *multiplier;
    const struct tenon_matrix *matrix;
    float *changed;             /* (m, k): rotated or bounded inputs */
};

/* The product of `m` tokens with an arranged matrix, by the instruction set chosen for that width. */
struct product product_of(const struct tenon_matrix *matrix, int64_t m);

/* Panels by blocks of tokens; the panels of a block come one after the other. */
int64_t product_items(const struct product *p);

/* Whether two products take the same prepared activations. */
int product_shares_form(const struct product *a, const struct product *b);

/* Bytes of so many floats in scratch memory, of which each part is aligned to 64 bytes. */
static inline int64_t float_bytes(int64_t count)
{
    return (count * (int64_t)sizeof(float) + 63) / 64 * 64;
}

/* Bytes that the tokens take in the kernel's form; scratch memory is to be aligned to 64 bytes. */
int64_t product_scratch_bytes(const struct product *p);

/* Says where tokens are prepared, and where the results go: (m, n), rows out_stride apart. */
void product_bind(struct product *p, uint8_t *scratch, float *out, int64_t out_stride);

/* Brings a token's activations (k) into form. */
void product_prepare(const struct product *p, const float *x, int64_t token);

/* Multiplies an item; all its tokens are prepared. */
void product_multiply(const struct product *p, int64_t item);

/* Products of one input, which write into columns of one output. */
struct products { struct product *first, *end; };

/* Those of the matrices that have rows of their own, from `into` on. */
struct products products_of(struct product *into, const struct tenon_matrix *const *matrices, int count, int64_t m);

/* Each of these for all of the products; the forms that they share are made once. */
int64_t products_items(const struct products *s);
void products_prepare(const struct products *s, const float *x, int64_t token);
void products_multiply(const struct products *s, int64_t item);

/* Binds all, and returns the bytes of their forms; with base NULL it only counts. */
int64_t products_bind(struct products *s, uint8_t *base, float *out, int64_t out_stride);

#endif
