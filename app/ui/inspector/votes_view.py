"""Drafts that vote: the weight of each over the rounds, and what share of its guesses held."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.chat.modes import draft_name
from app.ui import figures
from app.ui.painting import painted, smooth
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr
from engine.messages import MemberYield

#: Roles of the members' colours, in their order; further ones begin anew. Each is of another hue.
MEMBER_COLOURS = ("call", "map", "number", "acc", "red", "g3")
_PLOT_PX = 56
_SWATCH_PX = (20, 3)
_GAP_PX = 6


def member_colour(member: int) -> str:
    """Return the role of a member's colour."""
    return MEMBER_COLOURS[member % len(MEMBER_COLOURS)]


class VotesView(QWidget):
    """A line for each member from 0 at the bottom to the heaviest weight at the top, and its figures below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._members: tuple[MemberYield, ...] = ()
        self._weights: list[tuple[float, ...]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(1)

    @property
    def members(self) -> tuple[MemberYield, ...]:
        """Members that are shown."""
        return self._members

    def set_votes(self, members: Sequence[MemberYield], weights: Sequence[tuple[float, ...]]) -> None:
        """Show some members, and their weights in each round that had any."""
        self._members = tuple(members)
        self._weights = [each for each in weights if len(each) == len(self._members)]
        said = "; ".join(f"{draft_name(one.name)}: {_figures(one)}" for one in self._members)
        self.setAccessibleName(tr("Who guessed: {members}", members=said))
        self.updateGeometry()
        self.update()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._plot_px() + _GAP_PX + len(self._members) * self._row_px())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        self._paint_weights(painter)
        painter.setFont(self._theme.font(TextStyle.SMALL))
        metrics = QFontMetricsF(painter.font())
        top, height = self._plot_px() + _GAP_PX, self._row_px()
        for at, member in enumerate(self._members):
            middle = top + at * height + height / 2
            swatch = painted(self, 0, middle - _SWATCH_PX[1] / 2, *_SWATCH_PX)
            painter.fillRect(swatch, self._theme.color(member_colour(at)))
            words = _figures(member)
            needed = metrics.horizontalAdvance(words) + 1
            left = _SWATCH_PX[0] + _GAP_PX
            room = max(0.0, self.width() - left - needed - _GAP_PX)
            painter.setPen(self._theme.color("text"))
            name = metrics.elidedText(draft_name(member.name), Qt.TextElideMode.ElideRight, room)
            box = painted(self, left, top + at * height, room, height)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, name)
            painter.setPen(self._theme.color("mute"))
            box = painted(self, self.width() - needed, top + at * height, needed, height)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing, words)

    def _paint_weights(self, painter: QPainter) -> None:
        height, width = self._plot_px(), self.width() - 2
        painter.fillRect(0, height, self.width(), 1, self._theme.color("line"))
        if len(self._weights) < 2:
            return
        for member in range(len(self._members)):
            step = width / (len(self._weights) - 1)
            line = QPolygonF(
                [
                    QPointF(1 + at * step, height - 2 - weights[member] * (height - 4))
                    for at, weights in enumerate(self._weights)
                ]
            )
            painter.setPen(QPen(self._theme.color(member_colour(member)), 1.5))
            painter.drawPolyline(line)

    def _plot_px(self) -> int:
        return self._theme.type.px(_PLOT_PX)

    def _row_px(self) -> int:
        return self._theme.type.line_height(TextStyle.SMALL) + 4


def _figures(member: MemberYield) -> str:
    weight = figures.digits(member.weight, 2)
    if member.acceptance_rate is None:
        return tr("nothing verified, weight {weight}", weight=weight)
    percent = figures.digits(100 * member.acceptance_rate, 2)
    return tr("{percent} % held, weight {weight}", percent=percent, weight=weight)
