"""Colours of code, by pygments, which is imported when the first code block is shown."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.ui.theme.theme import Theme
from app.words import tr

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_LONGEST_CODE = 200_000
_NAMES = {"c++": "C++", "cpp": "C++", "cs": "C#", "js": "JavaScript", "ts": "TypeScript", "sh": "Shell"}


class Span(NamedTuple):
    """A coloured part of one line, in UTF-16 units as Qt counts them."""

    start: int
    length: int
    role: str


@cache
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def language_title(language: str) -> str:
    """What to show for the word after a fence: the lexer's own name where there is one."""
    if language.lower() in _NAMES:
        return _NAMES[language.lower()]
    lexer = _lexer(language.lower())
    if lexer is not None:
        return str(lexer.name)
    return language or tr("Text")


@cache
def _role(kind: Any) -> str:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    table = (
        (Comment, "comment"),
        (Number, "number"),
        (String, "string"),
        (Keyword, "keyword"),
        (Operator.Word, "keyword"),
        (Name.Function, "call"),
        (Name.Class, "call"),
        (Name.Decorator, "call"),
        (Name.Tag, "keyword"),
        (Name.Attribute, "call"),
    )
    return next((role for token, role in table if kind in token), "")


def spans_by_line(code: str, language: str) -> list[list[Span]]:
    """Coloured parts of each line of a code.

    Args:
        code: The whole code, or one line of it.
        language: The word after its fence.

    Returns:
        One list for each line; all empty where the language is not known or the code is too long.
    """
    from pygments.token import Name, Punctuation

    lines: list[list[Span]] = [[] for _ in range(code.count("\n") + 1)]
    lexer = _lexer(language.lower())
    if lexer is None or len(code) > _LONGEST_CODE:
        return lines
    line, column = 0, 0
    tokens = list(lexer.get_tokens(code))
    for index, (kind, value) in enumerate(tokens):
        role = _role(kind)
        if not role and kind in Name and index + 1 < len(tokens):
            after = tokens[index + 1]
            role = "call" if after[0] in Punctuation and after[1].startswith("(") else ""
        for number, part in enumerate(value.split("\n")):
            if number:
                line, column = line + 1, 0
            length = len(part) + sum(character > "\uffff" for character in part)
            if role and part and line < len(lines):
                lines[line].append(Span(column, length, role))
            column += length
    return lines


class CodeHighlighter(QSyntaxHighlighter):
    """Colours a document: line by line while it grows, from a whole pass once it is complete.

    Line by line is wrong inside strings of several lines; the whole pass at the end mends that.
    """

    def __init__(self, document: QTextDocument, theme: Theme, language: str) -> None:
        super().__init__(document)
        self._theme = theme
        self._language = language
        self._whole: list[list[Span]] | None = None
        self._shown: dict[int, list[Span]] = {}

    def complete(self, code: str) -> None:
        """The code has ended, or is known as a whole before it is shown: lex it once, recolour what differs."""
        self._whole = spans_by_line(code, self._language)
        block = self.document().begin()
        while block.isValid():
            number = block.blockNumber()
            if number in self._shown and self._shown[number] != self._spans(number, block.text()):
                self.rehighlightBlock(block)
            block = block.next()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        number = self.currentBlock().blockNumber()
        spans = self._spans(number, text)
        self._shown[number] = spans
        for start, length, role in spans:
            shape = QTextCharFormat()
            shape.setForeground(self._theme.color(role))
            self.setFormat(start, length, shape)

    def _spans(self, number: int, text: str) -> list[Span]:
        if self._whole is None:
            return spans_by_line(text, self._language)[0]
        return self._whole[number] if number < len(self._whole) else []
