"""Pictures of the inspector with a made-up reply: ``python -m tests.support.inspector_pictures FOLDER``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize

from app.ui.theme.theme import Theme
from engine.messages import MemoryPlace
from tests.support.inspector_scene import PLACES, STREAMED, play, report
from tests.support.screenshots import FOLLOW_UP, LLAMA, TAIL, begin, fill, open_window, take
from tests.support.scripted_workspace import ScriptedWorkspace, statistics

WIDE, BETWEEN, NARROW = QSize(1280, 820), QSize(1020, 820), QSize(520, 820)


def inspected(theme: Theme, folder: Path, name: str, size: QSize, places: tuple[MemoryPlace, ...]) -> None:
    """A reply under way with the inspector beside it, or above."""
    workspace = ScriptedWorkspace(LLAMA)
    workspace.load(report(places))
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL)
    workspace.change(chat, statistics=statistics(74, mode="dovetail"))
    window.inspector.show()
    play(workspace, workspace.reply(chat).id)
    take(window, folder, name)
    window.close()


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=True)
    inspected(theme, folder, "inspector-dark", WIDE, PLACES)
    inspected(theme, folder, "inspector-narrow-dark", NARROW, PLACES)
    theme.set_dark(False)
    inspected(theme, folder, "inspector-light", WIDE, STREAMED)
    inspected(theme, folder, "inspector-between-light", BETWEEN, PLACES)
    theme.set_scale(1.5)
    inspected(theme, folder, "inspector-scale-150-light", WIDE, PLACES)
    app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
