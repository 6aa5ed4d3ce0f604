"""Pairs of models and drafts that work together. Pairs of installed ones are worked out once and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.drafting.kinds import read_draft
from engine.errors import DraftMismatch, TenonError
from engine.files import read_cached, write_cached
from engine.gguf.files import HEAD_PREFIX
from engine.hub.bundled import bundled_models, bundled_targets
from engine.hub.installed import InstalledModel, cache_folder, installed_models
from engine.hub.record import ModelKind
from engine.messages import OWN_HEAD, DraftPair, LoadOptions
from engine.model_file import OpenedModel, open_draft, open_model
from engine.modes import mode_of
from engine.planning.model_facts import dear
from engine.sentences import language
from engine.weights.draft_kind import draft_kind

_VERSION = 2
# Files that decide whether two models fit: tokenizers, and the config or the tensors that a head was made for.
_DECIDING = (
    "config.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "*.gguf",
    "*.index.json",
    "medusa_lm_head.*",
)
# Problem of a draft that a model could come with, and does not.
_NONE = "-"
_WEIGHTS = ("*.safetensors", "*.gguf", "*.bin")


@dataclass(frozen=True)
class _Candidate:
    name: str
    location: Path
    kind: ModelKind
    size_bytes: int
    model: InstalledModel | None

    def identity(self) -> str:
        """Return a hash that changes when one of the deciding files does."""
        digest = hashlib.sha256()
        folder = self.location if self.location.is_dir() else self.location.parent
        patterns = _DECIDING if self.location.is_dir() else (self.location.name, f"{HEAD_PREFIX}*")
        for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
            status = path.stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
        return digest.hexdigest()[:32]


def pairs(cancelled: Callable[[], None] = lambda: None) -> tuple[DraftPair, ...]:
    """Pair every installed draft with every installed target; small models count as drafts of larger ones.

    Args:
        cancelled: Called between pairs; an exception that it raises ends the work, and the pairs known by then are
            kept.
    """
    candidates = _candidates()
    targets = [candidate for candidate in candidates if candidate.kind == "target"]
    path = cache_folder() / "pairs.json"
    known = _read(path)
    opened = {one.name: OpenedModel(one.name, one.location) for one in candidates}
    identities = {candidate.name: candidate.identity() for candidate in candidates}
    found: list[DraftPair] = []
    news = False
    try:
        for target in targets:
            for draft in (None, *candidates):
                name = OWN_HEAD if draft is None else draft.name
                if draft is not None and (
                    name == target.name or (draft.kind != "head" and draft.size_bytes >= target.size_bytes)
                ):
                    continue
                key = f"{identities[target.name]} {OWN_HEAD if draft is None else identities[name]}"
                if key in known:
                    problem, too_dear = known[key]
                else:
                    cancelled()
                    own = None if draft is None else opened[name]
                    problem, too_dear, lasting = _problem(opened[target.name], own)
                    if lasting:
                        known[key], news = (problem, too_dear), True
                kind: Literal["draft", "head"] = "head" if draft is None or draft.kind == "head" else "draft"
                if problem != _NONE:
                    found.append(DraftPair(target.name, name, kind, problem or "", too_dear))
    finally:
        if news:
            write_cached(path, {"version": _version(), "pairs": known})
    return tuple(found)


def installed_drafts(place: Path) -> tuple[str, ...]:
    """Return the installed drafts of which `pairs` has found that they fit a model, the smallest first.

    Args:
        place: Folder or file of the model.
    """
    known = _read(cache_folder() / "pairs.json")
    candidates = _candidates() if known else []
    identity = next((one.identity() for one in candidates if one.location == place), "")
    fits = [one for one in candidates if one.model and known.get(f"{identity} {one.identity()}", ("", ""))[0] is None]
    return tuple(str(one.location) for one in sorted(fits, key=lambda one: one.size_bytes))


def draft_problems(options: LoadOptions, drafts: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each draft with a sentence that says why it does not fit a model and the mode that it makes; one is empty.

    Args:
        options: Options that name the model, whose weights are not read.
        drafts: Folders or names.

    Raises:
        TenonError: The model itself cannot be used.
    """
    target = open_model(options.model, adapter=options.adapter)
    config = target.config
    for draft in drafts:
        problem = mode = ""
        try:
            found = read_draft(open_draft(draft, target), config)
            found.check(target)
            mode = mode_of(found.kind).name
        except TenonError as error:
            problem = error.message
        yield draft, problem, mode


def _candidates() -> list[_Candidate]:
    """Return the installed models that can be read, and the bundled ones."""
    found = []
    targets = bundled_targets()
    for bundled in bundled_models():
        kind: ModelKind = "target"
        if bundled not in targets:
            kind = "head" if draft_kind(bundled.location) == "head" else "draft"
        size = _weight_bytes(bundled.location)
        found.append(_Candidate(bundled.name, bundled.location, kind, size, None))
    for model in installed_models():
        if model.problem is None:
            kind = model.record.kind if model.record else "head" if draft_kind(model.location) == "head" else "target"
            found.append(_Candidate(model.name, model.location, kind, _weight_bytes(model.location), model))
    return found


def _problem(target: OpenedModel, draft: OpenedModel | None) -> tuple[str | None, str, bool]:
    """Return why they do not work together, why they do not pay, and whether that lasts: a file may be mended.

    Args:
        target: The model.
        draft: The draft, None for the one that the model comes with; `_NONE` is the answer if it comes with none.
    """
    try:
        draft = draft or target.own_head
        if draft is None:
            return _NONE, "", True
        found = read_draft(draft, target.config)
        found.check(target)
    except DraftMismatch as error:
        return error.message, "", True
    except TenonError as error:
        return error.message, "", False
    return None, dear(found, target.config), True


def _weight_bytes(location: Path) -> int:
    if location.is_file():
        return location.stat().st_size
    return sum(path.stat().st_size for pattern in _WEIGHTS for path in location.glob(pattern))


def _version() -> str:
    """Return the version of a kept table, with the language of its sentences."""
    return f"{_VERSION} {language()}"


def _read(path: Path) -> dict[str, tuple[str | None, str]]:
    try:
        found: dict[str, Any] = read_cached(path)
        pairs = found["pairs"].items() if found["version"] == _version() else ()
        return {key: (problem, too_dear) for key, (problem, too_dear) in pairs}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
