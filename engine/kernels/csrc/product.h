/* A matrix product in pieces that any thread can take: tokens to bring into the kernel's form, then panels. */
#ifndef TENON_PRODUCT_H
#define TENON_PRODUCT_H

#include "job.h"
#include "tenon.h"

struct product {
    struct job job;
    kernel *kernel;
    quantizer *quantize;        /* NULL: bf16 */
    converter *convert;         /* bf16 */
    int64_t k;                  /* as given, unpadded */
    int32_t x_bytes;            /* of one activation in the kernel's form */
    uint8_t *prepared;
    float *x_scale;             /* integer formats, with the job's blocks per token */
    int32_t *start;
};

/* The product of `m` tokens with a packed matrix, by the instruction set chosen for that width. */
struct product product_of(const struct tenon_matrix *matrix, int64_t m);

int64_t product_panels(const struct product *p);

/* Bytes that `m` tokens take in the kernel's form; scratch memory is to be aligned to 64 bytes. */
int64_t product_scratch_bytes(const struct product *p, int64_t m);

/* Says how many tokens there are, where they are prepared, and where the results go: (m, n). */
void product_bind(struct product *p, int64_t m, uint8_t *scratch, float *out);

/* Brings a token's activations (k) into form. */
void product_prepare(const struct product *p, const float *x, int64_t token);

/* Multiplies all tokens with a panel; all of them are prepared. */
void product_panel(const struct product *p, int64_t panel);

#endif
