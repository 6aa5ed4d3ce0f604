"""Weights for the kernels: read in pieces, arranged by all cores as they come, and converted if that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from engine.gguf.stored_tensor import BF16, F16, F32, PLAIN, StoredTensor, not_finite, type_name
from engine.kernels import blocks
from engine.kernels.library import PANEL_ROWS, NotFinite, NotPackable, Packed
from engine.model.config import ModelConfig
from engine.model.embedding import FileRows, LayerInputs
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import ALL, LIKELY, NONE, OUTLIERS, Norm, PackedLinear, joined
from engine.model.loader import dress_layer, final_norm, layer_inputs
from engine.model.tensors import (
    Slot,
    check_tensors,
    count_parameters,
    head_slot,
    input_slots,
    layer_slots,
    outer_slots,
)
from engine.model.weight_format import WeightFormat
from engine.sentences import say
from engine.weights.checkpoint import Checkpoint, piece_values
from engine.weights.direct_reader import PageMemory, Piece, read_pieces
from engine.weights.watched_file import WatchedFile

Progress = Callable[[int, int], None]
Check = Callable[[], None]
Keep = Callable[[str, Piece, int, Tensor, str | None], None]
"""Takes rows of a matrix as they are arranged: its name, where they come from, their type, their bytes, and why that
is not the type that was asked for."""
Parts = Mapping[str, Packed | Tensor]
"""A layer's tensors by their names in the checkpoint: matrices in blocks, vectors in float32."""


class TensorSource(Protocol):
    """Source of tensors: a checkpoint, or a file beside it that was made from it."""

    @property
    def files(self) -> Mapping[Path, WatchedFile]:
        """The files by their paths."""

    def stored(self, name: str) -> StoredTensor:
        """Return the place of a tensor of the checkpoint."""


def load_packed(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    progress: Progress = lambda done_bytes, total_bytes: None,
    check: Check = lambda: None,
    wanted: Sequence[int] | None = None,
    source: TensorSource | None = None,
    refused: Mapping[str, str] | None = None,
    keep: Keep | None = None,
) -> ModelWeights:
    """Read a whole model. Beside the weights themselves some pieces of a few megabytes are in memory.

    Arguments are those of `engine.model.loader.load_weights`, and a ``source`` of the tensors in the checkpoint's
    place, with the matrices that the format could not hold when it was made (``refused``), and ``keep``.

    Raises:
        TensorMismatch: The checkpoint's tensors are not those of its config.
        WeightsCorrupt: A file ends early.
        WeightsUnreadable: A file was changed since, or the disk failed.
    """
    check_tensors(checkpoint, config)
    source = source or checkpoint
    wanted = range(config.layers) if wanted is None else wanted
    (final_norm,) = (slot for slot in outer_slots(config) if slot.field == "final_norm")
    outer = [final_norm, head_slot(config), *input_slots(config)]
    layers = {index: layer_slots(config, index) for index in wanted}
    slots = [*outer, *(slot for layer in layers.values() for slot in layer)]
    reader = PackedReader(source, weight_format, keep=keep)
    parts = reader.read(slots, progress, check)
    embedding = embedding_rows(checkpoint, config)
    embedding.read_ahead()
    head = parts[head_slot(config).name]
    assert isinstance(head, Packed)
    return ModelWeights(
        embedding=embedding,
        layers=tuple(packed_layer(config, layer, parts) for layer in layers.values()),
        final_norm=final_norm_of(config, parts),
        head=PackedLinear(head, refined_above=LIKELY),
        tied=False,
        parameters=count_parameters(config),
        activations=weight_format.activations,
        cache=weight_format.cache,
        notes=format_notes(config, weight_format, {**(refused or {}), **reader.refused}),
        inputs=packed_inputs(checkpoint, config, parts),
    )


def load_packed_layer(
    source: TensorSource,
    config: ModelConfig,
    weight_format: WeightFormat,
    index: int,
    check: Check,
    arranged: bool = True,
) -> LayerWeights:
    """Read one layer, its rows arranged for the kernels or as a file has them."""
    slots = layer_slots(config, index)
    reader = PackedReader(source, weight_format, arranged=arranged)
    return packed_layer(config, slots, reader.read(slots, check=check))


class PackedReader:
    """Reads tensors of a source and arranges them for the kernels, or leaves their rows as a file has them."""

    def __init__(
        self,
        source: TensorSource,
        weight_format: WeightFormat,
        keep_cached: bool = True,
        keep: Keep | None = None,
        arranged: bool = True,
    ) -> None:
        self._source = source
        self._format = weight_format
        self._arranged = arranged
        self._keep_cached = keep_cached
        self._keep = keep or (lambda name, piece, kind, rows, refused: None)
        # Matrices that the format could not hold, and why; they are in bf16
        self.refused: dict[str, str] = {}

    def read(
        self,
        slots: Sequence[Slot],
        progress: Progress = lambda done_bytes, total_bytes: None,
        check: Check = lambda: None,
    ) -> Parts:
        """Read the tensors by name; those that cannot be converted are read again, and kept in 16 bits."""
        kinds = {slot.name: self._format.kind_of(slot) for slot in slots if len(slot.shape) == 2}
        stored = {slot.name: self._source.stored(slot.name).read_as(kinds.get(slot.name, F32)) for slot in slots}
        names = {one: name for name, one in stored.items()}
        arranged = self._arranged
        matrices = {name: empty_matrix(kind, stored[name], arranged) for name, kind in kinds.items()}
        vectors: dict[str, Tensor] = {}
        refused: dict[str, str] = {}
        total, done = sum(one.size_bytes for one in names), 0
        progress(0, total)

        def arrange_as_stored(piece: Piece) -> None:
            matrix = matrices.get(names[piece.stored])
            if matrix is not None and matrix.type == piece.stored.kind:
                arrange_piece(piece, matrix, threads=1, arranged=arranged)

        for piece in self._pieces(names, check, arrange_as_stored):
            name = names[piece.stored]
            if name not in kinds:
                vectors[name] = piece_values(piece)[0].float().clone()
                if not vectors[name].isfinite().all():
                    raise not_finite(piece.stored)
            elif name not in refused:
                try:
                    as_stored = kinds[name] == piece.stored.kind
                    rows = piece.raw if as_stored else arrange_piece(piece, matrices[name], arranged=arranged)
                except NotPackable as problem:
                    refused[name] = str(problem)
                else:
                    self._keep(name, piece, kinds[name], rows, None)
            done += piece.raw.nbytes
            progress(done, total)
        for name, reason in refused.items():
            matrices[name] = empty_matrix(BF16, stored[name], arranged)
            for piece in self._pieces([stored[name]], check):
                self._keep(name, piece, BF16, arrange_piece(piece, matrices[name], arranged=arranged), reason)
        self.refused |= refused
        return matrices | vectors

    def _pieces(
        self, stored: Iterable[StoredTensor], check: Check, each: Callable[[Piece], None] = lambda piece: None
    ) -> Iterator[Piece]:
        return read_pieces(self._source.files, stored, check, PANEL_ROWS, self._keep_cached, each)


def pack(weight: Tensor, kind: int) -> Packed:
    """Return a matrix (n, k) float32 in blocks of a type, or in 16 bits if one of its numbers is NaN or infinite."""
    try:
        raw = quantized(weight, kind)
    except NotPackable:
        kind, raw = BF16, quantized(weight, BF16)
    return blocks.arrange(kind, raw, *weight.shape)


def quantized(numbers: Tensor, kind: int) -> Tensor:
    """Quantize rows (n, k) of floats to bytes of a type.

    Raises:
        NotPackable: A number is a NaN or an infinity, which only bf16 holds.
    """
    if kind == BF16:
        return numbers.bfloat16().contiguous().view(torch.uint8)
    return blocks.quantize(kind, numbers.float())


def empty_matrix(kind: int, stored: StoredTensor, arranged: bool = True) -> Packed:
    """Return room for a matrix in a block type, in huge pages if there are any: small ones read a fifth slower."""
    size_bytes = _size_bytes(kind, stored.rows, stored.columns, arranged)
    return matrix_in(PageMemory(size_bytes).tensor(0, size_bytes), kind, stored)


def _size_bytes(kind: int, rows: int, columns: int, arranged: bool) -> int:
    """Return the bytes of rows that are arranged, or as a file has them."""
    return blocks.arranged_bytes(kind, rows, columns) if arranged else rows * blocks.row_bytes(kind, columns)


def matrix_in(data: Tensor, kind: int, stored: StoredTensor) -> Packed:
    """Return a tensor's matrix of a block type in some memory; in its own type it keeps its rotation and its factor."""
    if kind != stored.kind:
        return Packed(data, stored.rows, stored.columns, kind)
    factor = None if stored.factor is None else torch.tensor([stored.factor], dtype=torch.float32)
    return Packed(data, stored.rows, stored.columns, kind, stored.rotation, factor)


def arrange_piece(piece: Piece, matrix: Packed, threads: int | None = None, arranged: bool = True) -> Tensor:
    """Put rows of a tensor into their places in a matrix, converted if its type differs; return their bytes.

    Rows that are not to be ``arranged`` stay as a file has them, in the order of the matrix.

    Raises:
        NotPackable: The piece cannot be converted because a number is a NaN or an infinity.
        WeightsNotFinite: The piece need not be converted, and a scale or a number is a NaN or an infinity.
    """
    stored, kind, columns = piece.stored, matrix.type, matrix.columns
    start = _size_bytes(kind, piece.first, columns, arranged) if piece.first else 0
    target = matrix.data[start : start + _size_bytes(kind, piece.count, columns, arranged)]
    as_stored = kind == stored.kind
    rows = piece.raw if as_stored else quantized(piece_values(piece), kind)
    order = stored.row_map(piece.count) if as_stored else None
    if not arranged:
        each = rows.view(piece.count, -1)
        target.view(piece.count, -1).copy_(each if order is None else each[order.long()])
        return rows
    try:
        blocks.arrange(kind, rows, piece.count, columns, order, target, threads)
    except NotFinite:
        raise not_finite(stored) from None
    return rows


def packed_layer(config: ModelConfig, slots: Sequence[Slot], parts: Parts) -> LayerWeights:
    """Make a layer from its tensors; the parts of a fused projection stay apart, each in its own type."""
    by_field: dict[str, list[Slot]] = {}
    for slot in slots:
        by_field.setdefault(slot.field, []).append(slot)

    def vector(slot: Slot) -> Tensor:
        found = parts[slot.name]
        assert isinstance(found, Tensor)
        return found

    def linear(slot: Slot) -> PackedLinear:
        matrix = parts[slot.name]
        assert isinstance(matrix, Packed)
        biases = by_field.get(f"{slot.field}_bias", ())
        bias = next((vector(bias) for bias in biases if bias.first_row == slot.first_row), None)
        refined_above = OUTLIERS if slot.field.endswith(("qkv", "gate_up", "query_up", "attention_gate")) else NONE
        if slot.field in ("key_up", "value_up"):
            refined_above = ALL  # a fifteenth of the layer's weights, and a sixth of its error
        return PackedLinear(matrix, bias, refined_above)

    return dress_layer(
        config,
        by_field.keys(),
        vector=lambda field: vector(by_field[field][0]),
        linear=lambda field: joined([linear(slot) for slot in by_field[field]]),
    )


def embedding_rows(checkpoint: Checkpoint, config: ModelConfig) -> FileRows:
    """Return the embedding in the checkpoint's own file."""
    stored = checkpoint.stored(outer_slots(config)[0].name)
    return FileRows(checkpoint.files, stored)


def final_norm_of(config: ModelConfig, parts: Parts) -> Norm:
    """Make the norm before the head."""
    weight = parts[outer_slots(config)[1].name]
    assert isinstance(weight, Tensor)
    return final_norm(config, weight)


def packed_inputs(checkpoint: Checkpoint, config: ModelConfig, parts: Parts) -> LayerInputs | None:
    """Make the second embedding of the layers' inputs if the model has one, else return None."""
    names = {slot.field: slot.name for slot in input_slots(config)}

    def vector(field: str) -> Tensor:
        found = parts[names[field]]
        assert isinstance(found, Tensor)
        return found

    def linear(field: str) -> PackedLinear:
        matrix = parts[names[field]]
        assert isinstance(matrix, Packed)
        return PackedLinear(matrix, refined_above=ALL)

    return layer_inputs(checkpoint, config, vector, linear, torch.float32)


def format_notes(config: ModelConfig, weight_format: WeightFormat, refused: Mapping[str, str]) -> tuple[str, ...]:
    """Return sentences about matrices that are not in the type that was asked for, or that the file has."""
    notes = []
    matrices = [
        head_slot(config),
        *input_slots(config),
        *(slot for index in range(config.layers) for slot in layer_slots(config, index)),
    ]
    matrices = [slot for slot in matrices if len(slot.shape) == 2]
    if weight_format.stored is not None:
        if config.converts and config.quantization is not None:
            kinds = {weight_format.kind_of(slot) for slot in matrices} - PLAIN.keys()
            notes.append(
                say(
                    "The model is published in {quantization}, and computed with as {kinds}.",
                    quantization=config.quantization,
                    kinds=", ".join(map(type_name, sorted(kinds))) or weight_format.name.upper(),
                )
            )
    elif weight_format.kind not in (BF16, F16):
        narrow = {
            slot.name: say("its columns fill no blocks") for slot in matrices if weight_format.kind_of(slot) == BF16
        }
        kept = narrow | dict(refused)
        if kept:
            first = next(iter(kept))
            notes.append(
                say(
                    "{count} of the model's matrices do not fit {name} and stay in bf16 ({first}: {why}).",
                    count=len(kept),
                    name=weight_format.name,
                    first=first,
                    why=kept[first],
                )
            )
    return tuple(notes)
