/* What a kernel is given, and what an instruction set offers. */
#ifndef TENON_JOB_H
#define TENON_JOB_H

#include <stddef.h>
#include <stdint.h>

enum {
    PANEL_ROWS = 32,
    STEP_BYTES = 128,           /* four inner elements of a panel's rows, as bytes */
    GROUP = 32,                 /* inner elements whose activations share a scale */
    GROUP_STEPS = GROUP / 4,
    CHUNK_GROUPS = 8,           /* groups that are spread at a time */
    LARGE_UNIT = CHUNK_GROUPS * GROUP,  /* inner elements of a K type's block */
    BF16_PAD = 32,
    TILE_TOKENS = 16,           /* prepared activations may stand in tiles of so many tokens */
};

/* The arithmetic of a block type: w = scale * q + min by sub-blocks of `sub` inner elements, where q stands for
 * `zero` less than its unsigned form. */
struct block_type {
    int32_t type;               /* GGML's number */
    int32_t unit;               /* inner elements of a unit of the arranged layout: GROUP to LARGE_UNIT */
    int32_t unit_bytes;         /* of a panel's unit */
    int32_t sub;                /* GROUP or GROUP / 2 */
    int32_t mins;               /* whether there is a min */
    int32_t zero;
    int32_t bits;               /* of the unsigned form, as far as sums of products are concerned */
};

/* The integers' part of a prepared activation: without mins where integer sums begin, minus the zero point times the
 * activations' sum; with mins that sum times the activations' scale. A pair
 * is the start of sums of 16 bits, of the first two products of each four and of the others. */
union offset { int32_t start; float sum; int16_t pair[2]; };

/* One product out = x * weights', with the activations in the form that the kernel wants. */
struct job {
    const uint8_t *weights;     /* panels */
    const struct block_type *type;  /* NULL: bf16 and f16 */
    uint8_t *x;                 /* (m, k) prepared, in tiles of tokens (quantize.h), as are the next two */
    float *x_scale;             /* (m, groups) */
    union offset *offset;       /* (m, groups * GROUP / sub) */
    int64_t groups;
    int64_t rest;               /* bytes from these three to the same of what quantizing left; 0: it is left out */
    float refined_above;        /* see tenon.h; INFINITY: there is no rest */
    uint8_t *refined;           /* by tiles like x_scale: whether there is a rest that is not zeros */
    const float *bias;          /* (n) or NULL */
    float factor;               /* of all outputs */
    float *out;                 /* (m, n), rows out_stride apart */
    int64_t out_stride;
    int64_t m, n;
    int64_t k;                  /* padded */
    int64_t inner;              /* as given */
    int64_t panel_bytes;
};

/* Multiplies `tokens` tokens from `token` on with a panel. */
typedef void kernel(const struct job *job, int64_t panel, int64_t token, int64_t tokens);

/* Brings one token's activations, (inner), into form. */
typedef void preparation(const struct job *job, const float *x, int64_t token);

/* How an instruction set multiplies with matrices of one kind. */
struct multiplier {
    kernel *multiply;
    preparation *prepare;
    int32_t x_bytes;            /* of one prepared activation */
};

enum { MOST_TOKENS = 512 };     /* of one call of a kernel */

struct row_operations;
struct attention_operations;

struct instruction_set {
    const char *name;
    int (*usable)(void);
    const struct multiplier *blocks, *bf16, *f16;
    const struct multiplier *tiled;     /* blocks of one scale a group, from `tiled_from` tokens on; or NULL */
    int64_t tiled_from;
    const struct row_operations *rows;
    const struct attention_operations *attention;
};

#endif
