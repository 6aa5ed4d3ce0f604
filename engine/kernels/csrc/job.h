/* What a kernel is given, and what an instruction set offers. */
#ifndef TENON_JOB_H
#define TENON_JOB_H

#include <stddef.h>
#include <stdint.h>

enum {
    PANEL_ROWS = 32,
    STEP_BYTES = 128,           /* one step of the inner dimension over a panel, in every format */
    GROUP = 32,                 /* inner elements that share an int4 scale, and their activations another */
    SPAN = 128,                 /* inner elements of an int8 product whose activations share a scale */
    BLOCK = 64,                 /* inner elements of an int4 block; padding of the integer formats */
    BLOCK_BYTES = 1024 + 128,   /* nibbles, then two groups of bfloat16 scales */
    BF16_PAD = 32,
    INT4_ZERO = 8,              /* what packed weights are above what they stand for */
    INT8_ZERO = 128,
};

/* One product out = x * weights', with the activations already in the form that the kernel wants. */
struct job {
    const uint8_t *weights;     /* packed panels */
    const float *row_scale;     /* int8: (n padded) */
    const void *x;              /* (m, k padded), in the form that the kernel wants */
    const float *x_scale;       /* (m, blocks): integer formats, of a group or a span each */
    const int32_t *start;       /* (m, blocks): where sums begin, minus the zero point times the activations' sum */
    int64_t blocks;
    const float *bias;          /* (n) or NULL */
    float *out;                 /* (m, n) */
    int64_t m, n;
    int64_t k;                  /* padded */
    int64_t panel_bytes;
};

typedef void kernel(const struct job *job, int64_t panel);

/* Quantizes one token, each block of it by its own largest magnitude. */
typedef void quantizer(const float *x, int64_t k, int64_t padded, void *q, float *scale, int32_t *start);

/* Copies one token for the bf16 kernel, as float or as bfloat16. */
typedef void converter(const float *x, int64_t k, int64_t padded, void *converted);

struct row_operations;
struct attention_operations;

struct instruction_set {
    const char *name;
    int (*usable)(void);
    kernel *int8;
    quantizer *int8_quantize;
    int32_t int8_x_bytes;       /* of one quantized activation */
    kernel *int4;
    quantizer *int4_quantize;
    kernel *bf16;
    converter *bf16_convert;
    int32_t bf16_x_bytes;
    const struct row_operations *rows;
    const struct attention_operations *attention;
};

#endif
