"""A model or a draft, found by its name and opened once for all that plan it, load it and draft with it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from engine.errors import CheckpointError, DraftMismatch, WeightsMissing
from engine.gguf.header import read_header
from engine.gguf.parts import find_gguf, find_head
from engine.gguf.tokenizer import Vocabulary
from engine.hub.installed import cache_folder, find_adapter, find_base, find_model, installed_models
from engine.hub.repository import base_of
from engine.messages import OWN_HEAD
from engine.model.config import ModelConfig, read_config
from engine.model.tensors import NextNames
from engine.sentences import say
from engine.text.tokenizer import Tokenizer, read_end_ids, read_templates
from engine.vision.files import open_tower
from engine.vision.tower import Tower
from engine.weights.adapter import Adapter
from engine.weights.checkpoint import Checkpoint, CheckpointOutline, read_generation_config
from engine.weights.draft_kind import HeadKind, gguf_adapter, head_kind, is_adapter, read_adapter_config
from engine.weights.head_checkpoint import HeadCheckpoint
from engine.weights.watched_file import identity

# Ends of the names of files that are read; Tenon itself writes others beside them.
_READ = (".bin", ".gguf", ".jinja", ".json", ".model", ".pt", ".safetensors", ".txt")

# Keys of config.json that count the layers that draft, and the end of GGUF's.
_PROMISES, _PROMISE_IN_GGUF = ("num_nextn_predict_layers", "mtp_num_hidden_layers"), ".nextn_predict_layers"


class OpenedModel:
    """The files of a model or a draft. Each part is read when it is first asked for, and kept.

    A part raises `CheckpointError` if its files are missing, damaged or of a kind that Tenon cannot run.
    """

    def __init__(self, reference: str, place: Path, adapter: Path | None = None) -> None:
        self.reference = reference  # the user's name for it
        self.place = place  # its folder or its GGUF file
        self._adapter = adapter  # a LoRA adapter that is merged into it, or None
        self._identities = self._present_identities()
        self.tower_trouble = ""  # sentence that says why files of a tower are of no use

    def _present_identities(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for place in (self.place, *filter(None, (self._adapter,))):
            with suppress(OSError), os.scandir(place if place.is_dir() else place.parent) as entries:
                # whoever reads a part that is not there reports it
                found |= {one.path: identity(one.stat()) for one in entries if one.name.endswith(_READ)}
        return found

    @property
    def changed(self) -> bool:
        """True if one of its files was written, replaced, added or deleted since it was opened."""
        return self._present_identities() != self._identities

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """Its weights, which must be here."""
        adapter = None if self._adapter is None else Adapter(self._adapter)
        return Checkpoint(self.place, self.head_kind == "mtp", adapter)

    @cached_property
    def adapter_notes(self) -> tuple[str, ...]:
        """Sentence for the user if its adapter names another base: if both have one shape, only names tell."""
        base = "" if self._adapter is None else _base_name(self._adapter)
        installed = (model.record for model in installed_models() if model.location.resolve() == self.place)
        records = [(record.repo, *record.base) for record in installed if record is not None]
        told = self.metadata or self.checkpoint.config
        names = (self.place, told.get("general.name"), told.get("_name_or_path"), *chain(*records))
        wanted = _letters(Path(base).name)
        if any(wanted in _letters(str(name)) for name in names):
            return ()
        note = say(
            "The adapter {adapter} was made for {base}, and {model} seems to be another model: if replies make no "
            "sense, take {base} as its base.",
            adapter=Path(str(self._adapter)).name,
            base=base,
            model=self.place.name,
        )
        return (note,)

    @cached_property
    def own_head(self) -> OpenedModel | None:
        """The layer that it comes with to guess a token further (MTP), in its own files or beside them; None for none.

        Raises:
            DraftMismatch: The config names one, and it is not there.
        """
        checkpoint = self.checkpoint
        if NextNames.of(checkpoint.names, self.config) is not None:
            head = OpenedModel(OWN_HEAD, self.place)
            vars(head).update(head_kind="mtp", checkpoint=checkpoint)
            return head
        gguf = find_gguf(self.place)
        beside = None if gguf is None else find_head(gguf)
        if beside is not None:
            return OpenedModel(OWN_HEAD, beside)
        text = checkpoint.config.get("text_config") or {}
        said = any(own.get(key) for own in (checkpoint.config, text) for key in _PROMISES)
        if said or any(key.endswith(_PROMISE_IN_GGUF) and count for key, count in (self.metadata or {}).items()):
            raise DraftMismatch(
                "The model's config names a layer that drafts (MTP), and its files have none: download a copy that has "
                "it, or choose another draft."
            )
        return None

    @property
    def has_own_head(self) -> bool:
        """True if it comes with a layer that drafts (MTP); files that cannot be read have none."""
        try:
            return self.own_head is not None
        except CheckpointError:
            return False

    @cached_property
    def outline(self) -> Checkpoint | CheckpointOutline:
        """Its weights, or an outline if its config.json is here and not all of the weights are."""
        try:
            return self.checkpoint
        except WeightsMissing:
            if not (self.place / "config.json").is_file():
                raise
            return CheckpointOutline(self.place)

    @cached_property
    def config(self) -> ModelConfig:
        """Its config."""
        tower = self.tower
        if tower is None:
            to_come = getattr(self.outline, "tower_bytes", 0) // 2  # in 16 bits, if it is to be fetched
            return replace(self._decoder_config, tower_weights=to_come) if to_come else self._decoder_config
        return replace(self._decoder_config, tower_weights=tower.weights, tower_work_bytes=tower.work_bytes)

    @cached_property
    def _decoder_config(self) -> ModelConfig:
        return read_config(self.outline)

    @cached_property
    def tower(self) -> Tower | None:
        """Its picture encoder, whose rows go into its decoder; None if it does not see."""
        config = self._decoder_config
        try:
            return open_tower(self.place, self.checkpoint, config.family, config.hidden_size)
        except WeightsMissing:  # a model that is planned before it is here
            return None
        except CheckpointError as error:
            self.without_tower(error)
            return None

    def without_tower(self, error: CheckpointError) -> None:
        """Note why the files of its tower are of no use: it does not see from now on."""
        self.tower_trouble = error.message
        vars(self)["tower"] = None

    @cached_property
    def digest(self) -> str:
        """Digest that names its weights in measurements; empty if they are not here."""
        return self.outline.digest() if isinstance(self.outline, Checkpoint) else ""

    @cached_property
    def head_kind(self) -> HeadKind | None:
        """Kind of the draft head that it is; None for a whole model."""
        return head_kind(self.place)

    @cached_property
    def head(self) -> HeadCheckpoint:
        """The tensors of a draft head."""
        return HeadCheckpoint(self.place)

    def forget_head(self) -> None:
        """Let go of a draft head's tensors, which are in memory where a file of PyTorch's cannot be mapped."""
        vars(self).pop("head", None)

    @cached_property
    def metadata(self) -> Mapping[str, Any] | None:
        """Metadata of a GGUF file, or of its first part; None for a folder of safetensors."""
        gguf = find_gguf(self.place)
        return None if gguf is None else read_header(gguf).metadata

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer."""
        return Tokenizer(self.place, read_end_ids(self.place), cache_folder())

    @property
    def vocabulary(self) -> Tokenizer | Vocabulary:
        """Its tokens: a GGUF file's head lists them, so that no tokenizer has to be built, which may take seconds."""
        metadata = None if "tokenizer" in vars(self) else self.metadata
        return self.tokenizer if metadata is None else Vocabulary(metadata)

    def check_tokenizer(self) -> None:
        """Refuse a GGUF file whose tokenizer loading refuses; no time goes into the merges of SentencePiece's.

        A model whose weights are not all here is planned by its config.json, and has nothing to check.
        """
        with suppress(WeightsMissing):
            if self.metadata is not None and "tokenizer" not in vars(self):
                Vocabulary(self.metadata).tokenizer(lambda *_: np.empty((0, 2), np.int32))

    @cached_property
    def generation_config(self) -> dict[str, Any]:
        """Its makers' values for sampling; empty if there are none."""
        return read_generation_config(self.place)

    @cached_property
    def templates(self) -> dict[str, str]:
        """Its chat templates, as `read_templates` returns them."""
        return read_templates(self.place)


# Models that are in use.
_opened: WeakValueDictionary[tuple[str, Path, Path | None], OpenedModel] = WeakValueDictionary()


def open_model(reference: str, find: Callable[[str], Path] = find_model, adapter: str = "") -> OpenedModel:
    """Return the model of a name: the one that is in use, or another one if its files were changed since.

    Args:
        reference: The user's name for it; one for a LoRA adapter stands for its base with the adapter merged.
        find: Function that returns the folder, with at least its config.json, or the file of a name.
        adapter: The user's name for a LoRA adapter to merge; empty for none.

    Raises:
        CheckpointError: There is no such model.
    """
    place, beside = find(reference), find_adapter(adapter, find) if adapter else None
    opened = _opened.get((reference, place, beside))
    if opened is None or opened.changed:
        key = reference, place, beside
        if beside is None and is_adapter(place):
            place, beside = find_base(place.name, _base_name(place)), place
        opened = _opened[key] = OpenedModel(reference, place, beside)
    return opened


def _letters(name: str) -> str:
    """Return what tells models apart in a name: not the format of a copy that bitsandbytes quantizes for training."""
    return re.sub(r"(-unsloth)?-bnb-4bit$|[^a-z0-9]", "", name.lower())


def _base_name(adapter: Path) -> str:
    """Return the name of the model that an adapter was made for, as the adapter has it; empty if it names none."""
    gguf = gguf_adapter(adapter)
    if gguf is None:
        return next(iter(base_of(read_adapter_config(adapter))), "")
    said = read_header(gguf).metadata
    repository = str(said.get("general.base_model.0.repo_url") or "").partition("huggingface.co/")[2]
    return repository or str(said.get("general.base_model.0.name") or "")


def open_draft(reference: str, target: OpenedModel, find: Callable[[str], Path] = find_model) -> OpenedModel:
    """Return the draft of a name for a model: the one that the model comes with, or what `open_model` returns.

    Raises:
        CheckpointError: There is no such draft.
    """
    if reference != OWN_HEAD:
        return open_model(reference, find)
    if target.own_head is None:
        raise DraftMismatch("The model comes without a layer that drafts (MTP): choose another draft.")
    return target.own_head
