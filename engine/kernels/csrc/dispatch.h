#ifndef TENON_DISPATCH_H
#define TENON_DISPATCH_H

#include "job.h"

/* The instruction set for a product of this type with m tokens; the first call takes the cap from the environment's
 * TENON_CPU_CAP. */
const struct instruction_set *dispatch_set(int32_t type, int64_t m);

/* The highest instruction set that may be used. */
const struct instruction_set *dispatch_highest(void);

#endif
