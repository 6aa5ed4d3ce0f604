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


def ship(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``toy`` be a model that ships with Tenon, and ``toy-draft`` the draft that ships for it.

    Args:
        folder: An empty one, to stand for the assets.
        monkeypatch: Brings the real ones back.
    """
    (folder / "models").mkdir()
    for name, place in (("toy", TOY), ("toy-draft", TOY_DRAFT)):
        (folder / "models" / name).symlink_to(place)
    monkeypatch.setattr(bundled, "assets_folder", lambda: folder)
    shipped = (BundledModel("toy", drafts=("toy-draft",)), BundledModel("toy-draft"))
    monkeypatch.setattr(bundled, "_BUNDLED", shipped)
