/* For sets whose step, run_step(run, w, x), adds byte products to 32-bit sums directly, so that a run of steps needs no
 * narrower sum. */
#ifndef TENON_WHOLE_SUMS_H
#define TENON_WHOLE_SUMS_H

#ifndef BLOCK_CLASSES
#define BLOCK_CLASSES \
    BLOCK_CLASS(1, 0, 8, 0) BLOCK_CLASS(1, 0, 8, 1) BLOCK_CLASS(1, 1, 8, 0) BLOCK_CLASS(1, 1, 8, 1) BLOCK_CLASS(2, 0, 8, 0) \
    BLOCK_CLASS(2, 0, 8, 1) BLOCK_CLASS(2, 1, 8, 1)
#endif
#define TILE_VECTORS 2
#define RUN_STEPS(bits, mins, steps) (steps)

INLINE void run_steps(ivec run[], const ivec w[], ivec x, const int vectors, const int bits)
{
    (void)bits;
    UNROLL
    for (int v = 0; v < vectors; v++)
        run[v] = run_step(run[v], w[v], x);
}

INLINE ivec run_begin(ivec start, ivec w, ivec x, const int started, const int bits)
{
    (void)started, (void)bits;
    return run_step(start, w, x);
}

INLINE ivec run_end(ivec run, const float *scale, const int whole, const int bits)
{
    (void)scale, (void)whole, (void)bits;
    return run;
}

INLINE ivec add_runs(ivec a, ivec b)
{
    (void)a;
    return b;
}

#endif
