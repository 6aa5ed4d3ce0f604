"""A whole decoder layer in one call of the kernel library: the structures that ``csrc/tenon.h`` describes."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.kernels import library
from engine.kernels.library import Matrix

HEAD_DIM_MULTIPLE = 16
TILE_TOKENS = 16  # of csrc/job.h
CACHE_8_BITS = 1  # TENON_CACHE_8_BITS
ACTIVATIONS = {"silu": 0, "gelu_tanh": 1, "gelu": 2, "clamped_swiglu": 3, "relu2": 4}  # TENON_SILU and so on


#: By whether keys and values are another layer's, and whether values are what keys were: TENON_OWN_KEYS and so on.
KEYS = {(False, False): 0, (False, True): 1, (True, False): 2}
SCORES = {"softmax": 0, "sigmoid": 1}  # TENON_SOFTMAX and so on


class Mixture(ctypes.Structure):
    """``struct tenon_mixture``."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("experts", "chosen", "groups", "chosen_groups", "group_scores")),
        *((name, ctypes.c_void_p) for name in ("gate", "up", "down")),
        *((name, Matrix) for name in ("router", "shared_gate")),
        *((name, ctypes.c_void_p) for name in ("correction", "expert_scale")),
        *((name, ctypes.c_float) for name in ("scale", "sum_floor")),
        *((name, ctypes.c_int32) for name in ("scores", "normalised")),
        ("repeats", ctypes.c_void_p),
    )


class Latents(ctypes.Structure):
    """``struct tenon_latents``."""

    _fields_ = (
        ("rank", ctypes.c_int64),
        ("query_up", Matrix),
        *((name, ctypes.c_void_p) for name in ("key_up", "value_up")),
        *((name, ctypes.c_float) for name in ("query_floor", "key_floor")),
        ("interleaved", ctypes.c_int32),
    )


class Memory(ctypes.Structure):
    """``struct tenon_memory``."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("key_heads", "heads", "key_dim", "value_dim", "width")),
        *((name, ctypes.c_void_p) for name in ("kernel", "bias", "gains", "decay", "decay_bias", "skip", "norm")),
        ("norm_floor", ctypes.c_float),
        ("more", Matrix),
        *((name, ctypes.c_int32) for name in ("tiled", "joined", "paired")),
    )


MEMORY_CHUNK = 16  # TENON_MEMORY_CHUNK
MOST_MARKS = 8  # TENON_MOST_MARKS


class Frame(ctypes.Structure):
    """``struct tenon_frame``."""

    _fields_ = (
        ("base", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("inputs", "state", "keys", "values", "decays")),
    )


class TextMemory(ctypes.Structure):
    """``struct tenon_text_memory``."""

    _fields_ = (
        ("frames", Frame * 3),
        *((name, ctypes.c_int32) for name in ("current", "is_long")),
        ("marks", ctypes.c_int64),
        ("mark", ctypes.c_int64 * MOST_MARKS),
        *((name, ctypes.c_void_p * MOST_MARKS) for name in ("mark_inputs", "mark_states")),
    )


class Layer(ctypes.Structure):
    """``struct tenon_layer``: addresses that the caller keeps alive, and sizes."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("hidden", "heads", "kv_heads", "head_dim")),
        *((name, ctypes.c_void_p) for name in ("mlp_norm", "attention_shift", "mlp_shift")),
        *((name, ctypes.c_void_p) for name in ("attention_norm", "query_norm", "key_norm")),
        *((name, ctypes.c_void_p) for name in ("attention_end_norm", "mlp_end_norm", "value_norm")),
        *((name, ctypes.c_void_p) for name in ("sinks", "router_norm", "experts_norm")),
        *((name, ctypes.c_void_p) for name in ("network_end_norm", "experts_end_norm")),
        *((name, ctypes.c_void_p) for name in ("input_norm", "scalar")),
        *((name, Matrix) for name in ("q", "k", "v", "output", "gate", "up", "down")),
        *((name, Matrix) for name in ("input_gate", "input_projection", "attention_gate")),
        *((name, ctypes.c_void_p) for name in ("mixture", "latents", "memory")),
        *((name, ctypes.c_float) for name in ("norm_floor", "head_norm_floor", "end_norm_floor")),
        *((name, ctypes.c_float) for name in ("scale", "soft_cap", "residual_scale")),
        *((name, ctypes.c_int32) for name in ("activation", "keys", "gated")),
    )


class Text(ctypes.Structure):
    """``struct tenon_text``: new rows of one text."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "length", "pending", "capacity", "ancestors_stride")),
        *((name, ctypes.c_void_p) for name in ("depths", "ancestors", "ahead")),
    )


class Step(ctypes.Structure):
    """``struct tenon_step``: parts that the layers of one forward share."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("m", "texts")),
        ("text", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("window", "rotated")),
        *((name, ctypes.c_void_p) for name in ("cosine", "sine", "query_factors", "inputs")),
        ("inputs_stride", ctypes.c_int64),
        ("cache_type", ctypes.c_int32),
    )


def row_bytes_8_bits(head_dim: int) -> int:
    """Return the bytes of a head's keys or values of a token in 8 bits: one a channel, then a bfloat16 scale per 32."""
    return head_dim + 2 * -(-head_dim // 32)


class Model(ctypes.Structure):
    """``struct tenon_model``."""

    _fields_ = (
        ("layers", ctypes.c_int64),
        ("hidden", ctypes.c_int64),
        ("layer", ctypes.c_void_p),
        ("kind", ctypes.c_void_p),
        ("final_norm", ctypes.c_void_p),
        ("norm_floor", ctypes.c_float),
        ("head", Matrix),
        ("join", Matrix),
    )


STOP = ctypes.CFUNCTYPE(ctypes.c_int32)


class Pass(ctypes.Structure):
    """``struct tenon_pass``."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("steps", "caches", "inputs", "given", "hidden", "normed", "logits")),
        *((name, ctypes.c_int64) for name in ("m", "first", "count")),
        ("stop", STOP),
    )


_STOPPED = 4  # TENON_STOPPED


class _Kept(threading.local):
    """Scratch memory of a thread, kept between calls: fresh memory would be cleared page by page."""

    scratch = torch.empty(0, dtype=torch.uint8)
    size_bytes = 0
    address = 0


_kept = _Kept()
# Between the halves of a layer others may be computed: a draft's, while the experts come from the disk.
_kept_for_halves = _Kept()


def forget_scratch() -> None:
    """Free the scratch memory of this thread."""
    vars(_kept).clear()
    vars(_kept_for_halves).clear()


def stores(addresses: Sequence[ctypes.Array[ctypes.c_void_p]]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the caches of a forward's texts, for the library.

    Args:
        addresses: Tensors of the layers for each text's cache, (2, kv_heads, rows, head_dim) bfloat16, or int8 with
            `row_bytes_8_bits` for head_dim, keys first. The caller keeps them alive.
    """
    return (ctypes.c_void_p * len(addresses))(*map(ctypes.addressof, addresses))


def forward(
    layer: Layer,
    step: Step,
    caches: ctypes.Array[ctypes.c_void_p],
    index: int,
    hidden: Tensor,
    bring: Callable[[list[int]], None] | None = None,
) -> None:
    """Run a layer.

    Args:
        caches: Caches from `stores`; the new rows are written into them.
        index: Place of the layer in them.
        hidden: (m, hidden) float32, changed in place.
        bring: Called with the experts that each row has chosen, those of the last row first, before any of these is
            read; raises to cancel. None if all experts are there.

    Raises:
        RuntimeError: There is no library.
    """
    functions, threads = _functions(), torch.get_num_threads()
    needed = functions.tenon_layer_scratch_bytes(ctypes.byref(layer), ctypes.byref(step), threads)
    scratch = _scratch(needed, _kept if bring is None else _kept_for_halves)
    arguments = (
        *(ctypes.byref(layer), ctypes.byref(step), ctypes.addressof(caches), index),
        *(hidden.data_ptr(), scratch, threads),
    )
    if bring is None:
        functions.tenon_layer_forward(*arguments)
        return
    mixture = Mixture.from_address(layer.mixture)
    choice = functions.tenon_layer_choose(*arguments)
    chosen = (ctypes.c_int32 * (step.m * mixture.chosen)).from_address(choice)
    bring(chosen[::-1])
    functions.tenon_layer_mix(*arguments)


def experts(mixture: Mixture, activation: int, rows: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
    """Compute a layer's experts for rows whose layer is computed elsewhere.

    Args:
        activation: One of `ACTIVATIONS`.
        rows: (m, hidden) float32, normalised.
        chosen: (m, k) int32, experts of each row.
        weights: (m, k) float32, weights of their results.

    Returns:
        (m, hidden) float32.

    Raises:
        RuntimeError: There is no library.
    """
    functions, threads = _functions(), torch.get_num_threads()
    out = torch.empty_like(rows)
    scratch = _scratch(functions.tenon_experts_scratch_bytes(ctypes.byref(mixture), len(rows)))
    functions.tenon_experts(
        *(ctypes.byref(mixture), activation, rows.data_ptr(), len(rows), chosen.data_ptr()),
        *(weights.data_ptr(), out.data_ptr(), scratch, threads),
    )
    return out


def forward_model(model: Model, forward: Pass) -> None:
    """Run all layers, the final norm and the head, or only the part before ``forward.stop``.

    Raises:
        RuntimeError: There is no library.
        MemoryError: No memory for the head's product.
    """
    functions, threads = _functions(), torch.get_num_threads()
    arguments = ctypes.byref(model), ctypes.byref(forward)
    needed = functions.tenon_forward_scratch_bytes(*arguments, threads)
    code = functions.tenon_forward(*arguments, _scratch(needed), threads)
    if code not in (0, _STOPPED):
        raise MemoryError("no memory for the activations of a matrix product")


def _functions() -> ctypes.CDLL:
    functions = library.loaded()
    if functions is None:
        raise RuntimeError(library.reason())
    return functions


def _scratch(size_bytes: int, kept: _Kept = _kept) -> int:
    """Return the address of this thread's scratch memory, aligned to 64."""
    if kept.size_bytes < size_bytes:
        kept.scratch = torch.empty(size_bytes + 63, dtype=torch.uint8)
        kept.size_bytes = size_bytes
        kept.address = (kept.scratch.data_ptr() + 63) // 64 * 64
    return kept.address
