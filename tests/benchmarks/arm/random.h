/* The same random matrix and activations for both programs. */
#include <stdint.h>

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1103515245u + 12345u;
    return state >> 8;
}

/* Blocks whose numbers of half precision, at either end, are small. */
static void random_blocks(uint8_t *raw, int64_t bytes, int64_t block)
{
    for (int64_t i = 0; i < bytes; i++)
        raw[i] = (uint8_t)(i % block < 2 || i % block >= block - 2 ? 0x10 : next());
}

static void random_floats(float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(next() & 0xffff) / 65536.0f - 0.5f;
}
