"""The plan: for which model and context, a table of every mode, and what the figures come from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.chat.modes import mode_title
from app.ui import figures
from app.ui.figures import gigabytes_from
from app.ui.machine.words import plan_notes, source_words, speed_and_source, speed_figure
from app.ui.painting import mirrored
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
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_PILED_PX = 360
_HEAD_PX = 52  # at the sides of the head and between its parts


@dataclass(frozen=True)
class _Column:
    title: str
    values: tuple[str, ...]  # by row
    style: TextStyle = TextStyle.UI
    role: str = "sub"


@dataclass(frozen=True)
class _Line:
    """Words of a row, wrapped."""

    text: str
    style: TextStyle
    role: str
    box: QRect


@dataclass(frozen=True)
class _Place:
    """Place of a row."""

    row: ModePrediction
    taken: bool  # ``auto`` takes it
    box: QRect
    lines: tuple[_Line, ...]


class PlanTable(QWidget):
    """Table as high as its rows; figures go below a mode's words if the columns have no room."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: PlanReport | None = None
        self.rows: list[ModePrediction] = []  # every mode, in the plan's order
        self._columns: list[_Column] = []
        self._widths: list[int] = []
        self._places: list[_Place] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._arrange)

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
        self._arrange()

    def sizeHint(self) -> QSize:
        return QSize(400, self._head_height() + sum(place.box.height() for place in self._places))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._paint_cells(painter, 0, self._head_height(), None)
        for index, place in enumerate(self._places):
            self._paint_place(painter, index, place)

    # --- where things stand -----------------------------------------------------------------------------------

    def _arrange(self) -> None:
        self._choose_columns()
        top = self._head_height()
        self._places = []
        for row in self.rows:
            place = self._placed(row, top)
            self._places.append(place)
            top += place.box.height()
        self.setFixedHeight(max(top, 1))
        self.setVisible(bool(self.rows))
        self.update()

    def _choose_columns(self) -> None:
        """All columns where there is room; else those that matter most."""
        every = self._every_column()
        for columns in (every, [*every[:-3], *every[-2:]], every[-2:], every[-2:-1]):
            self._columns = columns
            self._widths = [self._width_of(column) for column in columns]
            words = self.width() - 2 * _SIDE_PX - sum(self._widths) - _GAP_PX * len(columns)
            if words >= self._theme.type.px(_WORDS_PX):
                return

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
            columns.append(_Column(tr("tok/s"), speed, TextStyle.UI_BOLD, "text"))
        columns.append(_Column(tr("Speed-up"), times))
        return columns

    def _width_of(self, column: _Column) -> int:
        head = QFontMetrics(self._theme.font(TextStyle.SMALL)).horizontalAdvance(column.title)
        metrics = QFontMetrics(self._theme.font(column.style))
        return max(head, *(metrics.horizontalAdvance(value) for value in column.values), 0) + 1

    def _head_height(self) -> int:
        return self._theme.type.px(30) if any(not row.refusal for row in self.rows) else 1

    def _taken(self, row: ModePrediction) -> bool:
        return self._plan is not None and row.mode == self._plan.chosen

    def _reason(self, row: ModePrediction) -> str:
        return self._plan.reason if self._plan is not None and self._taken(row) else row.passed_over

    def _placed(self, row: ModePrediction, top: int) -> _Place:
        inner = QRect(_SIDE_PX, top + _PAD_PX, max(self.width() - 2 * _SIDE_PX, 40), 100_000)
        lines: list[_Line] = []
        if row.refusal:
            indent = self._refused_indent()
            beside = inner.width() - indent >= self._theme.type.px(_WORDS_PX)
            title = self._line(mode_title(row.mode), TextStyle.UI_MEDIUM, "sub", inner)
            lines.append(title)
            room = inner.adjusted(indent, 0, 0, 0) if beside else inner.translated(0, title.box.height() + 2)
            lines.append(self._line(row.refusal, TextStyle.UI, "sub", room))
        else:
            columns = sum(self._widths) + _GAP_PX * len(self._widths)
            title_style = TextStyle.UI_BOLD if self._taken(row) else TextStyle.UI_MEDIUM
            left = inner.adjusted(0, 0, -columns, 0)
            for text, style, role in (
                (mode_title(row.mode), title_style, "text"),
                (_summary(row), TextStyle.SMALL, "sub"),
            ):
                lines.append(self._line(text, style, role, left))
                left.translate(0, lines[-1].box.height() + 1)
            whole = QRect(inner.left(), left.top() + 2, inner.width(), inner.height())
            for text, role in ((self._figures(row), "sub"), (self._reason(row), "acct" if self._taken(row) else "sub")):
                if text:
                    lines.append(self._line(text, TextStyle.SMALL, role, whole))
                    whole.translate(0, lines[-1].box.height() + 2)
        bottom = max(line.box.bottom() for line in lines)
        wanted = bottom - top + 1 + _PAD_PX
        height = max(wanted, self._theme.type.px(_LEAST_ROW_PX))
        lower = (height - wanted) // 2  # words stand in the middle of a row that has room
        lines = [replace(line, box=line.box.translated(0, lower)) for line in lines]
        return _Place(row, self._taken(row), QRect(0, top, self.width(), height), tuple(lines))

    def _refused_indent(self) -> int:
        """Left edge of the reasons of refused modes: after the longest of their names."""
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        names = (metrics.horizontalAdvance(mode_title(row.mode)) for row in self.rows if row.refusal)
        return max(self._theme.type.px(_REFUSED_PX), max(names) + _GAP_PX)

    def _line(self, text: str, style: TextStyle, role: str, room: QRect) -> _Line:
        metrics = QFontMetrics(self._theme.font(style))
        bounds = metrics.boundingRect(QRect(0, 0, room.width(), 100_000), int(_WRAP), text)
        return _Line(text, style, role, QRect(room.left(), room.top(), room.width(), bounds.height()))

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

    def _paint_place(self, painter: QPainter, index: int, place: _Place) -> None:
        color = self._theme.color
        if place.row.refusal:
            painter.fillRect(place.box, color("surf"))
        elif place.taken:
            painter.fillRect(place.box, color("accs"))
        painter.fillRect(QRect(0, place.box.top(), self.width(), 1), color("line"))
        for line in place.lines:
            painter.setFont(self._theme.font(line.style))
            painter.setPen(color("acct" if place.taken and line.role == "sub" else line.role))
            painter.drawText(mirrored(self, QRectF(line.box)), int(_WRAP), line.text)
        if not place.row.refusal:
            head = place.lines[0].box.height() + place.lines[1].box.height() + 2 * _PAD_PX
            self._paint_cells(painter, place.box.top(), head, index)

    def _paint_cells(self, painter: QPainter, top: int, height: int, index: int | None) -> None:
        """Paint the figures of a row, or the titles of the columns."""
        right = self.width() - _SIDE_PX
        for column, width in reversed(list(zip(self._columns, self._widths, strict=True))):
            box = QRectF(right - width, top, width, height)
            painter.setFont(self._theme.font(TextStyle.SMALL if index is None else column.style))
            painter.setPen(self._theme.color("mute" if index is None else column.role))
            painter.drawText(mirrored(self, box), _RIGHT, column.title if index is None else column.values[index])
            right -= width + _GAP_PX
        if index is None and self._head_height() > 1:
            painter.setFont(self._theme.font(TextStyle.SMALL))
            painter.setPen(self._theme.color("mute"))
            box = QRectF(_SIDE_PX, top, max(right - _SIDE_PX, 0), height)
            painter.drawText(mirrored(self, box), Qt.AlignmentFlag.AlignVCenter, tr("Mode"))

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
