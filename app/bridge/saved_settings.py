"""The settings on the disk: read once, written a moment after each change."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.worker import Worker
from app.settings.settings_file import SettingsFile
from engine.errors import TenonError

# One change often comes with others. It also is about what a kill of the window may cost, so none puts it off.
_DELAY_MS = 50
# After the disk has refused.
_RETRY_MS = 5000


class SavedSettings(QObject):
    """Keeps the settings in their file.

    Attributes:
        settings: Assigning to one of them saves it.
        problems: Sentences on faults of the file.
    """

    problem = Signal(str)  # it cannot be written

    def __init__(self, folder: Path, writer: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = SettingsFile(folder)
        self._writer = writer
        self.settings, self.problems = self._file.read()
        self.settings.on_change = self._changed
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._save)
        self._writing = False
        self._unsaved = False
        self._closed = False
        self._last_problem = ""
        if self._file.damaged:
            self._changed()  # or the next start would find the same fault

    def erase_aside(self) -> None:
        """Delete damaged files of settings that were kept aside."""
        self._writer.run(self._file.erase_aside, failed=lambda error: self.problem.emit(error.message))

    def close(self) -> None:
        """Save what has changed; what changes from now on is lost."""
        self._closed = True
        if self._unsaved:
            self._save()

    def _changed(self) -> None:
        if not self._closed:
            self._unsaved = True
            self._save_soon(_DELAY_MS)

    def _save_soon(self, delay_ms: int) -> None:
        if self._unsaved and not self._writing and (not self._timer.isActive() or self._last_problem):
            self._timer.start(delay_ms)

    @Slot()
    def _save(self) -> None:
        self._timer.stop()
        self._unsaved, self._writing = False, True
        text = self._file.text_of(self.settings)
        self._writer.run(lambda: self._file.write(text), self._saved, self._refused)

    def _saved(self, written: object) -> None:
        self._writing = False
        self._last_problem = ""
        self._save_soon(_DELAY_MS)

    def _refused(self, error: TenonError) -> None:
        self._writing, self._unsaved = False, True
        if error.message != self._last_problem:
            self.problem.emit(error.message)
        self._last_problem = error.message
        self._save_soon(_RETRY_MS)
