"""Builds and wires the application. Neither torch nor transformers may be imported from here."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication

from app.bridge.installed_program import ProgramWatch, own_program, restart
from app.bridge.single_instance import SingleInstance, instance_name
from app.bridge.uncaught import UncaughtErrors
from app.bridge.update_check import UpdateCheck
from app.bridge.workspace import Workspace
from app.diagnostics.log_files import log_folder
from app.diagnostics.session_record import SessionRecord
from app.settings.settings_file import chosen_language, config_folder
from app.storage.private_files import close_to_others, keep_private
from app.ui.language import speak
from app.ui.main_window import MainWindow
from app.ui.opener import OpenedFiles
from app.ui.termination import TerminationSignals
from app.ui.theme.appearance import apply_appearance
from app.ui.theme.theme import Theme
from app.ui.updates import Updates
from app.version import version

FOLDER_VARIABLES = ("TENON_DATA_DIR", "TENON_CONFIG_DIR", "TENON_CACHE_DIR", "TENON_LOG_DIR")


class FirstPaint(QObject):
    """Tells once when a window has been painted, so that slow things start after the person sees something."""

    happened = Signal()

    def __init__(self, window: QObject) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the window's paint event, then for the event loop to come round again."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self, self.happened.emit)
        return False


class Application:
    """Every object of the running app and how they depend on one another.

    Args:
        qt: Qt's own application.
        instance: Tells of later starts.
        record: Tells how Tenon ended last time.
        paths: Files to open; absolute.
    """

    def __init__(
        self, qt: QApplication, instance: SingleInstance, record: SessionRecord, paths: Sequence[str]
    ) -> None:
        self.qt = qt
        self._record = record
        self._paths = list(paths)
        self.errors = UncaughtErrors()
        self.errors.install()
        speak(self.qt, chosen_language(config_folder()))
        self.workspace = Workspace()
        if record.crash_trace:
            self.workspace.doubt_last_chat()
        self.theme = Theme()
        self.theme.apply()
        apply_appearance(self.theme, self.workspace.settings)
        self.window = MainWindow(self.theme, self.workspace)
        self.window.first_run.begin()
        self.errors.happened.connect(self.window.trouble.tell_uncaught)
        instance.asked.connect(self.window.opener.open)
        self.opened_files = OpenedFiles(self.qt)
        self.opened_files.opened.connect(self.window.opener.open)
        self.first_paint = FirstPaint(self.window)
        self.first_paint.happened.connect(self._begin)
        check = UpdateCheck(self.workspace.settings, version(), self.window)
        self.updates = Updates(check, ProgramWatch(own_program(), self.window), self.window)
        self.first_paint.happened.connect(self.updates.begin)
        self.signals = TerminationSignals()
        self.signals.received.connect(self.window.close)

    def run(self) -> int:
        """Show the window and run until it is closed."""
        self.window.show()
        try:
            return self.qt.exec()
        finally:
            self.workspace.close()
            self.signals.close()
            self.errors.remove()

    def _begin(self) -> None:
        if self._record.ended_badly:
            self.window.trouble.tell_bad_end(self._record.crash_trace)
        self.workspace.start()  # what that has to tell of the chats matters more
        self.window.last_place.open_inspector()
        self.window.opener.take(self._paths)


def _qt() -> QApplication:
    method = os.environ.get("QT_IM_MODULE", "")
    if method.startswith("fcitx"):  # whose plugin no Qt of PyPI's brings; it speaks IBus's protocol too
        os.environ.setdefault("QT_IM_MODULES", f"{method};ibus")
    qt = QApplication(sys.argv[:1])
    qt.setApplicationName("Tenon")
    qt.setDesktopFileName("tenon")
    qt.setApplicationDisplayName("Tenon")
    return qt


def run(paths: Sequence[str] = ()) -> int:
    """Open the window, or have the one that is open take over; returns the exit code.

    Args:
        paths: Files to open there; absolute.
    """
    keep_private()
    for folder in (config_folder(), log_folder()):  # that of the chats is closed where it is opened
        with suppress(OSError):
            close_to_others(folder)
    qt = _qt()
    instance = SingleInstance(instance_name())
    if not instance.claim(paths):
        return 0
    record = SessionRecord(log_folder())
    try:
        application = Application(qt, instance, record, paths)
        code = application.run()
    finally:
        instance.close()
        record.close()
    if application.updates.restart_wanted:
        restart()
    return code


def run_self_test() -> tuple[int, str]:
    """Open the window, let the model answer one question and close it; the person's own data are not touched.

    Returns:
        The exit code, 0 when there was an answer, and the report.
    """
    from app.bridge.self_test import SelfTest

    with tempfile.TemporaryDirectory(prefix="tenon-self-test-", ignore_cleanup_errors=True) as folder:
        os.environ.update({name: os.path.join(folder, name) for name in FOLDER_VARIABLES})
        qt = _qt()
        instance = SingleInstance(instance_name())  # another one's windows are no business of this
        record = SessionRecord(log_folder())
        application = Application(qt, instance, record, ())
        test = SelfTest(application.workspace, version(), parent=application.window)
        test.asked.connect(application.window.shelf.open)
        test.finished.connect(application.window.close, Qt.ConnectionType.QueuedConnection)
        application.first_paint.happened.connect(test.begin)
        try:
            code = application.run()
        finally:
            instance.close()
            record.close()
        return (code if test.report.passed else 1), test.report.text()
