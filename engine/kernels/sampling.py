"""The next token from a row of logits, in one call of the kernel library."""

from __future__ import annotations

import threading
from array import array

import torch
from torch import Tensor

from engine.kernels import library


class _Kept(threading.local):
    """Scratch memory of a thread, and the vocabulary that it serves."""

    scratch = torch.empty(0, dtype=torch.uint8)
    vocabulary = 0


_kept = _Kept()


def sample(
    logits: Tensor,
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
        logits: (V,) float32.
        temperature: 0 takes the best.
        top_k: 0 keeps all.
        top_p: 1 keeps all.
        min_p: 0 keeps all.
        penalty: For repetition; 1 is none.
        seen: ("i") tokens that are penalised, in any order and as often as they come.
        noise: In [0, 1).

    Returns:
        The token, or None where there is no library, where the logits lie elsewhere or in another type, and where
        they hold a NaN or no finite largest one.
    """
    functions = library.loaded()
    size = logits.shape[0]
    usable = logits.dtype == torch.float32 and logits.device.type == "cpu" and logits.stride(0) == 1
    if functions is None or not usable or not size:
        return None
    if _kept.vocabulary < size:
        _kept.scratch = torch.empty(functions.tenon_sample_scratch_bytes(size), dtype=torch.uint8)
        _kept.vocabulary = size
    token = functions.tenon_sample(
        *(logits.data_ptr(), size, temperature, top_k, top_p, min_p, penalty),
        *seen.buffer_info(),
        *(noise, _kept.scratch.data_ptr()),
    )
    return None if token < 0 else int(token)
