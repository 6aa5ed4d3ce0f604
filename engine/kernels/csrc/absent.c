/* Stands in for an instruction set that the compiler does not know: -DABSENT=avx2_set. */
#include "job.h"

static int never(void)
{
    return 0;
}

const struct instruction_set ABSENT = {.name = "absent", .usable = never};
