"""Speeds by width: what each number of tokens checked at once is expected to give, and gave."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.chat.modes import mode_title
from app.ui import figures
from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.machine.bars import Bar, Bars, Legend
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import ModePrediction, PlanReport
from engine.sentences import paragraph


class WidthPanel(QFrame):
    """A frame with a bar for each width of a mode, the chosen one marked; hidden where no mode has widths.

    Attributes:
        bars: The widths.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "panel")
        title = PlainLabel(tr("Speed by width"), self, kind="section")
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
        words = tr(
            "{mode} with {draft}: tok/s by the tokens that a pass of the model checks.",
            mode=mode_title(mode.mode),
            draft=", ".join(mode.drafts),
        )
        measured = any(width.measured for width in mode.widths)
        hint = "" if measured else tr("To measure them run {command} in a terminal.", command="tenon bench")
        self._words.setText(paragraph(words, hint))
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
