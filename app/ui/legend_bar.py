"""Bars whose parts are named below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPainterPath, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui.placing import in_lines, mirrored
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

#: In the place of a colour's role: what other programs hold.
HATCHED = "hatched"
_LINE_PX = 19
_SWATCH_PX = 8
_GAP_PX = 10
_BETWEEN_PX = 1.5


class LegendBar(QWidget):
    """Painted by those who are made of it; as high as `sizeHint` says at its width."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the legend, which may need another line."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.setFixedHeight(self.sizeHint().height())

    def legend_px(self, words: Iterable[str], start: float = 0.0) -> int:
        """Height of a legend with these words, whose lines begin ``start`` px from the edge."""
        lines = max((line for _, line in self._legend(words, start)), default=0) + 1
        return self._theme.type.px(_LINE_PX) * lines

    def paint_bar(
        self, painter: QPainter, track: QRectF, parts: Sequence[tuple[int, str]], whole: int
    ) -> None:
        """Paint parts one beside the other: of each its size and its colour's role."""
        clip = QPainterPath()
        clip.addRoundedRect(mirrored(self, track), 3, 3)
        painter.save()
        painter.setClipPath(clip)
        painter.fillRect(mirrored(self, track), self._theme.color("press"))
        left = track.left()
        for size, role in parts:
            width = track.width() * size / max(1, whole)
            part = QRectF(left, track.top(), max(width - _BETWEEN_PX, _BETWEEN_PX / 2), track.height())
            self._fill(painter, part, role)
            left += width
        painter.restore()

    def paint_legend(
        self, painter: QPainter, top: float, parts: Sequence[tuple[str, str]], start: float = 0.0
    ) -> int:
        """Paint what the parts are, of each its colour's role and its words; returns the height in px."""
        height = self._theme.type.px(_LINE_PX)
        painter.setFont(self._theme.font(TextStyle.SMALL))
        places = self._legend([words for _, words in parts], start)
        for (left, line), (role, words) in zip(places, parts, strict=True):
            y = top + line * height
            self._fill(painter, QRectF(left, y + (height - _SWATCH_PX) / 2, _SWATCH_PX, _SWATCH_PX), role)
            painter.setPen(self._theme.color("mute"))
            box = QRectF(left + _SWATCH_PX + 4, y, self.width(), height)
            painter.drawText(mirrored(self, box), Qt.AlignmentFlag.AlignVCenter, words)
        return self.legend_px((words for _, words in parts), start)

    def _legend(self, words: Iterable[str], start: float) -> list[tuple[float, int]]:
        """Left edge and line of each part's words."""
        metrics = QFontMetricsF(self._theme.font(TextStyle.SMALL))
        needed = (_SWATCH_PX + 4 + metrics.horizontalAdvance(each) for each in words)
        return in_lines(needed, self.width(), _GAP_PX, start)

    def _fill(self, painter: QPainter, box: QRectF, role: str) -> None:
        box = mirrored(self, box)
        painter.setPen(Qt.PenStyle.NoPen)
        if role == HATCHED:
            painter.setBrushOrigin(QPointF(0, 0))
            painter.fillRect(box, QBrush(self._theme.color("g3"), Qt.BrushStyle.BDiagPattern))
        else:
            painter.setBrush(self._theme.color(role))
            painter.drawRoundedRect(box, 1.5, 1.5)
