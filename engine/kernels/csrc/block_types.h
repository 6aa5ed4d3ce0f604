#ifndef TENON_BLOCK_TYPES_H
#define TENON_BLOCK_TYPES_H

#include "job.h"

/* The arithmetic of a type that is stored in blocks; NULL for others. */
const struct block_type *block_type(int32_t type);

#endif
