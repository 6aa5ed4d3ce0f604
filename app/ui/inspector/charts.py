"""Charts of a reply: speed over its time, acceptance by place in the draft, and memory by device."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10, nan

import pyqtgraph as pg
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui import figures
from app.ui.bars import HATCHED, LegendBar
from app.ui.figures import gigabytes_from
from app.ui.inspector.sections import InspectorSection
from app.ui.painting import smooth
from app.ui.theme.theme import TextStyle, Theme
from app.words import mark, tr
from engine.messages import MemoryPlace, MemoryShare, MemoryUse

_LINE_HEIGHT_PX = {3: 72, 2: 48}
_AXIS_GAP_PX = 6
_TEXT_PX = 18
_SHORTEST_S = 1.0

_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_HEIGHT_PX = 72
_FEWEST_BARS = 4
# With more bars than these there is no room for a number above each.
_MOST_NUMBERS = 8
_BAR_SHARE = 0.76
# The highest bar leaves room for its number.
_TOP = 160
_ROW_PX = 22
_BAR_PX = 9
_LABEL_PX = 40
_GAP_PX = 10
_COLORS: dict[MemoryUse, str] = {
    "draft": "map",
    "weights": "acc",
    "caches": "g2",
    "states": "call",
    "buffers": "g3",
    "engine": "sub",
    "others": HATCHED,
}
_NAMES = {"ram": "RAM", "disk": mark("Disk")}
_USES: dict[MemoryUse, str] = {
    "weights": mark("weights"),
    "draft": mark("draft"),
    "caches": mark("caches when full"),
    "states": mark("recurrent states, at most"),
    "buffers": mark("buffers"),
    "engine": mark("the engine itself"),
    "others": mark("others"),
}
_NONE_ON_DISK = mark("none, everything fits in memory")
_NO_MODEL = mark("No model is in memory.")


def round_scale(largest: float, steps: int) -> list[float]:
    """Numbers from 0 to one that is not below the largest value, in equal steps that are easily read."""
    if largest <= 0.0:
        return [float(mark) for mark in range(steps + 1)]
    least = largest / steps
    magnitude = 10.0 ** floor(log10(least))
    step = next((step for step in _STEPS if step * magnitude >= least * (1 - 1e-9)), 10.0) * magnitude
    return [step * mark for mark in range(steps + 1)]


def scale_word(value: float) -> str:
    """Return a mark of the scale with as many digits as it needs."""
    return figures.digits(value, 6)


def still_plot(parent: QWidget) -> pg.PlotWidget:
    """Return a plot without menus, buttons or a reaction to the mouse, which belongs to the panel around it."""
    plot = pg.PlotWidget(parent, background=None)
    plot.setMenuEnabled(False)
    plot.setMouseEnabled(False, False)
    plot.hideButtons()
    plot.setAntialiasing(True)
    for part in (plot, plot.viewport()):
        part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    plot.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    plot.getPlotItem().setContentsMargins(0, 0, 0, 0)
    return plot


class LinePlot(QWidget):
    """Draws points of (seconds before the last, value); a value that is missing is a gap.

    Args:
        detail: The unit, beside the title; the speed that values are compared with takes its place.
        unit: The unit as a screen reader says it after a number.
        steps: Steps of the scale, 3 or 2, which decide the plot's height.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        detail: str,
        unit: str,
        steps: int = 3,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title = title
        self._detail = detail
        self._unit = unit
        self._steps = steps
        self._points: list[tuple[float, float | None]] = []
        self._reference: tuple[str, float] | None = None
        self._plot = still_plot(self)
        self._line = self._plot.plot(connect="finite")
        self._dot = pg.ScatterPlotItem(size=7)
        self._level = pg.InfiniteLine(angle=0)
        for item in (self._dot, self._level):
            self._plot.addItem(item, ignoreBounds=True)
        axes = self._plot.getPlotItem()
        axes.hideAxis("bottom")
        axes.getAxis("left").setStyle(tickLength=0, tickTextOffset=_AXIS_GAP_PX, hideOverlappingLabels=False)
        axes.showGrid(y=True, alpha=1.0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.section = InspectorSection(theme, title, self._plot, rule=False)
        column.addWidget(self.section)
        self.restyle()

    @property
    def latest(self) -> float | None:
        """The value at the right end."""
        return next((value for _, value in reversed(self._points) if value is not None), None)

    def set_points(
        self, points: Sequence[tuple[float, float | None]], reference: tuple[str, float] | None = None
    ) -> None:
        """Draw other points, and a speed to compare them with by its name."""
        self._points, self._reference = list(points), reference
        xs = [seconds for seconds, _ in points]
        ys = [nan if value is None else value for _, value in points]
        self._line.setData(xs, ys)
        shown = [(x, y) for x, y in points if y is not None]
        self._dot.setData([x for x, _ in shown[-1:]], [y for _, y in shown[-1:]])
        self._scale(max((y for _, y in shown), default=0.0))
        self._describe()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        color, small = self._theme.color, self._theme.font(TextStyle.SMALL)
        self._plot.setFixedHeight(self._theme.type.px(_LINE_HEIGHT_PX[self._steps]))
        self._line.setPen(pg.mkPen(color("acc"), width=2))
        self._dot.setBrush(color("acc"))
        self._dot.setPen(None)
        self._level.setPen(pg.mkPen(color("mute"), width=1, style=Qt.PenStyle.DashLine))
        axis = self._plot.getPlotItem().getAxis("left")
        axis.setPen(pg.mkPen(None))
        axis.setTickPen(pg.mkPen(color("line"), width=1))
        axis.setTextPen(color("mute"))
        axis.setTickFont(small)
        self.set_points(self._points, self._reference)

    def _scale(self, largest: float) -> None:
        level = self._reference
        marks = round_scale(max(largest, level[1] if level else 0.0), self._steps)
        axis = self._plot.getPlotItem().getAxis("left")
        axis.setTicks([[(mark, scale_word(mark)) for mark in marks]])
        metrics = QFontMetricsF(self._theme.font(TextStyle.SMALL))
        widest = max(metrics.horizontalAdvance(scale_word(mark)) for mark in marks)
        axis.setWidth(round(widest) + 2 * _AXIS_GAP_PX)
        top = marks[-1]
        # Room for half a line of text above and below the outermost marks.
        share = _TEXT_PX / 2 / _LINE_HEIGHT_PX[self._steps]
        room = top * share / (1 - 2 * share)
        span_s = max(-self._points[0][0] if self._points else 0.0, _SHORTEST_S)
        self._plot.setRange(xRange=(-span_s, span_s / 30), yRange=(-room, top + room), padding=0)
        self._level.setVisible(level is not None)
        if level is not None:
            self._level.setValue(level[1])

    def _describe(self) -> None:
        latest, detail = self.latest, self._detail
        words = [tr("nothing yet")]
        if latest is not None:
            words = [tr("at the end {value} {unit}", value=figures.digits(latest, 3), unit=self._unit)]
        if self._reference is not None:
            name, value = self._reference
            detail = f"┄ {name} {figures.speed(value)}"  # not on the line: the curve runs there
            if latest is not None:
                words.append(f"{name} {figures.digits(value, 3)} {self._unit}")
        self.section.detail.setText(detail)
        said = ", ".join(words)
        self.setAccessibleName(f"{self._title}: {said}")
        self.setToolTip(tr("{title} over the reply: {words}", title=self._title, words=said))


class AcceptancePlot(QWidget):
    """A bar for each place of the draft's path, in percent."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.shares: tuple[float, ...] = ()  # rates that are drawn, 0 to 1
        self._plot = still_plot(self)
        self._bars = pg.BarGraphItem(x=[], height=[], width=_BAR_SHARE)
        self._plot.addItem(self._bars)
        self._numbers: list[pg.TextItem] = []
        axes = self._plot.getPlotItem()
        axes.hideAxis("left")
        axes.getAxis("bottom").setStyle(tickLength=0, tickTextOffset=3)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.section = InspectorSection(theme, tr("Accepted"), self._plot, rule=False)
        self.section.detail.setText(tr("% by position"))
        column.addWidget(self.section)
        self.restyle()

    def set_shares(self, shares: Sequence[float]) -> None:
        """Draw other shares, 0 to 1 each."""
        if tuple(shares) != self.shares:
            self.shares = tuple(shares)
            self._draw()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        color, small = self._theme.color, self._theme.font(TextStyle.SMALL)
        self._plot.setFixedHeight(self._theme.type.px(_HEIGHT_PX))
        self._bars.setOpts(brush=color("acc"), pen=None)
        axis = self._plot.getPlotItem().getAxis("bottom")
        axis.setPen(pg.mkPen(color("acc"), width=1))
        axis.setTextPen(color("mute"))
        axis.setTickFont(small)
        axis.setHeight(self._theme.type.px(18))
        self._draw()

    def _draw(self) -> None:
        for number in self._numbers:
            self._plot.removeItem(number)
        self._numbers = []
        percents = [100 * share for share in self.shares]
        places = range(1, len(percents) + 1)
        self._bars.setOpts(x=list(places), height=percents)
        self._plot.setRange(xRange=(0.5, max(_FEWEST_BARS, len(percents)) + 0.5), yRange=(0, _TOP), padding=0)
        every = 1 + (len(percents) - 1) // _MOST_NUMBERS
        ticks = [(place, str(place)) for place in places if (place - 1) % every == 0]
        self._plot.getPlotItem().getAxis("bottom").setTicks([ticks])
        if len(percents) <= _MOST_NUMBERS:
            for place, percent in zip(places, percents, strict=True):
                number = pg.TextItem(f"{percent:.0f}", color=self._theme.color("text"), anchor=(0.5, 0.9))
                number.setFont(self._theme.font(TextStyle.SMALL))
                number.setPos(place, percent)
                self._plot.addItem(number, ignoreBounds=True)
                self._numbers.append(number)
        self._describe()

    def _describe(self) -> None:
        words = ", ".join(
            tr("{percent} at position {place}", percent=figures.percent(share), place=place)
            for place, share in enumerate(self.shares, 1)
        )
        self.setAccessibleName(tr("Accepted: {shares}", shares=words) if words else tr("Accepted: nothing was drafted"))
        self.setToolTip(
            tr("How often a guessed token was accepted when the tokens before it were")
            if words
            else tr("No tokens were guessed for this reply")
        )


def share_words(share: MemoryShare) -> str:
    """Return a share in the legend's words."""
    name = share.part or tr(_USES[share.use])
    if share.layers and not share.part:
        name = tr("%n layer(s)", share.layers)
    elif share.drafts > 1:
        name = tr("%n draft(s)", share.drafts)
    least = share.size_bytes - (share.text_bytes if share.use not in ("caches", "states") else 0)
    return f"{name} {gigabytes_from(least, share.size_bytes)}"


def _own(place: MemoryPlace) -> str:
    """Return the gigabytes of Tenon's own there, with an empty and with a full context."""
    most = sum(share.size_bytes for share in place.shares if share.use != "others")
    return gigabytes_from(most - sum(share.text_bytes for share in place.shares), most)


class MemoryBar(LegendBar):
    """A bar for the memory of each place, and a line for the disk."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._places: tuple[MemoryPlace, ...] = ()
        self._disk_bytes_per_second = 0.0
        self._describe()

    def set_places(self, places: tuple[MemoryPlace, ...], disk_bytes_per_second: float = 0.0) -> None:
        """Show other places, and how fast the disk is read."""
        if (places, disk_bytes_per_second) != (self._places, self._disk_bytes_per_second):
            self._places, self._disk_bytes_per_second = places, disk_bytes_per_second
            self._describe()
            self.restyle()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        px = self._theme.type.px
        height = px(_ROW_PX) if not self._places else 0
        for place in self._places:
            height += px(_ROW_PX)
            if place.place != "disk":
                height += self.legend_px(map(share_words, place.shares))
        if self._places and self._places[-1].place != "disk":
            height += px(_ROW_PX)
        return QSize(300, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        if not self._places:
            self._words(painter, 0.0, "", _NO_MODEL)
            return
        top = 0.0
        for place in self._places:
            if place.place != "disk":
                top = self._paint_place(painter, place, top)
        self._words(painter, top, tr("Disk"), self._disk_words())

    def _paint_place(self, painter: QPainter, place: MemoryPlace, top: float) -> float:
        px = self._theme.type.px
        words = tr("{part} of {whole}", part=_own(place), whole=figures.digits(place.total_bytes / 1e9, 3))
        right = self._words(painter, top, tr(_NAMES.get(place.place, "GPU")), words, "text")
        row = float(px(_ROW_PX))
        track = QRectF(px(_LABEL_PX), top + (row - _BAR_PX) / 2, 0, _BAR_PX)
        track.setRight(self.width() - max(right, px(64)) - 10)
        self.paint_bar(
            painter,
            track,
            [(share.size_bytes, _COLORS[share.use]) for share in place.shares],
            place.total_bytes,
        )
        legend = [(_COLORS[share.use], share_words(share)) for share in place.shares]
        return top + row + self.paint_legend(painter, top + row, legend)

    def _words(self, painter: QPainter, top: float, label: str, words: str, role: str = "mute") -> float:
        """Paint a line of words with its label; return the words' width in px."""
        box = QRectF(0, top, self.width(), self._theme.type.px(_ROW_PX))
        painter.setFont(self._theme.font(TextStyle.SMALL_BOLD))
        painter.setPen(self._theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, label)
        taken = QFontMetricsF(painter.font()).horizontalAdvance(label)
        painter.setFont(self._theme.font(TextStyle.SMALL_MEDIUM if role == "text" else TextStyle.SMALL))
        painter.setPen(self._theme.color(role))
        metrics = QFontMetricsF(painter.font())
        text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, self.width() - taken - _GAP_PX)
        flags = Qt.AlignmentFlag.AlignVCenter | (Qt.AlignmentFlag.AlignRight if label else Qt.AlignmentFlag.AlignLeft)
        painter.drawText(box, flags, text)
        return metrics.horizontalAdvance(text)

    def _disk_words(self) -> str:
        disk = next((place for place in self._places if place.place == "disk"), None)
        if disk is None:
            return tr(_NONE_ON_DISK)
        words = ", ".join(tr("{share} read for each step", share=share_words(share)) for share in disk.shares)
        if self._disk_bytes_per_second > 0:
            words += f", {figures.rate(self._disk_bytes_per_second)}"
        return words

    def _describe(self) -> None:
        lines = []
        for place in self._places:
            if place.place != "disk":
                shares = ", ".join(share_words(share) for share in place.shares)
                name = tr(_NAMES.get(place.place, "GPU"))
                total = figures.digits(place.total_bytes / 1e9, 3)
                lines.append(
                    tr(
                        "{place}: {part} of {whole} GB: {shares}",
                        place=name,
                        part=_own(place),
                        whole=total,
                        shares=shares,
                    )
                )
        words = "\n".join([*lines, f"{tr('Disk')}: {self._disk_words()}"]) if self._places else tr(_NO_MODEL)
        self.setAccessibleName(tr("Where it is in memory: {places}", places=words))
        self.setToolTip(words)
