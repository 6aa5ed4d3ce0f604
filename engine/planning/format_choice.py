"""Choice of the weight format: the one rule that a plan and a load go by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from engine.errors import InvalidOption
from engine.gguf.stored_tensor import F32, F64
from engine.model.config import ModelConfig
from engine.model.footprint import weight_bytes
from engine.model.fused_layer import can_fuse
from engine.model.tensors import expected_tensors
from engine.model.weight_format import FORMAT_NAMES, WeightFormat, stored_format, weight_format
from engine.sentences import either

AUTO, FULL = "auto", "full"
CACHE_NAMES = (AUTO, FULL, "q8_0")
"""The values of ``--kv-cache``."""
FEWER_BITS = 0.9
"""8 bits must be faster than the numbers of the file by more than measurements differ."""
# Up to this size a file in float32 stays in it; a larger one is computed with in 16 bits.
_EXACT_FILE_BYTES = 64 << 20
# Up to this size the numbers of the file cost little time and memory, and are not made fewer bits for speed.
_SMALL_MODEL_BYTES = 1 << 30


def choose_format(
    config: ModelConfig,
    wanted: str,
    fits: Callable[[WeightFormat], bool],
    seconds: Callable[[WeightFormat], float],
) -> WeightFormat:
    """The format asked for; for ``auto`` what the file is in, and never more bits than it has.

    A quantized file stays as it is. Plain numbers become 8 bits where they do not fit into memory, or where a large
    model is read faster so, and 4 where those do not fit either.

    Args:
        config: Of the model.
        wanted: A name from `FORMAT_NAMES`, or ``auto``.
        fits: True if all of a model in a format has room in memory.
        seconds: Time of a token in a format, measured here or predicted; formats are compared by it alone.

    Raises:
        InvalidOption: there is no such format.
    """
    if wanted in FORMAT_NAMES:
        return weight_format(wanted)
    if wanted != AUTO:
        raise InvalidOption(
            "There is no weight format {wanted}: choose auto, {names}.",
            wanted=repr(wanted),
            names=either(FORMAT_NAMES),
        )
    stored = stored_format(config)
    if config.quantization is not None:
        return stored
    if _is_small_and_exact(config) and fits(weight_format("fp32")):
        return weight_format("fp32")
    eight = weight_format("q8_0")
    if not fits(stored):
        return eight if fits(eight) else weight_format("q4_k_m")
    large = weight_bytes(config, stored) > _SMALL_MODEL_BYTES
    return eight if large and seconds(eight) < FEWER_BITS * seconds(stored) else stored


def cache_formats(config: ModelConfig, weights: WeightFormat, wanted: str) -> tuple[WeightFormat, ...]:
    """The formats of keys and values to try beside these weights, in this order: the next where one has no room.

    8 bits are lossy, so ``auto`` takes them only where the context that is wanted does not fit otherwise. A model whose
    layers the kernel library does not compute keeps its cache as wide as its activations.

    Raises:
        InvalidOption: there is no such format.
    """
    if wanted not in CACHE_NAMES:
        raise InvalidOption(
            "There is no cache format {wanted}: choose {names}.",
            wanted=repr(wanted),
            names=either(CACHE_NAMES),
        )
    if wanted == FULL or not weights.packed or not can_fuse(config):
        return (weights,)
    small = replace(weights, cache=torch.int8)
    return (weights, small) if wanted == AUTO else (small,)


def _is_small_and_exact(config: ModelConfig) -> bool:
    """True if the file holds float32, and little enough that this costs neither time nor memory."""
    if not config.types or weight_bytes(config, weight_format("fp32")) >= _EXACT_FILE_BYTES:
        return False
    matrices = [name for name, shape in expected_tensors(config).items() if len(shape) == 2]
    return all(config.types.get(name) in (F32, F64) for name in matrices)
