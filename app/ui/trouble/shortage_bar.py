"""Bar and legend of who held the memory when there was not enough of it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.bars import HATCHED, LegendBar
from app.ui.figures import gigabytes
from app.ui.painting import painted, smooth
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr
from engine.messages import MemoryShortage

_LABEL_PX = 48
_BAR_PX = 16
_ROW_PX = 24


class ShortageBar(LegendBar):
    """Other programs, Tenon, what was free, and what was missing."""

    def __init__(self, theme: Theme, memory: MemoryShortage, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        free = max(0, memory.total_bytes - memory.others_bytes - memory.own_bytes)
        parts = (
            (
                memory.others_bytes,
                HATCHED,
                tr("other programs {size} GB", size=gigabytes(memory.others_bytes)),
            ),
            (memory.own_bytes, "acc", tr("Tenon {size} GB", size=gigabytes(memory.own_bytes))),
            (free, "press", tr("free {size} GB", size=gigabytes(free))),
            (memory.short_bytes, "red", tr("missing {size} GB", size=gigabytes(memory.short_bytes))),
        )
        self._parts = [part for part in parts if part[0] > 0]
        parts_in_words = ", ".join(words for _, _, words in self._parts)
        self.setAccessibleName(tr("Memory: {parts}", parts=parts_in_words))
        self.setToolTip(self.accessibleName())

    def sizeHint(self) -> QSize:
        """Return a size as high as the legend needs at this width."""
        px = self._theme.type.px
        return QSize(300, px(_ROW_PX) + self.legend_px((words for _, _, words in self._parts), px(_LABEL_PX)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bar and its legend."""
        px, color = self._theme.type.px, self._theme.color
        painter = smooth(self)
        painter.setFont(self._theme.font(TextStyle.UI_BOLD))
        painter.setPen(color("text"))
        painter.drawText(
            painted(self, 0, 0, px(_LABEL_PX), px(_ROW_PX)), Qt.AlignmentFlag.AlignVCenter, "RAM"
        )
        track = QRectF(px(_LABEL_PX), (px(_ROW_PX) - _BAR_PX) / 2, 0, _BAR_PX)
        track.setRight(self.width())
        whole = sum(size for size, _, _ in self._parts)
        self.paint_bar(painter, track, [(size, role) for size, role, _ in self._parts], whole)
        legend = [(role, words) for _, role, words in self._parts]
        self.paint_legend(painter, px(_ROW_PX), legend, px(_LABEL_PX))
