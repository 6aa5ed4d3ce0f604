/* For sets whose steps add byte products to 32-bit sums directly, so that a run of steps needs no narrower sum. */
#ifndef TENON_WHOLE_SUMS_H
#define TENON_WHOLE_SUMS_H

#define BLOCK_CLASSES                                                                                                 \
    BLOCK_CLASS(1, 0, 8) BLOCK_CLASS(1, 1, 8) BLOCK_CLASS(2, 0, 3) BLOCK_CLASS(2, 0, 4) BLOCK_CLASS(2, 0, 6)          \
    BLOCK_CLASS(2, 0, 7) BLOCK_CLASS(2, 1, 8)

INLINE ivec run_begin(ivec sum, const int bits)
{
    (void)bits;
    return sum;
}

INLINE ivec run_end(ivec sum, ivec run, const int bits)
{
    (void)sum, (void)bits;
    return run;
}

#endif
