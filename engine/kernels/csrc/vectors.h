/* The compiler's vectors of VECTOR_BYTES (16, 32 or 64) bytes, which the including file defines. */
#ifndef TENON_VECTORS_H
#define TENON_VECTORS_H

#include "inline.h"

#include <stdint.h>
#include <string.h>

enum { LANES = VECTOR_BYTES / 4 };

typedef float fvec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t uvec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t hvec __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef double dvec __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t lvec __attribute__((vector_size(VECTOR_BYTES)));

INLINE fvec load(const float *p) { fvec v; memcpy(&v, p, sizeof v); return v; }
INLINE void store(float *p, fvec v) { memcpy(p, &v, sizeof v); }
INLINE fvec zero(void) { return (fvec){0}; }
INLINE uvec load_words(const void *p) { uvec v; memcpy(&v, p, sizeof v); return v; }
INLINE void store_words(void *p, uvec v) { memcpy(p, &v, sizeof v); }

INLINE fvec load_half(const uint16_t *p)
{
    hvec half;
    memcpy(&half, p, sizeof half);
    return (fvec)(__builtin_convertvector(half, uvec) << 16);
}

/* A sum over the lanes, by halves. */
INLINE float total(fvec v)
{
    float lanes[LANES];
    store(lanes, v);
    UNROLL
    for (int width = LANES / 2; width > 0; width /= 2)
        UNROLL
        for (int i = 0; i < width; i++)
            lanes[i] += lanes[i + width];
    return lanes[0];
}

#if defined(__clang__) || __GNUC__ >= 12
#define CHOOSE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CHOOSE(a, b, ...) __builtin_shuffle(a, b, (uvec){__VA_ARGS__})
#endif

/* The lower and the upper halves of two vectors, lane by lane in turn. */
#if VECTOR_BYTES == 16
#define ZIP_LOW(a, b) CHOOSE(a, b, 0, 4, 1, 5)
#define ZIP_HIGH(a, b) CHOOSE(a, b, 2, 6, 3, 7)
#elif VECTOR_BYTES == 32
#define ZIP_LOW(a, b) CHOOSE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) CHOOSE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define ZIP_LOW(a, b) CHOOSE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define ZIP_HIGH(a, b) CHOOSE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#endif

/* Rows become columns, by as many rounds of zips as a lane's number has bits. */
INLINE void transpose(uvec rows[LANES])
{
    UNROLL
    for (int width = 1; width < LANES; width *= 2) {
        uvec zipped[LANES];
        UNROLL
        for (int i = 0; i < LANES / 2; i++) {
            zipped[2 * i] = ZIP_LOW(rows[i], rows[i + LANES / 2]);
            zipped[2 * i + 1] = ZIP_HIGH(rows[i], rows[i + LANES / 2]);
        }
        UNROLL
        for (int i = 0; i < LANES; i++)
            rows[i] = zipped[i];
    }
}

#endif
