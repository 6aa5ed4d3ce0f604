"""The model that a copy is made of: metadata and tensors of the new file, and where their numbers come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from engine.families import GGUF
from engine.gguf.config import architecture_of
from engine.gguf.header import read_header
from engine.gguf.mixtures import Facts
from engine.gguf.model import Source, sources
from engine.gguf.parts import all_parts, find_gguf
from engine.gguf.stored_tensor import StoredTensor
from engine.gguf.woven import put_in_order
from engine.gguf.writing import pairs_of
from engine.model_file import OpenedModel
from engine.weights.checkpoint import piece_values
from engine.weights.direct_reader import read_pieces
from engine.weights.watched_file import WatchedFile

#: Keys of a file in parts, and of its mixture, which the copy has of its own or not at all.
_LEFT_OUT = ("split.", "quantize.", "general.file_type", "general.quantization_version")
Check = Callable[[], None]


@dataclass(frozen=True)
class NewTensor:
    """A tensor of the new file."""

    name: str  # llama.cpp's name
    shape: tuple[int, ...]  # shape with rows first
    # Stored tensors that its rows are made of, one after the other; none for one whose numbers are given
    parts: tuple[StoredTensor, ...]
    kind: int | None  # type that all parts are stored in, as rows of the new file; None if they must be changed
    names: tuple[str, ...] = ()  # names of the model's own matrices that its parts are, in their order
    change: Callable[[Tensor], Tensor] | None = None  # change of each part, which is read whole then
    given: Tensor | None = field(default=None, compare=False)  # its numbers if there are no parts
    exact: bool = False  # True if it is F32 whatever the mixture
    columns: Tensor | None = field(default=None, compare=False)  # order of its columns, or None for that of the parts

    def raw_rows(self, files: Mapping[Path, WatchedFile], check: Check) -> Iterator[Tensor]:
        """Yield the bytes of its rows as they are stored, for tensors that keep their type."""
        for part in self.parts:
            for piece in read_pieces(files, [part], check, keep_cached=False):
                yield piece.raw

    def rows(self, files: Mapping[Path, WatchedFile], check: Check) -> Iterator[Tensor]:
        """Yield some rows after the other, (n, columns) float32."""
        columns = self.shape[-1]
        if self.given is not None:
            yield self.given.float().view(-1, columns)
            return
        for part in self.parts:
            found = (piece_values(piece).float() for piece in read_pieces(files, [part], check, keep_cached=False))
            if self.change is not None:
                whole = torch.cat([rows.flatten() for rows in found]).view(part.shape)
                found = (rows for rows in (self.change(whole),))
            for rows in found:
                turned = rows.reshape(-1, columns)
                yield turned if self.columns is None else turned[:, self.columns]


@dataclass(frozen=True)
class Original:
    """A model that is copied."""

    pairs: dict[str, bytes]  # metadata of the new file by key, as `engine.gguf.writing.pair` makes them
    tensors: Sequence[NewTensor]
    files: Mapping[Path, WatchedFile]
    facts: Facts
    digest: str  # digest of the model's files
    notes: tuple[str, ...] = ()  # sentences about what the copy does not have


def from_gguf(opened: OpenedModel) -> Original:
    """Return a GGUF file, or all parts of one, to be copied: metadata and names stay as they are."""
    checkpoint = opened.checkpoint
    first = find_gguf(opened.place)
    assert first is not None, "its files are GGUF"
    headers = [read_header(part) for part in all_parts(first)]
    metadata = headers[0].metadata
    infos = [info for header in headers for info in header.tensors.values()]
    paths = [header.path for header in headers for _ in header.tensors]
    shapes = {info.name: info.shape for info in infos}
    architecture = architecture_of(metadata)
    config = checkpoint.config
    heads = config["num_attention_heads"], config["num_key_value_heads"]
    names = _names(sources(shapes, architecture, *heads))
    tensors = []
    for info, path in zip(infos, paths, strict=True):
        stored = StoredTensor(info.name, path, info.start, info.size_bytes, int(info.kind), info.shape)
        part = put_in_order(stored)
        tensors.append(NewTensor(info.name, info.shape, (part,), part.kind, names.get(info.name, ())))
    own = opened.config
    prefix = str(metadata["general.architecture"])
    facts = Facts(
        next(name for name, form in GGUF.items() if prefix in (name, *form.other_names)),
        int(metadata[f"{prefix}.block_count"]),
        0 if own.mixture is None else own.mixture.experts,
        _group(metadata.get(f"{prefix}.attention.head_count"), metadata.get(f"{prefix}.attention.head_count_kv")),
    )
    pairs = {key: value for key, value in pairs_of(headers[0]).items() if not key.startswith(_LEFT_OUT)}
    return Original(pairs, tensors, checkpoint.files, facts, checkpoint.digest())


def _group(heads: object, kv_heads: object) -> int:
    """Return the query heads that share a key-value head in the first layer; 0 if it has none."""
    query, key = (one[0] if isinstance(one, list) else one for one in (heads, heads if kv_heads is None else kv_heads))
    return int(query) // int(key) if isinstance(query, int) and isinstance(key, int) and key else 0


def _names(found: Mapping[str, Source]) -> dict[str, tuple[str, ...]]:
    """Return the model's own names of each tensor's parts, by the tensor's name in the file."""
    parts: dict[str, list[tuple[int, str]]] = {}
    for name, source in found.items():
        parts.setdefault(source.name, []).append((source.part, name))
    return {name: tuple(own for _, own in sorted(each)) for name, each in parts.items()}
