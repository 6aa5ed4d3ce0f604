/* Finished int8 sums into the output matrix. Included after a vector header. */
#ifndef TENON_INT8_OUTPUT_H
#define TENON_INT8_OUTPUT_H

#include "output.h"

/* Scales the sums of the spans by the rows' scales. */
OUTLINE void store_int8(const struct job *job, int64_t row, int64_t token, fvec value)
{
    store_rows(job, row, token, multiply_floats(value, load_floats(job->row_scale + row)));
}

#endif
