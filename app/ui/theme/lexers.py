"""Lexers of code, by pygments: asked for once each, kept while the window is there."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

if TYPE_CHECKING:
    from pygments.lexer import Lexer


class MakesLexers(Protocol):
    """Source of lexers, now or later."""

    made: SignalInstance  # the language; its lexer

    def make(self, language: str) -> None:
        """Have a lexer made of a language that there is one for."""


class Lexers(QObject):
    """Lexers that are known. Without a maker all code stays plain."""

    came = Signal(str)  # the language, in lower case

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._maker: MakesLexers | None = None
        self._lexers: dict[str, Lexer] = {}
        self._asked: set[str] = set()

    def use(self, maker: MakesLexers) -> None:
        """Ask this one from now on."""
        self._maker = maker
        maker.made.connect(self._take)

    def lexer(self, language: str) -> Lexer | None:
        """Return the lexer of a language, or None if there is none or it is still to come (then `came` follows)."""
        language = language.lower()
        if self._maker is not None and language not in self._asked and title_of(language):
            self._asked.add(language)
            self._maker.make(language)
        return self._lexers.get(language)

    @Slot(str, object)
    def _take(self, language: str, lexer: Lexer) -> None:
        self._lexers[language] = lexer
        self.came.emit(language)


def title_of(language: str) -> str:
    """Return the name of a language that has a lexer, or an empty text."""
    return _titles().get(language.lower(), "")


@cache
def _titles() -> dict[str, str]:
    from pygments.lexers import get_all_lexers

    return {alias.lower(): name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}
