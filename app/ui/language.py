"""The window's language: the system's or the chosen one, from the compiled texts in assets/translations."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app import words
from engine import sentences

TRANSLATIONS = Path(__file__).resolve().parents[2] / "assets" / "translations"
# The texts' context in the compiled files; there is only one.
CONTEXT = "Tenon"
LANGUAGES = ("en", "de", "zh")
SYSTEM = "system"


def spoken(chosen: str) -> str:
    """Return the language to use: the chosen one, or the first of the system's that exists, or English."""
    if chosen in LANGUAGES:
        return chosen
    wanted = [name.split("-")[0] for name in QLocale.system().uiLanguages()]
    return next((name for name in wanted if name in LANGUAGES), "en")


def speak(application: QApplication, chosen: str) -> str:
    """Translate the window's texts from here on, Qt's own and the engine's sentences; returns the language.

    English has a file as well: it holds the plurals.
    """
    language = spoken(chosen)
    files = [TRANSLATIONS / f"tenon_{language}.qm"]
    if language != "en":
        of_qt = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        files.append(Path(of_qt, f"qtbase_{_QT_NAMES[language]}.qm"))
    for file in files:
        translator = QTranslator(application)
        if load(translator, file):
            application.installTranslator(translator)
    if chosen in LANGUAGES:
        QLocale.setDefault(QLocale(language))
    words.speak(_translated)
    sentences.speak(language)
    return language


def load(translator: QTranslator, file: Path) -> bool:
    """Read a compiled file; returns whether it could be. Mapped, as Qt does it, it could not be compiled anew."""
    try:
        compiled = file.read_bytes()
    except OSError:
        return False
    _IN_USE.append(compiled)
    return translator.load(compiled)


_IN_USE: list[bytes] = []  # a translator reads on in the bytes that it was given
_QT_NAMES = {"de": "de", "zh": "zh_CN"}


def _translated(text: str, n: int) -> str:
    return QCoreApplication.translate(CONTEXT, text, None, n)
