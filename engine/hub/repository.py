"""A repository of the hub: its files as the hub describes them, and the choice of the needed ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.errors import InvalidOption, NotOnHub
from engine.gguf.files import SUFFIX, distance, names_block_draft, names_head, names_model, names_tower, quantization_of
from engine.hub.record import FileFormat
from engine.sentences import mark
from engine.weights.draft_kind import (
    ADAPTER_CONFIG,
    ADAPTER_PICKLE,
    ADAPTER_SAFETENSORS,
    CONFIGS,
    MEDUSA_PICKLE,
    PICKLES,
)

FormatWish = Literal["auto", "gguf", "safetensors"]

#: Quantization taken if none was asked for: about 4.5 bits a weight, at little cost in quality.
DEFAULT_QUANTIZATION = "Q4_K_M"
# Quantizations taken in its place, best first.
_NEXT_BEST = (
    "Q4_K_S",
    "Q4_K",
    "Q4_0",
    "Q4_1",
    "Q5_K_M",
    "Q5_K_S",
    "Q5_0",
    "Q6_K",
    "Q8_0",
    "BF16",
    "F16",
    "F32",
)

# Types of picture encoders, best first. The kernels multiply them in BF16, the type of most originals. A file in F16
# has the same size and less of numbers below 1e-5, one in F32 twice the size, and the other types have lost something.
_TOWER_TYPES = ("BF16", "F16", "F32")

# No name that means something else to a file system: a hub, or a server that poses as one, may send any.
_PLAIN_NAME = re.compile(r'[^\\/:*?"<>|\x00-\x1f]+')
_GGUF_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
# One file, or shards and their index, or Medusa heads, or prompt tokens. Mistral's consolidated.safetensors are a
# second copy under other names.
_SAFETENSORS = re.compile(
    r"(model(-\d{5}-of-\d{5})?|medusa_lm_head|adapter_model)\.safetensors|model\.safetensors\.index\.json"
)
_ADAPTER = (ADAPTER_CONFIG, ADAPTER_SAFETENSORS)
_OTHERS = mark("{repo} has no {quantization}: there are {others}.")
_NAMELESS = mark("{repo} has no {quantization}: its files name none.")
_TEXT = frozenset(
    {
        *CONFIGS,
        "hf_quant_config.json",  # of ModelOpt
        "generation_config.json",
        "tokenizer.json",
        "tokenizer.model",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "chat_template.jinja",
        "chat_template.json",
    }
)


@dataclass(frozen=True)
class HubFile:
    """A file of a repository, as the hub describes it."""

    name: str  # path in the repository
    size_bytes: int
    sha256: str | None  # SHA-256 of its content, if the hub keeps it as a large file
    git_oid: str | None  # SHA-1 of git's blob, which the hub knows of a small one

    @property
    def local_name(self) -> str:
        """Name of the file here, without the repository's folders."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class Listing:
    """A repository at one commit."""

    repo: str
    revision: str  # the branch, tag or commit that was asked for
    commit: str  # commit that the revision stands for now
    files: tuple[HubFile, ...]
    gated: bool  # True if its owner wants terms accepted first
    licence: str | None
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Selection:
    """The files to be downloaded."""

    format: FileFormat  # format of the weights
    files: tuple[HubFile, ...]  # files that are needed
    # Quantization of the GGUF file, or None if there is none or its name does not say
    quantization: str | None = None
    alternatives: tuple[str, ...] = ()  # quantizations there are, smallest file first
    drafts: tuple[str, ...] = ()  # files beside a model that draft for it, and are fetched on their own
    tower: HubFile | None = None  # encoder of pictures beside a model, fetched with it if Tenon runs its kind

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size_bytes for file in self.files)

    def files_with(self, tower: bool) -> tuple[HubFile, ...]:
        """Return the files, with the encoder of pictures or without."""
        return _by_size((*self.files, self.tower)) if tower and self.tower is not None else self.files


def choose_files(
    listing: Listing, wish: FormatWish = "auto", quantization: str | None = None, head: bool = False
) -> Selection:
    """Choose the files to download.

    Args:
        wish: The format; ``auto`` takes GGUF if there is some.
        quantization: Quantization of a GGUF file (``Q8_0``); None takes `DEFAULT_QUANTIZATION`, or the nearest to
            it.
        head: True for a draft head, which may be in PyTorch's own format, or a GGUF file beside its model's.

    Raises:
        InvalidOption: There is no such quantization.
        NotOnHub: The repository holds nothing that Tenon runs.
    """
    if quantization and wish == "safetensors":
        raise InvalidOption(
            "safetensors files have no quantizations to choose from: leave the quantization or the format out."
        )
    models, drafts = _quantized(listing.files), _quantized(listing.files, names_block_draft)
    # Beside safetensors a draft in GGUF is not the model
    beside = not head and wish == "auto" and any(_SAFETENSORS.fullmatch(file.name) for file in listing.files)
    quantized = drafts if head and drafts else models or ({} if beside and not quantization else drafts)
    if wish != "safetensors" and quantized:
        return _choose_gguf(listing, quantized, quantization)
    if wish == "gguf" or quantization:
        raise NotOnHub(
            "{repo} holds no GGUF files: search for its GGUF version, or take its safetensors files.",
            repo=listing.repo,
        )
    files = tuple(file for file in listing.files if is_needed(file.name, "safetensors"))
    kept = without_adapter([file.name for file in files])
    files = tuple(file for file in files if file.name in kept)
    if any(file.name.endswith(".safetensors") for file in files):
        # One whole file and shards of the same: the shards are what the index is for.
        if any(file.name.endswith(".index.json") for file in files):
            files = tuple(file for file in files if file.name != "model.safetensors")
        return Selection("safetensors", _by_size(files))
    files = tuple(file for file in listing.files if is_needed(file.name, "pytorch"))
    pytorch = [file.name for file in files if file.name in PICKLES]
    if pytorch and (head or {MEDUSA_PICKLE, ADAPTER_PICKLE} & {*pytorch}):
        return Selection("pytorch", _by_size(files))
    if pytorch:
        raise NotOnHub(
            "{repo} holds weights in PyTorch's own format alone: choose a repository with safetensors or GGUF files.",
            repo=listing.repo,
        )
    raise NotOnHub(
        "{repo} holds no weights that Tenon reads: choose a repository with safetensors or GGUF files.",
        repo=listing.repo,
    )


def is_needed(name: str, format_: FileFormat) -> bool:
    """Return whether a file of this name belongs to a model whose weights have this format."""
    if name in _TEXT:
        return format_ != "gguf"
    if format_ == "safetensors":
        return _SAFETENSORS.fullmatch(name) is not None
    return name in PICKLES if format_ == "pytorch" else name.lower().endswith(".gguf")


def base_of(adapter: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the repository of the model that an adapter was trained for, by its config."""
    base = adapter.get("base_model_name_or_path")
    return (base,) if isinstance(base, str) and base else ()


def without_adapter(names: Collection[str]) -> Collection[str]:
    """Return the names without an adapter's if a model's own weights are there too."""
    if any(name.startswith("model") and name.endswith(".safetensors") for name in names):
        return [name for name in names if name not in _ADAPTER]
    return names


def _quantized(
    files: Iterable[HubFile], wanted: Callable[[str], bool] = names_model, model: str = ""
) -> dict[str | None, list[HubFile]]:
    """Return the GGUF models of a repository, or the files beside one, by quantization, whole or in parts.

    Of several files of one quantization, the one whose name is nearest to the model's is taken, then the smallest.
    """

    def rank(parts: list[HubFile]) -> tuple[tuple[bool, int], int]:
        return distance(parts[0].local_name, model) if model else (False, 0), _size(parts)

    by_model: dict[str, list[HubFile]] = {}
    for file in files:
        name = file.local_name
        if wanted(name) and _PLAIN_NAME.fullmatch(name) and not name.startswith("."):
            by_model.setdefault(_GGUF_PART.sub("", file.name), []).append(file)
    found: dict[str | None, list[HubFile]] = {}
    for parts in by_model.values():
        quantization = quantization_of(parts[0].name)
        if len(parts) == _parts(parts[0].name) and (
            quantization not in found or rank(parts) < rank(found[quantization])
        ):
            found[quantization] = parts
    return found


def _parts(name: str) -> int:
    match = _GGUF_PART.search(name)
    return int(match[2]) if match else 1


def _choose_gguf(listing: Listing, quantized: dict[str | None, list[HubFile]], quantization: str | None) -> Selection:
    alternatives = tuple(
        name for name in sorted(quantized, key=lambda name: _size(quantized[name])) if name is not None
    )
    chosen: str | None
    if quantization is not None:
        chosen = quantization.upper()
        if chosen not in quantized:
            sentence = _OTHERS if alternatives else _NAMELESS
            others = ", ".join(alternatives)
            raise InvalidOption(sentence, repo=listing.repo, quantization=quantization, others=others)
    else:
        wanted = (DEFAULT_QUANTIZATION, *_NEXT_BEST, *alternatives, None)
        chosen = next(name for name in wanted if name in quantized)
    if names_block_draft(quantized[chosen][0].local_name):
        return Selection("gguf", _by_size(quantized[chosen]), chosen, alternatives)
    model = quantized[chosen][0].local_name

    def nearest(wanted: Callable[[str], bool], first: tuple[str | None, ...]) -> list[HubFile]:
        found = _quantized(listing.files, wanted, model)
        types = [*first, *sorted(found, key=lambda name: _size(found[name]))]
        kind = min(
            found, key=lambda name: (distance(found[name][0].local_name, model), types.index(name)), default=None
        )
        return found.get(kind, [])

    head, draft = (nearest(wanted, (chosen,)) for wanted in (names_head, names_block_draft))
    names = tuple(file.name for file in draft)
    tower = next(iter(nearest(names_tower, _TOWER_TYPES)), None)
    return Selection("gguf", _by_size([*quantized[chosen], *head]), chosen, alternatives, names, tower)


def only_file(listing: Listing, name: str) -> Listing:
    """Return a listing with one of its files alone, in all its parts, and the encoders of pictures.

    Raises:
        InvalidOption: There is no such file.
    """
    whole = _GGUF_PART.sub("", name)
    files = tuple(file for file in listing.files if _GGUF_PART.sub("", file.name) == whole)
    if not files:
        others = ", ".join(file.name for file in listing.files if file.name.lower().endswith(SUFFIX))
        raise InvalidOption(_OTHERS if others else _NAMELESS, repo=listing.repo, quantization=name, others=others)
    towers = (file for file in listing.files if names_tower(file.name))
    return replace(listing, files=(*files, *towers))


def _by_size(files: Iterable[HubFile]) -> tuple[HubFile, ...]:
    """Return small files first: faults of a repository show before gigabytes have come."""
    return tuple(sorted(files, key=lambda file: (file.size_bytes, file.name)))


def _size(files: Iterable[HubFile]) -> int:
    return sum(file.size_bytes for file in files)
