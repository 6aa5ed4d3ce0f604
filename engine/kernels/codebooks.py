"""Codebook types by torch's operators: IQ2, IQ3 and IQ1, whose elements are points of a codebook with signs or shifts.

A weight is (2s + 1) * d / ``parts`` times a whole number: level and sign, or for IQ1 eight times the level and 1 more
or less. ``csrc/codebooks.h`` and ``csrc/tenon.h`` describe the layout.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

_TWO_BITS, _THREE_BITS, _ODD = (8, 25, 43), (4, 12, 20, 28, 36, 44, 52, 62), (1, 3, 5, 7, 9, 11, 13, 15)


@dataclass(frozen=True)
class _Codebook:
    points: str  # name of its set in points.h
    levels: tuple[int, ...]
    width: int  # elements of a point
    parts: int
    index: int  # place of the indexes in a block
    signs: int = 0  # place of words with 32 signs, or of four times seven and a scale
    high: int = 0  # place of the indexes' high bits
    fine: tuple[int, int] = (0, 0)  # places where the scales of sub-blocks begin and end

    @property
    def count(self) -> int:
        """Points of a group of 32."""
        return 32 // self.width


_CODEBOOKS = {
    16: _Codebook("IQ2_XXS", _TWO_BITS, 8, 8, 2),
    17: _Codebook("IQ2_XS", _TWO_BITS, 8, 8, 2, fine=(66, 74)),
    18: _Codebook("IQ3_XXS", _THREE_BITS, 4, 4, 2, 66),
    19: _Codebook("IQ1", (-8, 0, 8), 8, 8, 2, high=34),
    21: _Codebook("IQ3_S", _ODD, 4, 1, 2, 74, 66, (106, 110)),
    22: _Codebook("IQ2_S", _TWO_BITS, 8, 8, 2, 34, 66, (74, 82)),
    29: _Codebook("IQ1", (-8, 0, 8), 8, 8, 0, high=32),
}
TYPES = frozenset(_CODEBOOKS)
_SEVEN_SIGNS, _SHIFTED = (16, 17, 18), (19, 29)


@cache
def _points(type: int) -> Tensor:
    """Return a codebook's levels, (points, width) float32."""
    text = Path(__file__).with_name("csrc").joinpath("points.h").read_text(encoding="ascii")
    book = _CODEBOOKS[type]
    found = re.search(rf"\b{book.points}_POINTS\[\] =([^;]*);", text)
    assert found is not None
    members = bytes.fromhex("".join(re.findall(r'"(\w+)"', found[1])))
    points = product(book.levels, repeat=book.width)  # the last level changes first
    kept = [point[::-1] for number, point in enumerate(points) if members[number // 8] >> number % 8 & 1]
    return torch.tensor(kept, dtype=torch.float32)


def _words(raw: Tensor, size: int) -> Tensor:
    """Return little-endian words of ``size`` bytes, (..., words) int64, of bytes (..., bytes)."""
    return (torch.unflatten(raw, -1, (-1, size)).long() << 8 * torch.arange(size, device=raw.device)).sum(-1)


def _bytes(words: Tensor, size: int) -> Tensor:
    """Return the ``size`` lowest bytes of words, (..., size) uint8."""
    return (words[..., None] >> 8 * torch.arange(size, device=words.device) & 255).to(torch.uint8)


def _fields(word: Tensor, shift: int, bits: int, count: int = 4) -> Tensor:
    """Return ``count`` fields of ``bits`` bits, ``shift`` apart, (..., count), of words (...)."""
    return word[..., None] >> shift * torch.arange(count, device=word.device) & (1 << bits) - 1


def _joined(fields: Tensor, shift: int) -> Tensor:
    """Return words (...) with fields (..., count) ``shift`` bits apart."""
    return (fields.long() << shift * torch.arange(fields.shape[-1], device=fields.device)).sum(-1)


def halves(type: int, blocks: Tensor) -> Tensor:
    """Return the scales in half precision, (..., 2) uint8, of blocks (..., size)."""
    if type == 29:
        return _bytes(_joined(_words(blocks[..., 48:56], 2) >> 12, 4), 2)
    return blocks[..., :2]


def arranged(type: int, blocks: Tensor) -> list[Tensor]:
    """Return parts of arranged units, (rows, units, count, bytes of a row) uint8, of blocks (rows, units, size)."""
    book = _CODEBOOKS[type]
    index = torch.unflatten(blocks[..., book.index : book.index + 8 * book.count], -1, (8, book.count))
    high = blocks[..., book.high : book.high + 8, None]
    fine = blocks[..., book.fine[0] : book.fine[1]]
    signs = _words(blocks[..., book.signs : book.signs + 32], 4)
    if type == 16:
        index, signs = torch.unflatten(blocks[..., 2:66], -1, (8, 2, 4)).unbind(-2)
        signs = _words(signs, 4)[..., 0]
    if type == 17:
        both = torch.unflatten(_words(blocks[..., 2:66], 2), -1, (8, 4))
        index, signs = (both & 255).to(torch.uint8), _joined(both >> 9 | (both & 256) >> 1, 8)
    elif type in _SEVEN_SIGNS:
        signs = _joined(_fields(signs, 7, 7) | _fields(signs >> 28, 1, 1) << 7, 8)
    if type == 19:
        word = _words(blocks[..., 34:50], 2)
        high = _bytes(_joined(_fields(word, 3, 3) | _fields(word >> 12, 1, 1) << 3, 4), 2)
    if type == 29:
        high, scales = torch.unflatten(blocks[..., 32:48], -1, (8, 2)), _words(blocks[..., 48:56], 2)
        upper = torch.unflatten((scales >> 8 & 15), -1, (2, 2))
        fine = torch.cat([(scales & 255).to(torch.uint8), _joined(upper, 4).to(torch.uint8)], -1)
    by_step = torch.unflatten(_fields(signs, 1, 1, 32), -1, (8, 4)).transpose(-1, -2)
    parts = [index[..., None]]
    if type not in _SHIFTED:
        parts.append(_joined(by_step, 1).to(torch.uint8)[..., None, :])
    if book.high:
        parts.append(high[..., None])
    groups = [part[:, :, group] for group in range(8) for part in parts]
    return [*groups, fine[..., None], halves(type, blocks)[..., None, :]]


def unpacked(type: int, panels: Tensor) -> Tensor:
    """Return the rows, (32 * panels, 256 * units) float32, of arranged panels (panels, units, bytes) uint8."""
    book, shifted = _CODEBOOKS[type], type in _SHIFTED
    widths = [*[1] * book.count, *([] if shifted else [4]), *[1] * ((2 if shifted else 1) if book.high else 0)]
    fine_bytes = 6 if type == 29 else book.fine[1] - book.fine[0]
    split = [*[width for _ in range(8) for width in widths], *[1] * fine_bytes, 2]
    pieces = torch.split(panels, [32 * width for width in split], -1)
    parts = [
        torch.unflatten(piece, -1, (32, -1)).transpose(1, 2).flatten(0, 1) for piece in pieces
    ]  # (rows, units, width)
    groups = [torch.cat(parts[at : at + len(widths)], -1) for at in range(0, 8 * len(widths), len(widths))]
    planes = torch.stack(groups, -2).long()  # (rows, units, 8, bytes)
    fine = torch.cat([*parts[8 * len(widths) : -1], parts[-1][..., :0]], -1).long()
    d = parts[-1].contiguous().view(torch.float16).float()
    index, rest = planes[..., : book.count], planes[..., book.count :]
    high = rest[..., 0 if shifted else 4 :]
    more, scales = torch.zeros_like(index), _fields(fine, 4, 4, 2).flatten(-2)
    if shifted:
        nibbles = _fields(high, 4, 4, 2).flatten(-2)
        more, extra = nibbles & 7, nibbles >> 3
        scales = _joined(extra[..., :3], 1)
        if type == 29:
            scales = _fields(fine[..., :4] | _fields(fine[..., 4:], 4, 4, 2).flatten(-2) << 8, 3, 3).flatten(-2)
        changes = (1 - 2 * (extra if type == 29 else extra[..., 3:].expand_as(extra))).repeat_interleave(8, -1)
    else:
        signs = torch.unflatten(_fields(rest[..., :4], 1, 1, 8).transpose(-1, -2).flatten(-2), -1, (4, 8))
        if book.high:
            more = _fields(high[..., 0], 8 // book.count, 8 // book.count, book.count)
        elif type == 17:
            more = signs[..., 7]
        else:
            scales = _joined(signs[..., 7], 1)
        if type in _SEVEN_SIGNS:
            signs = torch.cat([signs[..., :7], signs[..., :7].sum(-1, keepdim=True) & 1], -1)
        changes = 1 - 2 * signs.flatten(-2)
    values = _points(type).to(panels.device)[index + (more << 8)].flatten(-2)  # (rows, units, 8, 32)
    values = values + changes if shifted else values * changes
    scale = d * (2 * scales + 1) / book.parts
    return (values.reshape(*scale.shape, -1) * scale[..., None]).flatten(1)
