"""Types of ik_llama.cpp that weave four or eight rows together (``_R4``, ``_R8``), put back in order.

A woven type has the bits of a plain one in other places, block by block of the rows that belong together, so each bit
of plain blocks is a bit of the woven ones; a sign of IQ2_XXS, IQ2_XS and IQ3_XXS is the exclusive or of two. Source:
ik_llama.cpp, ggml/src/ggml-common.h (structures) and ggml/src/iqk/iqk_quantize.cpp (``dequantize_row_*_r4``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.gguf.stored_tensor import Part, StoredTensor
from engine.gguf.types import GgmlType
from engine.kernels import blocks
from engine.kernels.library import Rotation

_Places = NDArray[np.int64]
# Bytes that are put in order at once: they stay in a core's cache with all that is made of them, which is three times
# as fast as a matrix of 24 MB in one.
_BYTES_AT_ONCE = 1 << 18

# Where fields of elements are: the first byte, and by how many bits the place grows with bits 2, 3 and 4 of an
# element's number, and with each 32 elements. Four elements in turn are in four bytes, then the next row's.
_NIBBLES, _PAIRS, _EIGHT_ROWS = (256, 4, 128, 512), (2, 4, 128, 256), (256, 512, 4, 1024)
_CODES = {
    "MXFP4": ((8, *_EIGHT_ROWS),),
    "Q4_0": ((16, *_EIGHT_ROWS),),
    "Q8_0": ((16, 256, 512, 1024, 0),),
    "Q5_0": ((24, *_NIBBLES), (8, 2, 4, 1, 128)),
    "IQ4_NL": ((8, *_NIBBLES),),
    "IQ4_XS": ((64, 4, 256, 512, 1024),),
    "Q2_K": ((80, *_PAIRS),),
    "Q3_K": ((184, *_PAIRS), (56, 1, 2, 4, 128)),
    "Q4_K": ((64, *_NIBBLES),),
    "Q5_K": ((192, *_NIBBLES), (64, 2, 1, 4, 128)),
    "Q6_K": ((328, *_NIBBLES), (72, 4, 2, 128, 256)),
    "IQ2_K": ((48, *_PAIRS),),
    "IQ3_K": ((56, *_PAIRS), (312, 1, 2, 4, 128)),
    "IQ4_K": ((64, *_NIBBLES),),
    "IQ5_K": ((64, *_NIBBLES), (576, 4, 1, 2, 128)),
    "IQ4_KS": ((32, *_NIBBLES),),
    "IQ5_KS": ((32, *_NIBBLES), (544, 4, 1, 2, 128)),
}


class _Weave:
    """Bits of a plain type's blocks, and where they stand in a woven block of some rows."""

    def __init__(self, kind: GgmlType, rows: int) -> None:
        self.kind, self.rows = kind, rows
        #: Woven bits that each plain bit is the exclusive or of, (rows, bits, 2); -1 for none.
        self.bits = np.full((rows, 8 * kind.block_bytes, 2), -1)
        self.row = np.arange(rows)[:, None]  # of each row, before the places of a field
        halves, fields = blocks.places_of(kind)
        for index, at in enumerate(halves):  # scales, and then minima, begin a woven block
            self.move(16, np.array([8 * at]), 16 * (rows * index + self.row))
        e = np.arange(kind.elements)
        for (bits, first, width), (at, two, three, four, group) in zip(fields, _CODES.get(kind.name, ()), strict=True):
            each = width * 8 // bits
            plain = 8 * (first + e // each * width + e % width) + e % each // width * bits
            woven = 8 * (at + 4 * self.row + (e & 3)) + two * (e >> 2 & 1) + three * (e >> 3 & 1) + four * (e >> 4 & 1)
            self.move(bits, plain, woven + group * (e >> 5))

    def move(self, count: int, plain: _Places, woven: _Places, second: _Places | None = None) -> None:
        """Say where fields of ``count`` bits begin: in a plain block (n,), and in a woven one (rows, n)."""
        for bit in range(count):
            self.bits[:, plain + bit, 0] = woven + bit
            if second is not None:
                self.bits[:, plain + bit, 1] = second + bit

    def bytes(self, plain: int, count: int, woven: _Places) -> None:
        """Move whole bytes that follow each other in a plain block."""
        self.move(8, 8 * (plain + np.arange(count)), 8 * woven)

    def spread(self, bits: int, plain: _Places, at: int, period: int, number: _Places) -> None:
        """Move parts of scales by their ``number``: ``period`` bytes have the first in low bits, the next above."""
        self.move(bits, plain, 8 * (at + number % period) + number // period * bits)

    def seven_signs(self, plain: _Places, woven: _Places) -> None:
        """Move seven signs of eight elements; each but the first is the exclusive or of a bit and the one below it."""
        self.move(7, plain, woven)
        self.move(6, plain + 1, woven + 1, woven)


def _build(woven: GgmlType) -> _Weave:
    """Return how a type is woven."""
    name = woven.name.rpartition("_R")[0]
    w = _Weave(GgmlType[name], woven.rows_together)
    row, group, sub, eight = w.row, np.arange(8), np.arange(16), np.arange(32)
    by_group, by_sub = 4 * group + row, 8 * (sub // 2) + row + 4 * (sub % 2)  # numbers of scales of four rows
    if name == "MXFP4":
        w.bytes(0, 1, row)
    elif name == "IQ4_XS":
        w.spread(4, 8 * 4 + 4 * group, 32, 32, 8 * group + row)
        w.spread(2, 8 * 2 + 2 * group, 16, 16, 8 * group + row)
    elif name in ("Q4_K", "Q5_K"):
        for kind in range(2):  # scales, minima
            own = 8 * (4 + 4 * kind + group)  # of the first four; the others' low bits are behind, the high above these
            w.move(4, np.where(group < 4, own, 8 * (8 + group) + 4 * kind), 8 * (32 + by_group) + 4 * kind)
            high = 8 * (16 + by_group % 16) + by_group // 16 * 4 + 2 * kind
            w.move(2, np.where(group < 4, own + 4, own - 8 * 4 + 6), high)
    elif name == "Q2_K":
        w.bytes(0, 16, 16 + by_sub)
    elif name == "Q3_K":
        w.spread(4, 8 * (96 + sub % 8) + sub // 8 * 4, 24, 32, by_sub)
        w.spread(2, 8 * (104 + sub % 4) + sub // 4 * 2, 8, 16, by_sub)
    elif name == "Q6_K":
        w.bytes(192, 16, 8 + by_sub)
    elif name in ("IQ2_K", "IQ3_K", "IQ4_K", "IQ5_K"):
        w.move(1, 16 + sub, 8 * (8 + row + 4 * (sub % 2)) + sub // 2)  # choices
        bits = {"2": 0, "3": 1}.get(name[2], 2)  # beside the scales' four
        if bits:
            w.spread(bits, 8 * 4 + bits * sub, 16, 8 * bits, by_sub)
        w.spread(4, 8 * (4 + 2 * bits) + 4 * sub, 16 + 8 * bits, 32, by_sub)
    elif name in ("IQ4_KS", "IQ5_KS"):
        w.bytes(0, 8, by_group)
    elif name in ("IQ2_XXS", "IQ3_XXS"):
        points = 4 if name == "IQ2_XXS" else 8
        index = np.arange(8 * points)
        at, words = 2 + index, 66 + 4 * group
        if points == 4:
            at, words = 2 + index // 4 * 8 + index % 4, 6 + 8 * group
        w.move(8, 8 * at, 8 * (136 + 4 * points * (index // points) + points * row + index % points))
        signs = 8 * (8 + 4 * (4 * (eight // 4) + row) + eight % 4)  # above a bit of the scale
        w.move(1, 8 * words[eight // 4] + 28 + eight % 4, signs)
        w.seven_signs(8 * words[eight // 4] + 7 * (eight % 4), signs + 1)
    elif name == "IQ2_XS":
        at = 8 * (8 + 2 * (16 * (eight // 4) + 4 * row + eight % 4))
        w.move(9, 8 * (2 + 2 * eight), at)
        w.seven_signs(8 * (2 + 2 * eight) + 9, at + 9)
        w.bytes(66, 8, 264 + by_group)
    elif name == "IQ2_S":
        for plain, first in ((2, 8), (34, 168)):
            w.bytes(plain, 32, first + 16 * (eight // 4) + 4 * row + eight % 4)
        w.bytes(66, 8, 136 + by_group)
        w.bytes(74, 8, 296 + by_group)
    elif name == "IQ3_S":
        point, e = np.arange(64), np.arange(256)
        w.bytes(2, 64, 8 + 32 * (point // 8) + row + 8 * (point % 4) + point // 4 % 2 * 4)
        w.bytes(66, 8, 264 + by_group)
        w.move(1, 8 * 74 + e, 8 * (296 + 16 * (e >> 5) + 4 * row + (e & 3)) + (e >> 2 & 7))
        w.spread(4, 8 * 106 + 4 * group, 424, 16, by_group)
    return w


#: Woven types that become plain ones, in their size.
PLAIN_OF = {
    kind: GgmlType[kind.name.rpartition("_R")[0]] for kind in GgmlType if "_R" in kind.name and not kind.refused
}

_Move = tuple[
    _Places | slice, _Places, NDArray[np.unsignedinteger], NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]
]


@cache
def _moves(woven: GgmlType) -> tuple[_Weave, type[np.unsignedinteger], list[_Move]]:
    """Return how a type is woven, its words' type, and moves: plain blocks are the exclusive or of their results.

    A move has places of words in a plain block, the places in a woven one that they come from, shifts down and up, and
    bits to keep.
    """
    weave = _build(woven)
    word = np.uint8 if weave.kind.block_bytes % 2 else np.uint16
    width = 8 * np.dtype(word).itemsize
    source = weave.bits.reshape(-1, 2 * width)
    index, shift = source // width, source % width - np.repeat(np.arange(width), 2)
    found: list[_Move] = []
    left = source >= 0
    while left.any():
        lines = np.flatnonzero(left.any(1))
        first = left[lines].argmax(1)
        at, by = index[lines, first], shift[lines, first]
        same = left[lines] & (index[lines] == at[:, None]) & (shift[lines] == by[:, None])
        mask = (same.reshape(len(lines), width, 2).any(2) << np.arange(width)).sum(1)
        where = slice(None) if len(lines) == len(source) else lines
        found.append((where, at, np.maximum(by, 0).astype(word), np.maximum(-by, 0).astype(word), mask.astype(word)))
        left[lines] &= ~same
    return weave, word, found


def unwoven(woven: GgmlType, lines: Tensor) -> Tensor:
    """Return rows of the plain type, (rows * n, bytes) uint8, from lines (n, bytes) of so many woven rows each."""
    weave, word, moves = _moves(woven)
    rows, size = weave.rows, weave.kind.block_bytes
    head = rows * woven.row_extra_bytes
    stored = np.ascontiguousarray(lines[:, head:].numpy()).reshape(-1, rows * size).view(word)
    out = np.zeros_like(stored)
    for where, at, down, up, mask in moves:
        part = stored.take(at, 1)
        part >>= down
        part <<= up
        part &= mask
        out[:, where] ^= part
    plain = out.view(np.uint8).reshape(len(lines), -1, rows, size).swapaxes(1, 2).reshape(len(lines) * rows, -1)
    return torch.from_numpy(np.concatenate([lines[:, :head].numpy().reshape(len(plain), -1), plain], 1))


@dataclass(frozen=True)
class _WovenPart(Part):
    """Rows of a woven type; a line of the file has as many of them as belong together."""

    woven: GgmlType = GgmlType.Q4_K_R4

    def of_rows(self, raw: Tensor, first: int, count: int) -> Tensor:
        """Return rows of the plain type, (count, bytes) uint8."""
        lines = torch.split(raw.view(-1, self.line_bytes), max(1, _BYTES_AT_ONCE // self.line_bytes))
        return torch.cat([unwoven(self.woven, some) for some in lines])[first % self.rows :][:count]


@dataclass(frozen=True)
class Woven:
    """A matrix of woven rows: an `engine.gguf.stored_tensor.Encoding`."""

    parts: tuple[Part, ...]
    shape: tuple[int, ...]
    kind: int
    factor: float | None = None
    rotation: Rotation | None = None

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return rows in the plain type."""
        return parts[0]

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return rows in float32."""
        return blocks.dequantize(self.kind, parts[0], self.shape[-1])


def put_in_order(stored: StoredTensor) -> StoredTensor:
    """Return a tensor of a woven type as one of the plain type, whose rows are made as they are read; others as is."""
    woven = GgmlType(stored.kind)
    if woven not in PLAIN_OF:
        return stored
    together, kind = woven.rows_together, int(PLAIN_OF[woven])
    shape = (stored.rows // together, together * stored.row_bytes)
    part = _WovenPart(stored.path, stored.start, torch.uint8, shape, together, woven)
    return replace(stored, kind=kind, encoding=Woven((part,), stored.shape, kind))
