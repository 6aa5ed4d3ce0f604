"""Makes the lexers that code is coloured with, beside the window: the first of a language takes longer than a frame."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, Signal


class LexerMaker(QObject):
    """Asked for a language's lexer, it tells of it later; nothing here waits."""

    made = Signal(str, object)  # the language; pygments.lexer.Lexer

    def make(self, language: str) -> None:
        """Have the lexer of a language made that pygments knows; `made` follows."""
        threading.Thread(target=self._make, args=(language,), name="tenon-lexer", daemon=True).start()

    def _make(self, language: str) -> None:
        from pygments.lexers import get_lexer_by_name

        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        try:
            self.made.emit(language, lexer)
        except RuntimeError:  # the window has gone meanwhile
            return
