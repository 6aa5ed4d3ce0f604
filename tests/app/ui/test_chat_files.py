"""Exporting and importing chats from the menu."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.ui.chats.files import file_name
from app.ui.main_window import MainWindow
from tests.support.scripted_workspace import ScriptedWorkspace, wait_until

MARKDOWN, JSON = "Markdown, to read (*.md)", "JSON, to import again (*.json)"


@pytest.mark.parametrize(
    ("chosen", "kind", "wanted"),
    [
        ("/x/Plan.md", MARKDOWN, "/x/Plan.md"),
        ("/x/Plan", MARKDOWN, "/x/Plan.md"),
        ("/x/Plan", JSON, "/x/Plan.json"),
        ("/x/Plan v1.2", JSON, "/x/Plan v1.2.json"),
        ("/x/Plan.JSON", MARKDOWN, "/x/Plan.JSON"),
    ],
)
def test_a_chat_is_exported_in_the_kind_that_was_chosen(
    qtbot: QtBot,
    window: MainWindow,
    workspace: ScriptedWorkspace,
    monkeypatch: pytest.MonkeyPatch,
    chosen: str,
    kind: str,
    wanted: str,
    tmp_path: Path,
) -> None:
    asked: list[str] = []

    def ask(_parent: object, _title: str, name: str, *_kinds: str) -> tuple[str, str]:
        asked.append(name)
        return str(tmp_path / Path(chosen).name), kind

    monkeypatch.setattr("app.ui.chats.files.QFileDialog.getSaveFileName", ask)
    assert not window.commands["export-chat"].isEnabled()
    chat = workspace.add_conversation("Plan: A/B?", 0, "a", "b")
    window.page.open(chat)
    qtbot.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert asked == ["Plan A B.md"]
    wait_until(lambda: window.toast.text.startswith("Saved as"))
    (file,) = tmp_path.glob("Plan*")
    assert file.name == Path(wanted).name
    assert file.read_text().startswith("{" if file.suffix.lower() == ".json" else "#")


def test_giving_up_a_dialog_does_nothing(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ask in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(f"app.ui.chats.files.QFileDialog.{ask}", lambda *arguments: ("", ""))
    window.page.open(workspace.add_conversation("Chat", 0, "a", "b"))
    window.commands["export-chat"].trigger()
    window.commands["export-all"].trigger()
    window.commands["import-chats"].trigger()
    workspace.written()
    assert not window.toast.isVisible()


def test_all_chats_go_out_and_in(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = str(tmp_path / "all.json")
    monkeypatch.setattr("app.ui.chats.files.QFileDialog.getSaveFileName", lambda *arguments: (file, JSON))
    monkeypatch.setattr("app.ui.chats.files.QFileDialog.getOpenFileName", lambda *arguments: (file, ""))
    workspace.add_conversation("Chat", 0, "a", "b")
    window.commands["export-all"].trigger()
    wait_until(lambda: window.toast.text == "Saved as all.json.")
    window.commands["import-chats"].trigger()
    wait_until(lambda: window.toast.text == "1 chat was imported.")
    assert [chat.title for chat in workspace.library.conversations()] == ["Chat", "Chat"]


def test_what_came_of_it_is_said(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.archive.export_finished.emit("/x/Plan.md", "")
    assert (window.toast.text, window.toast.fades) == ("Saved as Plan.md.", True)
    workspace.archive.export_finished.emit("/x/Plan.md", "The disk is full.")
    assert (window.toast.text, window.toast.fades) == ("The disk is full.", False)
    workspace.archive.import_finished.emit(2, "2 chats were imported.")
    assert (window.toast.text, window.toast.fades) == ("2 chats were imported.", True)
    workspace.archive.import_finished.emit(0, "in.json was not imported.")
    assert not window.toast.fades


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("Plan: A/B?", "Plan A B"),
        ("...", "Chat"),
        ("日本語 メモ", "日本語 メモ"),
        ("x" * 99, "x" * 60),
        ("हिन्दी में बात", "हिन्दी में बात"),
        ("ภาษาไทยที่นี่", "ภาษาไทยที่นี่"),
        (unicodedata.normalize("NFD", "Tiếng Việt"), "Tiếng Việt"),
        ("\u0301/\u0302a\u0323\u0301!", "ạ́"),
        ("safe\u202egnp.exe\u200b", "safegnp.exe"),
        ("a" + "\u0300" * 200, "Chat"),
        ("CON.", "CON_"),
        ("nul", "nul_"),
        ("Aux .notes.txt", "Aux_ .notes.txt"),
        ("COM¹.log", "COM¹_.log"),
        ("lpt9", "lpt9_"),
        ("contents", "contents"),
        ("com10", "com10"),
        (" . trailing. . ", "trailing"),
    ],
)
def test_a_title_as_a_file_name(title: str, wanted: str) -> None:
    assert file_name(title) == wanted


@pytest.mark.parametrize("letter", ["漢", "नि", "ทั้", "𠀀", "ạ̄"])
def test_a_long_title_is_cut_between_letters(letter: str) -> None:
    name = file_name(letter * 200)
    letter = unicodedata.normalize("NFC", letter)
    assert name == letter * (len(name) // len(letter)) != ""
    assert len(f".{name}.json.4194304.part".encode()) <= 143  # what an encrypted folder of Linux takes


def test_an_import_can_be_cancelled_for_as_long_as_one_is_under_way(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, toast = workspace.archive, window.toast
    cancelled: list[bool] = []
    monkeypatch.setattr(archive, "cancel_import", lambda: cancelled.append(True))
    for name in ("a.json", "b.json"):
        archive.import_begun.emit(name)
    assert (toast.text, toast.action_button.text()) == ("b.json is being imported...", "Cancel import")
    archive.import_finished.emit(0, "a.json was not imported.")
    assert (toast.text, toast.action_button.text()) == ("a.json was not imported.", "Cancel import")
    toast.action_button.click()
    assert cancelled == [True]
    archive.import_finished.emit(1, "1 chat was imported.")
    assert (toast.text, toast.action_button.text()) == ("1 chat was imported.", "")
