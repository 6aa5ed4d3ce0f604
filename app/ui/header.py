"""The line above the transcript: sidebar button, title, model."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.chat.engine_state import EngineState
from app.ui.buttons import icon_button
from app.ui.inert_text import PlainLabel
from app.ui.model_button import ModelButton
from app.ui.painting import place
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

_HEIGHT_PX = 52
_BUTTON_PX = 32
_OPTIONS_PX = 28


class Header(QWidget):
    """Lays its parts out by hand: the model stands in the middle while there is room, under the title when not."""

    sidebar_toggled = Signal()
    new_requested = Signal()
    inspector_toggled = Signal()
    menu_requested = Signal()
    options_requested = Signal()

    def __init__(self, theme: Theme, engine: EngineState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._narrow = False
        self._text = ""
        self.setProperty("kind", "header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        chats = tr("Show or hide the chats (Ctrl+B)")
        self.sidebar_button = icon_button(theme, "panel-left", chats, self, self.sidebar_toggled, 18)
        self.title = PlainLabel(self, kind="title")
        own = tr("This chat has settings of its own")
        self.options_button = icon_button(theme, "sliders-horizontal", own, self, self.options_requested)
        self.options_button.setIcon(themed_icon(theme, "sliders-horizontal", "acc"))
        self.options_button.hide()
        self.model_button = ModelButton(theme, engine, self)
        new = tr("New chat (Ctrl+N)")
        self.new_button = icon_button(theme, "square-pen", new, self, self.new_requested, 18)
        inspector = tr("Show or hide the inspector (F12)")
        self.inspector_button = icon_button(theme, "panel-right", inspector, self, self.inspector_toggled, 18)
        self.inspector_button.setProperty("kind", "toggle")
        self.inspector_button.setCheckable(True)
        self.menu_button = icon_button(theme, "ellipsis", tr("Menu"), self, self.menu_requested, 18)
        self.set_narrow(False)
        theme.changed.connect(self._arrange)

    @property
    def _options_px(self) -> int:
        return self._theme.type.px(_OPTIONS_PX)

    @property
    def _button_px(self) -> int:
        return self._theme.type.px(_BUTTON_PX)

    def sizeHint(self) -> QSize:
        """Height of the header."""
        return QSize(400, self._theme.type.px(_HEIGHT_PX))

    def set_title(self, title: str) -> None:
        """Show a chat's title."""
        self._text = title
        self.title.setToolTip(title)
        self._arrange()

    def set_own_options(self, own: bool) -> None:
        """Show whether the chat has settings of its own."""
        self.options_button.setVisible(own)
        self._arrange()

    def set_narrow(self, narrow: bool) -> None:
        """Below 720 px the model goes under the title, and New chat comes to the right."""
        self._narrow = narrow
        self.model_button.set_compact(narrow)
        self.new_button.setVisible(narrow)
        self.inspector_button.setVisible(not narrow)
        self._arrange()

    def set_inspector_shown(self, shown: bool) -> None:
        """Show whether the inspector is open."""
        self.inspector_button.setChecked(shown)
        role = "acc" if shown else "sub"
        self.inspector_button.setIcon(themed_icon(self._theme, "panel-right", role))

    def set_engine(self, state: EngineState) -> None:
        """Show the engine's state."""
        self.model_button.set_state(state)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again."""
        self._arrange()

    def _arrange(self) -> None:
        height = self.height() - 1
        middle = (height - self._button_px) // 2
        place(self.sidebar_button, 12, middle, self._button_px, self._button_px)
        left, right = 20 + self._button_px, self.width() - 12
        place(self.menu_button, right - self._button_px, middle, self._button_px, self._button_px)
        if self._narrow:
            place(self.new_button, right - 2 * self._button_px - 8, middle, self._button_px, self._button_px)
            right -= 2 * self._button_px + 16
            line = self._theme.type.px(20)
            top = (height - line - self._theme.type.px(16)) // 2
            self._place_title(left, top, right - left, line)
            size = self.model_button.sizeHint()
            place(self.model_button, left - 2, top + line - 1, min(size.width(), right - left), size.height())
            return
        right -= self._button_px + 4
        place(self.inspector_button, right - self._button_px, middle, self._button_px, self._button_px)
        right -= self._button_px + 8
        size = self.model_button.sizeHint()
        # Close to the middle of the column while the title has at least as much room as its first words.
        wanted = min(self.title.fontMetrics().horizontalAdvance(self._text) + 8, 260)
        wanted += 0 if self.options_button.isHidden() else self._options_px + 4
        room = min(self.width() - 2 * 160, right - left - wanted - 16)
        width = self.model_button.width_in(max(room, 180))
        model_left = (self.width() - width) // 2
        model_left = max(model_left, min(left + wanted + 16, right - width))
        place(self.model_button, model_left, (height - size.height()) // 2, width, size.height())
        self._place_title(left, 0, model_left - left - 16, height)

    def _place_title(self, left: int, top: int, width: int, height: int) -> None:
        metrics, own = self.title.fontMetrics(), not self.options_button.isHidden()
        side = min(self._options_px, height)
        room = max(width - (side + 4 if own else 0), 0)
        self.title.setText(metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, room))
        place(self.title, left, top, room, height)
        beside = left + min(room, metrics.horizontalAdvance(self.title.text()) + 4)
        place(self.options_button, beside, top + (height - side) // 2, side, side)
