"""The models that ship with Tenon: their names, where they lie, and the drafts that were made for them."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InvalidOption
from engine.messages import DEFAULT_MODEL
from engine.sentences import mark
from engine.weights.draft_kind import CONFIGS


@dataclass(frozen=True)
class BundledModel:
    """A model that ships with Tenon."""

    name: str  # name on the command line, and of its folder in ``assets/models``
    title: str = ""  # name that users see, in English; empty for the name
    file: str = ""  # name of its one GGUF file in that folder; empty if it is a checkpoint folder
    # Names of the bundled drafts that were made for it, the first of a kind before others of it
    drafts: tuple[str, ...] = ()
    kind: str = "model"  # kind of draft, as modes name it (`Mode.drafts`)

    @property
    def folder(self) -> Path:
        """Folder of its files, with a page about it."""
        return assets_folder() / "models" / self.name

    @property
    def location(self) -> Path:
        """The folder or the file that is loaded, whether it is there or not."""
        return self.folder / self.file if self.file else self.folder

    @property
    def is_there(self) -> bool:
        """True if the model came with this copy of Tenon."""
        names = ("",) if self.file else CONFIGS
        return any(os.path.isfile(self.location / name) for name in names)


_BUNDLED = (
    BundledModel(
        DEFAULT_MODEL,
        "SmolLM2 135M",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        drafts=(f"{DEFAULT_MODEL}-draft", f"{DEFAULT_MODEL}-medusa", f"{DEFAULT_MODEL}-prompt-tokens"),
    ),
    BundledModel(f"{DEFAULT_MODEL}-draft", mark("Draft head of SmolLM2"), kind="head"),
    BundledModel(f"{DEFAULT_MODEL}-medusa", mark("Medusa heads of SmolLM2"), kind="medusa"),
    BundledModel(f"{DEFAULT_MODEL}-prompt-tokens", mark("Prompt tokens of SmolLM2"), kind="prompt-tokens"),
)


def assets_folder() -> Path:
    """Return the folder of the files that ship with Tenon."""
    return Path(__file__).resolve().parents[2] / "assets"


def bundled_model(reference: str) -> BundledModel | None:
    """Return a model that ships with Tenon, whether it is there or not, or None for every other reference."""
    return next((model for model in _BUNDLED if model.name == reference), None)


def check_name(name: str) -> None:
    """Refuse to give another model the name of one that ships with Tenon, since nobody could call it by that name.

    Raises:
        InvalidOption: A bundled model has the name.
    """
    if bundled_model(name.casefold()) is not None:
        raise InvalidOption("{name} is a model that ships with Tenon: choose another name.", name=repr(name))


def bundled_models() -> tuple[BundledModel, ...]:
    """Return the bundled models that are there."""
    return tuple(model for model in _BUNDLED if model.is_there)


def bundled_drafts(reference: str) -> tuple[str, ...]:
    """Return the names of the drafts that ship for a model and are there."""
    model = bundled_model(reference)
    there = {found.name for found in bundled_models()}
    return () if model is None else tuple(name for name in model.drafts if name in there)


def paired_drafts(reference: str, kinds: Collection[str], several: bool = False) -> tuple[str, ...]:
    """Return the drafts, or the first, that a model takes if a mode needs one of these kinds and none was named."""
    found = map(bundled_model, bundled_drafts(reference))
    names = tuple(draft.name for draft in found if draft is not None and draft.kind in kinds)
    return names if several else names[:1]


def bundled_targets() -> tuple[BundledModel, ...]:
    """Return the bundled models that are there and answer by themselves, the default first."""
    drafts = {name for model in _BUNDLED for name in model.drafts}
    return tuple(model for model in bundled_models() if model.name not in drafts)
