#ifndef TENON_BLOCK_TYPES_H
#define TENON_BLOCK_TYPES_H

#include "job.h"
#include "tenon.h"

/* The arithmetic of the types that are stored in blocks, by number; `unit` 0: there is none. Bytes of a unit: planes of 128
 * bytes, then scales; see tenon.h. */
static const struct block_type BLOCK_TYPES[TENON_TYPES] = {
    [TENON_Q4_0] = {TENON_Q4_0, GROUP, 4 * 128 + 64, 32, 0, 8, 4},
    [TENON_Q4_1] = {TENON_Q4_1, GROUP, 4 * 128 + 128, 32, 1, 0, 4},
    [TENON_Q5_0] = {TENON_Q5_0, GROUP, 5 * 128 + 64, 32, 0, 16, 5},
    [TENON_Q5_1] = {TENON_Q5_1, GROUP, 5 * 128 + 128, 32, 1, 0, 5},
    [TENON_Q8_0] = {TENON_Q8_0, GROUP, 8 * 128 + 64, 32, 0, 128, 8},
    [TENON_Q2_K] = {TENON_Q2_K, LARGE_UNIT, 8 * 2 * 128 + 512 + 128, 16, 1, 0, 2},
    [TENON_Q3_K] = {TENON_Q3_K, LARGE_UNIT, 8 * 3 * 128 + 512 + 64, 16, 0, 4, 3},
    [TENON_Q4_K] = {TENON_Q4_K, LARGE_UNIT, 8 * 4 * 128 + 512 + 128, 32, 1, 0, 4},
    [TENON_Q5_K] = {TENON_Q5_K, LARGE_UNIT, 8 * 5 * 128 + 512 + 128, 32, 1, 0, 5},
    [TENON_Q6_K] = {TENON_Q6_K, LARGE_UNIT, 8 * 6 * 128 + 512 + 64, 16, 0, 32, 6},
    [TENON_IQ4_NL] = {TENON_IQ4_NL, GROUP, 4 * 128 + 64, 32, 0, 127, 8},
    [TENON_IQ4_XS] = {TENON_IQ4_XS, LARGE_UNIT, 8 * 4 * 128 + 256 + 64, 32, 0, 127, 8},
    [TENON_MXFP4] = {TENON_MXFP4, GROUP, 4 * 128 + 32, 32, 0, 12, 5},
    [TENON_NVFP4] = {TENON_NVFP4, 2 * GROUP, 2 * 4 * 128 + 128, 16, 0, 12, 4},
    [TENON_Q1_0] = {TENON_Q1_0, 4 * GROUP, 4 * 128 + 64, 32, 0, 1, 2},     /* 0 or 2, less 1 */
    [TENON_Q2_0] = {TENON_Q2_0, 2 * GROUP, 2 * 2 * 128 + 64, 32, 0, 1, 2},
    [TENON_PQ2_0] = {TENON_PQ2_0, 4 * GROUP, 4 * 2 * 128 + 64, 32, 0, 1, 2},
    [TENON_TQ2_0] = {TENON_TQ2_0, LARGE_UNIT, 8 * 2 * 128 + 64, 32, 0, 1, 2},
    [TENON_PTQ1_0] = {TENON_PTQ1_0, 4 * GROUP, 6 * 128 + 64 + 64, 32, 0, 1, 2},
    [TENON_TQ1_0] = {TENON_TQ1_0, LARGE_UNIT, 13 * 128 + 64, 32, 0, 1, 2},
    [TENON_IQ2_XXS] = {TENON_IQ2_XXS, LARGE_UNIT, 32 * 66, 32, 0, 43, 7},
    [TENON_IQ2_XS] = {TENON_IQ2_XS, LARGE_UNIT, 32 * 74, 16, 0, 43, 7},
    [TENON_IQ2_S] = {TENON_IQ2_S, LARGE_UNIT, 32 * 82, 16, 0, 43, 7},
    [TENON_IQ3_XXS] = {TENON_IQ3_XXS, LARGE_UNIT, 32 * 98, 32, 0, 62, 7},
    [TENON_IQ3_S] = {TENON_IQ3_S, LARGE_UNIT, 32 * 110, 32, 0, 15, 5},
    [TENON_IQ1_S] = {TENON_IQ1_S, LARGE_UNIT, 32 * 50, 32, 0, 9, 5},
    [TENON_IQ1_M] = {TENON_IQ1_M, LARGE_UNIT, 32 * 56, 16, 0, 9, 5},
    [TENON_IQ2_K] = {TENON_IQ2_K, LARGE_UNIT, 32 * 76, 16, 0, 32, 6},
    [TENON_IQ2_KS] = {TENON_IQ2_KS, LARGE_UNIT, 32 * 70, 32, 0, 32, 7},     /* 32 of them exceed sums of 16 bits */
    [TENON_IQ3_K] = {TENON_IQ3_K, LARGE_UNIT, 32 * 110, 16, 0, 64, 7},
    [TENON_IQ3_KS] = {TENON_IQ3_KS, LARGE_UNIT, 32 * 102, 32, 0, 64, 7},
    [TENON_IQ4_K] = {TENON_IQ4_K, LARGE_UNIT, 32 * 144, 16, 0, 128, 8},
    [TENON_IQ4_KS] = {TENON_IQ4_KS, LARGE_UNIT, 32 * 136, 32, 0, 127, 8},
    [TENON_IQ4_KSS] = {TENON_IQ4_KSS, LARGE_UNIT, 32 * 128, 32, 0, 128, 8},
    [TENON_IQ5_K] = {TENON_IQ5_K, LARGE_UNIT, 32 * 176, 16, 0, 128, 8},
    [TENON_IQ5_KS] = {TENON_IQ5_KS, LARGE_UNIT, 32 * 168, 32, 0, 128, 8},
    [TENON_IQ6_K] = {TENON_IQ6_K, LARGE_UNIT, 32 * 212, 16, 0, 128, 8},
};

#endif
