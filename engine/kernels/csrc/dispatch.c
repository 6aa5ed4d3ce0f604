/* Which instruction set runs. */
#include "dispatch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "tenon.h"

extern const struct instruction_set portable_set, avx2_set, avxvnni_set, avx512vnni_set, avx512vbmi_set,
    avx512bf16_set, amx_set, neon_set, dotprod_set;

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
    {"avx512vbmi", &avx512vbmi_set},
    {"avx512bf16", &avx512bf16_set},
    {"amx", &amx_set},
#elif defined(__aarch64__)
    {"neon", &neon_set},
    {"dotprod", &dotprod_set},
#endif
};

enum { SETS = sizeof sets / sizeof *sets };

enum { WIDTH_CLASSES = 7, NONE = -1 };

static atomic_int current = NONE;               /* the highest set that may be used */
static atomic_int preferred[TENON_TYPES][WIDTH_CLASSES]; /* a set plus 1; 0 where none is preferred */

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
    atomic_store(&current, last);
    return sets[last].name;
}

int32_t tenon_prefer(int32_t type, int32_t width_log2, const char *name)
{
    int index = NONE;
    for (int i = 0; name && i < SETS; i++)
        if (strcmp(sets[i].name, name) == 0 && usable(i))
            index = i;
    if (type < 0 || type >= TENON_TYPES || width_log2 < 0 || width_log2 >= WIDTH_CLASSES || (name && index == NONE))
        return TENON_UNKNOWN;
    atomic_store(&preferred[type][width_log2], index + 1);
    return 0;
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

static int highest_set(void)
{
    const int highest = atomic_load_explicit(&current, memory_order_relaxed);
    if (highest != NONE)
        return highest;
    const char *cap = getenv("TENON_CPU_CAP");
    if (!cap || !*cap || !tenon_select(cap))
        tenon_select(NULL);
    return atomic_load(&current);
}

const struct instruction_set *dispatch_set(int32_t type, int64_t m)
{
    int width_class = 0;
    while (width_class < WIDTH_CLASSES - 1 && m >> (width_class + 1))
        width_class++;
    const int highest = highest_set();
    const int wanted = atomic_load_explicit(&preferred[type][width_class], memory_order_relaxed) - 1;
    return sets[wanted != NONE && wanted < highest ? wanted : highest].set;
}

const struct instruction_set *dispatch_highest(void)
{
    return sets[highest_set()].set;
}
