#ifndef TENON_DISPATCH_H
#define TENON_DISPATCH_H

#include "job.h"

/* The instruction set in use; the first call selects it by the environment's TENON_CPU_CAP. */
const struct instruction_set *dispatch_current(void);

#endif
