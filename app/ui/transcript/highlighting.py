"""Colours of code, by pygments."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import Slot
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.ui.theme.theme import Theme, title_of
from app.words import tr

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_LONGEST_CODE = 200_000
LONGEST_LINE = 2_000  # longer ones are made by machines and for machines
_MOST_LINES_ALONE = 50
_LONGEST_NAME = 40
_NAMES = {"c++": "C++", "cpp": "C++", "cs": "C#", "js": "JavaScript", "ts": "TypeScript", "sh": "Shell"}


class Span(NamedTuple):
    """A coloured part of one line, in UTF-16 units as Qt counts them."""

    start: int
    length: int
    role: str


def language_title(language: str) -> str:
    """Title for the word after a fence: the lexer's own name where there is one."""
    if language.lower() in _NAMES:
        return _NAMES[language.lower()]
    return title_of(language) or language[:_LONGEST_NAME] or tr("Text")


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


def spans_by_line(code: str, lexer: Lexer | None) -> list[list[Span]]:
    """Coloured parts of each line of a code.

    Args:
        code: The whole code, or one line of it.
        lexer: Lexer of its language.

    Returns:
        One list for each line; all empty where there is no lexer, or the code or a line of it is too long.
    """
    texts = code.split("\n")
    lines: list[list[Span]] = [[] for _ in texts]
    if lexer is None or len(code) > _LONGEST_CODE or max(map(len, texts)) > LONGEST_LINE:
        return lines
    from pygments.token import Name, Punctuation

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

    Line by line is wrong inside strings of several lines; the whole pass at the end mends that. Until the language's
    lexer has come, nothing is coloured.
    """

    def __init__(self, document: QTextDocument, theme: Theme, language: str) -> None:
        super().__init__(document)
        self._theme = theme
        self._language = language
        self._lexer = theme.lexers.lexer(language)
        if self._lexer is None:
            theme.lexers.came.connect(self._lexer_came)
        self._code: str | None = None
        self._whole: list[list[Span]] | None = None
        self._shown: dict[int, list[Span]] = {}

    def complete(self, code: str) -> None:
        """Lex the whole code once and recolour what differs."""
        self._code = code
        if self._lexer is None:
            return
        self._whole = spans_by_line(code, self._lexer)
        others = [number for number, spans in self._shown.items() if spans != self._spans(number, "")]
        if len(others) > _MOST_LINES_ALONE:  # Qt lays out all that follows each of them
            self.rehighlight()
            return
        for number in others:
            self.rehighlightBlock(self.document().findBlockByNumber(number))

    @Slot(str)
    def _lexer_came(self, language: str) -> None:
        if language != self._language.lower():
            return
        self._theme.lexers.came.disconnect(self._lexer_came)
        self._lexer = self._theme.lexers.lexer(language)
        if self._code is None:
            self.rehighlight()
        else:
            self.complete(self._code)

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
            return spans_by_line(text, self._lexer)[0]
        return self._whole[number] if number < len(self._whole) else []
