/* Which instruction set runs. */
#include "dispatch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "tenon.h"

extern const struct instruction_set portable_set, avx2_set, avxvnni_set, avx512vnni_set, avx512bf16_set, amx_set,
    dotprod_set, i8mm_set;

/* From the lowest to the highest; a cap admits everything up to its name. Where a compiler cannot build
 * one, absent.c stands in for it, so that the same cap means the same everywhere. */
static const struct {
    const char *name;
    const struct instruction_set *set;
} sets[] = {
    {"portable", &portable_set},
#if defined(__x86_64__) || defined(_M_X64)
    {"avx2", &avx2_set},
    {"avxvnni", &avxvnni_set},
    {"avx512vnni", &avx512vnni_set},
    {"avx512bf16", &avx512bf16_set},
    {"amx", &amx_set},
#elif defined(__aarch64__)
    {"dotprod", &dotprod_set},
    {"i8mm", &i8mm_set},
#endif
};

enum { SETS = sizeof sets / sizeof *sets };

static const struct instruction_set *_Atomic current;

int32_t tenon_version(void)
{
    return TENON_VERSION;
}

static int usable(int index)
{
    return sets[index].set->usable();
}

const char *tenon_select(const char *cap)
{
    int last = SETS - 1;
    while (cap && last >= 0 && strcmp(sets[last].name, cap) != 0)
        last--;
    if (last < 0)
        return NULL;
    while (!usable(last))
        last--;
    atomic_store(&current, sets[last].set);
    return sets[last].name;
}

const char *tenon_instruction_set(int32_t index, int32_t *can_run)
{
    if (index < 0 || index >= SETS)
        return NULL;
    *can_run = usable(index);
    return sets[index].name;
}

void tenon_set_spin(int64_t microseconds)
{
    pool_set_spin(microseconds);
}

const struct instruction_set *dispatch_current(void)
{
    const struct instruction_set *set = atomic_load_explicit(&current, memory_order_acquire);
    if (set)
        return set;
    const char *cap = getenv("TENON_CPU_CAP");
    if (!cap || !*cap || !tenon_select(cap))
        tenon_select(NULL);
    return atomic_load(&current);
}
