"""A button that opens a list to choose from, and shows what is chosen."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QWidget

from app.chat.modes import Choice
from app.ui.choice_popup import ChoicePopup
from app.ui.painting import paint_icon, paint_words
from app.ui.placing import painted
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

_ICON_PX = 16
_LIST_SIDE_PX = 12
_WIDEST_PX = 210


class PickButton(QPushButton):
    """Button as wide as its words, up to a limit.

    Args:
        name: Name of the choice, for those who cannot see it.
    """

    chosen = Signal(str)
    pressed_to_open = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self._words = ""
        self.popup: ChoicePopup | None = None
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.pressed_to_open)
        theme.changed.connect(self.updateGeometry)

    @property
    def _icon_px(self) -> int:
        return self._theme.type.px(_ICON_PX)

    @property
    def words(self) -> str:
        """Content that is shown."""
        return self._words

    def set_words(self, words: str) -> None:
        """Show what is chosen."""
        if words != self._words:
            self._words = words
            self.setAccessibleName(f"{self._name}: {words}")
            self.setToolTip(words)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Words and chevron."""
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        words = min(metrics.horizontalAdvance(self._words) + 2, self._theme.type.px(_WIDEST_PX))
        return QSize(words + 2 * _LIST_SIDE_PX + 8 + self._icon_px, self._theme.type.px(32))

    def minimumSizeHint(self) -> QSize:
        """Return a width without the words, which give way."""
        return QSize(self._theme.type.px(90), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the button as the style does, then words and chevron."""
        painter = QPainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)
        room = painted(
            self, _LIST_SIDE_PX, 0, self.width() - 2 * _LIST_SIDE_PX - 8 - self._icon_px, self.height()
        ).toRect()
        role, elide = "text" if self.isEnabled() else "mute", Qt.TextElideMode.ElideMiddle
        paint_words(painter, self._theme, room, self._words, TextStyle.UI_MEDIUM, role, elide=elide)
        end = self.width() - _LIST_SIDE_PX - self._icon_px
        paint_icon(painter, self._theme, self, "chevron-down", end, self._icon_px)

    def open_choices(self, rows: list[Choice]) -> None:
        """Show what there is to choose."""
        self.popup = ChoicePopup(self._theme, self._name, rows, self)
        self.popup.chosen.connect(self.chosen)
        self.popup.closed.connect(self._forget_popup)
        self.popup.open_beside(self, above=False)

    @Slot()
    def _forget_popup(self) -> None:
        self.popup = None
