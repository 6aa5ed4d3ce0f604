"""Weights in a packed format: quantized once into a file, and mapped from there ever after.

The file lies next to the checkpoint, or in the cache folder where that cannot be written to. Its pages are the
system's page cache: they are shared between processes, given back under pressure, and in memory once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import OutOfDisk
from engine.kernels.packing import NotPackable, Packed
from engine.model.config import ModelConfig
from engine.model.footprint import weight_bytes
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import Linear, LinearMap, PackedLinear
from engine.model.loader import dress_layer, read_slots
from engine.model.norm import Norm
from engine.model.tensors import check_tensors, decoder_tensors, expected_tensors
from engine.model.weight_format import WeightFormat
from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_file import PackedFile, PackedFileUnusable, write_packed_file

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
Check = Callable[[], None]
Sections = Iterator[tuple[str, Tensor, dict[str, Any]]]


def load_packed(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    cache_folder: Path,
    progress: Progress = lambda done_bytes, total_bytes: None,
    check: Check = lambda: None,
) -> ModelWeights:
    """Map the packed file of a model, making it first where there is none that is whole and of this model.

    Args:
        checkpoint: The model.
        config: Of this checkpoint.
        weight_format: A packed one.
        cache_folder: Where the file goes when the model's own folder cannot be written to.
        progress: Called with bytes done and in all: of the checkpoint while packing, else of the packed file.
        check: Called often; raises to cancel, and then leaves nothing behind.

    Raises:
        TensorMismatch: The checkpoint's tensors are not those of its config.
        WeightsCorrupt: One of its files ends early.
        OutOfDisk: No room for the packed file in either folder.
    """
    check_tensors(checkpoint, config)
    source = checkpoint.digest()
    places = (
        checkpoint.packed_path(weight_format.name),
        cache_folder / f"{source[:32]}-{weight_format.name}.packed",
    )
    for path in places:
        try:
            packed = PackedFile(path, source, weight_format.name)
            packed.check(progress, check)
            return _assemble(packed, config, weight_format)
        except PackedFileUnusable as problem:
            _log.info("%s is not used: %s", path, problem)
    failures: list[str] = []
    for path in places:
        try:
            write_packed_file(
                path,
                source,
                weight_format.name,
                _sections(checkpoint, config, weight_format, progress, check),
            )
        except OSError as error:
            failures.append(f"{path}: {error.strerror or error}")
        else:
            return _assemble(PackedFile(path, source, weight_format.name), config, weight_format)
    raise OutOfDisk(
        f"The {weight_format.name} weights could not be written next to the model nor to {cache_folder}: "
        f"free {weight_bytes(config, weight_format) / 1e9:.2g} GB, or choose fp32 weights, which need no file.",
        details="\n".join(failures),
    )


def _sections(
    checkpoint: Checkpoint, config: ModelConfig, weight_format: WeightFormat, progress: Progress, check: Check
) -> Sections:
    """Every section of the file; one tensor is in memory at a time."""
    total = sum(checkpoint.stored_bytes(name) for name in expected_tensors(config))
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    for name, slots in decoder_tensors(config):
        kept = torch.float32 if len(slots[0].shape) == 1 else torch.bfloat16
        dtypes = {checkpoint.dtype(slot.name) for slot in slots}
        # A checkpoint in float32 or float16 is quantized from its own values and not from rounded ones.
        wide = kept if dtypes <= {torch.bfloat16} else torch.float32
        (tensor,) = read_slots(checkpoint, slots, wide, torch.device("cpu"), advance, check).values()
        if tensor.dim() == 1:
            yield _dense_section(name, tensor.float())
        elif name == "embedding":
            yield _dense_section(name, tensor.to(weight_format.dense))
            if config.tied:
                yield _matrix_section("head", tensor, weight_format)
        else:
            yield _matrix_section(name, tensor, weight_format)


def _dense_section(name: str, tensor: Tensor) -> tuple[str, Tensor, dict[str, Any]]:
    return name, tensor, {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}


def _matrix_section(
    name: str, tensor: Tensor, weight_format: WeightFormat
) -> tuple[str, Tensor, dict[str, Any]]:
    assert weight_format.packing is not None
    try:
        packed = weight_format.packing.pack(tensor)
    except NotPackable as problem:
        name, kept, layout = _dense_section(name, tensor.to(weight_format.dense))
        return name, kept, {**layout, "reason": str(problem)}
    return name, packed.data, {"rows": packed.rows, "columns": packed.columns}


def _assemble(packed: PackedFile, config: ModelConfig, weight_format: WeightFormat) -> ModelWeights:
    """A model whose tensors are views of the file's pages."""
    assert weight_format.packing is not None
    packing = weight_format.packing

    def dense(name: str) -> Tensor:
        layout = packed.sections[name].layout
        return packed.bytes_of(name).view(getattr(torch, layout["dtype"])).reshape(layout["shape"])

    def linear(name: str) -> LinearMap:
        bias_name = f"{name}_bias"
        bias = dense(bias_name) if bias_name in packed.sections else None
        layout = packed.sections[name].layout
        if "rows" not in layout:
            return Linear(dense(name).to(weight_format.activations), bias)
        matrix = Packed(packed.bytes_of(name), layout["rows"], layout["columns"])
        if matrix.size_bytes != packing.packed_bytes(matrix.rows, matrix.columns):
            raise PackedFileUnusable(f"{name} has not the bytes of its shape")
        return PackedLinear(matrix, weight_format.name, packing.matmul, bias)

    def layer(index: int) -> LayerWeights:
        prefix = f"layers.{index}."
        present = {name.removeprefix(prefix) for name in packed.sections if name.startswith(prefix)}
        return dress_layer(
            config,
            present,
            vector=lambda field: dense(prefix + field),
            linear=lambda field: linear(prefix + field),
        )

    return ModelWeights(
        embedding=dense("embedding"),
        layers=tuple(layer(index) for index in range(config.layers)),
        final_norm=Norm(dense("final_norm"), config.norm_epsilon, config.family.norm_offset),
        head=linear("head"),
        tied=False,
        parameters=sum(torch.Size(shape).numel() for shape in expected_tensors(config).values()),
        activations=weight_format.activations,
        cache=weight_format.cache,
        notes=_notes(packed, weight_format),
    )


def _notes(packed: PackedFile, weight_format: WeightFormat) -> tuple[str, ...]:
    """Which matrices the format could not hold, and why."""
    kept = {
        name: section.layout["reason"]
        for name, section in packed.sections.items()
        if "reason" in section.layout
    }
    if not kept:
        return ()
    first = next(iter(kept))
    return (
        f"{len(kept)} of the model's matrices do not fit {weight_format.name} and stay in "
        f"{str(weight_format.dense).removeprefix('torch.')} ({first}: {kept[first]}).",
    )
