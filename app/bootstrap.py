"""Starts the app: the engine's process first, then, while that imports torch, the window.

Neither torch nor transformers may be imported from here, and what makes the window only after the engine's start.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from app.bridge.engine_client import EngineClient
from app.bridge.single_instance import SingleInstance, instance_name
from app.bridge.update_check import restart
from app.diagnostics import SessionRecord, log_folder
from app.settings.settings_file import chosen_language, config_folder
from app.storage.files import close_to_others, keep_private
from app.version import version
from engine import sentences

if TYPE_CHECKING:
    from app.application import Application

# Each with its name in Qt, whose own texts are in English without a file.
LANGUAGES = {"en": "", "de": "de", "zh": "zh_CN"}
FOLDER_VARIABLES = ("TENON_DATA_DIR", "TENON_CONFIG_DIR", "TENON_CACHE_DIR", "TENON_LOG_DIR")


def spoken(chosen: str) -> str:
    """Return the chosen language, or the first of the system's that Tenon has, or English."""
    if chosen in LANGUAGES:
        return chosen
    wanted = [name.split("-")[0] for name in QLocale.system().uiLanguages()]
    return next((name for name in wanted if name in LANGUAGES), "en")


def speak(application: QApplication, chosen: str) -> str:
    """Translate the window's texts from here on, Qt's own and the engine's sentences; return the language."""
    language = spoken(chosen)
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if LANGUAGES[language] and translator.load(f"qtbase_{LANGUAGES[language]}", folder):
        application.installTranslator(translator)
    if chosen in LANGUAGES:
        QLocale.setDefault(QLocale(language))
    sentences.speak(language)
    return language


def _application(
    qt: QApplication, instance: SingleInstance, record: SessionRecord, paths: Sequence[str]
) -> Application:
    """Start the engine's process, and the app around it, in the chosen language."""
    speak(qt, chosen_language(config_folder()))
    engine = EngineClient(log_folder=log_folder())
    engine.start()
    from app.application import Application  # takes as long as a third of torch

    return Application(qt, instance, record, engine, paths)


def _choose_input_method() -> None:
    """Have Fcitx reached by IBus's protocol, which it speaks too: no Qt of PyPI's brings its plugin."""
    method, of_x = os.environ.get("QT_IM_MODULE", ""), os.environ.get("XMODIFIERS", "").removeprefix("@im=")
    if not method and not os.environ.get("WAYLAND_DISPLAY"):  # Wayland has a protocol of its own
        method = of_x if of_x.startswith(("fcitx", "ibus")) else ""  # Qt does not speak X's
    if not method or os.environ.get("QT_IM_MODULES"):
        return
    if method.startswith("fcitx"):
        os.environ.setdefault("IBUS_USE_PORTAL", "1")  # else Qt looks for a process called ibus-daemon
        method += ";ibus"
    os.environ["QT_IM_MODULES"] = method


def _qt() -> QApplication:
    _choose_input_method()
    qt = QApplication(sys.argv[:1])
    qt.setApplicationName("Tenon")
    qt.setDesktopFileName("tenon")
    qt.setApplicationDisplayName("Tenon")
    qt.setAttribute(Qt.ApplicationAttribute.AA_DontShowIconsInMenus)  # the desktop's, beside words that have none
    return qt


def run(paths: Sequence[str] = ()) -> int:
    """Open the window with files (absolute paths), or have the one that is open take over; return the exit code."""
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
        application = _application(qt, instance, record, paths)
        code = application.run()
    finally:
        instance.close()
        record.close()
    if application.updates.restart_wanted:
        restart()
    return code


def run_self_test() -> tuple[int, str]:
    """Open the window, let the model answer one question and close it; the user's own data are not touched.

    Returns:
        The exit code, 0 when there was an answer, and the report.
    """
    from app.bridge.self_test import SelfTest

    with tempfile.TemporaryDirectory(prefix="tenon-self-test-", ignore_cleanup_errors=True) as folder:
        os.environ.update({name: os.path.join(folder, name) for name in FOLDER_VARIABLES})
        qt = _qt()
        instance = SingleInstance(instance_name())  # another one's windows are no business of this
        record = SessionRecord(log_folder())
        application = _application(qt, instance, record, ())
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
