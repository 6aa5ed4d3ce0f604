"""Opens the dialog of settings over the window, and brings what was applied into the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.bridge.workspace import Workspace
from app.ui.theme.theme import Theme, apply_appearance

if TYPE_CHECKING:
    from app.ui.settings.dialog import SettingsDialog


class SettingsOpening(QObject):
    """One dialog at a time."""

    erase_wanted = Signal()
    applied = Signal()  # for whatever in the window shows a setting

    def __init__(self, theme: Theme, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._workspace = workspace
        self._window = window
        self.dialog: SettingsDialog | None = None

    @Slot()
    def open(self) -> None:
        """Show the dialog, or the one that is open."""
        dialog = self._made()
        if dialog.isVisible():
            dialog.activateWindow()
        else:
            dialog.open()

    def _made(self) -> SettingsDialog:
        if self.dialog is not None:
            return self.dialog
        # Imported when it is opened, so that the window is there sooner.
        from app.ui.settings.dialog import DeskActions, SettingsDialog

        self.dialog = SettingsDialog(self._theme, self._workspace, self._window)
        actions = DeskActions(self.dialog, self._workspace.settings_desk, self._workspace.model_store.access)
        actions.erase_wanted.connect(self._leave_to_erase)
        self.dialog.applied.connect(self._apply)
        self.dialog.finished.connect(self._forget)
        return self.dialog

    def find(self, words: str) -> None:
        """Show the rows that a search finds, simple and advanced ones."""
        self.open()
        self._made().head.search.setText(words)

    def open_page(self, name: str) -> None:
        """Show a page of it."""
        self.open()
        self._made().go(name)

    @Slot(str)
    def open_row(self, name: str) -> None:
        """Show the row of a setting."""
        dialog = self._made()
        dialog.go_to_row(name)  # first, for what has the focus when a dialog is shown keeps its caret
        self.open()
        dialog.stack.ensureWidgetVisible(dialog.row(name))

    @Slot(bool)
    def _apply(self, loads: bool) -> None:
        apply_appearance(self._theme, self._workspace.settings)
        self._workspace.settings_desk.apply_network()
        if loads:  # else a model that was freed while nobody needed it stays out
            self._workspace.settings_applied()
        self.applied.emit()

    @Slot()
    def _leave_to_erase(self) -> None:
        """Leave changes that were not applied behind, too."""
        if self.dialog is not None:
            self.dialog.reject()
        self.erase_wanted.emit()

    @Slot()
    def _forget(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
