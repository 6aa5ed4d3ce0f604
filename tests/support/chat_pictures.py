"""Pictures of folders, chat settings, comparisons and erasing: ``python -m tests.support.chat_pictures FOLDER``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize

from app.ui.theme.theme import Theme
from tests.support.fake_workspace import DAY_S, FakeWorkspace
from tests.support.screenshots import LLAMA, begin, fill, open_window, take

WIDE, SMALL = QSize(1280, 820), QSize(380, 560)


def shelved(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """Folders, a folded one, pinned chats and the archive."""
    workspace = FakeWorkspace(LLAMA)
    chat = fill(workspace)
    ids = [one.id for one in workspace.conversations()]
    workspace.pin(ids[5])
    for number in (1, 2):
        workspace.move_to_folder(ids[number], "Letters & contracts")
    workspace.pin(ids[2])
    for number in (3, 4):
        workspace.move_to_folder(ids[number], "Garden")
    workspace.settings.folded_groups = ("folder/Garden", "archive")
    for number, title in enumerate(
        ("A very long title of an archived chat that does not fit", "Old recipes")
    ):
        workspace.archive(workspace.add_conversation(title, (9 + number) * DAY_S, "a", "b"))
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


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=False)
    for word in ("light", "dark", "scale-150"):
        theme.set_dark(word == "dark")
        theme.set_scale(1.5 if word == "scale-150" else 1.0)
        for size, suffix in ((WIDE, ""), (SMALL, "-small")):
            shelved(theme, folder, f"folders-{word}{suffix}", size)
    app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
