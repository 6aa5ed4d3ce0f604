"""Weights in a packed file: written once, and mapped or streamed from there ever after.

The file lies next to the checkpoint, or in the cache folder where that cannot be written to. Its mapped pages are the
system's page cache: they are shared between processes, given back under pressure, and in memory once.
"""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from engine.errors import OutOfDisk
from engine.model.config import ModelConfig
from engine.model.footprint import weight_bytes
from engine.model.layer import ModelWeights
from engine.model.packed_layout import PackedLayout
from engine.model.packed_sections import Check, Progress, packed_sections, stored_name
from engine.model.tensors import check_tensors
from engine.model.weight_format import WeightFormat
from engine.sentences import figure, say
from engine.weights.checkpoint import Checkpoint
from engine.weights.freed_memory import give_back_memory
from engine.weights.packed_file import PackedFile, PackedFileUnusable, write_packed_file

_log = logging.getLogger(__name__)
# The index and the gaps between sections.
_SPARE_BYTES = 16 << 20

Loaded = TypeVar("Loaded")


def load_packed(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    cache_folder: Path,
    progress: Progress = lambda done_bytes, total_bytes: None,
    check: Check = lambda: None,
) -> ModelWeights:
    """Map the packed file of a model; arguments and errors are those of `open_packed`."""

    def mapped(packed: PackedFile, fresh: bool) -> ModelWeights:
        if not fresh:
            packed.check(progress, check)
        return _assemble(packed, config, weight_format)

    return open_packed(checkpoint, config, weight_format, cache_folder, mapped, progress, check)


def open_packed(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    cache_folder: Path,
    use: Callable[[PackedFile, bool], Loaded],
    progress: Progress = lambda done_bytes, total_bytes: None,
    check: Check = lambda: None,
    keep_cached: bool = True,
) -> Loaded:
    """Use the packed file of a model, making it first where there is none that is whole and of this model.

    Args:
        checkpoint: The model.
        config: Of this checkpoint.
        weight_format: Dense or packed.
        cache_folder: Where the file goes when the model's own folder cannot be written to.
        use: Makes something of the file, which may just have been written; raises `PackedFileUnusable` to have it
            written again.
        progress: Called while packing with bytes of the checkpoint done, and in all.
        check: Called often; raises to cancel, and then leaves nothing behind.
        keep_cached: Whether the pages of a file that is written may stay in the system's page cache.

    Raises:
        TensorMismatch: The checkpoint's tensors are not those of its config.
        WeightsCorrupt: One of its files ends early.
        OutOfDisk: No room for the packed file in either folder.
    """
    check_tensors(checkpoint, config)
    source, name = checkpoint.digest(), stored_name(weight_format)
    places = (
        checkpoint.packed_path(name),
        cache_folder / f"{source[:32]}-{name}.packed",
    )
    for path in places:
        try:
            return use(PackedFile(path, source, name), False)
        except PackedFileUnusable as problem:
            _log.info("%s is not used: %s", path, problem)
    failures: list[str] = []
    needed = weight_bytes(config, weight_format) + _SPARE_BYTES
    for path in places:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(path.parent).free
            if free < needed:
                raise OSError(f"{free / 1e9:.3g} GB are free and {needed / 1e9:.3g} GB are needed")
            sections = packed_sections(checkpoint, config, weight_format, progress, check)
            write_packed_file(path, source, name, sections, keep_cached)
        except OSError as error:
            failures.append(f"{path}: {error.strerror or error}")
        else:
            # What packing used is not to be held on to beside the weights.
            give_back_memory()
            return use(PackedFile(path, source, name), True)
    raise OutOfDisk(
        say(
            "The {name} weights could not be written next to the model nor to {cache_folder}: "
            "make {needed} GB free on one of these disks.",
            name=weight_format.name,
            cache_folder=cache_folder,
            needed=figure(math.ceil(needed / 10000000.0) / 100, ".2f"),
        ),
        details="\n".join(failures),
    )


def _assemble(packed: PackedFile, config: ModelConfig, weight_format: WeightFormat) -> ModelWeights:
    """A model whose tensors are views of the file's pages."""
    layout = PackedLayout(config, weight_format, packed.sections)
    pages = packed.bytes_of
    return ModelWeights(
        embedding=layout.dense(packed.sections["embedding"], pages),
        layers=tuple(layout.layer(index, pages, pages) for index in range(config.layers)),
        final_norm=layout.final_norm(pages),
        head=layout.head(pages),
        tied="head" not in packed.sections,
        parameters=layout.parameters,
        activations=weight_format.activations,
        cache=weight_format.cache,
        notes=layout.notes,
    )
