"""Fields of settings: one for each kind of setting, made from the setting's own description."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QLocale, QRectF, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from app.chat.modes import Choice, draft_words, toggled
from app.settings.setting import Names, Number, Setting, SliderScale, Switch, Words
from app.settings.settings import Settings
from app.ui.choice_popup import ChoicePopup
from app.ui.form_fields import ListBox, LongTextEdit, TickBox
from app.ui.painting import paint_icon, paint_words, painted, smooth
from app.ui.parts import filled
from app.ui.settings.number_input import NumberBox, Slider
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.modes import MEMORY_TITLES

_ICON_PX = 14
_SIDE_PX = 10
_WIDEST_PX = 210  # of the words of a choice
_EXACT_PX = 122


class Field(QWidget):
    """One control, or several that belong together.

    It has no focus proxy: with one, Tab comes back to the proxy and never leaves the page.
    """

    edited = Signal()  # by the user; not when a value is shown
    wide = False  # True if it needs the row's whole width

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.controls: list[QWidget] = []  # in the order of the Tab key
        self._line = filled(QHBoxLayout(self), margins=0, spacing=12)

    def add(self, control: QWidget, name: str, help_text: str, stretch: int = 0) -> None:
        """Take in a control, and say what it is to those who hear the window."""
        control.setAccessibleName(name)
        control.setAccessibleDescription(help_text)
        self._line.addWidget(control, stretch)
        self.controls.append(control)

    def fit(self) -> None:
        """Take the sizes of another theme."""

    def value(self) -> Any:
        """Value that it shows."""
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Let it say something else."""
        raise NotImplementedError

    def notice(self) -> str:
        """Remark on what was typed; empty for none."""
        return ""

    def show_in_use(self, value: Any) -> None:
        """Mark the value that is in use, where there is a place for that; None for none."""


class ChoiceButton(QAbstractButton):
    """Looks as the fields beside it do; opens by Space, Enter, and the arrow down."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("shows-focus", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        px, metrics = self._theme.type.px, QFontMetrics(self._theme.font(TextStyle.UI))
        words = min(metrics.horizontalAdvance(self.text()), px(_WIDEST_PX))
        return QSize(words + 2 * _SIDE_PX + 6 + px(_ICON_PX), self._theme.type.side(32))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.type.px(90), self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = smooth(self), self._theme
        focused = self.hasFocus()
        edge = "acc" if focused else "sub" if self.underMouse() else "ctl"
        painter.setPen(QPen(theme.color(edge if self.isEnabled() else "line"), 2 if focused else 1))
        painter.setBrush(theme.color("bg" if self.isEnabled() else "surf"))
        inset = 1.0 if focused else 0.5
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 8, 8)
        right = self.width() - _SIDE_PX - theme.type.px(_ICON_PX)
        paint_icon(painter, theme, self, "chevron-down", right, theme.type.px(_ICON_PX))
        box = painted(self, _SIDE_PX, 0, right - _SIDE_PX - 4, self.height())
        role, elide = "text" if self.isEnabled() else "mute", Qt.TextElideMode.ElideRight
        paint_words(painter, theme, box, self.text(), TextStyle.UI, role, elide=elide)


class ChoiceField(Field):
    """A field whose choices are asked for when it opens.

    Args:
        choices: Rows to choose from now.
        words: Text for a value that is not among them.
        several: The value is a tuple of keys, and a choice adds its own or takes it out.
    """

    def __init__(
        self,
        theme: Theme,
        choices: Callable[[], list[Choice]],
        words: Callable[[Any], str],
        title: str,
        help_text: str,
        parent: QWidget,
        several: bool = False,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._several = several
        self._choices = choices
        self._words = words
        self._title = title
        self._value: Any = None
        self.button = ChoiceButton(theme, self)
        self.button.clicked.connect(self.open)
        self.popup: ChoicePopup | None = None
        self.add(self.button, title, help_text, 1)

    def value(self) -> Any:
        return self._value

    def show_value(self, value: Any) -> None:
        self._value = value
        self.button.setText(self._words(value))
        self.button.setToolTip(self.button.text())
        self.button.setAccessibleName(f"{self._title}: {self.button.text()}")

    @Slot()
    def open(self) -> None:
        """Show what there is to choose from."""
        self.popup = ChoicePopup(self._theme, self._title, self._rows(), self.button)
        self.popup.chosen.connect(self._choose)
        self.popup.closed.connect(self._forget_popup)
        self.popup.open_beside(self.button, above=False)

    def refresh(self) -> None:
        """Show in the open list what is known now."""
        if self.popup is not None:
            self.popup.show_choices(self._title, self._rows())

    def _rows(self) -> list[Choice]:
        return [replace(choice, checked=self._is_chosen(choice.key)) for choice in self._choices()]

    def _is_chosen(self, key: str) -> bool:
        if not self._several:
            return bool(key == self._value)
        return key in self._value if key else not self._value

    @Slot(str)
    def _choose(self, key: str) -> None:
        self.show_value(toggled(self._value, key) if self._several else key)
        self.edited.emit()

    @Slot()
    def _forget_popup(self) -> None:
        self.popup = None


class NumberField(Field):
    """Slider and number say the same; only the number reaches values that the slider does not.

    Args:
        number: The number's declaration: range, unit and slider.
        most: End of the slider on this machine; None for its usual end.
    """

    def __init__(
        self, theme: Theme, number: Number, most: float | None, title: str, help_text: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._number = number
        self.box = NumberBox(number, self)
        self.slider: Slider | None = None
        self._scale: SliderScale | None = None
        if number.slider is not None:
            self._scale = SliderScale(number, most)
            self.slider = Slider(theme, self)
            self.slider.setRange(0, self._scale.last)
            self.slider.valueChanged.connect(self._slid)
            self.add(self.slider, title, help_text, 1)
        self.add(self.box, title, help_text, 0 if self.slider is not None else 1)
        self.box.valueChanged.connect(self._typed)
        self.box.noticed.connect(self.edited)
        self.fit()

    def fit(self) -> None:
        """Make the number's field as wide as its longest words at the text size in use."""
        if self.slider is not None:
            self.box.setFixedWidth(self._theme.type.px(_EXACT_PX))

    def value(self) -> int | float | None:
        """Return the number in the setting's own unit, or None."""
        return self.box.number()

    def show_value(self, value: Any) -> None:
        """Show a number without saying so."""
        with QSignalBlocker(self.box):
            self.box.set_number(value)
        self._move_slider()

    def notice(self) -> str:
        """Notice of the end of the range that was taken in place of what was typed."""
        return self.box.notice

    def show_in_use(self, value: Any) -> None:
        """Mark the value that is in use on the slider."""
        if self.slider is not None and self._scale is not None:
            numeric = isinstance(value, (int, float))
            self.slider.show_in_use(self._scale.position_of(self._shown(value)) if numeric else None)

    def _shown(self, value: float | None) -> float | None:
        """Return a value in the unit that is shown, or None for the control's words."""
        if value is None or (self._number.least_words and value == self._number.least):
            return None
        return value / self._number.unit_size

    def _move_slider(self) -> None:
        if self.slider is not None and self._scale is not None:
            with QSignalBlocker(self.slider):
                self.slider.setValue(self._scale.position_of(self._shown(self.box.number())))
            self.slider.update()

    @Slot(int)
    def _slid(self, position: int) -> None:
        assert self._scale is not None
        value = self._scale.value_at(position)
        with QSignalBlocker(self.box):
            self.box.set_number(None if value is None else value * self._number.unit_size)
        self.edited.emit()

    @Slot()
    def _typed(self) -> None:
        self._move_slider()
        self.edited.emit()


class SwitchField(Field):
    """On or off."""

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.box = TickBox(theme, "", self)  # its words are the row's title
        self.box.toggled.connect(self.edited)
        self.add(self.box, title, help_text, 1)

    def value(self) -> bool:
        return self.box.isChecked()

    def show_value(self, value: Any) -> None:
        """Switch it without saying so."""
        with QSignalBlocker(self.box):
            self.box.setChecked(value)
        self.box.update()


class NamesField(Field):
    """One of some names."""

    def __init__(self, theme: Theme, names: Names, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.box = ListBox(theme, self)
        for name, words in names.titles:
            self.box.addItem(tr(words), name)
        self.box.currentIndexChanged.connect(self.edited)
        self.add(self.box, title, help_text, 1)

    def value(self) -> Any:
        return self.box.currentData()

    def show_value(self, value: Any) -> None:
        """Choose without saying so."""
        with QSignalBlocker(self.box):
            self.box.setCurrentIndex(self.box.findData(value))


class LineField(Field):
    """A line of text."""

    def __init__(self, words: Words, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(tr(words.hint) if words.hint else "")
        self.line.textEdited.connect(self.edited)
        self.add(self.line, title, help_text, 1)

    def value(self) -> str:
        return self.line.text()

    def show_value(self, value: Any) -> None:
        """Write another text, unless it is there: the caret stays where it is."""
        if value != self.line.text():
            self.line.setText(value)


class TextField(Field):
    """A text of several lines; Tab leaves it."""

    wide = True

    def __init__(self, theme: Theme, words: Words, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines = words.lines
        self.edit = LongTextEdit(self)
        self.edit.setProperty("kind", "field")
        self.edit.setTabChangesFocus(True)
        self.edit.setPlaceholderText(tr(words.hint) if words.hint else "")
        self.edit.textChanged.connect(self.edited)
        self.add(self.edit, title, help_text, 1)
        self.fit()

    def fit(self) -> None:
        """Make the field as high as its lines at the text size in use."""
        self.setFixedHeight(self._lines * self.edit.fontMetrics().lineSpacing() + 22)

    def value(self) -> str:
        return self.edit.toPlainText()

    def show_value(self, value: Any) -> None:
        """Write another text, unless it is there: the caret stays where it is."""
        if value != self.value():
            with QSignalBlocker(self.edit):
                self.edit.setPlainText(value)


def value_words(setting: Setting[Any], value: Any) -> str:
    """Value in a few words; empty for an empty text."""
    control = setting.control
    if setting.name == "drafts":
        return draft_words(value)
    if setting.name == "memory":
        return tr(MEMORY_TITLES[value])
    if isinstance(control, Switch):
        return tr("On") if value else tr("Off")
    if isinstance(control, Names):
        return next((tr(words) for name, words in control.titles if name == value), str(value))
    if isinstance(control, Number):
        return _number_words(control, value)
    return " ".join(str(value).split())


def _number_words(control: Number, value: Any) -> str:
    if value is None:
        return tr(control.empty)
    if control.least_words and value == control.least:
        return tr(control.least_words)
    shown = QLocale().toString(float(value) / control.unit_size, "f", control.places)
    if not control.unit:
        return shown
    return f"{shown} {tr(control.unit)}"


class Fields:
    """Makes them.

    Args:
        limits: Ends of sliders on this machine, by the names of settings, in the unit that is shown.
        offered: Choices, by the names of settings whose control asks for them.
    """

    def __init__(
        self, theme: Theme, limits: Mapping[str, float], offered: Mapping[str, Callable[[], list[Choice]]]
    ) -> None:
        self._theme = theme
        self._limits = limits
        self._offered = offered

    def make(self, name: str, parent: QWidget) -> Field:
        """Return the field of a setting that has a row."""
        setting = Settings.declared()[name]
        title, help_text, control = tr(setting.title), tr(setting.help_text), setting.control
        if isinstance(control, Switch):
            return SwitchField(self._theme, title, help_text, parent)
        if isinstance(control, Number):
            return NumberField(self._theme, control, self._limits.get(name), title, help_text, parent)
        if isinstance(control, Names) and control.offered:

            def words(value: Any) -> str:
                return value_words(setting, value)

            offered = self._offered[name]
            return ChoiceField(self._theme, offered, words, title, help_text, parent, control.several)
        if isinstance(control, Names):
            return NamesField(self._theme, control, title, help_text, parent)
        assert isinstance(control, Words), f"{name} does not say how it is changed"
        if control.lines > 1:
            return TextField(self._theme, control, title, help_text, parent)
        return LineField(control, title, help_text, parent)
