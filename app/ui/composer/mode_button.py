"""The mode: a chip in the composer, with its menu."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.chat.modes import Choice, mode_title
from app.ui.choice_popup import ChoicePopup
from app.ui.painting import paint_box, paint_icon, paint_words, painted, smooth
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_ICON_PX = 14
_SIDE_PX = 10


class ModeButton(QAbstractButton):
    """Shows the chosen mode, and after it the one that really ran where that is another."""

    mode_chosen = Signal(str)
    menu_requested = Signal()

    def __init__(self, theme: Theme, mode: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._mode = mode
        self._running = ""
        self.popup: ChoicePopup | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves it where one types
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.menu_requested)
        theme.changed.connect(self.updateGeometry)
        self._describe()

    @property
    def _icon_px(self) -> int:
        return self._theme.type.px(_ICON_PX)

    @property
    def words(self) -> str:
        """The title of the chosen mode, as in ``Auto: Lookup`` once it is known what auto took."""
        title = mode_title(self._mode)
        if self._running and self._running != self._mode:
            return f"{title}: {mode_title(self._running)}"
        return title

    @property
    def mode(self) -> str:
        """The chosen mode's name."""
        return self._mode

    def set_mode(self, mode: str) -> None:
        """Show a chosen mode."""
        self._mode = mode
        self._running = ""
        self._describe()

    def set_running(self, mode: str) -> None:
        """Show which mode ``auto`` took; anything else is what was chosen."""
        running = mode if self._mode == "auto" else ""
        if running != self._running:
            self._running = running
            self._describe()

    def sizeHint(self) -> QSize:
        """Return a size as wide as its words."""
        words = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM)).horizontalAdvance(self.words)
        return QSize(_SIDE_PX * 2 + self._icon_px * 2 + 6 + 8 + words + 2, self._theme.type.px(28))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the chip."""
        painter = smooth(self)
        pressed = self.isDown() or self.popup is not None
        fill = "press" if pressed else "hover" if self.underMouse() else "raised"
        paint_box(painter, self._theme, self.rect(), 8, fill, "btn")
        paint_icon(painter, self._theme, self, "zap", _SIDE_PX, self._icon_px, "acc")
        end = self.width() - _SIDE_PX - self._icon_px
        paint_icon(painter, self._theme, self, "chevron-down", end, self._icon_px)
        left = _SIDE_PX + self._icon_px + 6
        box = painted(self, left, 0, self.width() - left - _SIDE_PX - self._icon_px - 2, self.height())
        elide = Qt.TextElideMode.ElideRight
        paint_words(painter, self._theme, box, self.words, TextStyle.UI_MEDIUM, "text", elide=elide)

    def _describe(self) -> None:
        self.setAccessibleName(tr("Mode: {mode}", mode=self.words))
        self.setToolTip(tr("Choose how replies are generated"))
        self.updateGeometry()
        self.update()

    def open_menu(self, modes: list[Choice]) -> None:
        """Show the modes to choose from."""
        self.popup = ChoicePopup(self._theme, tr("Modes"), self._rows(modes), self)
        self.popup.chosen.connect(self._choose)
        self.popup.closed.connect(self._forget_popup)
        self.popup.open_beside(self, above=True)

    def refresh_menu(self, modes: list[Choice]) -> None:
        """More is known of the modes; their menu may be closed by now."""
        if self.popup is not None:
            self.popup.show_choices(tr("Modes"), self._rows(modes))

    def _rows(self, modes: list[Choice]) -> list[Choice]:
        return [replace(mode, checked=mode.key == self._mode) for mode in modes]

    @Slot(str)
    def _choose(self, mode: str) -> None:
        self.set_mode(mode)
        self.mode_chosen.emit(mode)

    @Slot()
    def _forget_popup(self) -> None:
        self.popup = None
        self.update()
