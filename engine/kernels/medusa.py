"""Medusa heads over one row, in one call of the kernel library."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.kernels import library
from engine.kernels.library import Matrix


class _Heads(ctypes.Structure):
    """``struct tenon_heads``."""

    _fields_ = (
        ("first", Matrix),
        ("further", ctypes.c_void_p),
        ("maps", ctypes.c_void_p),
        ("blocks", ctypes.c_int64),
        ("own_maps", ctypes.c_int64),
    )


class Guess:
    """Logits of heads for a row; see ``tenon_guess``.

    Args:
        first: First block of all heads, (heads * h, h); the caller keeps all matrices alive.
        further: Other blocks of each head.
        maps: One map for all heads, or one for each.
    """

    def __init__(self, first: Matrix, further: Sequence[Sequence[Matrix]], maps: Sequence[Matrix]) -> None:
        blocks = [block for of_head in further for block in of_head]
        self._further, self._maps = (Matrix * len(blocks))(*blocks), (Matrix * len(maps))(*maps)
        self._heads = _Heads(
            first,
            ctypes.addressof(self._further),
            ctypes.addressof(self._maps),
            1 + len(blocks) // len(further),
            len(maps) > 1,
        )
        self._scratch = torch.empty((len(further) + 1) * first.k)
        self._logits = torch.empty(len(further), maps[0].n)

    def __call__(self, row: Tensor, count: int) -> Tensor | None:
        """Map (1, h) float32 to (count, V) float32 of the first heads, in memory that the next call overwrites.

        Returns:
            None without the library.

        Raises:
            MemoryError: No memory for the activations of a product.
        """
        functions = library.loaded()
        if functions is None:
            return None
        if functions.tenon_guess(
            ctypes.addressof(self._heads),
            *(row.data_ptr(), count, self._scratch.data_ptr(), self._logits.data_ptr()),
            torch.get_num_threads(),
        ):
            raise MemoryError("no memory for the activations of a matrix product")
        return self._logits[:count]
