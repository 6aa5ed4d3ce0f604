"""What a start of Tenon is asked to open: a model's folder or file, or a file of chats; and the window to the front."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot

from app.ui.main_window import MainWindow
from app.words import tr

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace

_MODEL_FILE = ".gguf"
_CHATS_FILE = ".json"


class Opener(QObject):
    """Opens files in a window, of its own start or of a later one."""

    def __init__(self, workspace: Workspace, window: MainWindow) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._window = window

    @Slot(object)
    def open(self, paths: Sequence[str]) -> None:
        """Come to the front, then open some files."""
        window = self._window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        self.take(paths)

    def take(self, paths: Sequence[str]) -> None:
        """Open some files; what Tenon does not open is told."""
        for path in map(Path, paths):
            kind = path.suffix.lower()
            if path.is_dir() or (kind == _MODEL_FILE and path.is_file()):
                self._workspace.choose_model(str(path))
            elif kind == _CHATS_FILE and path.is_file():
                self._workspace.import_conversations(path)
            else:
                self._window.toast.say(
                    tr(
                        "Tenon opens model folders, GGUF files and exported chats, not {name}.",
                        name=path.name,
                    ),
                    lasting=True,
                )
