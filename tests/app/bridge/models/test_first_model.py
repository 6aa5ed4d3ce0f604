"""The model that answers where the built-in one could not be fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bridge.workspace import Workspace
from engine.hub import bundled
from engine.messages import DEFAULT_MODEL
from tests.app.bridge.conftest import Desk


def _model_of(workspace: Workspace) -> str:
    return workspace.model.state.model_ref


def test_a_model_used_lately_takes_the_place_of_a_built_in_one_that_is_missing(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = desk.open()
    assert (_model_of(workspace), desk.recorder.notices) == (DEFAULT_MODEL, [])
    mine = tmp_path / "mine.gguf"
    mine.touch()
    workspace.settings.remember_model("/gone/model")
    workspace.settings.remember_model(str(mine))
    workspace.close()
    monkeypatch.setattr(bundled, "assets_folder", lambda: tmp_path / "no assets")
    again = desk.open()
    assert _model_of(again) == str(mine)
    desk.wait(lambda: bool(desk.recorder.notices))
    assert desk.recorder.notices == [
        "The built-in model SmolLM2 135M is not here: mine answers. The page Models has more."
    ]
    assert DEFAULT_MODEL not in [choice.key for choice in again.models()]


def test_where_there_is_no_other_model_the_built_in_one_stays_chosen(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "assets_folder", lambda: tmp_path / "no assets")
    workspace = desk.open()
    assert (_model_of(workspace), desk.recorder.notices) == (DEFAULT_MODEL, [])
