/* AVX-VNNI: four byte products and their sum in one instruction, on processors without AVX-512. */
#include "vector256.h"

#include "attention.h"
#include "rows.h"
#include "sets.h"
#include "x86.h"

#define SPREAD_SIGNED(bits) ((bits) < 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

#define BLOCK_COLUMNS 4
#define NARROW_COLUMNS 1

/* The same instruction exists for AVX-512, by whose encoding this file can be tested where there is no AVX-VNNI. */
#ifndef VPDPBUSD
#define VPDPBUSD "%{vex%} vpdpbusd"
#endif

/* By the intrinsic GCC 12 copies most sums before it adds to them. */
INLINE ivec run_step(ivec run, ivec w, ivec x)
{
    __asm__(VPDPBUSD " %2, %1, %0" : "+x"(run) : "x"(w), "x"(x));
    return run;
}

#include "whole_sums.h"
#include "block_tile.h"

static const struct multiplier blocks = {block_panel, block_prepare, sizeof(int8_t)};

const struct instruction_set avxvnni_set = {
    .name = "avxvnni",
    .usable = x86_has_avxvnni,
    .blocks = &blocks,
    .bf16 = &avx2_bf16,
    .f16 = &avx2_f16,
    .rows = &rows256,
    .attention = &attention256,
};
