"""Types of ik_llama.cpp that weave four or eight rows together (``_R4``, ``_R8``), put back in order.

A woven type has the bits of a plain one in other places, block by block of the rows that belong together, so each bit
of plain blocks is a bit of the woven ones; a sign of IQ2_XXS, IQ2_XS and IQ3_XXS is the exclusive or of two. Source:
ik_llama.cpp, ggml/src/ggml-common.h (structures) and ggml/src/iqk/iqk_quantize.cpp (``dequantize_row_*_r4``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.gguf.stored_tensor import Part, StoredTensor
from engine.gguf.types import GgmlType
from engine.kernels import blocks

_Places = NDArray[np.int64]


class _Weave:
    """Bits of a plain type's blocks, and where they stand in a woven block of some rows."""

    def __init__(self, kind: GgmlType, rows: int) -> None:
        self.kind, self.rows = kind, rows
        #: Woven bits that each plain bit is the exclusive or of, (rows, bits, 2); -1 for none.
        self.bits = np.full((rows, 8 * kind.block_bytes, 2), -1)
        self.row = np.arange(rows)[:, None]  # of each row, before the places of a field

    def move(self, count: int, plain: _Places, woven: _Places, second: _Places | None = None) -> None:
        """Say where fields of ``count`` bits begin: in a plain block (n,), and in a woven one (rows, n)."""
        for bit in range(count):
            self.bits[:, plain + bit, 0] = woven + bit
            if second is not None:
                self.bits[:, plain + bit, 1] = second + bit

    def bytes(self, plain: int, woven: Callable[[_Places], _Places], count: int, each: int = 8) -> None:
        """Move ``count`` fields of ``each`` bits that follow each other; ``woven`` says the byte of each whole one."""
        index = np.arange(count)
        self.move(each, 8 * plain + each * index, 8 * woven(index))

    def halves(self, *plain: int) -> None:
        """Move scales and minima, which begin a woven block: a number of each row, and then the others."""
        for index, at in enumerate(plain):
            self.move(16, np.array([8 * at]), 16 * (self.rows * index + self.row))

    def codes(self, *woven: Callable[[_Places], _Places]) -> None:
        """Move elements; ``woven`` says the lowest bit of each field of element e."""
        fields, e = blocks.fields_of(self.kind), np.arange(self.kind.elements)
        for (bits, first, width), place in zip(fields, woven, strict=True):
            group = width * 8 // bits
            plain = 8 * (first + e // group * width + e % width) + e % group // width * bits
            self.move(bits, plain, place(e))

    # The places of elements that most types share: of bits (a, h, b) of an element's number, 4a + 8h + 16b.

    def nibbles(self, at: int) -> Callable[[_Places], _Places]:
        """Return the places of nibbles: 64 bytes of four rows' 32 elements."""
        return lambda e: (
            8 * (at + 64 * (e >> 5) + 4 * self.row + (e & 3) + 16 * (e >> 4 & 1) + 32 * (e >> 2 & 1)) + (e >> 1 & 4)
        )

    def pairs(self, at: int) -> Callable[[_Places], _Places]:
        """Return the places of two bits: 32 bytes of four rows' 32 elements."""
        return lambda e: 8 * (at + 32 * (e >> 5) + 16 * (e >> 4 & 1) + 4 * self.row + (e & 3)) + 2 * (e >> 2 & 3)

    def single(self, at: int, weights: tuple[int, int, int]) -> Callable[[_Places], _Places]:
        """Return the places of bits: 16 bytes of four rows' 32 elements, bit a, h and b times their weights."""
        a, h, b = weights
        return lambda e: (
            8 * (at + 16 * (e >> 5) + 4 * self.row + (e & 3)) + (a * (e >> 2 & 1) + h * (e >> 3 & 1) + b * (e >> 4 & 1))
        )

    def eights(self, at: int, high: int) -> Callable[[_Places], _Places]:
        """Return the places of eight rows' nibbles: 128 bytes of 32 elements; 4 times ``high`` chooses the nibble."""

        def place(e: _Places) -> _Places:
            four = e >> 2 & 7
            low = (four & high - 1) | (four >> 1 & ~(high - 1))  # without the bit
            return 8 * (at + 128 * (e >> 5) + 32 * low + 4 * self.row + (e & 3)) + np.where(four & high, 4, 0)

        return place

    def scales(self, low: int, low_plain: int, high: tuple[int, int, int] | None = None, width: int = 16) -> None:
        """Move 4 bits of each 16 elements' scales, and of ``high`` (place, plain place, bits) further ones."""
        sub = np.arange(width)
        number = 8 * (sub // 2) + self.row + 4 * (sub % 2) if self.rows == 4 else 8 * sub + self.row
        self.move(4, 8 * low_plain + 4 * sub, 8 * (low + number % 32) + number // 32 * 4)
        if high is not None:
            at, plain, bits = high
            span = 8 * bits
            self.move(bits, 8 * plain + bits * sub, 8 * (at + number % span) + number // span * bits)

    def extra(self) -> None:
        """Move choices, bits of each 16 elements behind the scales."""
        sub = np.arange(16)
        self.move(1, 16 + sub, 8 * (8 + self.row + 4 * (sub % 2)) + sub // 2)

    def seven_signs(self, plain: _Places, woven: _Places) -> None:
        """Move seven signs of eight elements; each but the first is the exclusive or of a bit and the one below it."""
        self.move(7, plain, woven)
        self.move(6, plain + 1, woven + 1, woven)


def _build(woven: GgmlType) -> _Weave:
    """Return how a type is woven."""
    name = woven.name.rpartition("_R")[0]
    w = _Weave(GgmlType[name], woven.rows_together)
    row, group, eight = w.row, np.arange(8), np.arange(32)
    if name == "MXFP4":
        w.bytes(0, lambda i: row + 0 * i, 1)
        w.codes(w.eights(8, 4))
    elif name == "Q4_0":
        w.halves(0)
        w.codes(w.eights(16, 4))
    elif name == "Q8_0":
        w.halves(0)
        w.codes(lambda e: 8 * (16 + 32 * (e >> 2) + 4 * row + (e & 3)))
    elif name == "Q5_0":
        w.halves(0)
        w.codes(w.nibbles(24), w.single(8, (2, 4, 1)))
    elif name == "IQ4_NL":
        w.halves(0)
        w.codes(w.nibbles(8))
    elif name == "IQ4_XS":
        w.halves(0)
        w.scales(32, 4, (16, 2, 2), width=8)
        w.codes(w.eights(64, 1))
    elif name in ("Q4_K", "Q5_K"):
        w.halves(0, 2)
        number = 4 * group + row
        for kind in range(2):  # scales, minima
            low, high = 8 * (32 + number) + 4 * kind, 8 * (16 + number % 16) + number // 16 * 4 + 2 * kind
            packed = 8 * (12 + group - 4) + 4 * kind
            w.move(4, np.where(group < 4, 8 * (4 + 4 * kind + group), packed), low)
            w.move(2, np.where(group < 4, 8 * (4 + 4 * kind + group) + 4, 8 * (4 + 4 * kind + group - 4) + 6), high)
        w.codes(*(w.nibbles(64),) if name == "Q4_K" else (w.nibbles(192), w.single(64, (2, 1, 4))))
    elif name == "Q2_K":
        w.halves(80, 82)
        w.bytes(0, lambda i: 16 + 8 * (i // 2) + row + 4 * (i % 2), 16)
        w.codes(w.pairs(80))
    elif name == "Q3_K":
        w.halves(108)
        sub = np.arange(16)
        number = 8 * (sub // 2) + row + 4 * (sub % 2)
        w.move(4, 8 * (96 + sub % 8) + sub // 8 * 4, 8 * (24 + number % 32) + number // 32 * 4)
        w.move(2, 8 * (104 + sub % 4) + sub // 4 * 2, 8 * (8 + number % 16) + number // 16 * 2)
        w.codes(w.pairs(184), w.single(56, (1, 2, 4)))
    elif name == "Q6_K":
        w.halves(208)
        w.bytes(192, lambda i: 8 + 8 * (i // 2) + row + 4 * (i % 2), 16)
        w.codes(
            w.nibbles(328),
            lambda e: (
                8 * (72 + 32 * (e >> 5) + 16 * (e >> 4 & 1) + 4 * row + (e & 3)) + 4 * (e >> 2 & 1) + 2 * (e >> 3 & 1)
            ),
        )
    elif name in ("IQ2_K", "IQ3_K", "IQ4_K", "IQ5_K"):
        w.halves(0)
        w.extra()
        if name == "IQ2_K":
            w.scales(16, 4)
            w.codes(w.pairs(48))
        elif name == "IQ3_K":
            w.scales(24, 6, (16, 4, 1))
            w.codes(w.pairs(56), w.single(312, (1, 2, 4)))
        else:
            w.scales(32, 8, (16, 4, 2))
            w.codes(*(w.nibbles(64), w.single(576, (4, 1, 2)))[: int(name[2]) - 3])
    elif name in ("IQ4_KS", "IQ5_KS"):
        w.bytes(0, lambda i: 4 * i + row, 8)
        w.codes(*(w.nibbles(32), w.single(544, (4, 1, 2)))[: int(name[2]) - 3])
    else:
        w.halves(0)
        if name in ("IQ2_XXS", "IQ3_XXS"):
            points = 4 if name == "IQ2_XXS" else 8
            index = np.arange(8 * points)
            at, words = 2 + index, 66 + 4 * group
            if points == 4:
                at, words = 2 + index // 4 * 8 + index % 4, 6 + 8 * group
            w.move(8, 8 * at, 8 * (136 + 4 * points * (index // points) + points * row + index % points))
            sas = 8 * (8 + 4 * (4 * (eight // 4) + row) + eight % 4)
            w.move(1, 8 * words[eight // 4] + 28 + eight % 4, sas)
            w.seven_signs(8 * words[eight // 4] + 7 * (eight % 4), sas + 1)
        elif name == "IQ2_XS":
            at = 8 * (8 + 2 * (16 * (eight // 4) + 4 * row + eight % 4))
            w.move(9, 8 * (2 + 2 * eight), at)
            w.seven_signs(8 * (2 + 2 * eight) + 9, at + 9)
            w.bytes(66, lambda i: 264 + 4 * i + row, 8)
        elif name == "IQ2_S":
            w.bytes(2, lambda i: 8 + 16 * (i // 4) + 4 * row + i % 4, 32)
            w.bytes(66, lambda i: 136 + 4 * i + row, 8)
            w.bytes(34, lambda i: 168 + 16 * (i // 4) + 4 * row + i % 4, 32)
            w.bytes(74, lambda i: 296 + 4 * i + row, 8)
        else:
            point, e = np.arange(64), np.arange(256)
            of = point % 8
            w.move(8, 8 * (2 + point), 8 * (8 + 32 * (point // 8) + row + 8 * (of % 4) + of // 4 * 4))
            w.bytes(66, lambda i: 264 + 4 * i + row, 8)
            w.move(1, 8 * 74 + e, 8 * (296 + 16 * (e >> 5) + 4 * row + (e & 3)) + (e >> 2 & 7))
            number = 4 * group + row
            w.move(4, 8 * 106 + 4 * group, 8 * (424 + number % 16) + number // 16 * 4)
    return w


#: Woven types that become plain ones, in their size.
PLAIN_OF = {
    kind: GgmlType[kind.name.rpartition("_R")[0]]
    for kind in GgmlType
    if "_R" in kind.name and not kind.name.startswith(("BF16", "IQ1", "IQ2_BN", "Q6_0", "Q8_K"))
}

_Move = tuple[
    _Places | slice, _Places, NDArray[np.unsignedinteger], NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]
]


@cache
def _moves(woven: GgmlType) -> tuple[_Weave, type[np.unsignedinteger], list[_Move]]:
    """Return how a type is woven, and moves of words, whose results' exclusive or are the plain blocks.

    A move has places in the plain blocks, those that they come from, shifts down and up, and the bits to keep.
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
    """Return rows of the plain type, (rows * n, bytes) uint8, of lines (n, bytes) that have some woven rows each."""
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
        return unwoven(self.woven, raw.view(-1, self.line_bytes))[first % self.rows :][:count]


@dataclass(frozen=True)
class Woven:
    """A matrix of woven rows: an `engine.gguf.stored_tensor.Encoding`."""

    parts: tuple[Part, ...]
    shape: tuple[int, ...]
    kind: int
    factor: float | None = None

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return rows in the plain type."""
        return parts[0]

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return rows in float32."""
        return blocks.dequantize(self.kind, parts[0], self.shape[-1])


def put_in_order(stored: StoredTensor) -> StoredTensor:
    """Return a tensor of a woven type as one of the plain type whose rows are made from the file's."""
    woven = GgmlType(stored.kind)
    if woven not in PLAIN_OF:
        return stored
    together, kind = woven.rows_together, int(PLAIN_OF[woven])
    shape = (stored.rows // together, together * stored.row_bytes)
    part = _WovenPart(stored.path, stored.start, torch.uint8, shape, together, woven)
    return replace(stored, kind=kind, encoding=Woven((part,), stored.shape, kind))
