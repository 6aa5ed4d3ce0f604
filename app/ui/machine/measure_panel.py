"""Measuring every mode: bars of speeds by mode and by width, how far it is, and what was found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.chat.machine import Measuring, Stage, fastest
from app.chat.modes import mode_title
from app.ui import figures
from app.ui.bars import LegendBar, ShareBar
from app.ui.machine.words import progress_words, promise_words, result_words, speed_figure, speed_words
from app.ui.painting import LEFT, RIGHT, paint_box, paint_words, smooth
from app.ui.parts import STRETCH, PlainLabel, filled, push_button
from app.ui.theme.theme import TextStyle, Theme, set_kind
from app.words import tr
from engine.hub.titles import title_of_model
from engine.messages import BenchmarkRow, MachineReport, ModePrediction, PlanReport

_ROW_PX = 38
_BAR_PX = 20
_AXIS_PX = 22
_GAP_PX = 10
_MARK_PX = 3
_CENTER = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
_TICKS = 4  # at most


@dataclass(frozen=True)
class Bar:
    """A mode."""

    title: str
    measured: float | None = None  # tokens per second; None where it was not measured
    predicted: float | None = None  # the same as predicted; None where nothing was
    words: str = ""  # text in the place of a bar: that it runs, or why it could not
    best: bool = False  # True if it was measured to be fastest


class Bars(QWidget):
    """A row for each mode, and an axis."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.bars: list[Bar] = []  # content that is shown
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._fit)
        self._fit()

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """Show other bars."""
        if list(bars) == self.bars:
            return
        self.bars = list(bars)
        self.setAccessibleName(tr("Speeds in tok/s"))
        sentences = (speed_words(bar.title, bar.measured, bar.predicted, bar.words) for bar in self.bars)
        self.setAccessibleDescription("\n".join(sentences))
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(280, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.bars:
            return
        painter = smooth(self)
        small = QFontMetricsF(self._theme.font(TextStyle.SMALL_MEDIUM))
        left = max(map(self._title_width, self.bars)) + _GAP_PX
        values = [value for bar in self.bars for value in (bar.measured, bar.predicted) if value]
        most = max(values, default=1.0)
        step = tick_step(most)
        end = step * math.ceil(most / step)
        room = small.horizontalAdvance(speed_figure(most)) + _GAP_PX
        plot = QRectF(left, 0, max(self.width() - left - room, 20), len(self.bars) * self._row())
        if values:
            self._paint_axis(painter, plot, step, end)
        for index, bar in enumerate(self.bars):
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
        self.setFixedHeight(len(self.bars) * self._row() + self._axis() if self.bars else 1)
        self.update()


def _title_style(bar: Bar) -> TextStyle:
    return TextStyle.SMALL_BOLD if bar.best else TextStyle.SMALL


class Legend(LegendBar):
    """Legend of bars and marks."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._parts: tuple[tuple[str, str], ...] = ()  # colour's role and words
        theme.changed.connect(self._fit)
        self.set_assumed(False)

    def set_assumed(self, assumed: bool) -> None:
        """Show whether predictions come from speeds that were never measured."""
        predicted = tr("predicted, from assumed speeds") if assumed else tr("predicted")
        self._parts = (("g3", tr("measured")), ("map", predicted))
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(120, self.legend_px(words for _, words in self._parts))

    def paintEvent(self, event: QPaintEvent) -> None:
        self.paint_legend(QPainter(self), 0, self._parts)

    def _fit(self) -> None:
        self.setFixedHeight(self.sizeHint().height())
        self.update()


def tick_step(most: float) -> float:
    """Return the distance of an axis's ticks, 1, 2 or 5 times a power of ten, for four ticks at most."""
    power = 10.0 ** math.floor(math.log10(most / _TICKS))
    return next(factor * power for factor in (1, 2, 5, 10) if most / (factor * power) <= _TICKS)


class MeasurePanel(QFrame):
    """A frame with bars, the result, and a button that starts and stops."""

    start_requested = Signal()
    stop_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "panel")
        self._running = False
        title = PlainLabel(tr("Measure every mode"), self, kind="section")
        words = PlainLabel(
            tr("Runs each usable mode on the same prompts. Speeds in tok/s."), self, kind="sub", wrap=True
        )
        head = filled(QVBoxLayout(), title, words, spacing=4)
        self.bars = Bars(theme, self)  # every mode
        self._legend = Legend(theme, self)
        self._result = QFrame(self)
        self._result.setProperty("kind", "result")
        self._result_title = PlainLabel(self._result, kind="strong", wrap=True)
        self._result_words = PlainLabel(self._result, wrap=True)
        filled(
            QVBoxLayout(self._result),
            *(self._result_title, self._result_words),
            margins=(13, 10, 13, 10),
            spacing=2,
        )
        self._progress = QWidget(self)
        self._done = PlainLabel(self._progress, kind="label", wrap=True)
        self._left = PlainLabel(self._progress, kind="sub")
        line = filled(QHBoxLayout(), (self._done, 1), self._left, spacing=8)
        self._line = ShareBar(theme, tr("Measuring"), self._progress)
        filled(QVBoxLayout(self._progress), line, self._line, margins=0, spacing=8)
        self._promise = PlainLabel(self, kind="small", wrap=True)
        self.button = push_button("", self, self._clicked)  # starts, or stops
        filled(
            QVBoxLayout(self),
            *(head, self.bars, self._legend, STRETCH, self._result, self._progress, self._promise),
            self.button,
            margins=(16, 14, 16, 16),
            spacing=10,
        )

    @property
    def result(self) -> str:
        """Outcome of measuring; empty where it has found nothing."""
        return "" if self._result.isHidden() else f"{self._result_title.text()} {self._result_words.text()}"

    @property
    def progress(self) -> str:
        """Progress of measuring; empty where nothing is measured."""
        return "" if self._progress.isHidden() else f"{self._done.text()} {self._left.text()}".strip()

    def set_state(
        self,
        plan: PlanReport | None,
        measuring: Measuring,
        rows: tuple[BenchmarkRow, ...],
        report: MachineReport | None,
    ) -> None:
        """Show the plan of the shown model, how far measuring is, and what it found."""
        self.bars.set_bars(mode_bars(plan, measuring, rows))
        self._legend.setVisible(bool(self.bars.bars))
        self._legend.set_assumed(plan is not None and not plan.measured)
        title, sentence = result_words(plan)
        self._result_title.setText(title)
        self._result_words.setText(sentence)
        self._result.setVisible(bool(title) and not measuring.running)
        self._promise.setVisible(not measuring.running)
        self._promise.setText(promise_words(report, plan))
        self._progress.setVisible(measuring.running)
        self._done.setText(progress_words(measuring))
        left_s = None if measuring.stopping else measuring.left_s
        self._left.setText("" if left_s is None else figures.time_left(left_s))
        self._line.show_share(measuring.share)
        self._show_button(measuring, plan is not None and bool(plan.chosen))

    def _show_button(self, measuring: Measuring, possible: bool) -> None:
        self.button.setText(tr("Stop measuring") if measuring.running else tr("Measure every mode"))
        self.button.setEnabled(not measuring.stopping if measuring.running else possible)
        self._running = measuring.running
        set_kind(self.button, "" if measuring.running else "primary")

    @Slot()
    def _clicked(self) -> None:
        if self._running:
            self.stop_requested.emit()
        else:
            self.start_requested.emit()


def mode_bars(plan: PlanReport | None, measuring: Measuring, rows: tuple[BenchmarkRow, ...]) -> list[Bar]:
    """Return a bar for each mode that can run, in the plan's order; while modes are measured, as far as they are.

    Args:
        plan: Plan of the model, which has every speed once measuring is over.
        measuring: Progress of measuring.
        rows: Modes that were complete since it began, or the last time.
    """
    modes = () if plan is None else tuple(mode for mode in plan.modes if not mode.refusal)
    now = {row.mode: row for row in rows}
    if measuring.stage is not Stage.MODES:
        best = fastest(plan)
        return [
            Bar(
                mode_title(mode.mode),
                mode.tokens_per_second if mode.measured else None,
                mode.predicted_per_second,
                now[mode.mode].refusal or "" if mode.mode in now and not mode.measured else "",
                best=mode == best,
            )
            for mode in modes
        ]
    predicted, bars = {mode.mode: mode.predicted_per_second for mode in modes}, []
    for name in measuring.modes:
        row = now.get(name, BenchmarkRow(name))
        words = tr("measuring") if name == measuring.mode else row.refusal or ""
        bars.append(Bar(mode_title(name), row.tokens_per_second, predicted.get(name), words))
    return sorted(bars, key=lambda bar: -(bar.measured or 0.0))


class WidthPanel(QFrame):
    """A frame with a bar for each width of a mode, the chosen one marked; hidden where no mode has widths."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "panel")
        title = PlainLabel(tr("Speed by tokens checked at once"), self, kind="section")
        self._words = PlainLabel(self, kind="sub", wrap=True)
        self.bars = Bars(theme, self)
        self._legend = Legend(theme, self)
        head = filled(QVBoxLayout(), title, self._words, spacing=4)
        filled(QVBoxLayout(self), head, self.bars, self._legend, margins=(16, 14, 16, 16), spacing=10)
        self.hide()

    def set_plan(self, plan: PlanReport | None) -> None:
        """Show the widths of the fastest mode that has some."""
        mode = None if plan is None else mode_with_widths(plan)
        self.setVisible(mode is not None)
        if plan is None or mode is None:
            return
        self._words.setText(
            tr(
                "{mode} with {draft}: tok/s against how many tokens the model checks at once.",
                mode=mode_title(mode.mode),
                draft=", ".join(map(title_of_model, mode.drafts)),
            )
        )
        self.bars.set_bars(width_bars(mode))
        self._legend.set_assumed(not plan.measured)


def mode_with_widths(plan: PlanReport) -> ModePrediction | None:
    """Return the fastest mode that has widths, or None if no mode has."""
    return next((mode for mode in plan.modes if mode.widths and not mode.refusal), None)


def width_bars(mode: ModePrediction) -> list[Bar]:
    """Return a bar for each width of a mode."""
    bars = []
    for width in mode.widths:
        chosen = width.rows == mode.draft_nodes + 1
        rows = figures.whole(width.rows)
        title = tr("{rows}, chosen", rows=rows) if chosen else rows
        bars.append(Bar(title, width.measured, width.expected, best=chosen))
    return bars
