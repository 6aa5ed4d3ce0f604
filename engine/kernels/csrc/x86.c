#include "x86.h"

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

struct registers { uint32_t eax, ebx, ecx, edx; };

static struct registers cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct registers r = {0, 0, 0, 0};
#if defined(_MSC_VER) && !defined(__clang__)
    int values[4];
    __cpuid(values, 0);
    if ((uint32_t)values[0] >= leaf) {
        __cpuidex(values, (int)leaf, (int)subleaf);
        r = (struct registers){(uint32_t)values[0], (uint32_t)values[1], (uint32_t)values[2], (uint32_t)values[3]};
    }
#else
    __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
#endif
    return r;
}

static int bit(uint32_t word, int position)
{
    return (int)(word >> position & 1);
}

/* The register states that the operating system saves; 0 without XSAVE. */
static uint32_t saved_states(void)
{
    if (!bit(cpuid(1, 0).ecx, 27))
        return 0;
#if defined(_MSC_VER) && !defined(__clang__)
    return (uint32_t)_xgetbv(0);
#else
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

enum { STATES_AVX = 0x6, STATES_AVX512 = 0xe6, STATES_AMX = 0x60000 };

static int saves(uint32_t states)
{
    return (saved_states() & states) == states;
}

int x86_has_avx2(void)
{
    return saves(STATES_AVX) && bit(cpuid(7, 0).ebx, 5) && bit(cpuid(1, 0).ecx, 12);
}

int x86_has_avxvnni(void)
{
    return x86_has_avx2() && bit(cpuid(7, 1).eax, 4);
}

int x86_has_avx512(void)
{
    const struct registers r = cpuid(7, 0);
    return x86_has_avx2() && saves(STATES_AVX512) && bit(r.ebx, 16) && bit(r.ebx, 17) && bit(r.ebx, 30)
           && bit(r.ebx, 31) && bit(r.ecx, 11);
}

int x86_has_avx512vbmi(void)
{
    return x86_has_avx512() && bit(cpuid(7, 0).ecx, 1);
}

int x86_has_avx512bf16(void)
{
    return x86_has_avx512vbmi() && bit(cpuid(7, 1).eax, 5);
}

/* Linux gives a process the tile registers only when it asks. */
static int tiles_granted(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return 0;
#endif
}

int x86_has_amx(void)
{
    const uint32_t edx = cpuid(7, 0).edx;
    return x86_has_avx512bf16() && saves(STATES_AMX) && bit(edx, 22) && bit(edx, 24) && bit(edx, 25)
           && tiles_granted();
}
