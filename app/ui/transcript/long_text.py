"""The beginning of a long text with a button that shows more, and where the lines of a text with long words break."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPushButton, QTextEdit

from app.ui import figures
from app.ui.buttons import push_button
from app.ui.painting import place
from app.ui.transcript.text_marks import TextMarks
from app.words import tr

SHOWN = 20_000
_GROWTH = 10
_NEAR = 500  # so much less is shown where that ends at a line or a word
_GAP_PX = 6
_LONGEST_WORD = 500
# What has no place to break a line in it: no space, but one that does not break, and no letter of Chinese, Japanese or
# Korean.
_BREAKS = r" \t-\r\u1680\u2000-\u2006\u2008-\u200b\u2028\u2029\u205f\u3000"
_WORD = re.compile(rf"[^{_BREAKS}\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]+")


class Beginning:
    """The shown beginning of one text. A press of the button, or going to a place further on, shows ten times as much.

    Args:
        edit: Shows the text; the button stands in it, below the text.
        marks: Places that a search finds in the text, shown or not.
        grown: Called when more is to be shown: asks `of` again.

    Attributes:
        text: All of the text.
    """

    def __init__(self, edit: QTextEdit, marks: TextMarks, grown: Callable[[], object]) -> None:
        self._edit = edit
        self._marks = marks
        self._grown = grown
        self.text = ""
        self._most = 0
        self._shown = 0
        self._words = ""
        self._button: QPushButton | None = None

    def of(self, text: str, at_first: int = SHOWN) -> str:
        """Return the part of a text that is shown: all of it, or the beginning of a long one."""
        self.text = text
        self._most = max(self._most, at_first)
        end = self._most
        if len(text) > end:
            near = max(text.rfind(mark, end - _NEAR, end) for mark in "\n ")
            end = near if near > 0 else end
        self._shown = min(end, len(text))
        self._marks.set_unseen(text[end:], self.show_more)
        self._name_button(len(text))
        return text[:end]

    def fit(self, width: int, top: int) -> int:
        """Place the button below a text that ends at ``top``; return where it ends, in px."""
        if self._button is None or self._button.isHidden():
            return top
        self._button.setText(self._words)
        if self._button.sizeHint().width() > width:
            self._button.setText(tr("Show more"))
        size = self._button.sizeHint()
        place(self._button, 0, top + _GAP_PX, min(size.width(), width), size.height(), width)
        return top + _GAP_PX + size.height()

    def show_more(self) -> None:
        """Show more, in place of the beginning that is shown now."""
        self._most *= _GROWTH
        self._grown()

    def _name_button(self, length: int) -> None:
        whole = self._shown == length
        if self._button is None and not whole:
            self._button = push_button("", self._edit, self.show_more, kind="link")
        if self._button is not None:
            shown, count = figures.whole(self._shown), figures.whole(length)
            self._words = tr("Show more ({shown} of {all})", shown=shown, all=count)
            self._button.setToolTip(tr("{shown} of {all} characters are shown", shown=shown, all=count))
            self._button.setHidden(whole)


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """At words, and anywhere in a text with a very long one: Qt reads all that follows of it again for each line."""
    long = any(match.end() - match.start() > _LONGEST_WORD for match in _WORD.finditer(text))
    modes = QTextOption.WrapMode
    return modes.WrapAnywhere if long else modes.WrapAtWordBoundaryOrAnywhere
