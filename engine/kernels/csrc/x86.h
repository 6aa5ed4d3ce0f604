/* What this x86 processor can do, and what the operating system lets it do. */
#ifndef TENON_X86_H
#define TENON_X86_H

int x86_has_avx2(void);       /* with FMA */
int x86_has_avxvnni(void);
int x86_has_avx512(void);     /* F, BW, DQ, VL and VNNI */
int x86_has_avx512vbmi(void);
int x86_has_avx512bf16(void);
int x86_has_amx(void);        /* int8 and bfloat16 tiles, asked for and granted */

#endif
