/* What one instruction set's file gives to others. */
#ifndef TENON_SETS_H
#define TENON_SETS_H

#include "job.h"

extern const struct multiplier neon_bf16, neon_f16, avx2_bf16, avx2_f16, avx512vnni_blocks, avx512vnni_bf16,
    avx512vnni_f16, avx512vbmi_blocks;

#endif
