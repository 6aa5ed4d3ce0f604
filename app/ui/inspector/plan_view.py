"""The plan: every mode with what it is expected to do, did, or why it cannot run."""

from __future__ import annotations

from collections.abc import Sequence
from re import sub

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.chat.modes import PlanRow
from app.ui import figures
from app.ui.painting import mirrored, paint_box, painted, smooth
from app.ui.theme.theme import TextStyle, Theme
from app.words import mark, tr

_ROW_PX = 21
_BAR_PX = 6
_TITLE_PX = 112
_GAP_PX = 12
_LEAST_BAR_PX = 24
_INSET_PX = 8
_UNKNOWN = mark("not measured yet")


def row_words(row: PlanRow) -> str:
    """Text at the right end of a row."""
    if row.reason:
        return row.reason
    if row.measured is not None:
        return tr("measured {speed}", speed=figures.speed(row.measured))
    return tr(_UNKNOWN) if row.predicted is None else tr("predicted {speed}", speed=figures.speed(row.predicted))


class PlanView(QWidget):
    """Painted rows: a bar for a speed that was measured, and a mark where it is predicted, on one scale."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.rows: list[PlanRow] = []  # content that is shown
        self._running = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_rows(self, rows: Sequence[PlanRow], running: str) -> None:
        """Show other rows; ``running`` is the mode that runs, or ran last."""
        if (list(rows), running) == (self.rows, self._running):
            return
        self.rows, self._running = list(rows), running
        self._describe()
        self.restyle()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, self._theme.type.px(_ROW_PX) * max(1, len(self.rows)))

    def event(self, event: QEvent) -> bool:
        """Say a reason in full that has no room in its row."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = event.pos().y() // self._theme.type.px(_ROW_PX)
            if 0 <= index < len(self.rows):
                row = self.rows[index]
                QToolTip.showText(event.globalPos(), f"{row.title}: {_sentence(row)}", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        height = self._theme.type.px(_ROW_PX)
        best = max((speed or 0.0 for row in self.rows for speed in (row.measured, row.predicted)), default=0.0)
        metrics = QFontMetricsF(self._theme.font(TextStyle.SMALL_MEDIUM))
        # A wide digit in the place of each, or bars would tremble as a reply goes on.
        widest = [sub(r"\d", "0", row_words(row)) for row in self.rows if _has_bar(row)]
        speeds = map(metrics.horizontalAdvance, widest)
        ends_at = self.width() - _INSET_PX - max(speeds, default=0.0) - _GAP_PX
        for index, row in enumerate(self.rows):
            box = QRectF(0, index * height, self.width(), height)
            self._paint_row(painter, row, box, best, ends_at)

    def _paint_row(self, painter: QPainter, row: PlanRow, box: QRectF, best: float, ends_at: float) -> None:
        px, color = self._theme.type.px, self._theme.color
        runs = row.name == self._running
        if runs:
            paint_box(painter, self._theme, box.adjusted(0, 0.5, 0, -0.5), 6, "accs")
        inner = box.adjusted(_INSET_PX, 0, -_INSET_PX, 0)
        painter.setFont(self._theme.font(TextStyle.SMALL_BOLD if runs else TextStyle.SMALL))
        painter.setPen(color("mute" if row.reason else "text"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, row.title)
        taken = QFontMetricsF(painter.font()).horizontalAdvance(row.title)
        known = _has_bar(row)
        painter.setFont(self._theme.font(TextStyle.SMALL_MEDIUM if known else TextStyle.SMALL))
        painter.setPen(color("text" if known else "acct" if runs else "mute"))
        metrics = QFontMetricsF(painter.font())
        words = metrics.elidedText(
            row_words(row), Qt.TextElideMode.ElideRight, inner.width() - max(taken, px(70)) - _GAP_PX
        )
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(inner, right, words)
        track = QRectF(inner.left() + px(_TITLE_PX), box.center().y() - _BAR_PX / 2, 0, _BAR_PX)
        track.setRight(ends_at)
        if known and best > 0 and track.width() >= _LEAST_BAR_PX:
            self._paint_bar(painter, row, track, best, "acc" if runs else "g3")

    def _paint_bar(self, painter: QPainter, row: PlanRow, track: QRectF, best: float, role: str) -> None:
        if row.measured is not None:
            bar = QRectF(track)
            bar.setWidth(max(track.width() * row.measured / best, _BAR_PX))
            paint_box(painter, self._theme, mirrored(self, bar), 3, role)
        if row.predicted is not None:
            at = track.left() + track.width() * row.predicted / best
            painter.fillRect(painted(self, at - 1, track.top() - 3, 2, track.height() + 6), self._theme.color("map"))

    def _describe(self) -> None:
        lines = [f"{row.title}: {_sentence(row)}" for row in self.rows]
        self.setAccessibleName(tr("Plan: {rows}", rows="; ".join(lines)))


def _has_bar(row: PlanRow) -> bool:
    return row.expected is not None and not row.reason


def _sentence(row: PlanRow) -> str:
    words = row_words(row)
    if row.measured is not None and row.predicted is not None and not row.reason:
        prediction = figures.speed(row.predicted)
        words = tr("measured {speed}, predicted {prediction}", speed=figures.speed(row.measured), prediction=prediction)
    return f"{words}. {row.note}" if row.note else words
