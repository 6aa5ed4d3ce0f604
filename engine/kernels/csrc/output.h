/* Finished sums into the output matrix. Included after a vector header. */
#ifndef TENON_OUTPUT_H
#define TENON_OUTPUT_H

/* Asks for the output's lines while the sums are made: they lie a row of the matrix apart, and a store would wait. */
INLINE void expect_rows(const struct job *job, int64_t row, int64_t token, const int vectors, const int columns)
{
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            __builtin_prefetch(job->out + (token + c) * job->out_stride + row + LANES * v, 1);
}

OUTLINE void store_partial(const struct job *job, int64_t row, int64_t token, fvec value)
{
    float lanes[LANES];
    store_floats(lanes, value);
    for (int64_t i = 0; i < LANES && row + i < job->n; i++)
        job->out[token * job->out_stride + row + i] = lanes[i] * job->factor + (job->bias ? job->bias[row + i] : 0.0f);
}

INLINE void store_whole(const struct job *job, int64_t row, int64_t token, fvec value)
{
    value = multiply_floats(value, broadcast_float(job->factor));
    if (job->bias)
        value = add_floats(value, load_floats(job->bias + row));
    store_floats(job->out + token * job->out_stride + row, value);
}

OUTLINE void store_rows(const struct job *job, int64_t row, int64_t token, fvec value)
{
    if (row + LANES > job->n)
        store_partial(job, row, token, value);
    else
        store_whole(job, row, token, value);
}

#endif
