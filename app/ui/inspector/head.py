"""The first line of the inspector: its name, the mode, how it compares with plain decoding, and the way out."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.ui.boxes import STRETCH, filled
from app.ui.buttons import icon_button
from app.ui.inert_text import PlainLabel
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.words import tr

_CLOSE_PX = 28
_ICON_PX = 14


class Head(QWidget):
    """One line; the comparison goes first where there is no room."""

    close_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title = PlainLabel(tr("Inspector"), self, kind="title")
        self._chip = QFrame(self)
        self._chip.setProperty("kind", "chip")
        self._icon = PlainLabel(self._chip)
        self._mode = PlainLabel(self._chip)
        filled(QHBoxLayout(self._chip), self._icon, self._mode, margins=(6, 3, 8, 3), spacing=4)
        self._compared = PlainLabel(self, kind="small")
        self.close_button = icon_button(
            *(theme, "x", tr("Close the inspector"), self, self.close_requested),
            side_px=_CLOSE_PX,
            tip=tr("Close the inspector (F12)"),
        )
        filled(
            QHBoxLayout(self),
            *(self.title, self._chip, STRETCH, self._compared, self.close_button),
            margins=(16, 8, 8, 6),
            spacing=9,
        )
        self.set_mode("", "")
        self.restyle()

    @property
    def texts(self) -> tuple[str, str]:
        """The mode and the comparison."""
        return self._mode.text(), self._compared.text()

    def set_mode(self, title: str, compared: str) -> None:
        """Show a mode and how it compares; empty where that is not known."""
        self._mode.setText(title)
        self._chip.setVisible(bool(title))
        self._compared.setText(compared)
        self._fit()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        color, ratio = self._theme.palette.acc, self.devicePixelRatioF()
        self._icon.setPixmap(tinted_pixmap("zap", color, _ICON_PX, ratio))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Find room."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        parts = (self.title, self._chip, self._compared)
        needed = sum(part.sizeHint().width() for part in parts) + _CLOSE_PX + 16 + 8 + 4 * 9
        self._compared.setVisible(bool(self._compared.text()) and needed <= self.width())
