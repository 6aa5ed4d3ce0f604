"""A layer's tensors on their way to a device, and the layer that they make there.

Packed matrices stay packed, dense ones take the device's type, and gains of norms stay float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from engine.kernels.packing import Packed
from engine.model.layer import LayerWeights
from engine.model.linear import DequantizedLinear, Linear, PackedLinear
from engine.model.norm import Norm
from engine.model.weight_format import Packing


def layer_tensors(layer: LayerWeights, dtype: torch.dtype) -> Iterator[Tensor]:
    """Every tensor of a layer in the type that it has on the device, one after the other.

    Args:
        layer: On the host.
        dtype: Of the device's activations.
    """
    for part in layer.parts():
        if isinstance(part, Norm):
            yield part.gain
            continue
        assert isinstance(part, Linear | PackedLinear | DequantizedLinear), "a matrix that can be moved"
        yield part.weight.to(dtype) if isinstance(part, Linear) else part.matrix.data
        if part.bias is not None:
            yield part.bias.to(dtype)


def device_layer(layer: LayerWeights, packing: Packing | None, tensors: Iterator[Tensor]) -> LayerWeights:
    """The layer made of copies of its tensors.

    Args:
        layer: On the host.
        packing: Of its packed matrices; None where it has none.
        tensors: Copies of `layer_tensors`, in the same order.
    """

    def moved(part: Any) -> Any:
        if part is None:
            return None
        first = next(tensors)
        if isinstance(part, Norm):
            return part.elsewhere(first)
        assert isinstance(part, Linear | PackedLinear | DequantizedLinear), "a matrix that can be moved"
        bias = None if part.bias is None else next(tensors)
        if isinstance(part, Linear):
            return Linear(first, bias)
        assert packing is not None
        return DequantizedLinear(Packed(first, part.matrix.rows, part.matrix.columns), packing.unpack, bias)

    parts: dict[str, Any] = {field.name: getattr(layer, field.name) for field in fields(layer)}
    # In the order of `LayerWeights.parts`, which is that of the fields.
    return LayerWeights(**{name: moved(part) for name, part in parts.items()})
