"""Every text that a window holds, and which of them are still the English ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QTextEdit,
    QWidget,
)

from tests.support.translations import translations

_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
_FIGURE = re.compile(r"\{\w+\}|%n")
# "{part} of {whole}" could be anything.
_WORD = re.compile(r"[A-Za-z]{4,}")


def texts_of(root: QWidget) -> Iterator[str]:
    """Texts that a person can read or hear of a widget and those in it."""
    for widget in (root, *root.findChildren(QWidget)):
        yield from (widget.windowTitle(), widget.toolTip())
        yield from (widget.accessibleName(), widget.accessibleDescription())
        if isinstance(widget, (QLabel, QAbstractButton)):
            yield widget.text()
        if isinstance(widget, (QLineEdit, QTextEdit)):
            yield widget.placeholderText()
        if isinstance(widget, QComboBox):
            yield from (widget.itemText(row) for row in range(widget.count()))
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model = widget.model()
            for row in range(model.rowCount()):
                yield from (str(model.index(row, 0).data(role) or "") for role in _ROLES)
        for action in widget.actions():
            yield from (action.text(), action.toolTip())


def _pattern(source: str) -> re.Pattern[str]:
    """Pattern of a text with its figures in it."""
    stands_for = {"%n": r"[\d,.]+", "(s)": "s?"}
    pieces = re.split(r"(\{\w+\}|%n|\(s\))", source)
    for at in range(1, len(pieces), 2):
        pieces[at] = stands_for.get(pieces[at], ".+?")
    pieces[::2] = [re.escape(piece) for piece in pieces[::2]]
    return re.compile("".join(pieces), re.DOTALL)


class English:
    """Knows the English texts that another language says otherwise."""

    def __init__(self, language: str) -> None:
        self._whole: set[str] = set()
        self._patterns: list[re.Pattern[str]] = []
        for source, forms in translations(language).items():
            if source in forms:
                continue
            if not _FIGURE.search(source):
                self._whole.add(source)
            elif _WORD.search(_FIGURE.sub("", source)):
                self._patterns.append(_pattern(source))

    def found_in(self, texts: Iterator[str]) -> list[str]:
        """Those of the texts that are English."""
        said = {text.strip() for text in texts}
        return sorted(
            text
            for text in said
            if text and (text in self._whole or any(one.fullmatch(text) for one in self._patterns))
        )
