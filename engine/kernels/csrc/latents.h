/* Attention over latents in pieces that any thread can take, but for attention itself: a token's latent is cached, each
 * head's query is brought into the latents' space, and each head's values come out of the sums behind it. */
#ifndef TENON_LATENTS_H
#define TENON_LATENTS_H

#include "product.h"
#include "rows.h"

/* A matrix for each head, which multiplies rows of the head's own. */
struct head_products {
    const struct tenon_matrix *matrices;    /* (heads) */
    int64_t heads, m;
    uint8_t *forms;             /* of the activations, head by head */
    float *out;                 /* (m, heads, out_width), of which a head's first n are written */
    int64_t out_width;
};

struct latents_run {
    const struct tenon_layer *layer;
    const struct tenon_latents *latents;    /* NULL: keys and values are cached, and there is nothing to do */
    const struct row_operations *rows;
    struct products query_up;
    struct head_products key_up, value_up;
    float *mapped;              /* (m, heads, plain + rotated), rows mapped_stride apart */
    int64_t mapped_stride;
    float *queries;             /* (m, heads, head_dim), in the latents' space */
    float *values;              /* (m, heads, values) */
};

/* The latents of a layer, if it has such; `into` holds the product of query_up. */
struct latents_run latents_of(const struct tenon_layer *layer, const struct row_operations *rows, struct product *into,
                              int64_t m);

/* Bytes for the forms of the activations. */
int64_t latents_forms_bytes(const struct latents_run *r);

/* Hands out the rest of the scratch memory, and returns its bytes; with base NULL it only counts. `mapped`: where the
 * layer's first products, rows `stride` apart, put their results. */
int64_t latents_lay_out(struct latents_run *r, uint8_t *forms, uint8_t *base, float *mapped, int64_t stride);

/* Normalises a token's row of the first products: queries are brought into form, and what is to be cached (head_dim) is
 * returned, in memory that latents_lift overwrites. */
const float *latents_begin(const struct latents_run *r, float *mapped, int64_t token, const float *cosine,
                           const float *sine);

/* Turns a token's queries, which get the factor, and brings what is not turned into form. */
void latents_lift(const struct latents_run *r, int64_t token, const float *cosine, const float *sine, float factor);

/* Brings what attention gave for a token, (heads, head_dim), into form. */
void latents_take(const struct latents_run *r, const float *mixed, int64_t token);

int64_t head_products_items(const struct head_products *s);
void head_products_multiply(const struct head_products *s, int64_t item);

#endif
