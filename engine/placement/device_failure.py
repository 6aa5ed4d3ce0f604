"""Devices that fail: what torch raises of them, and whether one still computes."""

from __future__ import annotations

import torch


def is_full(error: Exception) -> bool:
    """True if memory was short, as torch says it: of its own allocators, of the driver, or of cuBLAS."""
    said = str(error).lower()
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in said or "alloc_failed" in said


def first_line(error: Exception) -> str:
    """The reason that torch gives, without the advice to developers behind it."""
    return str(error).strip().partition("\n")[0][:120]


def answers(device: torch.device) -> bool:
    """True if a device computes, or would if it had memory.

    A GPU that was lost, one on which a kernel has failed in this process, and one for which this torch has no kernels
    raise at whatever is asked of them.
    """
    try:
        return float(torch.ones(1, device=device) + 1) == 2.0
    except RuntimeError as error:
        return is_full(error)
