"""A figure over the time of a reply: a line, and a dot at its end."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10, nan

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui import figures
from app.ui.inspector.section import InspectorSection
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_LINE_HEIGHT_PX = {3: 72, 2: 48}
_AXIS_GAP_PX = 6
_TEXT_PX = 18
_SHORTEST_S = 1.0

_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


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
        self.section.set_detail(detail)
        said = ", ".join(words)
        self.setAccessibleName(f"{self._title}: {said}")
        self.setToolTip(tr("{title} over the reply: {words}", title=self._title, words=said))
