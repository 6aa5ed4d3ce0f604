"""From the sections of a packed file to what the decoder calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from engine.kernels.packing import Packed
from engine.model.config import ModelConfig
from engine.model.layer import LayerWeights
from engine.model.linear import Linear, LinearMap, PackedLinear
from engine.model.loader import dress_layer
from engine.model.norm import Norm
from engine.model.tensors import expected_tensors
from engine.model.weight_format import WeightFormat
from engine.sentences import say
from engine.weights.packed_file import PackedFileUnusable, Section

BytesOf = Callable[[Section], Tensor]
"""Where the bytes of a section are: (size,) uint8."""


class PackedLayout:
    """Which section is which part of a model.

    Args:
        config: Of the model.
        weight_format: What the file holds.
        sections: Of the file, by name.
    """

    def __init__(
        self, config: ModelConfig, weight_format: WeightFormat, sections: Mapping[str, Section]
    ) -> None:
        self.config = config
        self.weight_format = weight_format
        self.sections = sections

    @property
    def parameters(self) -> int:
        """Number of weights, shared ones counted once."""
        return sum(torch.Size(shape).numel() for shape in expected_tensors(self.config).values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Which matrices the format could not hold, and why."""
        kept = {
            name: section.layout["reason"]
            for name, section in self.sections.items()
            if "reason" in section.layout
        }
        if not kept:
            return ()
        first = next(iter(kept))
        return (
            say(
                "{count} of the model's matrices do not fit {name} and stay in {dense} ({first}: {why}).",
                count=len(kept),
                name=self.weight_format.name,
                dense=str(self.weight_format.dense).removeprefix("torch."),
                first=first,
                why=kept[first],
            ),
        )

    def layer_sections(self, index: int) -> dict[str, Section]:
        """The sections of a layer by the field names of `layer_slots`, in the order of the file."""
        prefix = f"layers.{index}."
        return {
            name.removeprefix(prefix): section
            for name, section in self.sections.items()
            if name.startswith(prefix)
        }

    def dense(self, section: Section, bytes_of: BytesOf) -> Tensor:
        """A tensor that is stored as it is."""
        layout = section.layout
        return bytes_of(section).view(getattr(torch, layout["dtype"])).reshape(layout["shape"])

    def linear(self, section: Section, bias: Tensor | None, bytes_of: BytesOf) -> LinearMap:
        """A matrix, over the bytes where they are.

        Raises:
            PackedFileUnusable: Its size is not that of its shape.
        """
        layout = section.layout
        if "rows" not in layout:
            return Linear(self.dense(section, bytes_of).to(self.weight_format.activations), bias)
        packing = self.weight_format.packing
        if packing is None or section.size_bytes != packing.packed_bytes(layout["rows"], layout["columns"]):
            raise PackedFileUnusable(f"{section.name} has not the bytes of its shape")
        matrix = Packed(bytes_of(section), layout["rows"], layout["columns"])
        return PackedLinear(matrix, self.weight_format.name, packing.matmul, bias)

    def head(self, bytes_of: BytesOf) -> LinearMap:
        """The map from hidden states to logits; a dense one may be the embedding."""
        return self.linear(self.sections.get("head", self.sections["embedding"]), None, bytes_of)

    def final_norm(self, bytes_of: BytesOf) -> Norm:
        """The norm before the head."""
        weight = self.dense(self.sections["final_norm"], bytes_of)
        return Norm(weight, self.config.norm_epsilon, self.config.family.norm_offset)

    def layer(self, index: int, matrix_bytes: BytesOf, vector_bytes: BytesOf) -> LayerWeights:
        """A layer.

        Args:
            index: Which.
            matrix_bytes: Where its matrices are.
            vector_bytes: Where its biases are, and its norms, which are copied.
        """
        sections = self.layer_sections(index)

        def linear(field: str) -> LinearMap:
            bias = sections.get(f"{field}_bias")
            return self.linear(
                sections[field], None if bias is None else self.dense(bias, vector_bytes), matrix_bytes
            )

        return dress_layer(
            self.config,
            sections.keys(),
            vector=lambda field: self.dense(sections[field], vector_bytes),
            linear=linear,
        )
