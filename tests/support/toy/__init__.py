"""The toy: a small and quick model that tests and benchmarks run, and two drafts for it.

The model is a Llama of 5.0 million parameters (5 layers of 256 channels, 4 heads with 2 of keys and values, 4,096
words, bfloat16), trained on 27 million tokens of generated chats about an early Tenon and of generated stories, lists
and code. The draft has 3 layers and the same words, the head is of gated fusion. Nothing outside of tests knows them,
and they are not made again: texts that tests expect depend on these weights. ``texts.json`` has twelve chats, request
and reply, on which none was trained.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.hub import bundled
from engine.hub.bundled import BundledModel

_FOLDER = Path(__file__).resolve().parent
TOY, TOY_DRAFT, TOY_HEAD = _FOLDER / "model", _FOLDER / "draft", _FOLDER / "head"
TEXTS = _FOLDER / "texts.json"


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
        BundledModel("toy", "toy", drafts=drafts),
        BundledModel("toy-draft", "toy-draft"),
        BundledModel("toy-head", "toy-head", kind="head"),
    )
    monkeypatch.setattr(bundled, "_BUNDLED", shipped)
