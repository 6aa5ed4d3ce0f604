"""Measuring every mode: bars, how far it is, and what was found."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.chat.machine import Measuring, Stage, fastest
from app.chat.modes import mode_title
from app.ui import figures
from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.machine.bars import Bar, Bars, Legend
from app.ui.machine.words import progress_words, promise_words, result_words
from app.ui.share_bar import ShareBar
from app.ui.theme.stylesheet import set_kind
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import BenchmarkRow, MachineReport, PlanReport


class MeasurePanel(QFrame):
    """A frame with bars, the result, and a button that starts and stops.

    Attributes:
        bars: Every mode.
        button: Starts, or stops.
    """

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
        self.bars = Bars(theme, self)
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
        self.button = push_button("", self, self._clicked)
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
        """Show how things are.

        Args:
            plan: Plan of the model that is shown, or None.
            measuring: Progress so far.
            rows: Results of the measurement.
            report: The machine; None before it is known.
        """
        self.bars.set_bars(mode_bars(plan, measuring, rows))
        self._legend.setVisible(bool(self.bars.bars))
        self._legend.set_assumed(plan is not None and not plan.measured)
        title, sentence = result_words(rows)
        self._result_title.setText(title)
        self._result_words.setText(sentence)
        self._result.setVisible(bool(title) and not measuring.running)
        self._promise.setVisible(not measuring.running)
        self._promise.setText(promise_words(report, rows))
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
    """Return a bar for each mode that can run, the fastest first, those without a measurement last."""
    predicted = {}
    if plan is not None:
        predicted = {mode.mode: mode.tokens_per_second for mode in plan.modes if not mode.refusal}
    best = fastest(rows)
    bars = [
        Bar(
            mode_title(row.mode),
            row.tokens_per_second,
            # Once replies have been measured the plan knows of them: the mark is what it said before.
            row.predicted_per_second,
            row.refusal or "",
            best=row == best and not measuring.running,
        )
        for row in sorted(rows, key=lambda row: -(row.tokens_per_second or 0.0))
    ]
    done = {row.mode for row in rows}
    running = measuring.stage is Stage.MODES
    for mode in measuring.modes if running else predicted:
        if mode in done:
            continue
        words = tr("measuring") if running and mode == measuring.mode else ""
        bars.append(Bar(mode_title(mode), None, predicted.get(mode), words))
    return bars
