/* The library's whole interface: plain C, little-endian machines, no dependency but libc and threads.
 *
 * Packed weights. Rows (output channels) stand in panels of 32, columns (the inner dimension, k) are padded with
 * zeros to a multiple of 64 (bf16: 32). Within a panel the inner dimension is the slow index, so a matrix-vector
 * product reads one contiguous stream, and every dot-product instruction finds the operand it wants:
 *
 *   int8   [n/32][k/4][32 rows][4 k] bytes, each plus 128, then float scale[n]
 *   int4   [n/32][k/64] blocks of 1152 bytes: 2 groups of [4][32 rows][4 bytes], where byte i of step j holds
 *          k = 8j + i in its low nibble and k = 8j + 4 + i in its high one, each plus 8; then bfloat16 scale[2][32]
 *   bf16   [n/32][k/2][32 rows][2 k] bfloat16
 *
 * n stands for the row count padded to 32; padding rows and columns are zero. Buffers should be 64-byte aligned.
 *
 * Results. x is (m, k) float32, out (m, n) float32, both dense. A token's outputs do not depend on the other tokens
 * of the call, nor on m, except that AMX's bf16 tiles, which take over at 16 tokens, round in another order. int8 and
 * int4 are the same bit for bit with every instruction set but the portable one, which
 * does without fused multiply-add; bf16 differs between sets. Integer formats quantize each token's x in spans of 128
 * (int8) or groups of 32 (int4) by the largest magnitude in each; a NaN or an infinity in a token's x makes all of
 * that token's outputs NaN, and no other's.
 *
 * Functions return 0, or TENON_NO_MEMORY when scratch memory could not be had.
 */
#ifndef TENON_H
#define TENON_H

#include <stdint.h>

#if defined(_WIN32)
#define TENON_API __declspec(dllexport)
#else
#define TENON_API __attribute__((visibility("default")))
#endif

enum { TENON_VERSION = 1, TENON_NO_MEMORY = 1 };

/* Changes whenever a packed layout or a signature does. */
TENON_API int32_t tenon_version(void);

/* Takes the best instruction set that this machine has and that is not above `cap` (NULL: none), and names it;
 * NULL when the cap's name is not known. Not to be called while another thread multiplies. */
TENON_API const char *tenon_select(const char *cap);

/* The instruction set's name by index from the lowest, NULL after the last; `usable` says whether it can run here. */
TENON_API const char *tenon_instruction_set(int32_t index, int32_t *usable);

/* How long an idle worker spins before it sleeps. */
TENON_API void tenon_set_spin(int64_t microseconds);

TENON_API int32_t tenon_int8_matmul(const void *packed, int64_t n, int64_t k, const float *x, int64_t m,
                                    const float *bias, float *out, int32_t threads);
TENON_API int32_t tenon_int4_matmul(const void *packed, int64_t n, int64_t k, const float *x, int64_t m,
                                    const float *bias, float *out, int32_t threads);
TENON_API int32_t tenon_bf16_matmul(const void *packed, int64_t n, int64_t k, const float *x, int64_t m,
                                    const float *bias, float *out, int32_t threads);

#endif
