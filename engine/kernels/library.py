"""Search for the kernel library, its loading, the instruction set that it uses, and the packed matrix."""

from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.kernels.build import library_name
from engine.sentences import say

PANEL_ROWS = 32
CAP_VARIABLE = "TENON_CPU_CAP"
"""Environment variable with the name of the highest instruction set that may be used."""

_VERSION = 26  # TENON_VERSION in csrc/tenon.h


class NotPackable(ValueError):
    """Error for a matrix that a format cannot hold; the message says why."""


class NotFinite(ValueError):
    """Error for a scale or a number of a matrix that is a NaN or an infinity."""


@dataclass(frozen=True, eq=False)
class Rotation:
    """Rotation of the rows that a matrix multiplies: places are exchanged, given signs, and mixed in blocks.

    Args:
        signs: (k,) float32, ±1 / sqrt(width).
        width: Places that are mixed, by the Walsh-Hadamard matrix in Sylvester's order; a power of two.
        order: (k,) int32, place that each takes its number from; None for its own.
    """

    signs: Tensor
    width: int
    order: Tensor | None = None

    def to(self, device: torch.device) -> Rotation:
        """Return the same on a device."""
        return Rotation(self.signs.to(device), self.width, None if self.order is None else self.order.to(device))


@dataclass(frozen=True)
class Packed:
    """Matrix in a packed format.

    Args:
        data: Bytes, in one dimension; may be mapped from a file, and should be 64-byte aligned.
        rows: output size (n).
        columns: input size (k).
        type: Type of its blocks, by GGML's number (`engine.kernels.blocks`).
        rotation: Rotation of the rows that it multiplies, or None.
        factor: (1,) float32 that multiplies all results, or None.
        bounds: (4,) float32, least and most of the numbers that it multiplies, then of the results; or None.
    """

    data: Tensor
    rows: int
    columns: int
    type: int = -1
    rotation: Rotation | None = None
    factor: Tensor | None = None
    bounds: Tensor | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        return self.data.nbytes


def round_up(value: int, multiple: int) -> int:
    """Return the next multiple of a number."""
    return -(-value // multiple) * multiple


class Matrix(ctypes.Structure):
    """``struct tenon_matrix``: an arranged matrix and its bias, as addresses that the caller keeps alive."""

    _fields_ = (
        ("packed", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("n", ctypes.c_int64),
        ("k", ctypes.c_int64),
        ("type", ctypes.c_int32),
        ("refined_above", ctypes.c_float),
        ("signs", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
        ("rotated", ctypes.c_int64),
        ("factor", ctypes.c_void_p),
        ("bounds", ctypes.c_void_p),
    )

    @classmethod
    def of(cls, packed: Packed, bias: Tensor | None, refined_above: float = math.inf) -> Matrix:
        """Point at a matrix and a bias (rows,) float32; for ``refined_above`` see `engine.kernels.blocks.matmul`."""
        turned = packed.rotation
        signs, order, width = (None, None, 0) if turned is None else (turned.signs, turned.order, turned.width)
        at_bias, at_signs, at_order, at_factor, at_bounds = (
            None if one is None else one.data_ptr() for one in (bias, signs, order, packed.factor, packed.bounds)
        )
        places = (packed.data.data_ptr(), at_bias, packed.rows, packed.columns, packed.type, refined_above)
        return cls(*places, at_signs, at_order, width, at_factor, at_bounds)


@dataclass(frozen=True)
class _Loaded:
    functions: ctypes.CDLL | None
    reason: str  # why there is none


_INT, _SIZE, _TEXT, _POINTER = ctypes.c_int32, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p
_FLOAT, _REAL = ctypes.c_float, ctypes.c_double
#: By name without ``tenon_``: the type of the result, then those of the arguments.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "version": (_INT,),
    "select": (_TEXT, _TEXT),
    "instruction_set": (_TEXT, _INT, ctypes.POINTER(_INT)),
    "prefer": (_INT, _INT, _INT, _TEXT),
    "set_spin": (None, _SIZE),
    "matmul": (_INT, ctypes.POINTER(Matrix), _POINTER, _SIZE, _POINTER, _INT),
    "arrange": (_INT, _INT, _POINTER, _SIZE, _SIZE, _POINTER, _POINTER, _INT),
    "hadamard": (None, _POINTER, _SIZE, _SIZE),
    "unpack": (_INT, _INT, _POINTER, _SIZE, _SIZE, _SIZE, _SIZE, _POINTER),
    "dequantize": (_INT, _INT, _POINTER, _SIZE, _POINTER, _SIZE, _POINTER, _INT),
    "quantize": (_INT, _INT, _POINTER, _POINTER, _SIZE, _SIZE, _POINTER, _INT),
    "layer_scratch_bytes": (_SIZE, _POINTER, _POINTER, _INT),
    "layer_forward": (None, *[_POINTER] * 3, _SIZE, *[_POINTER] * 2, _INT),
    "layer_choose": (_POINTER, *[_POINTER] * 3, _SIZE, *[_POINTER] * 2, _INT),
    "layer_mix": (None, *[_POINTER] * 3, _SIZE, *[_POINTER] * 2, _INT),
    "experts_scratch_bytes": (_SIZE, _POINTER, _SIZE),
    "experts": (None, _POINTER, _INT, _POINTER, _SIZE, *[_POINTER] * 4, _INT),
    "forward_scratch_bytes": (_SIZE, _POINTER, _POINTER, _INT),
    "forward": (_INT, _POINTER, _POINTER, _POINTER, _INT),
    "guess": (_INT, _POINTER, _POINTER, _SIZE, _POINTER, _POINTER, _INT),
    "add_chunk": (None, _POINTER, _POINTER, _SIZE, _POINTER, _INT),
    "move_rows": (None, _POINTER, *[_SIZE] * 5, _POINTER, _SIZE),
    "sample_scratch_bytes": (_SIZE, _SIZE),
    "sample": (_SIZE, _POINTER, _SIZE, _REAL, _SIZE, *[_REAL] * 3, _POINTER, _SIZE, _REAL, _POINTER),
    "likeliest": (None, _POINTER, _SIZE, _SIZE, _SIZE, _FLOAT, _POINTER, _POINTER),
}


@cache
def _load() -> _Loaded:
    path = Path(__file__).with_name(library_name())
    if not path.exists():
        return _Loaded(
            None, say("{file} is missing: install Tenon again, or build it if this is a checkout.", file=path.name)
        )
    try:
        functions = ctypes.CDLL(str(path))
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(functions, f"tenon_{name}")
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        return _Loaded(None, say("{file} cannot be loaded: {error}.", file=path.name, error=error))
    if functions.tenon_version() != _VERSION:
        return _Loaded(
            None,
            say(
                "{file} is from another version: install Tenon again, or build it if this is a checkout.",
                file=path.name,
            ),
        )
    cap = os.environ.get(CAP_VARIABLE) or None
    if functions.tenon_select(cap.encode() if cap else None) is None:
        return _Loaded(
            None,
            say(
                "Instructions are to be capped at {cap}, which this architecture does not have: choose another cap.",
                cap=cap,
            ),
        )
    return _Loaded(functions, "")


def available() -> str | None:
    """Return the instruction set in use, or None if only torch's own operators are (see `reason`)."""
    functions = _load().functions
    return None if functions is None else str(functions.tenon_select(_cap).decode())


def built_ns() -> int:
    """Return when the library was built, 0 without it: measurements with another one do not hold for this one."""
    path = Path(__file__).with_name(library_name())
    return path.stat().st_mtime_ns if available() is not None else 0


def reason() -> str:
    """Return the reason why the library is not in use, as a sentence, or an empty text."""
    return _load().reason


_cap: bytes | None = (os.environ.get(CAP_VARIABLE) or "").encode() or None


def select(cap: str | None) -> str:
    """Use the best instruction set up to `cap` (None: without limit) from now on, and name it.

    Raises:
        ValueError: no such instruction set on this architecture, or no library.
    """
    global _cap
    functions = _load().functions
    chosen = None if functions is None else functions.tenon_select(cap.encode() if cap else None)
    if chosen is None:
        raise ValueError(f"no such instruction set: {cap}" if functions is not None else reason())
    _cap = cap.encode() if cap else None
    return str(chosen.decode())


def instruction_sets() -> dict[str, bool]:
    """Names from the lowest to the highest, and whether each can run on this machine."""
    functions = _load().functions
    usable = ctypes.c_int32()
    found: dict[str, bool] = {}
    while functions is not None:
        name = functions.tenon_instruction_set(len(found), ctypes.byref(usable))
        if name is None:
            break
        found[name.decode()] = bool(usable.value)
    return found


def prefer(type: int, width: int, instruction_set: str | None) -> None:
    """Use an instruction set for products of one type from a width up to the next power of two, if the cap allows.

    Args:
        type: Type by GGML's number.
        width: 1, 2, 4 and so on to 64, which stands for all larger widths too.
        instruction_set: Instruction set with the same results; None for the highest again.

    Raises:
        ValueError: there is no such set here, or the width is none of these.
    """
    functions = _load().functions
    set_name = None if instruction_set is None else instruction_set.encode()
    if functions is not None and (
        width < 1 or width & (width - 1) or functions.tenon_prefer(type, width.bit_length() - 1, set_name)
    ):
        raise ValueError(f"no instruction set {instruction_set} for {width} tokens")


def loaded() -> ctypes.CDLL | None:
    """Return the library itself, for `engine.kernels.layer`, or None."""
    return _load().functions
