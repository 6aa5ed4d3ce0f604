"""Weight formats: the type of each stored matrix, and of activations and cache beside it.

A matrix is in one of GGUF's block types, which the kernels multiply, or dense for torch. A quantized file keeps its
types; a format of Tenon's own converts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import torch

from engine.gguf.stored_tensor import BF16, F16, F32, MXFP4, PLAIN, TensorTypes, type_name
from engine.kernels import blocks, codebooks, library
from engine.kernels.layer import row_bytes_8_bits
from engine.model.config import ModelConfig
from engine.model.tensors import Slot, expected_tensors, head_slot, layer_slots

Q4_1, Q5_0, Q8_0, Q4_K, Q6_K = (blocks.NAMES[name] for name in ("Q4_1", "Q5_0", "Q8_0", "Q4_K", "Q6_K"))
FORMAT_NAMES = ("fp32", "bf16", "q8_0", "q4_k_m")
# Types whose speed is that of finding their numbers, and not of memory, by the one that is measured for all of a kind:
# points of codebooks, values of tables, two bits, and fewer.
_ALIKE = {
    "f16": frozenset((F16,)),  # half as many products a second as bf16 where that has instructions of its own
    "iq2_s": codebooks.TYPES,
    **{
        names[0].lower(): frozenset(map(blocks.NAMES.__getitem__, names))
        for names in (
            ("IQ2_K", "IQ2_KS", "IQ3_K", "IQ3_KS"),
            ("IQ4_XS", "IQ4_NL"),
            ("IQ4_KS", "IQ4_K", "IQ4_KSS", "IQ5_K", "IQ5_KS", "IQ6_K"),
            ("PQ2_0", "Q2_0", "TQ2_0", "Q2_K", "Q3_K"),
            ("PTQ1_0", "TQ1_0", "Q1_0"),
        )
    },
}
#: Formats whose products are measured.
MEASURED_NAMES = (*FORMAT_NAMES, *_ALIKE)
#: Name of the format of files of plain numbers, whatever their type.
_PLAIN_NAMES = {F32: "fp32", F16: "fp16", BF16: "bf16"}
# Beginnings of names of formats that are in 8 bits, or become so.
_IN_8_BITS = ("Q8", "FP", "INT8", "NF4")
#: Types that all matrices of PrismML's published files have.
_PRISM = ("PQ2_0", "PTQ1_0")
# Bits of a weight from which on a type costs as much as 8 bits, since reading it is the cost.
_WIDE_BITS = 7


@dataclass(frozen=True)
class WeightFormat:
    """Format of a model's weights in memory."""

    name: str  # name as the option takes it, or as the file calls itself
    dense: torch.dtype  # type of matrices that are not packed, and of the embedding beside them
    activations: torch.dtype  # type of hidden states
    # Type of keys and values; int8 for 8 bits with scales, which the kernel library alone reads and writes
    cache: torch.dtype
    kind: int | None = None  # block type of most matrices, as GGUF's number; None if all are dense
    finer: int | None = None  # block type of the matrices that suffer most from few bits; None for the same
    # Types of the checkpoint's tensors if they are kept; None if they are converted
    stored: TensorTypes | None = None

    @property
    def packed(self) -> bool:
        """True if matrices are in blocks."""
        return self.kind is not None

    @property
    def measured_as(self) -> str:
        """Name in `MEASURED_NAMES` whose measured speed, in bytes, is this format's."""
        if self.kind is None:
            return "fp32" if self.dense == torch.float32 else "bf16"
        alike = next((name for name, kinds in _ALIKE.items() if self.kind in kinds), "")
        if alike:
            return alike
        elements, size_bytes = blocks.block_of(self.kind)
        bits = 8 * size_bytes / elements
        return "bf16" if bits == 16 else "q8_0" if bits >= _WIDE_BITS else "q4_k_m"

    @property
    def kinds(self) -> frozenset[int]:
        """Block types of its matrices that are measured alike: those of the usual type's breadth."""
        found = {self.kind, self.finer, *(() if self.stored is None else self.stored.values())}
        wide = self.kind in PLAIN
        return frozenset(kind for kind in blocks.NAMES.values() if kind in found and (kind in PLAIN) == wide)

    def kind_of(self, slot: Slot) -> int:
        """Return the type of a matrix in memory: a block type, or F32 or BF16 if all are dense."""
        if self.kind is None:
            return F32 if self.dense == torch.float32 else BF16
        if slot.routes:
            return F16
        kind = self.kind
        if self.stored is not None:
            kind = self.stored.get(slot.name, kind)
        elif self.finer is not None and slot.sensitive:
            kind = self.finer
        return runnable(kind, slot.shape[-1])

    def matrix_kind(self, columns: int) -> int:
        """Return the block type of a matrix of the usual kind, for packed formats."""
        assert self.kind is not None, "a packed format"
        return runnable(self.kind, columns)

    def matrix_bytes(self, rows: int, columns: int) -> int:
        """Return the bytes in memory of a matrix of the usual type."""
        if self.kind is None:
            return rows * columns * self.dense.itemsize
        return blocks.arranged_bytes(self.matrix_kind(columns), rows, columns)

    def cache_row_bytes(self, head_dim: int) -> int:
        """Return the bytes of one head's keys, or values, of a token."""
        return row_bytes_8_bits(head_dim) if self.cache == torch.int8 else head_dim * self.cache.itemsize

    def slot_bytes(self, slot: Slot) -> int:
        """Return the bytes of a matrix in memory."""
        if self.kind is None:
            return slot.shape[0] * slot.shape[1] * self.dense.itemsize
        return blocks.arranged_bytes(self.kind_of(slot), *slot.shape)


def runnable(kind: int, columns: int) -> int:
    """Return the type to multiply with in place of one without a kernel, or whose blocks the columns do not fill."""
    if kind in PLAIN:
        return kind if kind == F16 else BF16
    if kind in blocks.NAMES.values() and columns % blocks.block_of(kind)[0] == 0:
        return kind
    return Q8_0 if columns % blocks.block_of(Q8_0)[0] == 0 else BF16


_FP32 = WeightFormat("fp32", torch.float32, torch.float32, torch.float32)
DENSE_BF16 = WeightFormat("bf16", torch.bfloat16, torch.bfloat16, torch.bfloat16)


def _packed(name: str, kind: int, finer: int | None = None, stored: TensorTypes | None = None) -> WeightFormat:
    return WeightFormat(name, torch.bfloat16, torch.float32, torch.bfloat16, kind, finer, stored)


def weight_format(name: str) -> WeightFormat:
    """Return the format of a name from `MEASURED_NAMES`, or q4_1, as this machine runs it.

    With the kernel library bf16 is packed like the others, because torch's own product takes two to three times as
    long for up to 16 tokens on processors without AMX. Without it bf16 is dense and multiplied by torch, since the
    library's stand-in would compute in float32.

    Raises:
        KeyError: There is no such format.
    """
    if name == "bf16" and library.available() is None:
        return DENSE_BF16
    formats = {
        "fp32": _FP32,
        "bf16": _packed("bf16", BF16),
        "q4_1": _packed("q4_1", Q4_1),  # of draft heads, whose rows are often no multiple of 256
        "q8_0": _packed("q8_0", Q8_0),
        **{one: _packed(one, blocks.NAMES[one.upper()]) for one in _ALIKE},
        "q4_k_m": _packed("q4_k_m", Q4_K, finer=Q6_K),
    }
    return formats[name]


def stored_format(config: ModelConfig) -> WeightFormat:
    """Return the format that keeps a checkpoint as it is.

    Plain numbers become bf16, except float16 if the kernel library is there. A quantized file that is not
    downloaded yet has the types of published ones: 8 bits, those of gpt-oss, or those of Q4_K_M.
    """
    if not config.types and (config.quantization is None or config.quantization.startswith(_IN_8_BITS)):
        return weight_format("q8_0" if config.quantization else "bf16")
    if not config.types:
        widths = {slot.shape[1] for slot in layer_slots(config, config.layers - 1) if len(slot.shape) == 2}
        own = config.quantization in (type_name(MXFP4), *_PRISM)
        if not own and not any(width % 256 for width in widths):
            return weight_format("q4_k_m")
        return stored_format(replace(config, types=published_types(config)))
    weights: Counter[int] = Counter()
    for name, shape in expected_tensors(config).items():
        if len(shape) == 2 and name in config.types:
            weights[config.types[name]] += shape[0] * shape[1]
    kind = max(weights, key=weights.__getitem__, default=BF16)
    if kind in PLAIN and (kind != F16 or library.available() is None):
        return weight_format("bf16")
    told = None if config.converts else config.quantization
    name = told or _PLAIN_NAMES.get(kind) or type_name(kind)
    return _packed(name, runnable(kind, 0), stored=config.types)


def published_types(config: ModelConfig) -> TensorTypes:
    """Return the types of a published file's tensors by name: those of gpt-oss, of PrismML's, or of llama.cpp's Q4_K_M.

    gpt-oss has experts in 4 bits and the rest in 16. In rows that blocks of 256 do not fill, Q4_K_M takes blocks of 32:
    Q5_0 for Q4_K, and Q8_0 for Q6_K.
    """
    slots = [head_slot(config)] + [slot for index in range(config.layers) for slot in layer_slots(config, index)]
    matrices = [slot for slot in slots if len(slot.shape) == 2]
    if config.quantization == type_name(MXFP4):
        experts = {slot.name for slot in matrices if slot.of_expert}
        return TensorTypes({name: MXFP4 if name in experts else BF16 for name in expected_tensors(config)})
    if config.quantization in _PRISM:
        return TensorTypes({slot.name: blocks.NAMES[config.quantization] for slot in matrices})
    types = {(False, True): Q4_K, (True, True): Q6_K, (False, False): Q5_0, (True, False): Q8_0}
    return TensorTypes({slot.name: types[slot.sensitive, slot.shape[1] % 256 == 0] for slot in matrices})
