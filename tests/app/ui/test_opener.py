"""Models and chats that are dropped on the window, chosen in it, or named by a start."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.places import CHAT, MODELS
from tests.support.scripted_workspace import ScriptedWorkspace, wait_until


@pytest.fixture
def opened(workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that the store was asked to open."""
    asked: list[str] = []
    monkeypatch.setattr(workspace.model_store.installed, "open", asked.append)
    return asked


def mime(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drag(widget: QWidget, data: QMimeData) -> QDragEnterEvent:
    """Files come over a part of the window, which hands them up as Qt does."""
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(widget, enter)
    return enter


def drop(window: MainWindow, data: QMimeData) -> None:
    drag(window, data)
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys))


def test_models_and_chats_are_opened(window: MainWindow, opened: list[str], tmp_path: Path) -> None:
    folder, model, chats = tmp_path / "model", tmp_path / "A.GGUF", tmp_path / "chats.json"
    shard = folder / "model-00001-of-00002.safetensors"
    folder.mkdir()
    for path in (model, chats, shard):
        path.touch()
    window.opener.open([str(folder), str(model), str(shard), str(chats)])
    assert opened == [str(folder), str(model), str(folder)]
    wait_until(lambda: window.toast.text.startswith("chats.json was not imported."))


def test_a_model_that_was_opened_is_chatted_with(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("A chat", 0, "A question", "An answer"))
    window.places.go(MODELS)
    workspace.model_store.installed.opened.emit("/models/mine.gguf")
    assert window.places.current == CHAT
    assert window.page.current is None
    assert workspace.settings.model == "/models/mine.gguf"
    workspace.model_store.installed.opening_refused.emit("mine.gguf is truncated.")
    assert window.toast.text == "mine.gguf is truncated."


def test_anything_else_is_told(window: MainWindow, workspace: ScriptedWorkspace, tmp_path: Path) -> None:
    for name in ("picture.png", "gone.gguf"):
        window.opener.take([str(tmp_path / name)])
        assert window.toast.text == f"Tenon opens model folders, GGUF files and exported chats, not {name}."
    workspace.written()
    assert workspace.library.conversations() == []


def test_the_window_comes_to_the_front(window: MainWindow) -> None:
    window.showMinimized()
    window.opener.open([])
    assert not window.isMinimized()
    assert window.isVisible()


def test_a_drop_shows_where_it_goes_and_goes_there(window: MainWindow, opened: list[str], tmp_path: Path) -> None:
    model, notes = tmp_path / "mine.gguf", tmp_path / "notes.txt"
    model.touch()
    notes.write_text("One\n")
    drag(window, mime(model, notes))
    assert window.drops.isVisible()
    (above, _, first, name), (field, _, second, other) = window.drops.zones()
    assert (first, name) == ("Open as a model, in a new chat", "mine.gguf")
    assert (second, other) == ("Attach to your message", "notes.txt")
    composer = window.page.composer
    assert field.contains(composer.mapTo(window, composer.rect().center()))
    assert not above.intersects(field)
    drop(window, mime(model, notes))
    assert not window.drops.isVisible()
    assert opened == [str(model)]
    wait_until(lambda: [file.name for file in composer.attachments.attachments] == ["notes.txt"])
    drag(window, mime(model))
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not window.drops.isVisible()


@pytest.mark.parametrize("act", ["moves", "presses", "types"])
def test_a_drag_whose_program_ended_is_forgotten_when_the_person_goes_on(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, act: str
) -> None:
    """Neither a drop nor the pointer's leaving is told then; while files are dragged no such event comes in."""
    notes = tmp_path / "notes.txt"
    notes.touch()
    drag(window, mime(notes))
    assert window.drops.isVisible()
    prompt = window.page.composer.prompt
    if act == "moves":
        qtbot.mouseMove(prompt.viewport(), QPoint(3, 3))
        qtbot.mouseMove(prompt.viewport(), QPoint(9, 9))
    elif act == "presses":
        qtbot.mouseClick(prompt.viewport(), Qt.MouseButton.LeftButton)
    else:
        qtbot.keyClicks(prompt, "a")
        assert prompt.toPlainText() == "a"
    assert not window.drops.isVisible()


def test_the_field_hands_files_to_the_window_and_takes_words(
    window: MainWindow, opened: list[str], tmp_path: Path
) -> None:
    model = tmp_path / "mine.gguf"
    model.touch()
    prompt = window.page.composer.prompt
    viewport = prompt.viewport()
    words = QMimeData()
    words.setText("words")
    assert drag(viewport, words).isAccepted()
    assert not window.drops.isVisible()
    drag(viewport, mime(model))
    assert window.drops.isVisible() or not prompt.isVisible()
    prompt.insertFromMimeData(mime(model))  # pasted
    assert opened == [str(model)]
    assert window.page.composer.attachments.attachments == ()


def test_on_the_page_of_models_files_are_attached_in_the_chat(
    window: MainWindow, opened: list[str], tmp_path: Path
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("One\n")
    window.places.go(MODELS)
    drop(window, mime(notes))
    assert window.places.current == CHAT
    files = window.page.composer.attachments
    wait_until(lambda: [file.name for file in files.attachments] == ["notes.txt"])
    window.places.go(MODELS)
    drop(window, mime(tmp_path))
    assert opened == [str(tmp_path)]
