"""Requests to open a model's or a chat's file, and to show a folder in the system's file manager."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QFileOpenEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.workspace import Workspace
from app.chat.model_entries import model_path
from app.ui.commands import CommandGroup, Commands
from app.words import tr

_CHATS_FILE = ".json"


class Opener(QObject):
    """Opens files that were dropped or chosen in the window, or named by its own start or a later one.

    A model is used where its files are, is listed from then on, and a blank chat with it is shown.
    """

    chat_requested = Signal(str)  # reference of a model
    said = Signal(str, bool)  # a sentence for the user, and whether it stays

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._window = window
        self._installed = workspace.model_store.installed
        self._installed.opened.connect(self.chat_requested)
        self._installed.opening_refused.connect(self._say_refusal)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done from anywhere."""
        models = CommandGroup.MODEL
        commands.add("open-model-file", tr("Open a model file..."), self.choose_file, models)
        commands.add("open-model-folder", tr("Open a model folder..."), self.choose_folder, models)

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
            if model_path(path) is not None:
                self.open_models([path])
            elif path.suffix.lower() == _CHATS_FILE:
                self._workspace.archive.import_file(path)
            else:
                self.said.emit(
                    tr(
                        "Tenon opens model folders, GGUF files and exported chats, not {name}.",
                        name=path.name,
                    ),
                    True,
                )

    @Slot(object)
    def open_models(self, paths: Sequence[Path]) -> None:
        """Open what may be models; what is none is told."""
        for place in dict.fromkeys(place for path in paths if (place := model_path(path)) is not None):
            self._installed.open(str(place))

    @Slot()
    def choose_folder(self) -> None:
        """Choose a model's folder and open it."""
        folder = QFileDialog.getExistingDirectory(self._window, tr("Open model folder"))
        if folder:
            self.open_models([Path(folder)])

    @Slot()
    def choose_file(self) -> None:
        """Choose a model's file and open it."""
        kinds = tr("Models (*.gguf *.safetensors)")
        path, _ = QFileDialog.getOpenFileName(self._window, tr("Open model file"), "", kinds)
        if path:
            self.open_models([Path(path)])

    @Slot(str)
    def _say_refusal(self, sentence: str) -> None:
        self.said.emit(sentence, True)


class OpenedFiles(QObject):
    """Watches the application for files that a double-click asks it to open."""

    opened = Signal(object)  # list of str: paths

    def __init__(self, application: QObject) -> None:
        super().__init__(application)
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take files, and leave addresses and everything else."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.opened.emit([event.file()])
            return True
        return False


def show_folder(folder: Path) -> str:
    """Open a folder; return a sentence where the system could not."""
    if QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        return ""
    return tr("The system could not open it. The folder is {folder}", folder=folder)
