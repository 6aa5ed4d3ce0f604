"""Bars: one for a share that is taken or done, and one whose parts are named below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from app.ui.painting import in_lines, mirrored, painted, smooth
from app.ui.theme.theme import TextStyle, Theme

_BAR_PX = 6
_STEPS = 1000
#: In the place of a colour's role: what other programs hold.
HATCHED = "hatched"
_LINE_PX = 19
_SWATCH_PX = 8
_GAP_PX = 10
_BETWEEN_PX = 1.5


class ShareBar(QProgressBar):
    """6 px high; with words as high as a button. Keeps the accessible value that QProgressBar has."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words = ""
        self._role = "acc"
        self.setRange(0, _STEPS)
        self.setTextVisible(False)
        self.setAccessibleName(name)
        self.setFixedHeight(_BAR_PX)

    def show_share(self, share: float, role: str = "acc") -> None:
        """Show how much, 0 to 1, in a role's colour."""
        self._role = role
        self.setValue(round(_STEPS * min(1.0, max(0.0, share))))
        self.update()

    def show_words(self, words: str) -> None:
        """Write words into it."""
        self._words = words
        self.setFixedHeight(self._theme.type.px(32))
        self.setAccessibleDescription(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(60, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(24, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        radius = 8 if self._words else 3
        track = QPainterPath()
        track.addRoundedRect(box, radius, radius)
        painter.setClipPath(track)
        painter.fillRect(box, self._theme.color("raised" if self._words else "press"))
        filled = painted(self, 0, 0, self.width() * self.value() / _STEPS, self.height())
        painter.fillRect(filled, self._theme.color("accs" if self._words else self._role))
        if not self._words:
            return
        painter.setClipping(False)
        painter.setPen(self._theme.color("btn"))
        painter.drawPath(track)
        painter.setFont(self._theme.font(TextStyle.UI_MEDIUM))
        painter.setPen(self._theme.color("text"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._words)


class LegendBar(QWidget):
    """Painted by those who are made of it; as high as `sizeHint` says at its width."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.setFixedHeight(self.sizeHint().height())

    def legend_px(self, words: Iterable[str], start: float = 0.0) -> int:
        """Height of a legend with these words, whose lines begin ``start`` px from the edge."""
        lines = max((line for _, line in self._legend(words, start)), default=0) + 1
        return self._theme.type.px(_LINE_PX) * lines

    def paint_bar(self, painter: QPainter, track: QRectF, parts: Sequence[tuple[int, str]], whole: int) -> None:
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

    def paint_legend(self, painter: QPainter, top: float, parts: Sequence[tuple[str, str]], start: float = 0.0) -> int:
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
