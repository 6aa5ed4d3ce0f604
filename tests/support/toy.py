"""The toy: a small and quick model that tests and benchmarks run, and two drafts for it; ``tests/guide`` makes them.

It was once the model that shipped. Nothing outside of tests knows it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.hub import bundled
from engine.hub.bundled import BundledModel

MODELS = Path(__file__).resolve().parents[1] / "guide" / "models"
TOY = MODELS / "guide"
TOY_DRAFT = MODELS / "guide-draft"
TOY_HEAD = MODELS / "guide-gated-fusion"


def ship(folder: Path, monkeypatch: pytest.MonkeyPatch, drafts: tuple[str, ...] = ("toy-draft",)) -> None:
    """Let ``toy`` be a model that ships with Tenon.

    Args:
        folder: An empty one, to stand for the assets.
        monkeypatch: Brings the real ones back.
        drafts: Ships for it: ``toy-draft``, a model, and ``toy-head``.
    """
    (folder / "models").mkdir()
    for name, place in (("toy", TOY), ("toy-draft", TOY_DRAFT), ("toy-head", TOY_HEAD)):
        (folder / "models" / name).symlink_to(place)
    monkeypatch.setattr(bundled, "assets_folder", lambda: folder)
    shipped = (
        BundledModel("toy", drafts=drafts),
        BundledModel("toy-draft"),
        BundledModel("toy-head", kind="head"),
    )
    monkeypatch.setattr(bundled, "_BUNDLED", shipped)
