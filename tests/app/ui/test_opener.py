from __future__ import annotations

from pathlib import Path

from app.ui.main_window import MainWindow
from app.ui.opener import Opener
from tests.support.fake_workspace import FakeWorkspace


def test_models_and_chats_are_opened(window: MainWindow, workspace: FakeWorkspace, tmp_path: Path) -> None:
    folder, model, chats = tmp_path / "model", tmp_path / "A.GGUF", tmp_path / "chats.json"
    folder.mkdir()
    model.touch()
    chats.touch()
    Opener(workspace, window).open([str(folder), str(model), str(chats)])  # type: ignore[arg-type]
    assert workspace.calls[-3:] == [
        ("choose_model", str(folder)),
        ("choose_model", str(model)),
        ("import_conversations", chats),
    ]


def test_anything_else_is_told(window: MainWindow, workspace: FakeWorkspace, tmp_path: Path) -> None:
    for name in ("picture.png", "gone.gguf"):
        Opener(workspace, window).take([str(tmp_path / name)])  # type: ignore[arg-type]
        assert window.toast.text == f"Tenon opens model folders, GGUF files and exported chats, not {name}."
    assert workspace.calls == []


def test_the_window_comes_to_the_front(window: MainWindow, workspace: FakeWorkspace) -> None:
    window.showMinimized()
    Opener(workspace, window).open([])  # type: ignore[arg-type]
    assert not window.isMinimized()
    assert window.isVisible()
