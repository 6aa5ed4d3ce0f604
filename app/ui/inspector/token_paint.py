"""Looks of tokens by their origin: fill and line differ in shape as well, so that they can be told in grey."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.chat.reply_trace import Origin
from app.ui.inspector.votes_view import member_colour
from app.ui.painting import smooth
from app.ui.placing import in_lines, painted
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_SWATCH_PX = (20, 14)
_GAP_PX = 5
_BETWEEN_PX = 14
_Look = tuple[Origin, str, str]  # its words, and the role of the colour under it


def token_font(theme: Theme, origin: Origin) -> QFont:
    """Return the font of a token."""
    return theme.font(TextStyle.UI_BOLD if origin is Origin.CORRECTED else TextStyle.UI)


def paint_token_ground(
    painter: QPainter, theme: Theme, origin: Origin, box: QRectF, accepted: str = "acc"
) -> None:
    """Paint what stands behind and under a token's text; ``accepted`` is the colour's role under an accepted one."""
    painter.setPen(Qt.PenStyle.NoPen)
    line = QPointF(0, box.bottom() - 1), QPointF(0, box.bottom() - 1)
    line[0].setX(box.left())
    line[1].setX(box.right())
    if origin is Origin.ACCEPTED:
        painter.fillRect(box, theme.color("accs"))
        painter.fillRect(QRectF(box.left(), box.bottom() - 2, box.width(), 2), theme.color(accepted))
    elif origin is Origin.CORRECTED:
        painter.setBrush(theme.color("maps"))
        painter.setPen(QPen(theme.color("map"), 1.5))
        painter.drawRoundedRect(box.adjusted(0.75, 0.75, -0.75, -0.75), 4, 4)
    else:
        pen = QPen(theme.color("mute"), 2)
        pen.setDashPattern([1.0, 1.2])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLine(*line)


class TokenLegend(QWidget):
    """Legend of the looks, in one line where there is room; where several drafts vote, of the line of each."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._members: list[str] = []
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumWidth(1)
        self._describe()

    def set_members(self, names: Sequence[str]) -> None:
        """Name the drafts that vote; none where accepted tokens come from one."""
        if self._members != list(names):
            self._members = list(names)
            self._describe()
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Return a size as wide as everything is in one line."""
        places = self._places(1 << 20)
        return QSize(round(places[-1][0] + self._needed(places[-1][2])) + 1, self._line_px())

    def heightForWidth(self, width: int) -> int:
        """Return a height as high as the lines are."""
        return (self._places(width)[-1][1] + 1) * self._line_px()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint swatches and words."""
        painter = smooth(self)
        painter.setFont(self._theme.font(TextStyle.SMALL))
        height = self._line_px()
        for left, line, (origin, words, colour) in self._places(self.width()):
            top = line * height + (height - _SWATCH_PX[1]) / 2
            paint_token_ground(painter, self._theme, origin, painted(self, left, top, *_SWATCH_PX), colour)
            painter.setPen(self._theme.color("mute"))
            box = painted(self, left + _SWATCH_PX[0] + _GAP_PX, line * height, self.width(), height)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, words)

    def _looks(self) -> list[_Look]:
        members = [
            (Origin.ACCEPTED, name, member_colour(member)) for member, name in enumerate(self._members)
        ]
        others = Origin if not members else (Origin.CORRECTED, Origin.PLAIN)
        return [*members, *((origin, tr(origin.value), "acc") for origin in others)]

    def _describe(self) -> None:
        self.setAccessibleName(tr("Legend: {looks}", looks=", ".join(words for _, words, _ in self._looks())))

    def _places(self, width: int) -> list[tuple[float, int, _Look]]:
        """Left edge and line of each look."""
        looks = self._looks()
        places = in_lines(map(self._needed, looks), width, _BETWEEN_PX)
        return [(left, line, look) for (left, line), look in zip(places, looks, strict=True)]

    def _needed(self, look: _Look) -> float:
        metrics = QFontMetricsF(self._theme.font(TextStyle.SMALL))
        return _SWATCH_PX[0] + _GAP_PX + metrics.horizontalAdvance(look[1])

    def _line_px(self) -> int:
        return self._theme.type.line_height(TextStyle.SMALL) + 2
