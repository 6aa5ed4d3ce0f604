/* Finished int8 sums into the output matrix. Included after a vector header. */
#ifndef TENON_INT8_OUTPUT_H
#define TENON_INT8_OUTPUT_H

#include "output.h"

/* Scales the sums of an int8 product; with unsigned activations takes off what the zero point added. */
OUTLINE void store_int8(const struct job *job, int64_t row, int64_t token, ivec sum, int is_unsigned)
{
    if (is_unsigned)
        sum = subtract_zero_point(sum, load_ints(job->row_sum + row));
    const fvec value = multiply_floats(to_float(sum), load_floats(job->row_scale + row));
    store_rows(job, row, token, multiply_floats(value, broadcast_float(job->x_scale[token])));
}

#endif
