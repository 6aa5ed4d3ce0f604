"""The plan: for which model and context, a table of every mode, and what the figures come from."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from app.chat.modes import mode_title
from app.ui import figures
from app.ui.figures import gigabytes_from
from app.ui.machine.words import plan_notes, source_words, speed_and_source, speed_figure
from app.ui.parts import STRETCH, PlainLabel, filled, turn
from app.ui.settings.fields import ChoiceField
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.messages import ModePrediction, PlanReport

_SIDE_PX = 16
_GAP_PX = 18  # between columns
_PAD_PX = 10  # above and below a row's words
_WORDS_PX = 190  # what title and summary need at least before columns give way
_REFUSED_PX = 104
_LEAST_ROW_PX = 44
_HEAD_ROW_PX = 30
_PILED_PX = 360
_HEAD_PX = 52  # at the sides of the head and between its parts


@dataclass(frozen=True)
class _Column:
    title: str
    values: tuple[str, ...]  # by row
    bold: bool = False


class PlanTable(QWidget):
    """Table as high as its rows; figures go below a mode's words if the columns have no room."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: PlanReport | None = None
        self.rows: list[ModePrediction] = []  # every mode, in the plan's order
        self.lines: list[QFrame] = []  # a head, if any mode runs, and a line for each row
        self._columns: list[_Column] = []
        self._beside = True
        self._box = filled(QVBoxLayout(self), margins=0, spacing=0)
        self.setMinimumWidth(1)  # or the columns that are shown would keep it as wide as they are
        theme.changed.connect(self._build)

    @property
    def column_titles(self) -> list[str]:
        """The columns that there is room for."""
        return [column.title for column in self._columns]

    def set_plan(self, plan: PlanReport | None) -> None:
        """Show another plan; None shows nothing."""
        if plan == self._plan:
            return
        self._plan = plan
        self.rows = [] if plan is None else list(plan.modes)
        self._describe()
        self._build()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._columns != self._fitting_columns() or self._beside != self._reasons_stand_beside():
            self._build()

    @Slot()
    def _build(self) -> None:
        for line in self.lines:
            self._box.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._columns, self._beside = self._fitting_columns(), self._reasons_stand_beside()
        self.lines = [self._refused(row) if row.refusal else self._running(at, row) for at, row in enumerate(self.rows)]
        if any(not row.refusal for row in self.rows):
            self.lines.insert(0, self._head())
        filled(self._box, *self.lines)
        self.setVisible(bool(self.rows))

    def _line(self, kind: str) -> tuple[QFrame, QVBoxLayout]:
        line = QFrame(self)
        line.setProperty("kind", kind)
        line.setMinimumHeight(self._theme.type.px(_LEAST_ROW_PX))
        return line, filled(QVBoxLayout(line), margins=(_SIDE_PX, _PAD_PX, _SIDE_PX, _PAD_PX), spacing=2)

    def _head(self) -> QFrame:
        line, box = self._line("plan-head")
        line.setFixedHeight(self._theme.type.px(_HEAD_ROW_PX))
        cells = [self._cell(column, column.title, "small", line) for column in self._columns]
        mode = PlainLabel(tr("Mode"), line, kind="small")
        filled(box, filled(QHBoxLayout(), (mode, 1), *cells, spacing=_GAP_PX), margins=(_SIDE_PX, 0, _SIDE_PX, 0))
        return line

    def _running(self, at: int, row: ModePrediction) -> QFrame:
        taken = self._taken(row)
        line, box = self._line("plan-taken" if taken else "plan")
        title = PlainLabel(mode_title(row.mode), line, kind="strong" if taken else "label", wrap=True)
        summary = PlainLabel(_summary(row), line, kind="meter", wrap=True)
        words = filled(QVBoxLayout(), title, summary, spacing=1)
        cells = [
            self._cell(column, column.values[at], "strong" if column.bold else "sub", line) for column in self._columns
        ]
        filled(box, filled(QHBoxLayout(), (words, 1), *cells, spacing=_GAP_PX))
        for text in filter(None, (self._figures(row), self._reason(row))):
            box.addWidget(PlainLabel(text, line, kind="meter", wrap=True))
        return line

    def _refused(self, row: ModePrediction) -> QFrame:
        line, box = self._line("plan-refused")
        title = PlainLabel(mode_title(row.mode), line, kind="label", wrap=True)
        both = filled(QHBoxLayout(), title, (PlainLabel(row.refusal, line, kind="sub", wrap=True), 1), spacing=2)
        if self._beside:
            title.setFixedWidth(self._refused_indent())
        turn(both, not self._beside)
        box.addLayout(both)
        return line

    def _cell(self, column: _Column, text: str, kind: str, line: QWidget) -> PlainLabel:
        cell = PlainLabel(text, line, kind=kind)
        cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        cell.setFixedWidth(self._width_of(column))
        return cell

    def _fitting_columns(self) -> list[_Column]:
        """Return all columns if there is room, else those that matter most."""
        every = self._every_column()
        for columns in (every, [*every[:-3], *every[-2:]], every[-2:]):
            taken = sum(self._width_of(column) + _GAP_PX for column in columns)
            if self.width() - 2 * _SIDE_PX - taken >= self._theme.type.px(_WORDS_PX):
                return columns
        return every[-2:-1]

    def _reasons_stand_beside(self) -> bool:
        return self.width() - 2 * _SIDE_PX - self._refused_indent() >= self._theme.type.px(_WORDS_PX)

    def _every_column(self) -> list[_Column]:
        runs = [row for row in self.rows if not row.refusal]
        columns = [_Column(tr("RAM, GB"), tuple(_memory(row, gpu=False) for row in runs))]
        if any(_memory(row, gpu=True) for row in runs):
            columns.append(_Column(tr("VRAM, GB"), tuple(_memory(row, gpu=True) for row in runs)))
        first = tuple(map(_first_token, runs))
        speed = tuple(speed_figure(row.tokens_per_second or 0.0) for row in runs)
        compared = [None if self._plan is None else self._plan.times_plain(row) for row in runs]
        times = tuple("" if one is None else figures.ratio(one) for one in compared)
        columns.append(_Column(tr("First token"), first))
        if self._plan is not None and not self._plan.measured:
            columns.append(_Column(tr("tok/s, assumed"), speed))
        else:
            columns.append(_Column(tr("tok/s"), speed, bold=True))
        columns.append(_Column(tr("Speed-up"), times))
        return columns

    def _width_of(self, column: _Column) -> int:
        head = QFontMetrics(self._theme.font(TextStyle.SMALL)).horizontalAdvance(column.title)
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_BOLD if column.bold else TextStyle.UI))
        return max(head, *(metrics.horizontalAdvance(value) for value in column.values), 0) + 1

    def _taken(self, row: ModePrediction) -> bool:
        return self._plan is not None and row.mode == self._plan.chosen

    def _reason(self, row: ModePrediction) -> str:
        return self._plan.reason if self._plan is not None and self._taken(row) else row.passed_over

    def _refused_indent(self) -> int:
        """Left edge of the reasons of refused modes: after the longest of their names."""
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        names = (metrics.horizontalAdvance(mode_title(row.mode)) for row in self.rows if row.refusal)
        return max(self._theme.type.px(_REFUSED_PX), max(names, default=0) + _GAP_PX)

    def _figures(self, row: ModePrediction) -> str:
        if tr("First token") in self.column_titles:
            return ""
        if len(self._columns) > 2:
            return tr("First token after {time}", time=_first_token(row))
        words = [tr("{size} GB of memory", size=_memory(row, gpu=False))]
        if _memory(row, gpu=True):
            words.append(tr("{size} GB on the GPU", size=_memory(row, gpu=True)))
        words.append(tr("first token after {time}", time=_first_token(row)))
        return ", ".join(words)

    def _describe(self) -> None:
        said = []
        for row in self.rows:
            words = row.refusal or speed_and_source(row)
            parts = (f"{mode_title(row.mode)}: {words}", _summary(row), self._reason(row))
            said.append(". ".join(part for part in parts if part))
        self.setAccessibleName(tr("Plan"))
        self.setAccessibleDescription("\n".join(said))


def _summary(row: ModePrediction) -> str:
    words = f"{source_words(row)}, {row.summary}" if row.summary else ""
    return words[:1].upper() + words[1:]


def _memory(row: ModePrediction, gpu: bool) -> str:
    """Return the gigabytes on the host or on GPUs, with an empty and with a full context; empty for none."""
    devices = [device for device in row.memory_bytes if (device != "host") == gpu]
    most = sum(row.memory_bytes[device] for device in devices)
    return gigabytes_from(most - sum(row.text_bytes.get(device, 0) for device in devices), most) if most else ""


def _first_token(row: ModePrediction) -> str:
    return figures.duration(1e3 * (row.first_token_s or 0.0))


class PlanPanel(QFrame):
    """A frame with head, table and notes.

    Args:
        model: Chooses the model.
        context: Chooses its context.
    """

    def __init__(self, theme: Theme, model: ChoiceField, context: ChoiceField) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("kind", "panel")
        title = PlainLabel(tr("Plan"), self, kind="section")
        subtitle = PlainLabel(
            tr("Ways to run the model, fastest first: as measured here, else as predicted"), self, kind="sub", wrap=True
        )
        words = filled(QVBoxLayout(), title, subtitle, spacing=2)
        self.model, self.context = model, context
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        # With an alignment, their greatest width is not taken for that of the whole head, nor its height for that.
        self._buttons.addWidget(self.model, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons.addWidget(self.context, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons.addStretch(1)
        self._head = filled(QHBoxLayout(), *((words, 1), self._buttons), margins=(16, 14, 16, 8), spacing=12)
        self.table = PlanTable(theme, self)  # every mode
        self.notes = PlainLabel(self, kind="notes", wrap=True)
        self.notes.setContentsMargins(13, 9, 13, 11)
        self.notes.setAlignment(Qt.AlignmentFlag.AlignTop)
        filled(QVBoxLayout(self), self._head, self.table, self.notes, STRETCH, margins=1, spacing=0)

    def set_plan(self, plan: PlanReport | None, problem: str) -> None:
        """Show a plan, or why there is none; without a problem the plan is awaited."""
        self.table.set_plan(plan)
        if plan is None:
            self.notes.setText(problem or tr("The plan is being made. While a reply runs it waits for its end."))
            return
        none = [] if plan.chosen else [plan.reason]
        self.notes.setText("\n".join([*none, *plan_notes(plan)]))

    def show_chosen(self, model: str, context: str) -> None:
        """Show what is planned for."""
        self.model.show_value(model)
        self.context.show_value(context)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Put the lists below the title if it has no room beside them."""
        px = self._theme.type.px
        lists = self.model.sizeHint().width() + self.context.sizeHint().width()
        turn(self._head, self.width() - lists < px(_WORDS_PX) + _HEAD_PX)
        turn(self._buttons, self.width() < px(_PILED_PX))
