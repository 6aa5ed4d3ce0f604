"""Bars of the speed that each mode was measured at, with a mark where it was predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui import figures
from app.ui.machine.words import speed_figure, speed_words
from app.ui.painting import LEFT, RIGHT, paint_box, paint_words, smooth
from app.ui.placing import in_lines, mirrored
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_ROW_PX = 38
_BAR_PX = 20
_AXIS_PX = 22
_GAP_PX = 10
_MARK_PX = 3
_CENTER = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
_TICKS = 4  # at most


@dataclass(frozen=True)
class Bar:
    """A mode.

    Attributes:
        measured: Tokens per second; None where it was not measured.
        predicted: The same as predicted; None where nothing was.
        words: Text in the place of a bar: that it runs, or why it could not.
        best: True if it was measured to be fastest.
    """

    title: str
    measured: float | None = None
    predicted: float | None = None
    words: str = ""
    best: bool = False


class Bars(QWidget):
    """A row for each mode, and an axis."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bars: list[Bar] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._fit)
        self._fit()

    @property
    def bars(self) -> list[Bar]:
        """Content that is shown."""
        return self._bars

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """Show other bars."""
        if list(bars) == self._bars:
            return
        self._bars = list(bars)
        self.setAccessibleName(tr("Speeds in tok/s"))
        sentences = (speed_words(bar.title, bar.measured, bar.predicted, bar.words) for bar in self._bars)
        self.setAccessibleDescription("\n".join(sentences))
        self._fit()

    def sizeHint(self) -> QSize:
        """Return a size as high as its rows."""
        return QSize(280, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint axis and rows."""
        if not self._bars:
            return
        painter = smooth(self)
        small = QFontMetricsF(self._theme.font(TextStyle.SMALL_MEDIUM))
        left = max(map(self._title_width, self._bars)) + _GAP_PX
        values = [value for bar in self._bars for value in (bar.measured, bar.predicted) if value]
        most = max(values, default=1.0)
        step = tick_step(most)
        end = step * math.ceil(most / step)
        room = small.horizontalAdvance(speed_figure(most)) + _GAP_PX
        plot = QRectF(left, 0, max(self.width() - left - room, 20), len(self._bars) * self._row())
        if values:
            self._paint_axis(painter, plot, step, end)
        for index, bar in enumerate(self._bars):
            row = QRectF(0, index * self._row(), self.width(), self._row())
            self._paint_bar(painter, bar, row, plot, end)

    def _paint_axis(self, painter: QPainter, plot: QRectF, step: float, end: float) -> None:
        painter.setFont(self._theme.font(TextStyle.SMALL))
        for tick in range(round(end / step) + 1):
            x = plot.left() + plot.width() * tick * step / end
            painter.fillRect(QRectF(round(x), 0, 1, plot.height()), self._theme.color("line"))
            painter.setPen(self._theme.color("mute"))
            words = figures.digits(tick * step, 6)
            painter.drawText(QRectF(x - 40, plot.bottom(), 80, self._axis()), _CENTER, words)

    def _paint_bar(self, painter: QPainter, bar: Bar, row: QRectF, plot: QRectF, end: float) -> None:
        color, px = self._theme.color, self._theme.type.px
        named = QRectF(0, row.top(), plot.left() - _GAP_PX, row.height())
        paint_words(painter, self._theme, named, bar.title, _title_style(bar), "text", RIGHT)
        height = px(_BAR_PX)
        top = row.center().y() - height / 2
        after = plot.left()
        if bar.measured is not None:
            filled = QRectF(plot.left(), top, max(plot.width() * bar.measured / end, 2), height)
            paint_box(painter, self._theme, filled, 3, "acc" if bar.best else "g3")
            after = filled.right()
        elif bar.words:
            waiting = QRectF(plot.left() + 0.5, top + 0.5, px(26), height - 1)
            painter.setPen(QPen(color("ctl"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(waiting, 3, 3)
            after = waiting.right()
        words = speed_figure(bar.measured) if bar.measured is not None else bar.words
        known = bar.measured is not None
        painter.setFont(self._theme.font(TextStyle.SMALL_BOLD if known else TextStyle.SMALL))
        metrics = QFontMetricsF(painter.font())
        if bar.predicted is not None:
            x = plot.left() + plot.width() * bar.predicted / end
            mark = QRectF(x - _MARK_PX / 2, top - 3, _MARK_PX, height + 6)
            painter.fillRect(mark, color("map"))
            if mark.left() < after + metrics.horizontalAdvance(words) + 16:
                after = max(after, mark.right())  # the words stand after it where they do not fit before
        painter.setPen(color("text" if known else "sub"))
        box = QRectF(after + 8, row.top(), max(self.width() - after - 8, 0), row.height())
        painter.drawText(box, LEFT, metrics.elidedText(words, Qt.TextElideMode.ElideRight, box.width()))

    def _title_width(self, bar: Bar) -> float:
        return QFontMetricsF(self._theme.font(_title_style(bar))).horizontalAdvance(bar.title)

    def _row(self) -> int:
        return self._theme.type.px(_ROW_PX)

    def _axis(self) -> int:
        return self._theme.type.px(_AXIS_PX)

    def _fit(self) -> None:
        self.setFixedHeight(len(self._bars) * self._row() + self._axis() if self._bars else 1)
        self.update()


def _title_style(bar: Bar) -> TextStyle:
    return TextStyle.SMALL_BOLD if bar.best else TextStyle.SMALL


class Legend(QWidget):
    """Legend of bars and marks."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._assumed = False
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._fit)
        self._fit()

    def set_assumed(self, assumed: bool) -> None:
        """Show whether predictions come from speeds that were never measured."""
        self._assumed = assumed
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One below the other where they have no room side by side."""
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint both with their words."""
        painter = QPainter(self)
        painter.setFont(self._theme.font(TextStyle.SMALL))
        for (words, role, width, height), box in zip(self._entries(), self._boxes(), strict=True):
            mark = QRectF(box.left(), box.center().y() - height / 2, width, height)
            painter.fillRect(mirrored(self, mark), self._theme.color(role))
            painter.setPen(self._theme.color("sub"))
            painter.drawText(mirrored(self, box.adjusted(width + 6, 0, 0, 0)), LEFT, words)

    def _entries(self) -> tuple[tuple[str, str, float, float], ...]:
        """Words, colour, width and height of what stands before them."""
        predicted = tr("predicted, from assumed speeds") if self._assumed else tr("predicted")
        return (tr("measured"), "g3", 14, 9), (predicted, "map", _MARK_PX, 14)

    def _boxes(self) -> list[QRectF]:
        metrics, height = QFontMetricsF(self._theme.font(TextStyle.SMALL)), self._theme.type.px(20)
        needed = [width + 6 + metrics.horizontalAdvance(words) + 2 for words, _, width, _ in self._entries()]
        places = zip(in_lines(needed, self.width(), 16), needed, strict=True)
        return [QRectF(left, line * height, width, height) for (left, line), width in places]

    def _fit(self) -> None:
        self.setFixedHeight(round(self._boxes()[-1].bottom()))
        self.update()


def tick_step(most: float) -> float:
    """Return the distance of an axis's ticks, 1, 2 or 5 times a power of ten, for four ticks at most."""
    power = 10.0 ** math.floor(math.log10(most / _TICKS))
    return next(factor * power for factor in (1, 2, 5, 10) if most / (factor * power) <= _TICKS)
