"""The exact number: any key of a number is taken, and the range holds once it is written."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLocale, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QValidator, QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

from app.settings.setting import Number
from app.words import tr

_MARGIN_PX = 6


class NumberBox(QDoubleSpinBox):
    """A number with its unit; at its least stands a word, where the setting has one for that.

    On the way to 100 stand 1 and 10, so that too small a number waits for the next key, and is mended once the
    field is left. One that is too large cannot become right by more keys: the most is taken at once.

    Attributes:
        notice: Says which end of the range was taken in place of the typed number; empty for none.
    """

    noticed = Signal()  # the notice is another

    def __init__(self, number: Number, parent: QWidget) -> None:
        super().__init__(parent)
        self._number = number
        self.notice = ""
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
        """Return the number in the box, at most the maximum."""
        typed = self._typed(text)
        if self._is_words(text) or typed is None:
            return self.minimum()
        return min(typed, self._number.most)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys reach the number wherever the caret is; Enter is the end of it."""
        removes = event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
        writes = event.text().isprintable() and event.text() != ""
        if removes or writes or event.matches(QKeySequence.StandardKey.Paste):
            self._go_to_number()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish()
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Whoever leaves the field has written the number."""
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
        self._say(
            tr("{value} is the most that can be set here.", value=self._in_words(most)) if beyond else ""
        )

    def _say(self, notice: str) -> None:
        if notice != self.notice:
            self.notice = notice
            self.noticed.emit()

    def _in_words(self, value: float) -> str:
        return f"{self.textFromValue(value)}{self.suffix()}"

    def _is_words(self, text: str) -> bool:
        return bool(text) and text == self.specialValueText()

    def _digits(self, text: str) -> str:
        """Text before the unit, without spaces."""
        return "".join(text.strip().removesuffix(self.suffix().strip()).split())

    def _separators(self) -> str:
        return f".,{self.locale().decimalPoint()}{self.locale().groupSeparator()}"

    def _typed(self, text: str) -> float | None:
        """Return the number that is written, or None."""
        digits, locale = self._digits(text), self.locale()
        number, right = locale.toDouble(digits)
        if not right and self._number.places:
            # Many write a point or a comma whatever their language has.
            number, right = QLocale.c().toDouble(digits.replace(",", "."))
        if not right:
            # A key inside a number has put its groups out of order.
            number, right = locale.toDouble(digits.replace(locale.groupSeparator(), ""))
        return float(number) if right else None
