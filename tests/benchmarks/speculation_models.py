"""The models that speculation is measured with: the guide inflated, and its drafts inflated along."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from engine.model.config import read_config
from engine.training.inflate_draft import inflate_draft
from engine.training.inflate_model import inflate_model
from engine.training.inflate_shape import choose_shape
from engine.weights.checkpoint import SINGLE, Checkpoint
from tests.support.toy import TOY, TOY_DRAFT, TOY_HEAD

#: A small model's share of the target's parameters: 5 to 10 % is what published pairs have.
DRAFT_SHARE = 0.07
TARGET, SMALL_MODEL, RANDOM = "target", "small-model", "random"


def prepare(work: Path, size: float, trained: Path) -> dict[str, Path]:
    """Make what is not there yet.

    Args:
        work: Where to; a folder for each size.
        size: Parameters of the target.
        trained: Holds a folder for each feature draft of the guide that was trained; may be missing.

    Returns:
        Folders by name: the target, the small model, the same with random weights, and each trained draft by the name
        of its folder.
    """
    place = work / f"{size:.3g}"
    folders = {name: place / name for name in (TARGET, SMALL_MODEL, RANDOM)}
    _grow(TOY, folders[TARGET], size)
    _grow(TOY_DRAFT, folders[SMALL_MODEL], DRAFT_SHARE * size)
    small = TOY_DRAFT
    if not _is_there(folders[RANDOM]):
        _grow(_random_copy(small, place / "random-source"), folders[RANDOM], DRAFT_SHARE * size)
    for name, folder in _feature_drafts(trained).items():
        folders[name] = place / name
        if not _is_there(folders[name]):
            inflate_draft(folder, folders[TARGET], folders[name])
    return folders


def gated_fusion(blocks: int) -> str:
    """The folder's name of a gated-fusion draft of this many blocks."""
    return f"gated-fusion-{blocks}"


def _feature_drafts(trained: Path) -> dict[str, Path]:
    """The one that ships with the guide, and those that were trained; these come first where both are of one name."""
    found = {}
    shipped = TOY_HEAD
    if _is_there(shipped):
        config = json.loads((shipped / "config.json").read_text(encoding="utf-8"))
        found[gated_fusion(config["num_hidden_layers"])] = shipped
    if trained.is_dir():
        found |= {folder.name: folder for folder in sorted(trained.iterdir()) if _is_there(folder)}
    return found


def _is_there(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _grow(folder: Path, out: Path, parameters: float) -> None:
    if not _is_there(out):
        inflate_model(folder, out, choose_shape(read_config(Checkpoint(folder)), parameters))


def _random_copy(folder: Path, out: Path) -> Path:
    """The same model with its matrices drawn anew: a draft that knows nothing and costs as much."""
    generator = torch.Generator().manual_seed(0)
    shutil.copytree(folder, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.packed"))
    state = {
        name: value
        if value.dim() == 1
        else (torch.randn(value.shape, generator=generator) * value.float().std()).to(value.dtype)
        for name, value in load_file(folder / SINGLE).items()
    }
    save_file(state, out / SINGLE, metadata={"format": "pt"})
    return out
