"""Bar and legend of who held the memory when there was not enough of it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui.figures import gigabytes
from app.ui.painting import smooth
from app.ui.placing import in_lines, mirrored, painted
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr
from engine.messages import MemoryShortage

_LABEL_PX = 48
_BAR_PX = 16
_ROW_PX = 24
_LEGEND_PX = 20
_SWATCH_PX = 8
_GAP_PX = 14


class ShortageBar(QWidget):
    """Painted: other programs, Tenon, what was free, and what was missing."""

    def __init__(self, theme: Theme, memory: MemoryShortage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        free = max(0, memory.total_bytes - memory.others_bytes - memory.own_bytes)
        parts = (
            (memory.others_bytes, "g3", tr("other programs {size} GB", size=gigabytes(memory.others_bytes))),
            (memory.own_bytes, "acc", tr("Tenon {size} GB", size=gigabytes(memory.own_bytes))),
            (free, "press", tr("free {size} GB", size=gigabytes(free))),
            (memory.short_bytes, "red", tr("missing {size} GB", size=gigabytes(memory.short_bytes))),
        )
        self._parts = [part for part in parts if part[0] > 0]
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        parts_in_words = ", ".join(words for _, _, words in self._parts)
        self.setAccessibleName(tr("Memory: {parts}", parts=parts_in_words))
        self.setToolTip(self.accessibleName())

    def sizeHint(self) -> QSize:
        """As high as the legend needs at this width."""
        px = self._theme.type.px
        return QSize(
            300, px(_ROW_PX) + px(_LEGEND_PX) * (1 + max((line for _, line in self._legend()), default=0))
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The legend may need another line."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.setFixedHeight(self.sizeHint().height())

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
        clip = QPainterPath()
        clip.addRoundedRect(mirrored(self, track), 4, 4)
        painter.save()
        painter.setClipPath(clip)
        whole = sum(size for size, _, _ in self._parts) or 1
        left = track.left()
        for size, role, _ in self._parts:
            width = track.width() * size / whole
            part = painted(self, left, track.top(), max(width - 2, 1), track.height())
            painter.fillRect(part, color(role))
            left += width
        painter.restore()
        painter.setFont(self._theme.font(TextStyle.SMALL))
        painter.setPen(Qt.PenStyle.NoPen)
        top = float(px(_ROW_PX))
        for (x, line), (_, role, words) in zip(self._legend(), self._parts, strict=True):
            y = top + line * px(_LEGEND_PX)
            swatch = QRectF(x, y + (px(_LEGEND_PX) - _SWATCH_PX) / 2, _SWATCH_PX, _SWATCH_PX)
            painter.fillRect(mirrored(self, swatch), color(role))
            painter.setPen(color("sub"))
            box = QRectF(x + _SWATCH_PX + 4, y, self.width(), px(_LEGEND_PX))
            painter.drawText(mirrored(self, box), Qt.AlignmentFlag.AlignVCenter, words)

    def _legend(self) -> list[tuple[float, int]]:
        """Left edge and line of each part's words."""
        metrics = QFontMetricsF(self._theme.font(TextStyle.SMALL))
        needed = [_SWATCH_PX + 4 + metrics.horizontalAdvance(words) for _, _, words in self._parts]
        return in_lines(needed, self.width(), _GAP_PX, float(self._theme.type.px(_LABEL_PX)))
