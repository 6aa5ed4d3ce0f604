#include "arm.h"

int arm_has_neon(void)
{
    return 1;       /* part of every 64-bit ARM */
}

#if defined(__linux__)
#include <sys/auxv.h>

enum { DOTPROD_BIT = 20 };     /* of AT_HWCAP */

int arm_has_dotprod(void)
{
    return (int)(getauxval(AT_HWCAP) >> DOTPROD_BIT & 1);
}

#elif defined(__APPLE__)
#include <stddef.h>
#include <sys/sysctl.h>

static int feature(const char *name)
{
    int present = 0;
    size_t size = sizeof present;
    return sysctlbyname(name, &present, &size, NULL, 0) == 0 && present;
}

int arm_has_dotprod(void)
{
    return feature("hw.optional.arm.FEAT_DotProd");
}

#elif defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#ifndef PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE
#define PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE 43
#endif

int arm_has_dotprod(void)
{
    return IsProcessorFeaturePresent(PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE) != 0;
}

#else

int arm_has_dotprod(void)
{
    return 0;
}

#endif
