"""The window's language: the system's or the chosen one."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from engine import sentences

# Each with its name in Qt, whose own texts are in English without a file.
LANGUAGES = {"en": "", "de": "de", "zh": "zh_CN"}


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
