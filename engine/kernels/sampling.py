"""The next token from a row of logits, or the likeliest ones, in one call of the kernel library."""

from __future__ import annotations

import ctypes
import math
import threading
from array import array
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from engine.kernels import library
from engine.kernels.library import NotFinite


class _Kept(threading.local):
    """Scratch memory of a thread, the size of its vocabulary, and the place of the last logits."""

    scratch = torch.empty(0, dtype=torch.uint8)
    address = 0
    vocabulary = 0
    logits: Tensor | None = None
    place: tuple[int, int] | None = None


_kept = _Kept()
# Rows of a chain, whose logits are held on to.
_FEW = 8


def forget_scratch() -> None:
    """Free the scratch memory of this thread, and let go of the last logits."""
    vars(_kept).clear()


def sample(
    logits: Tensor,
    row: int,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    penalty: float,
    seen: array[int],
    noise: float,
) -> int | None:
    """Draw a token; see ``tenon_sample`` in ``csrc/tenon.h``.

    Args:
        logits: (n, V) float32.
        temperature: 0 takes the best.
        top_k: 0 keeps all.
        top_p: 1 keeps all.
        min_p: 0 keeps all.
        penalty: Repetition penalty; 1 is none.
        seen: ("i") tokens that are penalised, in any order and as often as they come.
        noise: Number in [0, 1).

    Returns:
        The token; None without the library, for logits elsewhere or of another type, and for logits with a NaN or
        without a finite largest one.
    """
    functions = library.loaded()
    place = _kept.place if logits is _kept.logits else _place(logits)
    if functions is None or place is None:
        return None
    address, size = place
    if _kept.vocabulary < size:
        _kept.scratch = torch.empty(functions.tenon_sample_scratch_bytes(size), dtype=torch.uint8)
        _kept.address, _kept.vocabulary = _kept.scratch.data_ptr(), size
    token = functions.tenon_sample(
        *(address + 4 * size * row, size, temperature, top_k, top_p, min_p, penalty),
        *seen.buffer_info(),
        *(noise, _kept.address),
    )
    return None if token < 0 else int(token)


#: Tokens that `likeliest` finds at most.
MOST = 64


@dataclass(frozen=True)
class Ranked:
    """The likeliest tokens of some rows, as a device found them: the largest first, equal ones by their ids."""

    tokens: list[list[int]]  # as many for each row
    shares: list[list[float]]  # logarithms of their shares; NaN for a row that has one, or no finite largest logit


#: Logits of rows, (n, V) or (V,), or the likeliest tokens that they give.
Following: TypeAlias = Tensor | Ranked


def likeliest(logits: Following, count: int, temperature: float = 1.0) -> tuple[list[list[int]], list[list[float]]]:
    """Return the likeliest tokens of each row, the largest first, equal ones by their ids.

    Args:
        logits: (n, V) or (V,) on any device; or what a device found, which may be fewer, and is of temperature 1.
        count: Number of tokens of each row, at most `MOST`; no more come back than there are tokens.
        temperature: Above 0.

    Returns:
        n lists of tokens, and the logarithms of their shares.

    Raises:
        NotFinite: A row has a NaN, or no finite largest logit.
    """
    if isinstance(logits, Ranked):
        return _checked([row[:count] for row in logits.tokens], [row[:count] for row in logits.shares])
    logits = logits if logits.dim() == 2 else logits[None]
    rows, size = logits.shape
    count = min(count, size)
    functions = library.loaded()
    if functions is None or logits.dtype != torch.float32 or not logits.is_cpu or count > MOST:
        values, tokens = (logits.float() / temperature).log_softmax(-1).topk(count)
        return _checked(tokens.tolist(), values.tolist())
    logits = logits.contiguous()
    found, shares = (ctypes.c_int32 * (rows * count))(), (ctypes.c_float * (rows * count))()
    functions.tenon_likeliest(logits.data_ptr(), rows, size, count, temperature, found, shares)
    starts = range(0, rows * count, count)
    return _checked([found[at : at + count] for at in starts], [shares[at : at + count] for at in starts])


def _checked(tokens: list[list[int]], shares: list[list[float]]) -> tuple[list[list[int]], list[list[float]]]:
    if not all(row[0] > -math.inf for row in shares):  # false for NaN too
        raise NotFinite
    return tokens, shares


def _place(logits: Tensor) -> tuple[int, int] | None:
    """Return address and vocabulary of logits that the library can read."""
    rows, size = logits.shape
    usable = logits.dtype == torch.float32 and logits.is_cpu and logits.is_contiguous() and size > 0
    place = (logits.data_ptr(), size) if usable else None
    if rows <= _FEW:
        # A reply's are the same ones each time, and asking a tensor takes long when nobody has asked lately.
        _kept.logits, _kept.place = logits, place
    return place
