/* AVX-512 with VNNI, and VBMI for codebooks, whose points are looked up in registers. */
#include "blocks.h"

#undef EACH_QUANTIZED_TYPE
#define EACH_QUANTIZED_TYPE EACH_CODEBOOK_TYPE
#define LOOKS_UP_BYTES
#include "vnni512.h"

#include "attention.h"
#include "rows.h"
#include "sets.h"
#include "x86.h"

static void multiply(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    (CODEBOOKS[job->type->type].width ? block_panel : avx512vnni_blocks.multiply)(job, panel, token, tokens);
}

/* Further sets take these too. */
const struct multiplier avx512vbmi_blocks = {multiply, block_prepare, sizeof(int8_t)};

const struct instruction_set avx512vbmi_set = {
    .name = "avx512vbmi",
    .usable = x86_has_avx512vbmi,
    .blocks = &avx512vbmi_blocks,
    .bf16 = &avx512vnni_bf16,
    .f16 = &avx512vnni_f16,
    .rows = &rows512,
    .attention = &attention512,
};
