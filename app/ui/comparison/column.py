"""One of the two replies of a comparison: the mode, the text, and its figures."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import QFrame, QTextEdit, QVBoxLayout, QWidget

from app.chat.comparison import Trial
from app.chat.modes import Choice
from app.ui.boxes import filled
from app.ui.chat_settings.mode_field import ModeField
from app.ui.comparison.wording import state_words
from app.ui.inert_text import InertDocument, PlainLabel
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.ui.transcript.prose import wrap_mode


class TrialColumn(QWidget):
    """Chooses a mode, then shows what came of it."""

    def __init__(self, theme: Theme, name: str, modes: Sequence[Choice], mode: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._difference: int | None = None
        self.mode = ModeField(theme, name, self)
        self.mode.show_modes(modes, mode)
        card = QFrame(self)
        card.setProperty("kind", "card")
        self.text = QTextEdit(card)
        self.text.setDocument(InertDocument(self.text))
        self.text.setReadOnly(True)
        self.text.setAcceptRichText(False)
        self.text.setAccessibleName(name)
        self.text.setMinimumHeight(theme.type.px(72))
        self.figures = PlainLabel(card, kind="meter", wrap=True)
        filled(QVBoxLayout(card), (self.text, 1), self.figures, margins=(8, 6, 8, 8), spacing=4)
        filled(QVBoxLayout(self), self.mode, (card, 1), margins=0, spacing=8)
        theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def difference(self) -> int | None:
        """The character from which on the text is marked; None where nothing is."""
        return self._difference

    def show_trial(self, trial: Trial | None, runs: bool, difference: int | None) -> None:
        """Show a trial as far as it came.

        Args:
            trial: None before the first comparison.
            runs: True if it is the one that runs now.
            difference: The character from which on it differs from the other; None where it does not.
        """
        self.mode.setEnabled(trial is None or trial.ended)
        self._set_text("" if trial is None else trial.text)
        words = state_words(trial, runs)
        self.figures.setText(words)
        self.figures.setVisible(bool(words))
        if difference != self._difference:
            self._difference = difference
            self._mark()

    def _set_text(self, text: str) -> None:
        """Add what is new at the end, so that a long reply is not laid out again with each word."""
        shown = self.text.toPlainText()
        if text == shown:
            return
        self.text.setWordWrapMode(wrap_mode(text))
        bar = self.text.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - 4
        if text.startswith(shown):
            cursor = QTextCursor(self.text.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text[len(shown) :])
        else:
            self.text.setPlainText(text)
        if follows:
            bar.setValue(bar.maximum())

    def _mark(self) -> None:
        """Mark the text after the first difference, and bring its beginning into view."""
        if self._difference is None:
            self.text.setExtraSelections([])
            return
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(_utf16_length(self.text.toPlainText()[: self._difference]))
        self.text.setTextCursor(cursor)
        self.text.ensureCursorVisible()
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        form = mark.format
        form.setBackground(self._theme.color("maps"))
        form.setForeground(self._theme.color("mapt"))
        form.setProperty(QTextFormat.Property.FullWidthSelection, False)
        mark.cursor, mark.format = cursor, form
        self.text.setExtraSelections([mark])

    def _restyle(self) -> None:
        self.text.setFont(self._theme.font(TextStyle.TABLE))
        self._mark()


def _utf16_length(text: str) -> int:
    """Qt counts in UTF-16 units, in which an emoji is two."""
    return len(text.encode("utf-16-le")) // 2
