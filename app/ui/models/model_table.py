"""Models to choose from, a row each: columns that there is no room for go under the name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.chat.model_entries import Fit, ListedModel, fit_of
from app.ui import figures
from app.ui.models.cards import Tag, Tone
from app.ui.models.wording import best_mode, fit_title, joined, licence_title
from app.ui.parts import STRETCH, ElidedLabel, IconLabel, PlainLabel, filled, icon_button, push_button
from app.ui.theme.theme import Theme, set_kind
from app.words import mark, tr
from engine.messages import Prediction

_TONES: dict[Fit, tuple[Tone, str]] = {
    Fit.EASY: ("good", "check"),
    Fit.FITS: ("good", "check"),
    Fit.DISK: ("warning", "hard-drive"),
    Fit.NO: ("bad", "x"),
}
#: Heads of the columns, and the width of the table, in px at 100 %, from which each is shown if all of them have room.
_COLUMNS = (
    (mark("Model"), 0),
    (mark("Publisher"), 900),
    (mark("Size"), 600),
    (mark("Licence"), 800),
    (mark("Fits here"), 470),
    (mark("Speed here"), 600),
    (mark("Best mode"), 800),
    (mark("Draft"), 900),
    ("", 0),
)
_RIGHT = (2, 5)
_GAP_PX = 16
_NAME_PX = 200  # width kept for names; if less is left, the least useful columns are hidden


@dataclass(frozen=True)
class RowContent:
    """Content of a row."""

    model: ListedModel
    prediction: Prediction | None = None  # prediction for this machine; None while that is not known
    size_bytes: int | None = None  # size of the download; None while that is not known
    # Text in place of Get: "Installed", or the progress of its download; empty for the button
    state: str = ""


class _Row:
    """The widgets of a row."""

    def __init__(self, theme: Theme, parent: QWidget, get: Callable[[], None], tell: Callable[[], None]) -> None:
        self.name = ElidedLabel(kind="label", parent=parent)
        self.type = PlainLabel(parent, kind="small")
        self.lock = IconLabel(theme, "lock", "sub", 14, parent)
        self.detail = ElidedLabel(kind="small", parent=parent)
        self.first = QWidget(parent)
        line = filled(QHBoxLayout(), self.name, self.type, self.lock, STRETCH, spacing=6)
        self.small_fit = Tag(theme, self.first)
        under = filled(QHBoxLayout(), self.small_fit, (self.detail, 1), spacing=8)
        self.problem = PlainLabel(self.first, kind="small", wrap=True)
        column = QVBoxLayout(self.first)
        filled(column, STRETCH, line, under, self.problem, STRETCH, margins=(0, 6, 0, 6), spacing=2)
        self.owner = ElidedLabel(kind="sub", parent=parent)
        self.size = PlainLabel(parent)
        self.licence = ElidedLabel(kind="sub", parent=parent)
        self.fit = Tag(theme, parent)
        self.speed = PlainLabel(parent, kind="label")
        self.mode = PlainLabel(parent)
        self.draft = PlainLabel(parent)
        self.info = icon_button(theme, "info", "", parent, tell, side_px=28)
        self.button = push_button(tr("Get"), parent, get, kind="row")
        self.state = PlainLabel(parent, kind="sub")
        self.last = QWidget(parent)
        filled(QHBoxLayout(self.last), STRETCH, self.state, self.button, self.info, margins=0, spacing=4)
        self.cells: tuple[QWidget, ...] = (
            self.first, self.owner, self.size, self.licence, self.fit, self.speed, self.mode, self.draft, self.last,
        )  # fmt: skip
        self.content: RowContent | None = None
        self._shown: tuple[bool, ...] = ()

    def show(self, content: RowContent, shown: tuple[bool, ...]) -> None:
        """Show a model in the columns that are shown."""
        if (content, shown) == (self.content, self._shown):
            return
        self.content, self._shown = content, shown
        model, prediction = content.model, content.prediction
        licence = licence_title(model.licence)
        size = "" if content.size_bytes is None else figures.size(content.size_bytes)
        problem = model.problem or (prediction.problem if prediction is not None else "")
        runs = prediction is not None and not problem and prediction.tokens_per_second is not None
        speed = figures.speed(prediction.tokens_per_second or 0.0) if runs and prediction is not None else ""
        self.name.setText(model.title)
        self.type.setText(joined(model.type, "" if model.chat else tr("Base model")))
        self.info.setAccessibleName(tr("About {title}", title=model.title))
        self.info.setToolTip(tr("About {title}", title=model.title))
        self.lock.setVisible(model.gated)
        self.lock.setToolTip(tr("Its owner asks you to accept terms first"))
        self.lock.setAccessibleName(tr("gated"))
        self.owner.setText(model.owner)
        self.size.setText(size)
        self.licence.setText(licence)
        self.speed.setText(speed)
        self.mode.setText(best_mode(prediction) if runs and prediction is not None else "")
        kinds = ((model.own_head, tr("Its own")), (model.drafts, tr("Paired")), (model.heads, tr("Heads")))
        self.draft.setText(next((words for has, words in kinds if has), "" if problem else tr("None yet")))
        set_kind(self.draft, "" if model.has_draft else "sub")
        tone, icon = ("bad", "x") if problem else ("quiet", "")
        words = tr("Cannot run") if problem else ""
        if prediction is not None and not problem:
            tone, icon = _TONES[fit_of(prediction)]
            words = fit_title(prediction)
        for tag, place in ((self.fit, shown[4]), (self.small_fit, not shown[4])):
            tag.show_words(words, tone, icon)  # type: ignore[arg-type]
            tag.setVisible(bool(words) and place)
        missing = (
            (2, size), (5, speed), (3, licence), (1, model.owner),
        )  # fmt: skip
        self.detail.setText(joined(*(text for number, text in missing if not shown[number])))
        self.detail.setVisible(bool(self.detail.text()))
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.state.setText(content.state)
        self.state.setVisible(bool(content.state))
        self.button.setVisible(not content.state)
        self.button.setEnabled(not problem)
        self.button.setToolTip(problem)
        self.button.setAccessibleName(tr("Get {title}", title=model.title))
        for number, cell in enumerate(self.cells):
            if number != 4:
                cell.setVisible(shown[number])

    def discard(self) -> None:
        """Take it away."""
        for widget in self.cells:
            widget.hide()
            widget.deleteLater()


class ModelTable(QFrame):
    """The rows stay as long as as many are shown; what stands in them changes."""

    get_requested = Signal(str)  # a model's reference
    details_requested = Signal(str)  # a model's reference

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "rows")
        self.setAccessibleName(tr("Models to get"))
        self.rows: list[_Row] = []
        self._contents: tuple[RowContent, ...] = ()
        self._shown: tuple[bool, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 0, 12, 0)
        self._grid.setHorizontalSpacing(_GAP_PX)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 3)
        self._heads = [PlainLabel(tr(title) if title else "", self) for title, _ in _COLUMNS]
        for number, head in enumerate(self._heads):
            head.setProperty("kind", "small")
            head.setContentsMargins(0, 8, 0, 8)
            self._grid.addWidget(head, 0, number, self._alignment(number))
        theme.changed.connect(self._restyle)

    def show_rows(self, contents: Sequence[RowContent]) -> None:
        """Show these."""
        self._contents = tuple(contents)
        while len(self.rows) > len(contents):
            self._grid.setRowMinimumHeight(len(self.rows), 0)
            self.rows.pop().discard()
        while len(self.rows) < len(contents):
            self._add_row()
        self._refresh()
        self.setVisible(bool(contents))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._columns_shown() != self._shown:
            self._refresh()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Show the model of a row in detail; buttons take their clicks themselves."""
        row = next((row for row in reversed(self.rows) if row.first.y() <= event.position().y()), None)
        if row is not None:
            row.info.click()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, color = QPainter(self), self._theme.color("line")
        for number, row in enumerate(self.rows):
            top = row.first.y()  # the grid's own rectangles know nothing of words that wrap
            if row.content is not None and (number or self._heads[0].isVisible()):
                painter.fillRect(1, top, self.width() - 2, 1, color)

    def _columns_shown(self) -> tuple[bool, ...]:
        width = self.width() / self._theme.type.scale
        levels = sorted({least for _, least in _COLUMNS if least <= width})
        while len(levels) > 1 and self._needed_px(levels[-1]) > self.width():
            levels.pop()
        return tuple(levels[-1] >= least for _, least in _COLUMNS)

    def _needed_px(self, level: int) -> int:
        """Return the width in px that the columns up to a level need for the texts that they show now."""
        margins = self._grid.contentsMargins()
        needed = margins.left() + margins.right() + self._theme.type.px(_NAME_PX)
        for number, (_, least) in enumerate(_COLUMNS):
            if number and least <= level:
                cells = (self._heads[number], *(row.cells[number] for row in self.rows))
                needed += _GAP_PX + max(cell.sizeHint().width() for cell in cells)
        return needed

    def _refresh(self) -> None:
        for row, content in zip(self.rows, self._contents, strict=True):
            row.show(content, self._shown or (True,) * len(_COLUMNS))
        self._shown = self._columns_shown()
        for head, shown in zip(self._heads, self._shown, strict=True):
            head.setVisible(shown and self._shown[2])
        self._grid.setColumnStretch(1, int(self._shown[1]))
        for row, content in zip(self.rows, self._contents, strict=True):
            row.show(content, self._shown)
        self.update()

    def _add_row(self) -> None:
        number = len(self.rows)

        def get() -> None:
            self.get_requested.emit(self._contents[number].model.reference)

        def tell() -> None:
            self.details_requested.emit(self._contents[number].model.reference)

        row = _Row(self._theme, self, get, tell)
        for column, cell in enumerate(row.cells):
            self._grid.addWidget(cell, number + 1, column, self._alignment(column))
        self._grid.setRowMinimumHeight(number + 1, self._theme.type.px(41))
        self.rows.append(row)

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        if column in _RIGHT:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if column == 0:
            return Qt.AlignmentFlag(0)
        if column == 8:
            return Qt.AlignmentFlag.AlignVCenter
        return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

    def _restyle(self) -> None:
        for number in range(len(self.rows)):
            self._grid.setRowMinimumHeight(number + 1, self._theme.type.px(41))
        self._refresh()
