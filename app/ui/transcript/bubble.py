"""The person's own message: a bubble at the right, its text exactly as typed."""

from __future__ import annotations

from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QWidget

from app.chat.conversation import Message
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.ui.transcript.prose import FittedBrowser, leading_px

_PADDING_X_PX = 14
_PADDING_Y_PX = 8
_LONG = 2_000
_WIDEST_PX = 10_000
_LARGEST_SHARE = 0.82


class OwnMessage(QWidget):
    """A row with the bubble at its right."""

    def __init__(self, theme: Theme, message: Message, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.message = message
        self._bubble = QFrame(self)
        self._bubble.setProperty("kind", "bubble")
        self._text = FittedBrowser(theme, self._bubble)
        self._text.setAccessibleName("Your message")
        self._natural = 0
        self.restyle()

    @property
    def text(self) -> str:
        """The message."""
        return self._text.toPlainText()

    def restyle(self) -> None:
        """Take the theme's fonts again."""
        document = self._text.document()
        document.setDefaultFont(self.theme.font(TextStyle.READING))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        self._text.setPlainText(self.message.content)
        cursor = QTextCursor(document)
        cursor.select(QTextCursor.SelectionType.Document)
        shape = QTextBlockFormat()
        height = self.theme.type.line_height(TextStyle.READING)
        shape.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        cursor.mergeBlockFormat(shape)
        self._text.content_changed()
        # Measuring lays the whole text out once more, and a long text fills the width anyway.
        long = len(self.message.content) > _LONG
        self._natural = _WIDEST_PX if long else self._text.natural_width()

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        inner = min(self._natural, int(width * _LARGEST_SHARE) - 2 * _PADDING_X_PX)
        height = self._text.fit(inner)
        top = _PADDING_Y_PX - leading_px(self.theme, TextStyle.READING) + 1
        self._text.setGeometry(_PADDING_X_PX, top, inner, height)
        outer = inner + 2 * _PADDING_X_PX
        self._bubble.setGeometry(width - outer, 0, outer, height + 2 * _PADDING_Y_PX + 1)
        return height + 2 * _PADDING_Y_PX + 1
