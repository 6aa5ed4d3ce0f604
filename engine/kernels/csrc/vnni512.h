/* Products of bytes by AVX-512 with VNNI. */
#include "vector512.h"

#define SPREAD_SIGNED(bits) ((bits) < 0)
#define SPREAD_WIDE(bits) 0
#define SPREAD_PAIRS 0
#include "spread.h"

/* Twice as many columns' sums of both kinds would take all 32 registers, and went to the stack. */
#define BLOCK_COLUMNS 4
#define NARROW_COLUMNS 4

/* By the intrinsic GCC 12 reads the weights again for each column. */
INLINE ivec run_step(ivec run, ivec w, ivec x)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(run) : "v"(w), "v"(x));
    return run;
}

#include "whole_sums.h"
#include "block_tile.h"
