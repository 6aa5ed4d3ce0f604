"""A second logical device on a machine that has none: every tensor has a side, and an operation that mixes sides fails.

Tensors that were there before the mode was entered, and those made of nothing (zeros, say), have no side yet and take
that of what they meet; what Python's numbers make is the host's. Only a `GuardedLink` carries a tensor across.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.model.mixture import Experts
from engine.placement.device import Link

HOST, DEVICE = "host", "device"


class Sides(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows the side of every tensor through every operation, by its memory.

    Attributes:
        operations: Number of operations on each side.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._side: dict[int, str] = {}
        # Memory that is freed could come back under the same address with another side.
        self._kept: list[Tensor] = []
        self.operations = {HOST: 0, DEVICE: 0}

    def mark(self, tensors: Iterator[Tensor], side: str) -> None:
        """These tensors are on that side."""
        for tensor in tensors:
            self._kept.append(tensor)
            if tensor.numel():
                self._side[tensor.untyped_storage().data_ptr()] = side

    def side_of(self, tensor: Tensor) -> str | None:
        """Side of a tensor, None where it has none yet."""
        return self._side.get(tensor.untyped_storage().data_ptr()) if tensor.numel() else None

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), options: dict[str, Any] | None = None
    ) -> Any:
        inputs = [leaf for leaf in tree_leaves((arguments, options)) if isinstance(leaf, Tensor)]
        result = function(*arguments, **(options or {}))
        outputs = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        sides = {side for side in map(self.side_of, inputs) if side is not None}
        assert len(sides) < 2, f"{function} mixes tensors of both sides"
        if "lift_fresh" in str(function):
            sides = {HOST}
        for side in sides:
            self.operations[side] += 1
            self.mark(iter([*inputs, *outputs]), side)
        if not sides:
            for output in outputs:  # fresh memory: forget whose it was
                self._kept.append(output)
                self._side.pop(output.untyped_storage().data_ptr(), None)
        return result


class GuardedLink(Link):
    """Carries copies between the two sides of `Sides`, and counts them as a real link does.

    Attributes:
        crossings: Shape and type of everything that went to the device, in order.
    """

    def __init__(self, sides: Sides) -> None:
        super().__init__(torch.device("cpu"))
        self._sides = sides
        self.crossings: list[tuple[tuple[int, ...], torch.dtype]] = []

    def to_device(self, tensor: Tensor) -> Tensor:
        """A copy with the device's side; what is there already does not cross."""
        if self._sides.side_of(tensor) == DEVICE:
            return tensor
        self.to_device_bytes += tensor.nbytes
        self.crossings.append((tuple(tensor.shape), tensor.dtype))
        return self._copy(tensor, DEVICE)

    def to_host(self, tensor: Tensor) -> Tensor:
        """A copy with the host's side; what is there already does not cross."""
        if self._sides.side_of(tensor) == HOST:
            return tensor
        self.to_host_bytes += tensor.nbytes
        return self._copy(tensor, HOST)

    def _copy(self, tensor: Tensor, side: str) -> Tensor:
        copy = tensor.clone()
        self._sides.mark(iter([copy]), side)
        return copy


def weights_of(source: Any) -> Iterator[Tensor]:
    """Every tensor of a resident model, or of its layers alone where a sequence of layers is given."""
    layers = source if isinstance(source, (tuple, list)) else None
    if layers is None:
        yield source.embedding.weight
        yield source.head.weight
        yield source.final_norm.gain
        if source.inputs is not None:
            yield source.inputs.projection.weight
            yield source.inputs.norm.gain
        layers = source._weights.layers
    for layer in layers:
        for part in layer.parts():
            if isinstance(part, Tensor):
                yield part
                continue
            if isinstance(part, Experts):
                yield from (vector for vector in part.vectors if vector is not None)
            for one in part.matrices if isinstance(part, Experts) else (part,):
                if isinstance(one, Tensor):
                    yield one
                    continue
                yield one.weight if hasattr(one, "weight") else one.gain
