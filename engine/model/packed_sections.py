"""What a packed file holds of a model: every tensor of the decoder as a section, in the order of the layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.kernels.packing import NotPackable
from engine.model.config import ModelConfig
from engine.model.loader import read_slots
from engine.model.tensors import decoder_tensors, expected_tensors
from engine.model.weight_format import WeightFormat
from engine.weights.checkpoint import Checkpoint

Progress = Callable[[int, int], None]
Check = Callable[[], None]
Sections = Iterator[tuple[str, Tensor, dict[str, Any]]]


def stored_name(weight_format: WeightFormat) -> str:
    """What a file calls a format: bf16 with and without kernels are two layouts."""
    return weight_format.name if weight_format.packing is not None else f"{weight_format.name}-dense"


def packed_sections(
    checkpoint: Checkpoint, config: ModelConfig, weight_format: WeightFormat, progress: Progress, check: Check
) -> Sections:
    """Every section of the file: name, data, layout; one tensor is in memory at a time.

    Args:
        checkpoint: The model.
        config: Of this checkpoint.
        weight_format: Dense or packed.
        progress: Called with bytes of the checkpoint read, and in all.
        check: Called often; raises to cancel.
    """
    total = sum(checkpoint.stored_bytes(name) for name in expected_tensors(config))
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    packed = weight_format.packing is not None
    for name, slots in decoder_tensors(config):
        if packed:
            kept = torch.float32 if len(slots[0].shape) == 1 else torch.bfloat16
            dtypes = {checkpoint.dtype(slot.name) for slot in slots}
            # A checkpoint in float32 or float16 is quantized from its own values and not from rounded ones.
            wide = kept if dtypes <= {torch.bfloat16} else torch.float32
        else:
            wide = weight_format.dense  # as a dense model is loaded
        (tensor,) = read_slots(checkpoint, slots, wide, torch.device("cpu"), advance, check).values()
        if tensor.dim() == 1:
            yield _dense_section(name, tensor.float() if packed else tensor)
        elif name == "embedding":
            yield _dense_section(name, tensor.to(weight_format.dense))
            if config.tied and packed:
                yield _matrix_section("head", tensor, weight_format)
        else:
            yield _matrix_section(name, tensor, weight_format)


def _dense_section(name: str, tensor: Tensor) -> tuple[str, Tensor, dict[str, Any]]:
    return name, tensor, {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}


def _matrix_section(
    name: str, tensor: Tensor, weight_format: WeightFormat
) -> tuple[str, Tensor, dict[str, Any]]:
    if weight_format.packing is None:
        return _dense_section(name, tensor)
    try:
        packed = weight_format.packing.pack(tensor)
    except NotPackable as problem:
        # In the activations' type, so that nothing has to be converted when it is read.
        rounded = tensor.to(weight_format.dense).to(weight_format.activations)
        name, kept, layout = _dense_section(name, rounded)
        return name, kept, {**layout, "reason": str(problem)}
    return name, packed.data, {"rows": packed.rows, "columns": packed.columns}
