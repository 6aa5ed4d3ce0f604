"""GGML's types of tensors: their numbers in GGUF files, their names, and the sizes of their blocks.

Source: llama.cpp 0.5.0 and ik_llama.cpp, ggml/include/ggml.h (``enum ggml_type``) and ggml/src/ggml-common.h; of names
of files llama.cpp, include/llama.h (``enum llama_ftype``). A type is here so that a file can be placed and a refusal
can name it; `engine.kernels.blocks` has the types that are computed with, and `engine.gguf.woven` those that become
them; `_REFUSED` has all others.
"""

from __future__ import annotations

import re
from enum import IntEnum


class GgmlType(IntEnum):
    """A type, by its number in a file."""

    elements: int  # elements of a block; 1 for plain numbers
    block_bytes: int  # bytes of a block
    row_extra_bytes: int  # bytes of a row beside its blocks

    def __new__(cls, number: int, elements: int = 1, block_bytes: int = 1, row_extra_bytes: int = 0) -> GgmlType:
        """Make a type of its number and sizes."""
        made = int.__new__(cls, number)
        made._value_ = number
        made.elements, made.block_bytes, made.row_extra_bytes = elements, block_bytes, row_extra_bytes
        return made

    F32 = 0, 1, 4
    F16 = 1, 1, 2
    Q4_0 = 2, 32, 18
    Q4_1 = 3, 32, 20
    Q5_0 = 6, 32, 22
    Q5_1 = 7, 32, 24
    Q8_0 = 8, 32, 34
    Q8_1 = 9, 32, 36
    Q2_K = 10, 256, 84
    Q3_K = 11, 256, 110
    Q4_K = 12, 256, 144
    Q5_K = 13, 256, 176
    Q6_K = 14, 256, 210
    Q8_K = 15, 256, 292
    IQ2_XXS = 16, 256, 66
    IQ2_XS = 17, 256, 74
    IQ3_XXS = 18, 256, 98
    IQ1_S = 19, 256, 50
    IQ4_NL = 20, 32, 18
    IQ3_S = 21, 256, 110
    IQ2_S = 22, 256, 82
    IQ4_XS = 23, 256, 136
    I8 = 24, 1, 1
    I16 = 25, 1, 2
    I32 = 26, 1, 4
    I64 = 27, 1, 8
    F64 = 28, 1, 8
    IQ1_M = 29, 256, 56
    BF16 = 30, 1, 2
    Q4_0_4_4 = 31, 32, 18  # this and the next two are of old files, and llama.cpp reads them no more
    Q4_0_4_8 = 32, 32, 18
    Q4_0_8_8 = 33, 32, 18
    TQ1_0 = 34, 256, 54
    TQ2_0 = 35, 256, 66
    I2_S = 36, 4, 1  # BitNet's; its scale stands after the last row
    MXFP4 = 39, 32, 17
    NVFP4 = 40, 64, 36
    Q1_0 = 41, 128, 18
    Q2_0 = 42, 64, 18

    # ik_llama.cpp's own. R4, R8 and R16 have so many rows woven together.
    Q6_0 = 133, 32, 26
    IQ1_BN = 134, 64, 13, 2
    IQ2_BN = 135, 64, 16, 4
    IQ2_K = 137, 256, 76
    IQ3_K = 138, 256, 110
    IQ4_K = 139, 256, 144
    IQ5_K = 140, 256, 176
    IQ6_K = 141, 256, 212
    IQ4_KS = 144, 256, 136, 4
    IQ2_KS = 145, 256, 70, 2
    IQ4_KSS = 146, 256, 128, 4
    Q8_KV = 151, 32, 32, 8
    IQ5_KS = 152, 256, 168, 4
    IQ2_KT = 153, 256, 68, 4
    IQ3_KT = 154, 256, 100, 4
    IQ4_KT = 155, 256, 128, 4
    IQ3_KS = 156, 256, 102, 2
    IQ2_KL = 157, 256, 86, 2
    IQ1_KT = 158, 256, 56, 4
    Q4_0_R8 = 202, 32, 18
    Q5_0_R4 = 206, 32, 22
    Q8_0_R8 = 208, 32, 34
    Q2_K_R4 = 210, 256, 84
    Q3_K_R4 = 211, 256, 110
    Q4_K_R4 = 212, 256, 144
    Q5_K_R4 = 213, 256, 176
    Q6_K_R4 = 214, 256, 210
    IQ2_XXS_R4 = 216, 256, 66
    IQ2_XS_R4 = 217, 256, 74
    IQ3_XXS_R4 = 218, 256, 98
    IQ1_S_R4 = 219, 32, 6, 2
    IQ4_NL_R4 = 220, 32, 18
    IQ3_S_R4 = 221, 256, 110
    IQ2_S_R4 = 222, 256, 82
    IQ4_XS_R8 = 223, 256, 136
    IQ1_M_R4 = 229, 32, 7, 2
    BF16_R16 = 230, 1, 2
    Q6_0_R4 = 233, 32, 26
    IQ2_BN_R4 = 335, 64, 16, 4
    IQ2_K_R4 = 337, 256, 76
    IQ3_K_R4 = 338, 256, 110
    IQ4_K_R4 = 339, 256, 144
    IQ5_K_R4 = 340, 256, 176
    IQ4_KS_R4 = 344, 256, 136, 4
    IQ5_KS_R4 = 352, 256, 168, 4
    MXFP4_R8 = 353, 32, 17
    Q8_K_R16 = 397, 256, 258
    Q8_KV_R8 = 398, 32, 32, 4
    Q8_K_R8 = 399, 256, 258

    PQ2_0 = 142, 128, 34  # this and the next are of PrismML's llama.cpp
    PTQ1_0 = 143, 128, 28

    @property
    def quantized(self) -> bool:
        """True if numbers share a scale."""
        return self.elements > 1

    @property
    def rows_together(self) -> int:
        """Number of rows that are woven together; 1 for none."""
        return int(self.name.rpartition("_R")[2]) if "_R" in self.name else 1

    @property
    def refused(self) -> bool:
        """True if Tenon does not compute with it."""
        return _REFUSED.fullmatch(self.name) is not None

    def row_bytes(self, columns: int) -> int:
        """Return the bytes of a row, whose columns fill whole blocks."""
        return columns // self.elements * self.block_bytes + self.row_extra_bytes


_REFUSED = re.compile(r"Q8_1|Q8_K.*|I\d+|I2_S|Q4_0_\d.*|Q6_0.*|IQ1_BN|IQ2_BN.*|IQ\d_KT|IQ2_KL|IQ1_[SM]_R4|BF16_R16")

#: Names of mixtures of types, by the number in ``general.file_type``. Files of plain numbers have none, and those of
#: ik_llama.cpp are called by the type of most of their weights.
FILE_TYPES = {
    **{2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L"},
    **{14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S"},
    **{22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M"},
    **{30: "IQ4_XS", 31: "IQ1_M", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE", 39: "NVFP4", 40: "Q1_0", 41: "Q2_0"},
}
