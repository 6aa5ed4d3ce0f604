"""From what a person calls a model to the folder it lies in."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from engine.errors import ModelNotFound

GUIDE = "guide"

# What ships with Tenon, and the draft that was made for it.
_BUNDLED = (GUIDE, "guide-draft", "guide-gated-fusion")
_PAIRS = {GUIDE: "guide-draft"}
_DRAFTS = {GUIDE: ("guide-draft", "guide-gated-fusion")}


def assets_folder() -> Path:
    """Where the files that ship with Tenon lie."""
    return Path(__file__).resolve().parents[2] / "assets"


def models_folder() -> Path:
    """Where installed models lie."""
    data = os.environ.get("TENON_DATA_DIR") or platformdirs.user_data_dir("tenon", appauthor=False)
    return Path(data) / "models"


def cache_folder() -> Path:
    """Where files lie that can be made again."""
    override = os.environ.get("TENON_CACHE_DIR")
    return Path(override or platformdirs.user_cache_dir("tenon", appauthor=False))


def find_model(reference: str) -> Path:
    """The folder of a model.

    Args:
        reference: ``guide``, ``guide-draft`` or ``guide-gated-fusion``, an installed model's name, or a folder.

    Raises:
        ModelNotFound: there is nothing of that name.
    """
    if reference in _BUNDLED:
        folder = assets_folder() / "models" / reference
        if not folder.is_dir():
            raise ModelNotFound(
                f"The bundled {reference} model is not in {folder}: make it with "
                "`python -m engine.training.guide`, or choose another model."
            )
        return folder
    if not reference.strip():
        raise ModelNotFound("The model's name is empty: give a folder, an installed model's name, or guide.")
    for folder in (models_folder() / reference, Path(reference).expanduser()):
        if folder.is_dir():
            return folder.resolve()
        if folder.is_file():
            raise ModelNotFound(f"{folder} is a file: give the model folder, the one that holds config.json.")
    raise ModelNotFound(
        f"There is no model {reference!r}: give the folder of a checkpoint, an installed model's name, or guide."
    )


def paired_draft(reference: str) -> str | None:
    """The draft that ships for a model, None where there is none."""
    return _PAIRS.get(reference)


def bundled_drafts(reference: str) -> tuple[str, ...]:
    """Every draft that ships for a model."""
    return _DRAFTS.get(reference, ())


def installed_models() -> list[Path]:
    """The folders of installed models and draft heads, by name; none where nothing was installed."""
    folder = models_folder()
    if not folder.is_dir():
        return []
    return sorted(place for place in folder.iterdir() if (place / "config.json").is_file())


def model_name(reference: str, folder: Path) -> str:
    """What to call a model: the guide's name, or its folder's."""
    return "Tenon guide" if reference == GUIDE else folder.name
