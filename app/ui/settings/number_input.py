"""Input of a number: a box for the exact one, and a slider with a mark where the value in use is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLocale, QObject, QPointF, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QPen,
    QValidator,
    QWheelEvent,
)
from PySide6.QtWidgets import QDoubleSpinBox, QSlider, QWidget

from app.settings.setting import Number
from app.ui.painting import smooth
from app.ui.theme.theme import Theme
from app.words import tr

_MARGIN_PX = 6
_TRACK_PX = 4
_KNOB_PX = 14
_ROOM_PX = 8  # beside the middle of the knob at either end
_TICK_PX = 12
_OUTLINE_PX = 18


class NumberBox(QDoubleSpinBox):
    """A number with its unit; at its least stands a word, where the setting has one for that.

    On the way to 100 stand 1 and 10, so that too small a number waits for the next key, and is mended once the
    field is left. One that is too large cannot become right by more keys: the most is taken at once.
    """

    noticed = Signal()  # the notice is another

    def __init__(self, number: Number, parent: QWidget) -> None:
        super().__init__(parent)
        self._number = number
        self.notice = ""  # says which end of the range was taken in place of the typed number; empty for none
        self.setDecimals(number.places)
        self.setSingleStep(number.step)
        self.setRange(number.least - (number.step if number.empty else 0), number.most)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(True)
        if number.unit:
            self.setSuffix(f" {tr(number.unit)}")
        words = number.empty or number.least_words
        self.setSpecialValueText(tr(words) if words else "")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # A style sheet's padding does not reach the field inside a spin box.
        self.lineEdit().setTextMargins(_MARGIN_PX, 0, _MARGIN_PX, 0)
        self.lineEdit().textEdited.connect(self._check_most)
        self.lineEdit().installEventFilter(self)

    def number(self) -> int | float | None:
        """Return the value in the setting's own unit."""
        shown = self.value()
        if self._number.empty and shown == self.minimum():
            return None
        shown = max(shown, self._number.least)
        whole = self._number.unit_size > 1 or not self._number.places
        return round(shown * self._number.unit_size) if whole else shown

    def set_number(self, value: float | None) -> None:
        """Show a value."""
        self.notice = ""
        self.setValue(self.minimum() if value is None else value / self._number.unit_size)

    # --- what is typed ----------------------------------------------------------------------------------------

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Refuse only what no number is written with."""
        digits = self._digits(text)
        if self._is_words(text):
            state = QValidator.State.Acceptable
        elif not all(sign.isdigit() or sign in self._separators() for sign in digits):
            state = QValidator.State.Invalid
        else:
            typed = self._typed(text)
            right = typed is not None and typed >= self._number.least
            state = QValidator.State.Acceptable if right else QValidator.State.Intermediate
        return state, text, position

    def valueFromText(self, text: str) -> float:
        typed = self._typed(text)
        if self._is_words(text) or typed is None:
            return self.minimum()
        return min(typed, self._number.most)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        removes = event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
        writes = event.text().isprintable() and event.text() != ""
        if removes or writes or event.matches(QKeySequence.StandardKey.Paste):
            self._go_to_number()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish()
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._finish()
        super().focusOutEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Select the whole number at a double click, not the digits between two separators."""
        if event.type() == QEvent.Type.MouseButtonDblClick:
            self.selectAll()
            return True
        return super().eventFilter(watched, event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()

    def _go_to_number(self) -> None:
        """Select the word as a whole, and keep the caret before the unit."""
        line, text = self.lineEdit(), self.text()
        if self._is_words(text):
            line.selectAll()
        elif self.suffix() and text.endswith(self.suffix()) and not line.hasSelectedText():
            line.setCursorPosition(min(line.cursorPosition(), len(text) - len(self.suffix())))

    def _finish(self) -> None:
        """Mend what the range does not allow; an empty field is what the word stands for."""
        text, typed = self.text(), self._typed(self.text())
        if self._is_words(text):
            return
        if not self._digits(text):
            self.setValue(self.minimum() if self.specialValueText() else self.value())
        elif typed is not None and typed < self._number.least:
            self.setValue(self._number.least)
            self._say(tr("{value} is the least that can be set here.", value=self._in_words(self.value())))

    @Slot()
    def _check_most(self) -> None:
        typed, most = self._typed(self.text()), self._number.most
        beyond = typed is not None and typed > most
        self._say(tr("{value} is the most that can be set here.", value=self._in_words(most)) if beyond else "")

    def _say(self, notice: str) -> None:
        if notice != self.notice:
            self.notice = notice
            self.noticed.emit()

    def _in_words(self, value: float) -> str:
        return f"{self.textFromValue(value)}{self.suffix()}"

    def _is_words(self, text: str) -> bool:
        return bool(text) and text == self.specialValueText()

    def _digits(self, text: str) -> str:
        return "".join(text.strip().removesuffix(self.suffix().strip()).split())

    def _separators(self) -> str:
        return f".,{self.locale().decimalPoint()}{self.locale().groupSeparator()}"

    def _typed(self, text: str) -> float | None:
        digits, locale = self._digits(text), self.locale()
        number, right = locale.toDouble(digits)
        if not right and self._number.places:
            # Many write a point or a comma whatever their language has.
            number, right = QLocale.c().toDouble(digits.replace(",", "."))
        if not right:
            # A key inside a number has put its groups out of order.
            number, right = locale.toDouble(digits.replace(locale.groupSeparator(), ""))
        return float(number) if right else None


class Slider(QSlider):
    """Painted by itself: the style's own knob has square corners and no place for the mark."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._in_use: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_in_use(self, position: int | None) -> None:
        """Mark a position; None for none."""
        if position != self._in_use:
            self._in_use = position
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, self._theme.type.px(32))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self._theme.type.px(32))

    def outline(self) -> QRect:
        """Track and knob, around which the ring of the focus goes."""
        return QRect(0, (self.height() - _OUTLINE_PX) // 2, self.width(), _OUTLINE_PX)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._follow(event.position().x())
            event.accept()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self._follow(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.setSliderDown(False)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        palette, middle = self._theme.palette, self.height() / 2
        accent = QColor(palette.acc if self.isEnabled() else palette.btn)
        knob = QPointF(self._x(self.sliderPosition()), middle)
        painter.setPen(Qt.PenStyle.NoPen)
        for begin, end, color in (
            (_ROOM_PX, self.width() - _ROOM_PX, QColor(palette.press)),
            (_ROOM_PX, knob.x(), accent),
        ):
            painter.setBrush(color)
            painter.drawRoundedRect(QRectF(begin, middle - _TRACK_PX / 2, end - begin, _TRACK_PX), 2, 2)
        if self._in_use is not None and self._in_use != self.sliderPosition():
            painter.setPen(QPen(QColor(palette.sub), 2))
            x = self._x(self._in_use)
            painter.drawLine(QPointF(x, middle - _TICK_PX / 2), QPointF(x, middle + _TICK_PX / 2))
        fill = palette.acc if self.isSliderDown() else palette.accs if self.underMouse() else palette.raised
        painter.setBrush(QColor(fill if self.isEnabled() else palette.surf))
        painter.setPen(QPen(accent, 2))
        painter.drawEllipse(knob, _KNOB_PX / 2, _KNOB_PX / 2)

    def _x(self, position: int) -> float:
        span = max(self.maximum() - self.minimum(), 1)
        room = self.width() - 2 * _ROOM_PX
        return _ROOM_PX + room * (position - self.minimum()) / span

    def _follow(self, x: float) -> None:
        room = max(self.width() - 2 * _ROOM_PX, 1)
        way = min(max((x - _ROOM_PX) / room, 0.0), 1.0)
        self.setValue(self.minimum() + round(way * (self.maximum() - self.minimum())))
