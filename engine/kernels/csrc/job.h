/* What a kernel is given, and what an instruction set offers. */
#ifndef TENON_JOB_H
#define TENON_JOB_H

#include <stddef.h>
#include <stdint.h>

enum {
    PANEL_ROWS = 32,
    STEP_BYTES = 128,           /* one step of the inner dimension over a panel, in every format */
    GROUP = 32,                 /* inner elements that share an int4 scale */
    BLOCK = 64,                 /* inner elements of an int4 block; padding of the integer formats */
    BLOCK_BYTES = 1024 + 128,   /* nibbles, then two groups of bfloat16 scales */
    BF16_PAD = 32,
    ZERO_POINT = 128,           /* of activations as unsigned bytes */
};

/* One product out = x * weights', with the activations already in the form that the kernel wants. */
struct job {
    const uint8_t *weights;     /* packed panels */
    const float *row_scale;     /* int8: (n padded) */
    const int32_t *row_sum;     /* int8: (n padded) */
    const void *x;              /* (m, k padded), in the form that the kernel wants */
    const float *x_scale;       /* (m), integer formats */
    const int32_t *group_start; /* int4: (m, k / 32), minus eight times the group's sum */
    const float *bias;          /* (n) or NULL */
    float *out;                 /* (m, n) */
    int64_t m, n;
    int64_t k;                  /* padded */
    int64_t panel_bytes;
};

typedef void kernel(const struct job *job, int64_t panel);

/* Quantizes one token in the form that the set's int8 kernel wants. */
typedef void int8_quantizer(const float *x, int64_t k, int64_t padded, void *q, float *scale);

/* Quantizes one token to int8, and sums each group. */
typedef void int4_quantizer(const float *x, int64_t k, int64_t padded, void *q, float *scale, int32_t *group_start);

/* Copies one token for the bf16 kernel, as float or as bfloat16. */
typedef void converter(const float *x, int64_t k, int64_t padded, void *converted);

struct instruction_set {
    const char *name;
    int (*usable)(void);
    kernel *int8;
    int8_quantizer *int8_quantize;
    int32_t int8_x_bytes;       /* of one quantized activation */
    kernel *int4;
    int4_quantizer *int4_quantize;
    kernel *bf16;
    converter *bf16_convert;
    int32_t bf16_x_bytes;
};

#endif
