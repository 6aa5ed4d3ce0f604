"""Plot of how often a drafted token held, by its place in the draft."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui import figures
from app.ui.inspector.line_plot import still_plot
from app.ui.inspector.section import InspectorSection
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_HEIGHT_PX = 72
_FEWEST_BARS = 4
# With more bars than these there is no room for a number above each.
_MOST_NUMBERS = 8
_BAR_SHARE = 0.76
# The highest bar leaves room for its number.
_TOP = 160


class AcceptancePlot(QWidget):
    """A bar for each place of the draft's path, in percent."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shares: tuple[float, ...] = ()
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
        self.section.set_detail(tr("% by position"))
        column.addWidget(self.section)
        self.restyle()

    @property
    def shares(self) -> tuple[float, ...]:
        """Rates that are drawn, 0 to 1."""
        return self._shares

    def set_shares(self, shares: Sequence[float]) -> None:
        """Draw other shares, 0 to 1 each."""
        if tuple(shares) != self._shares:
            self._shares = tuple(shares)
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
        percents = [100 * share for share in self._shares]
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
            for place, share in enumerate(self._shares, 1)
        )
        self.setAccessibleName(
            tr("Accepted: {shares}", shares=words) if words else tr("Accepted: nothing was drafted")
        )
        self.setToolTip(
            tr("How often a guessed token held where the tokens before it did")
            if words
            else tr("Nothing was drafted for this reply")
        )
