"""Pictures of what the window shows when something went wrong: ``python -m tests.support.trouble_pictures FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog

from app.chat.engine_state import EnginePhase
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from engine.messages import ErrorReport, MemoryShortage
from tests.support.screenshots import FOLLOW_UP, LLAMA, TAIL, begin, fill, open_window, take
from tests.support.scripted_workspace import ScriptedWorkspace

SHORT = ErrorReport(
    "OutOfMemory",
    "Other programs now use 8.4 GB, so 8,192 tokens of context no longer fit. 4,096 will.",
    "wanted  1.07 GB for 8,192 tokens\nfree    0.61 GB after a reserve of 1.00 GB\nmode    dovetail",
    context=8192,
    memory=MemoryShortage(16_000_000_000, 8_400_000_000, 5_300_000_000, 460_000_000),
)


def failed(theme: Theme, size: QSize) -> tuple[MainWindow, ScriptedWorkspace]:
    """A window whose last reply failed for want of memory."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL)
    workspace.set_engine(LLAMA.stopped(SHORT.message))
    workspace.fail(chat, SHORT.message, SHORT)
    return window, workspace


def take_dialog(window: MainWindow, folder: Path, name: str) -> None:
    """Save a picture of the open dialog and close it."""
    QTest.qWait(200)
    dialog = next(found for found in window.findChildren(QDialog) if found.isVisible())
    dialog.grab().save(str(folder / f"{name}.png"))
    dialog.close()
    QTest.qWait(50)


def picture(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The notice, the details, a trouble beside any reply, and About."""
    window, workspace = failed(theme, size)
    take(window, folder, f"notice-{name}")
    window.trouble.show_details(SHORT)
    take_dialog(window, folder, f"details-{name}")
    sentence = "The disk that holds /home/ada/tenon is full: free some space, or new messages are not saved."
    workspace.trouble.emit(ErrorReport("StorageError", sentence, "OSError: [Errno 28]"))
    take(window, folder, f"toast-{name}")
    window.commands["about"].trigger()
    take_dialog(window, folder, f"about-{name}")
    window.close()


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=False)
    wide, narrow = QSize(1280, 820), QSize(380, 560)
    picture(theme, folder, "light", wide)
    picture(theme, folder, "narrow", narrow)
    theme.set_dark(True)
    picture(theme, folder, "dark", wide)
    theme.set_dark(False)
    theme.set_scale(1.5)
    picture(theme, folder, "150", wide)
    picture(theme, folder, "150-narrow", narrow)
    theme.set_scale(1.0)
    resting = ScriptedWorkspace(LLAMA.__class__(EnginePhase.IDLE, "/m", LLAMA.model_name, resting=True))
    window = open_window(theme, resting, wide)
    take(window, folder, "resting")
    window.close()
    app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
