"""One of several things that need more than a name: each says what it is, or why it cannot be chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Slot
from PySide6.QtGui import QKeyEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.chat.modes import Choice, toggled
from app.ui.choice_popup import ChoicePopup
from app.ui.painting import paint_icon, paint_words, smooth
from app.ui.placing import painted
from app.ui.settings.field import Field
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

_ICON_PX = 14
_SIDE_PX = 10


class ChoiceButton(QAbstractButton):
    """Looks as the fields beside it do; opens by Space, Enter, and the arrow down."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("shows-focus", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return a size as high as the fields beside it."""
        return QSize(120, self._theme.type.px(32))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open as a list of names does."""
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the field, what is chosen, and the arrow."""
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
        """Return the key of the chosen entry."""
        return self._value

    def show_value(self, value: Any) -> None:
        """Show another choice."""
        self._value = value
        self.button.setText(self._words(value))
        self.button.setAccessibleName(f"{self._title}: {self.button.text()}")
        self.button.update()

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
