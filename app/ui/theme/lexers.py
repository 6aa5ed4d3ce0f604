"""Lexers of code, by pygments: each is made once, beside the window, for that takes longer than a frame may."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

if TYPE_CHECKING:
    from pygments.lexer import Lexer


class Lexers(QObject):
    """Asked for a language, it has the lexer at once or tells later that it has come."""

    came = Signal(str)  # the language, in lower case

    _made = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lexers: dict[str, Lexer | None] = {}
        self._asked: set[str] = set()
        self._made.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def lexer(self, language: str) -> Lexer | None:
        """The lexer of a language; None where there is none, or it is still to come: then `came` follows."""
        language = language.lower()
        if language in self._lexers:
            return self._lexers[language]
        if language not in self._asked and title_of(language):
            self._asked.add(language)
            threading.Thread(target=self._make, args=(language,), name="tenon-lexer", daemon=True).start()
        return None

    def _make(self, language: str) -> None:
        """In a thread."""
        from pygments.lexers import get_lexer_by_name

        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        try:
            self._made.emit(language, lexer)
        except RuntimeError:  # the window has gone meanwhile
            return

    @Slot(str, object)
    def _take(self, language: str, lexer: Lexer) -> None:
        self._asked.discard(language)
        self._lexers[language] = lexer
        self.came.emit(language)


def title_of(language: str) -> str:
    """The name of a language that there is a lexer for; empty where there is none."""
    return _titles().get(language.lower(), "")


@cache
def _titles() -> dict[str, str]:
    from pygments.lexers import get_all_lexers

    return {alias.lower(): name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}
