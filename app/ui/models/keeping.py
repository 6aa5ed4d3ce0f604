"""Actions on the models of this computer: import, show, check, remove."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.models.store import ModelStore
from app.chat.model_entries import ImportEntry, RemovalEntry, ServerEntry
from app.ui import figures
from app.ui.models.installed_list import InstalledList
from app.ui.models.model_dialog import ImportDialog, RemovalDialog
from app.ui.models.server_dialog import ForgettingDialog, ServerDialog
from app.ui.shown_folder import show_folder
from app.ui.theme.theme import Theme
from app.words import tr
from engine.sentences import paragraph


class Keeping(QObject):
    """Has it done by the store, asks where there is something to decide, and says what came of it."""

    said = Signal(str, bool)  # a sentence, and whether it stays

    def __init__(
        self, theme: Theme, store: ModelStore, rows: InstalledList, remote: InstalledList, window: QWidget
    ) -> None:
        super().__init__(window)
        self._theme = theme
        self._store = store
        self._window = window
        installed = store.installed
        installed.problem.connect(self._say_trouble)
        installed.import_refused.connect(self._say_trouble)
        installed.looked_at.connect(self._ask_import)
        installed.imported.connect(self._say_imported)
        installed.removal_planned.connect(self._ask_removal)
        installed.removed.connect(self._say_removed)
        installed.verified.connect(self._say_verified)
        rows.verify_requested.connect(installed.verify)
        rows.stop_requested.connect(installed.stop_reading)
        rows.folder_requested.connect(self._show_folder)
        rows.remove_requested.connect(installed.plan_removal)
        store.servers.problem.connect(self._say_trouble)
        remote.change_requested.connect(self.change_server)
        remote.forget_requested.connect(self._ask_forgetting)

    @Slot()
    def add_folder(self) -> None:
        """Choose a folder with a model and add it."""
        folder = QFileDialog.getExistingDirectory(self._window, tr("Add a model's folder"))
        if folder:
            self._store.installed.look_at([folder])

    @Slot()
    def add_file(self) -> None:
        """Choose a GGUF file, or the files of one model, and add it."""
        kinds = tr("Models (*.gguf *.safetensors *.json *.model *.bin)")
        paths, _ = QFileDialog.getOpenFileNames(self._window, tr("Add a model's file"), "", kinds)
        if paths:
            self._store.installed.look_at(paths)

    @Slot()
    def add_server(self) -> None:
        """Ask for a server and add it."""
        self.change_server("", "")

    @Slot(str, str)
    def change_server(self, address: str, name: str) -> None:
        """Ask for a server, with fields filled in, and add it."""
        dialog = ServerDialog(self._theme, self._store.servers, self._window, address, name)
        dialog.added.connect(self._say_server_added)
        dialog.open()

    @Slot(str)
    def _ask_forgetting(self, server: str) -> None:
        mine = [entry for entry in self._store.installed.entries if entry.server == server]
        in_use = any(map(self._store.in_use, mine))
        dialog = ForgettingDialog(self._theme, server, in_use, self._window)
        dialog.accepted.connect(lambda: self._store.forget_server(server))
        dialog.open()

    @Slot(object)
    def _say_server_added(self, entry: ServerEntry) -> None:
        added = tr("{server} is added, with %n model(s).", n=entry.models, server=entry.name)
        self.said.emit(paragraph(added, entry.warning), bool(entry.warning))

    @Slot(object)
    def _ask_import(self, entry: ImportEntry) -> None:
        dialog = ImportDialog(self._theme, entry, self._window)
        dialog.accepted.connect(lambda: self._store.installed.bring_in(entry, dialog.copies))
        dialog.open()

    @Slot(object)
    def _ask_removal(self, removal: RemovalEntry) -> None:
        entry = self._store.entry(removal.name)
        in_use = entry is not None and self._store.in_use(entry)
        dialog = RemovalDialog(self._theme, removal, in_use, self._window)
        dialog.accepted.connect(lambda: self._store.remove(removal.name, dialog.drafts))
        dialog.open()

    @Slot(str)
    def _show_folder(self, ref: str) -> None:
        place = Path(ref)
        problem = show_folder(place.parent if place.suffix else place)
        if problem:
            self._say_trouble(problem)

    @Slot(str)
    def _say_trouble(self, sentence: str) -> None:
        self.said.emit(sentence, True)

    @Slot(str)
    def _say_imported(self, name: str) -> None:
        self.said.emit(tr("{name} is added.", name=name), False)

    @Slot(str, object)
    def _say_removed(self, name: str, freed_bytes: int) -> None:
        size = figures.size(freed_bytes)
        self.said.emit(tr("{name} is removed; {size} are free again.", name=name, size=size), False)

    @Slot(str, tuple)
    def _say_verified(self, name: str, bad: tuple[str, ...]) -> None:
        if bad:
            files = ", ".join(bad)
            self.said.emit(
                tr("{name} is damaged: {files}. Get or add it again.", name=name, files=files), True
            )
        else:
            self.said.emit(tr("{name}: all files are what they were.", name=name), False)
