"""A layer's tensors on their way to a device, and the layer that they make there.

Packed matrices stay packed, dense ones take the device's type, and gains of norms stay float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from engine.model.layer import LayerWeights
from engine.model.linear import DequantizedLinear, JoinedLinear, Linear, LinearMap, Norm, PackedLinear, joined
from engine.model.mixture import Experts


def layer_tensors(layer: LayerWeights, dtype: torch.dtype) -> Iterator[Tensor]:
    """Every tensor of a layer in the type that it has on the device, one after the other."""
    for part in layer.parts():
        yield from part_tensors(part, dtype)


def part_tensors(part: Norm | LinearMap | Experts | Tensor, dtype: torch.dtype) -> Iterator[Tensor]:
    """The same of one norm, matrix or vector, or of the experts."""
    if isinstance(part, Tensor):
        yield part
        return
    if isinstance(part, Experts):
        for matrix in part.matrices:
            yield from part_tensors(matrix, dtype)
        yield from (vector for vector in part.vectors if vector is not None)
        return
    for one in part.parts if isinstance(part, JoinedLinear) else (part,):
        if isinstance(one, Norm):
            yield one.gain
            continue
        assert isinstance(one, Linear | PackedLinear | DequantizedLinear), "a matrix that can be moved"
        yield one.weight.to(dtype) if isinstance(one, Linear) else one.matrix.data
        if one.bias is not None:
            yield one.bias.to(dtype)


def device_layer(layer: LayerWeights, tensors: Iterator[Tensor]) -> LayerWeights:
    """The layer made of copies of its `layer_tensors`, in the same order."""
    parts: dict[str, Any] = {field.name: getattr(layer, field.name) for field in fields(layer)}
    # In the order of `LayerWeights.parts`, which is that of the fields.
    for name, part in parts.items():
        parts[name] = None if part is None else device_part(part, tensors)
    return LayerWeights(**parts)


def device_part(part: Any, tensors: Iterator[Tensor]) -> Any:
    """The same of one norm, matrix or vector, or of the experts."""
    if isinstance(part, Tensor):
        return next(tensors)
    if isinstance(part, Experts):
        router, *rest = (device_part(matrix, tensors) for matrix in part.matrices)
        shared_gate = None if part.shared_gate is None else rest.pop(0)
        own = len(part.gate_up)
        correction, scale = (None if vector is None else next(tensors) for vector in part.vectors)
        return Experts(router, tuple(rest[:own]), tuple(rest[own:]), shared_gate, correction, scale)
    if isinstance(part, JoinedLinear):
        return joined([device_part(one, tensors) for one in part.parts])
    first = next(tensors)
    if isinstance(part, Norm):
        return part.elsewhere(first)
    assert isinstance(part, Linear | PackedLinear | DequantizedLinear), "a matrix that can be moved"
    bias = None if part.bias is None else next(tensors)
    if isinstance(part, Linear):
        return Linear(first, bias)
    return DequantizedLinear(replace(part.matrix, data=first), bias)


def half_type(device: torch.device) -> torch.dtype:
    """The 16-bit type that a GPU computes fast in."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.float16
    return torch.float16 if device.type == "mps" else torch.bfloat16
