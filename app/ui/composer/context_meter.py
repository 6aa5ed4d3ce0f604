"""Meter of the model's context: the share that the conversation takes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.ui import figures
from app.ui.bars import ShareBar
from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.theme.theme import Theme
from app.words import tr

_BAR_PX = (56, 4)
_NEARLY_FULL = 0.9


class ContextMeter(QWidget):
    """The bar and its words; nothing until a reply has told the figures."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._used = 0
        self._limit = 0
        self._narrow = False
        self._bar = ShareBar(theme, tr("Context in use"), self)
        self._bar.setFixedSize(*_BAR_PX)
        self._words = PlainLabel(self, kind="meter")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        filled(
            QHBoxLayout(self),
            *((self._bar, 0, Qt.AlignmentFlag.AlignVCenter), self._words),
            margins=0,
            spacing=8,
        )
        self.hide()

    @property
    def text(self) -> str:
        """Text beside the bar."""
        return self._words.text()

    def set_usage(self, used: int, limit: int) -> None:
        """Tokens in use and tokens there are; a limit of 0 hides the meter."""
        self._used, self._limit = min(used, limit), limit  # the newest token is counted before it has a place
        self._show()

    def set_narrow(self, narrow: bool) -> None:
        """Show a percentage instead of the tokens."""
        self._narrow = narrow
        self._show()

    def _show(self) -> None:
        self.setVisible(self._limit > 0)
        if self._limit <= 0:
            return
        used, limit = figures.whole(self._used), figures.whole(self._limit)
        whole = tr("{used} of {limit} tokens", used=used, limit=limit)
        share = self._used / self._limit
        self._bar.show_share(share, "g3" if share < _NEARLY_FULL else "mapt")
        self._words.setText(figures.percent(share) if self._narrow else whole)
        self.setToolTip(
            tr("{used} of {limit} tokens of the model's context are in use", used=used, limit=limit)
        )
        self._bar.setAccessibleDescription(whole)
