"""Actions of the dialog's rows that are no settings: folders, files of settings, the access token."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog

from app.bridge.models.servers import HubAccess
from app.bridge.saved_settings import SettingsDesk
from app.settings.exchange import ImportedSettings
from app.settings.settings import Settings
from app.ui.settings.action_rows import TokenRow
from app.ui.settings.dialog import SettingsDialog
from app.ui.settings.page_view import PageView
from app.ui.shown_folder import show_folder
from app.words import tr

_FOLDERS = {"models_folder": "models", "data_folder": "data"}
_FILE_NAME = "tenon-settings.json"


class DeskActions(QObject):
    """Connects the dialog's pages, as they are made, with the desk."""

    erase_wanted = Signal()

    def __init__(self, dialog: SettingsDialog, desk: SettingsDesk, access: HubAccess) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._desk = desk
        self._access = access
        self._token: TokenRow | None = None
        dialog.stack.made.connect(self._page_made)
        for page in dialog.stack.pages():
            self._page_made(page)
        desk.exported.connect(self._exported)
        desk.imported.connect(self._imported)
        access.told.connect(self._token_told)

    @Slot(object)
    def _page_made(self, page: PageView) -> None:
        page.requested.connect(self._do)
        for name, row in page.action_rows.items():
            if name in _FOLDERS:
                row.show_detail(str(self._desk.folder(_FOLDERS[name])))
            elif isinstance(row, TokenRow):
                self._token = row
                row.kept.connect(self._access.keep)
                row.forgotten.connect(self._access.forget)
                row.grown.connect(self._dialog.stack.arrange)
                row.show_known(self._access.known, "")
                self._access.look()

    @Slot(str)
    def _do(self, name: str) -> None:
        if name in _FOLDERS:
            self._open_folder(self._desk.folder(_FOLDERS[name]))
        elif name == "reset_settings":
            self._dialog.choose(ImportedSettings({}, {}))
        elif name == "export_settings":
            self._export()
        elif name == "import_settings":
            self._import()
        elif name == "erase_everything":
            self.erase_wanted.emit()

    def _open_folder(self, folder: Path) -> None:
        """Show a folder in the system's own window; one that nothing is in yet is not there."""
        if not folder.is_dir():
            self._dialog.say(tr("{folder} is not there yet: nothing was put into it.", folder=folder))
        elif problem := show_folder(folder):
            self._dialog.say(problem)

    def _export(self) -> None:
        kinds = tr("Settings (*.json)")
        path, _ = QFileDialog.getSaveFileName(self._dialog, tr("Export settings"), _FILE_NAME, kinds)
        if path:
            self._desk.export(Path(path))

    def _import(self) -> None:
        kinds = tr("Settings (*.json)")
        path, _ = QFileDialog.getOpenFileName(self._dialog, tr("Import settings"), "", kinds)
        if path:
            self._desk.read(Path(path))

    @Slot(str, str)
    def _exported(self, path: str, sentence: str) -> None:
        self._dialog.say(sentence or tr("The settings in force are saved as {file}.", file=Path(path).name))

    @Slot(object, str)
    def _imported(self, found: ImportedSettings | None, sentence: str) -> None:
        if found is None:
            self._dialog.say(sentence)
            return
        self._dialog.choose(found)
        if found.rejected:
            names = ", ".join(_title(name) for name in found.rejected)
            self._dialog.say(
                tr(
                    "Left out, because they no longer exist or their values are not allowed: {names}.",
                    names=names,
                )
            )
        elif not self._dialog.pending.changes():
            self._dialog.say(tr("The file says what is in force already."))

    @Slot(str)
    def _token_told(self, problem: str) -> None:
        if self._token is not None:
            self._token.show_known(self._access.known, problem)


def _title(name: str) -> str:
    """Title of a setting in the dialog; one without a row has its name in the file."""
    setting = Settings.declared().get(name)
    return tr(setting.title) if setting is not None and setting.title else name
