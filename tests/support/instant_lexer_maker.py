"""Makes lexers at once, for tests and pictures."""

from __future__ import annotations

from pygments.lexers import get_lexer_by_name
from PySide6.QtCore import QObject, Signal


class InstantLexerMaker(QObject):
    """The interface of `app.bridge.worker.LexerMaker`; ``asked`` are the languages, in their order."""

    made = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.asked: list[str] = []

    def make(self, language: str) -> None:
        self.asked.append(language)
        self.made.emit(language, get_lexer_by_name(language, stripnl=False, ensurenl=False))
