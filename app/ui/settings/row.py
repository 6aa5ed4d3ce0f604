"""A row of the dialog: what a setting is, what is chosen, what is in use, and the way back to the usual value."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.buttons import icon_button
from app.ui.inert_text import PlainLabel
from app.ui.placing import place
from app.ui.settings.field import Field
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

NARROW_PX = 600
_SIDE_PX = 12
_GAP_PX = 16
_WORDS_PX = 236
_FIELD_PX = 296
_IN_USE_PX = 108
_BUTTON_PX = 28
_BAR_PX = 3
_ROW_PX = 58
_LINE_ENDS = 0.3  # of a line, left where its last word ends


class SettingRow(QWidget):
    """Laid out by `fit`, as words that wrap need it.

    Attributes:
        field: Changes the setting.
        reset_button: Brings the usual value back.
    """

    reset = Signal()

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._changed = False
        self._in_use_words = ""
        self.title = PlainLabel(title, self, kind="label", wrap=True)
        self.help = PlainLabel(help_text, self, kind="small", wrap=True)
        self.note = PlainLabel(self, kind="small", wrap=True)
        self.note.hide()
        self.in_use = PlainLabel(self, kind="label", wrap=True)
        name = tr("Reset {setting}", setting=title)
        self.reset_button = icon_button(theme, "rotate-ccw", name, self, self.reset)
        self.reset_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.field: Field

    def put_field(self, field: Field) -> None:
        """Take in the field that changes the setting."""
        self.field = field
        self.title.setBuddy(field.controls[0])
        self.setTabOrder(field, self.reset_button)

    def show_state(self, changed: bool, usual: bool, in_use: str, usual_words: str) -> None:
        """Show how things stand.

        Args:
            changed: True if Apply would change it.
            usual: True if there is nothing to reset.
            in_use: The value in use, in words; empty where it is not known.
            usual_words: The value that a reset brings back, in words; empty for none.
        """
        self._changed = changed
        self._in_use_words = in_use
        self.in_use.setAccessibleName(tr("In use now: {value}", value=in_use) if in_use else "")
        self.in_use.setToolTip(in_use)
        self.reset_button.setVisible(not usual)
        usual_value = tr("Back to the usual: {value}", value=usual_words)
        self.reset_button.setToolTip(usual_value if usual_words else tr("Back to the usual"))
        self._write_in_use()
        self.update()

    def show_note(self, words: str) -> bool:
        """Say something more below the help; returns whether that changes the row's height."""
        if words == self.note.text():
            return False
        self.note.setText(words)
        self.note.setVisible(bool(words))
        return True

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        px = self._theme.type.px
        pad = round(self._theme.spaced(11))
        if width < px(NARROW_PX):
            return self._fit_narrow(width, pad)
        words_width = min(px(_WORDS_PX), round(width * 0.33))
        in_use_width = px(_IN_USE_PX)
        right = width - 4 - _BUTTON_PX
        height = self._place_words(QRect(_SIDE_PX, pad, words_width, 0), width)
        if self.field.wide:
            height = self._place_words(QRect(_SIDE_PX, pad, right - _SIDE_PX - _GAP_PX, 0), width)
            field_height = self.field.wanted_height()
            place(self.field, _SIDE_PX, pad + height + 8, right - _SIDE_PX - _GAP_PX, field_height, width)
            self.in_use.hide()
            place(self.reset_button, right, pad - 4, _BUTTON_PX, _BUTTON_PX, width)
            return height + field_height + 8 + 2 * pad
        left = _SIDE_PX + words_width + _GAP_PX
        field_height = self.field.wanted_height()
        field_width = min(px(_FIELD_PX), right - in_use_width - 2 * _GAP_PX - left)
        total = max(height + 2 * pad, field_height + 2 * pad, px(self._theme.spaced(_ROW_PX)))
        self._place_words(QRect(_SIDE_PX, (total - height) // 2, words_width, 0), width)
        place(self.field, left, (total - field_height) // 2, field_width, field_height, width)
        self.in_use.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        place(self.in_use, right - 12 - in_use_width, 0, in_use_width, total, width)
        self.in_use.show()
        self._write_in_use()
        place(self.reset_button, right, (total - _BUTTON_PX) // 2, _BUTTON_PX, _BUTTON_PX, width)
        return total

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line below, and the bar of a changed row."""
        painter, theme = QPainter(self), self._theme
        if self._changed:
            painter.fillRect(self.rect(), theme.color("surf"))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("acc"))
            painter.drawRoundedRect(QRectF(0, 6, _BAR_PX, self.height() - 13), 1.5, 1.5)
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line"))

    @property
    def narrow(self) -> bool:
        """True if the parts are below one another."""
        return self.width() < self._theme.type.px(NARROW_PX)

    def _fit_narrow(self, width: int, pad: int) -> int:
        inner = width - _SIDE_PX - _BUTTON_PX - 8
        height = self._place_words(QRect(_SIDE_PX, pad, inner, 0), width)
        place(self.reset_button, width - _BUTTON_PX - 4, pad - 4, _BUTTON_PX, _BUTTON_PX, width)
        field_height = self.field.wanted_height()
        top = pad + height + 8
        place(self.field, _SIDE_PX, top, width - 2 * _SIDE_PX, field_height, width)
        top += field_height
        self.in_use.setVisible(not self.field.wide and bool(self._in_use_words))
        if not self.in_use.isHidden():
            line = self._theme.type.line_height(TextStyle.UI)
            self.in_use.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            place(self.in_use, _SIDE_PX, top + 4, width - 2 * _SIDE_PX, line, width)
            top += line + 4
            self._write_in_use()
        return top + pad

    def _place_words(self, box: QRect, width: int) -> int:
        """Place title, help and note below one another in a row of a width; returns their height."""
        top = box.top()
        for label in (self.title, self.help, self.note):
            if label is self.note and not label.text():
                continue
            height = label.heightForWidth(box.width())
            place(label, box.left(), top, box.width(), height, width)
            top += height + 1
        return top - 1 - box.top()

    def _write_in_use(self) -> None:
        words = self._in_use_words
        if self.narrow and words:
            words = tr("In use now: {value}", value=words)
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        lines = max(2, self.in_use.height() // self._theme.type.line_height(TextStyle.UI) - 1)
        room = self.in_use.width() if self.narrow else round((lines - _LINE_ENDS) * self.in_use.width())
        self.in_use.setText(metrics.elidedText(words, Qt.TextElideMode.ElideRight, room))
