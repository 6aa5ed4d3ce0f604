/* Gated DeltaNet, or Mamba-2, in pieces that any thread can take: a token's convolution, norms and gates, then a head's states and
 * rows, then a token's norm and gate. */
#ifndef TENON_MEMORY_H
#define TENON_MEMORY_H

#include "product.h"
#include "rows.h"

enum { KEPT_STATES = 8 };       /* of later chunks' beginnings, of a thread */

struct memory_run {
    const struct tenon_layer *layer;
    const struct tenon_memory *memory;      /* NULL: the layer has attention */
    const struct tenon_step *step;
    const struct row_operations *rows;
    void *const *const *caches;
    int64_t index;              /* of the layer in them */
    const float *mapped;        /* (m, mapped_stride): the first products' results */
    int64_t mapped_stride;
    float *inputs;              /* (m, channels) where maps are joined; else in `mapped` */
    float *mixed;               /* (m, channels) behind the convolution, queries and keys normed */
    float *writes, *decays;     /* (m, heads) */
    float *results;             /* (m, heads, value_dim) */
    uint8_t *workspace;         /* of all threads */
};

struct memory_run memory_of(const struct tenon_layer *layer, const struct tenon_step *step,
                            const struct row_operations *rows);
int64_t memory_workspace_bytes(const struct memory_run *r);

/* Hands out scratch memory, and returns its bytes; with base NULL it only counts. */
int64_t memory_lay_out(struct memory_run *r, uint8_t *base, float *mapped, int64_t stride, int32_t threads);

/* A token's inputs side by side, where maps are joined. */
void memory_gather(const struct memory_run *r, int64_t token);
void memory_take(const struct memory_run *r, int64_t token);
void memory_head(const struct memory_run *r, int64_t head, int32_t thread);

/* The row that the output maps. */
const float *memory_give(const struct memory_run *r, int64_t token);

/* Before all tokens, and after all heads: where a piece of a prompt leaves its states. */
void memory_begin(const struct memory_run *r);
void memory_end(const struct memory_run *r);

#endif
