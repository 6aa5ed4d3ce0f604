"""Pictures of folders, chat settings, comparisons and erasing: ``python -m tests.support.chat_pictures FOLDER``."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtTest import QTest

from app.chat.comparison import Trial
from app.chat.conversation import ConversationOptions
from app.ui.chat_settings.dialog import ChatSettingsDialog
from app.ui.comparison.dialog import ComparisonDialog
from app.ui.erase_dialog import EraseDialog
from app.ui.theme.theme import Theme
from engine.messages import SamplingOptions
from tests.support.screenshots import ANSWER, FOLLOW_UP, LLAMA, TAIL, begin, fill, open_window, take
from tests.support.scripted_workspace import DAY_S, ScriptedWorkspace

WIDE, SMALL = QSize(1280, 820), QSize(380, 560)


def shelved(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """Folders, a folded one, pinned chats and the archive."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    ids = [one.id for one in workspace.library.conversations()]
    workspace.shelf.pin(ids[5])
    for number in (1, 2):
        workspace.shelf.move_to_folder(ids[number], "Letters & contracts")
    workspace.shelf.pin(ids[2])
    for number in (3, 4):
        workspace.shelf.move_to_folder(ids[number], "Garden")
    workspace.settings.folded_groups = ("folder/Garden", "archive")
    for number, title in enumerate(
        ("A very long title of an archived chat that does not fit", "Old recipes")
    ):
        workspace.shelf.archive(workspace.add_conversation(title, (9 + number) * DAY_S, "a", "b"))
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    window.shell.show_sidebar()
    take(window, folder, name)
    menu = window.sidebar.list.menu(ids[1])
    menu.popup(window.mapToGlobal(window.rect().center()))
    take(window, folder, name)
    menu.grab().save(str(folder / f"{name}-menu.png"))
    menu.close()
    window.close()


def chat_settings(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The settings of one chat, over a window whose header says that it has some."""
    workspace = ScriptedWorkspace(replace(LLAMA, gpu=""))
    chat = fill(workspace)
    options = ConversationOptions(
        "You are a patient teacher. Answer in two sentences, then ask one question back.",
        400,
        SamplingOptions(temperature=0.7),
    )
    workspace.shelf.set_options(chat, options)
    workspace.shelf.save_preset("Patient teacher", options)
    workspace.settings.new_chat_preset = "Patient teacher"
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    take(window, folder, f"{name}-window")
    window.commands["chat-settings"].trigger()
    dialog = window.findChild(ChatSettingsDialog)
    assert dialog is not None
    QTest.qWait(200)
    dialog.grab().save(str(folder / f"{name}.png"))
    dialog.close()
    window.close()


def compared(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """Two modes that say the same, and two that do not."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    window.comparisons.open_on(workspace.reply(chat).id)
    dialog = window.findChild(ComparisonDialog)
    assert dialog is not None
    first = Trial("plain", "plain", ANSWER[:420], tuple(range(96)), 9.1, 11.2, None, 1.0, True)
    second = Trial("auto", "lookup", ANSWER[:420], tuple(range(96)), 4.2, 26.8, 2.6, 1.0, True)
    other = replace(second, text=ANSWER[:180] + "none of them is new.", token_ids=(*range(41), 9, 9))
    for word, trials in (("same", (first, second)), ("differs", (first, other))):
        workspace.comparison.trials = trials
        workspace.comparison.changed.emit()
        QTest.qWait(200)
        dialog.grab().save(str(folder / f"{name}-{word}.png"))
    dialog.close()
    window.close()


def erased(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The question before everything is erased."""
    workspace = ScriptedWorkspace(LLAMA)
    fill(workspace)
    window = open_window(theme, workspace, size)
    window.commands["erase-everything"].trigger()
    dialog = window.findChild(EraseDialog)
    assert dialog is not None
    dialog.field.setText("erase")
    QTest.qWait(200)
    dialog.grab().save(str(folder / f"{name}.png"))
    dialog.close()
    window.close()


def switched(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """Another model goes on in mid-conversation."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    workspace.change(chat, model="smollm2")
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL)
    workspace.change(chat, model="/models/Llama 3.1 8B Instruct")
    workspace.finish(chat)
    window.page.open(None)
    window.page.open(chat)
    take(window, folder, name)
    window.close()


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=False)
    for word in ("light", "dark", "scale-150"):
        theme.set_dark(word == "dark")
        theme.set_scale(1.5 if word == "scale-150" else 1.0)
        for size, suffix in ((WIDE, ""), (SMALL, "-small")):
            shelved(theme, folder, f"folders-{word}{suffix}", size)
            switched(theme, folder, f"switched-{word}{suffix}", size)
            erased(theme, folder, f"erase-{word}{suffix}", size)
            compared(theme, folder, f"compare-{word}{suffix}", size)
            chat_settings(theme, folder, f"settings-{word}{suffix}", size)
    app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
