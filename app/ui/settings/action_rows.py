"""Rows of the dialog that are no settings: words, something to do, and the access token."""

from __future__ import annotations

import re

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLineEdit, QPushButton, QWidget

from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.placing import place
from app.ui.settings.row import NARROW_PX
from app.ui.theme.theme import Theme
from app.words import tr

_SIDE_PX = 12
_GAP_PX = 16
_WORDS_PX = 236
_ROW_PX = 58
_TOKEN_PX = 140


class NoteRow(QWidget):
    """Words across the page."""

    def __init__(self, theme: Theme, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.label = PlainLabel(words, self, wrap=True)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        pad = round(self._theme.spaced(12))
        inner = min(width - 2 * _SIDE_PX, self._theme.type.px(620))
        height = self.label.heightForWidth(inner)
        place(self.label, _SIDE_PX, pad, inner, height, width)
        return height + 2 * pad

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line below."""
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))


class ActionRow(QWidget):
    """A title, a sentence, and at the right what can be done."""

    requested = Signal()

    def __init__(self, theme: Theme, title: str, help_text: str, button: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title = PlainLabel(title, self, kind="label", wrap=True)
        self.help = PlainLabel(help_text, self, kind="small", wrap=True)
        self.detail = PlainLabel(self, kind="small", wrap=True)
        self.side = QWidget(self)
        self.line = filled(QHBoxLayout(self.side), margins=0, spacing=8)
        self.button: QPushButton | None = None
        if button:
            self.button = push_button(button, self.side, self.requested, default=False)
            self.button.setAccessibleDescription(help_text)
            self.line.addWidget(self.button)
            self.line.addStretch(1)

    def show_detail(self, words: str) -> None:
        """Say something below the help: a folder, a state. A long path is broken after its separators."""
        self.detail.setText(re.sub(r"([/\\])", "\\1\u200b", words))
        self.detail.setToolTip(words)
        self.detail.setAccessibleName(words)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        px = self._theme.type.px
        pad = round(self._theme.spaced(11))
        narrow = width < px(NARROW_PX)
        words_width = width - 2 * _SIDE_PX if narrow else min(px(_WORDS_PX), round(width * 0.33))
        labels = [label for label in (self.title, self.help, self.detail) if label.text()]
        heights = [label.heightForWidth(words_width) for label in labels]
        words_height = sum(heights) + len(labels) - 1
        left = _SIDE_PX if narrow else _SIDE_PX + words_width + _GAP_PX
        side_width = width - left - _SIDE_PX
        self.fit_side(side_width)
        side_height = self.side.sizeHint().height()
        least = px(self._theme.spaced(_ROW_PX))
        total = max(words_height + 2 * pad, side_height + 2 * pad, least)
        top = pad if narrow else (total - words_height) // 2
        for label, height in zip(labels, heights, strict=True):
            place(label, _SIDE_PX, top, words_width, height, width)
            top += height + 1
        if narrow:
            place(self.side, left, top + 8, side_width, side_height, width)
            return top + 8 + side_height + pad
        place(self.side, left, (total - side_height) // 2, side_width, side_height, width)
        return total

    def fit_side(self, width: int) -> None:
        """Arrange what can be done for a width."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line below."""
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))


class TokenRow(ActionRow):
    """The access token: a field that hides what is typed, and whether there is one."""

    kept = Signal(str)
    forgotten = Signal()
    grown = Signal()  # its words need another height

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(theme, title, help_text, "", parent)
        self.edit = QLineEdit(self.side)
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setPlaceholderText("hf_...")
        self.edit.setAccessibleName(title)
        self.edit.setAccessibleDescription(help_text)
        self.edit.textEdited.connect(self._typed)
        self.keep_button = QPushButton(tr("Keep token"), self.side)
        self.forget_button = QPushButton(tr("Forget token"), self.side)
        for button in (self.keep_button, self.forget_button):
            button.setAutoDefault(False)
        self.keep_button.setEnabled(False)
        self.forget_button.setEnabled(False)
        self.keep_button.clicked.connect(self._keep)
        self.forget_button.clicked.connect(self.forgotten)
        self.edit.returnPressed.connect(self._keep)
        self._buttons = filled(QHBoxLayout(), self.keep_button, self.forget_button, STRETCH)
        self.line.addWidget(self.edit, 1)
        self.line.addLayout(self._buttons)

    def fit_side(self, width: int) -> None:
        """Put the buttons below the field where they have no room beside one another."""
        needed = self._buttons.sizeHint().width() + self._theme.type.px(_TOKEN_PX)
        direction = QBoxLayout.Direction.TopToBottom if needed > width else QBoxLayout.Direction.LeftToRight
        self.line.setDirection(direction)

    def show_known(self, known: bool | None, problem: str) -> None:
        """Show whether there is a token, and what went wrong."""
        words = {None: "", True: tr("There is a token."), False: tr("There is no token.")}[known]
        self.show_detail(problem or words)
        self.forget_button.setEnabled(bool(known))
        self.grown.emit()

    @Slot()
    def _typed(self) -> None:
        self.keep_button.setEnabled(bool(self.edit.text().strip()))

    @Slot()
    def _keep(self) -> None:
        if self.edit.text().strip():
            self.kept.emit(self.edit.text())
            self.edit.clear()
            self.keep_button.setEnabled(False)
