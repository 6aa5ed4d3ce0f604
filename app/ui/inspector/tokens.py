"""The tokens of a reply, each painted by its origin; a click or the arrow keys choose a round."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.chat.modes import draft_name
from app.chat.reply_trace import Origin, TracedToken
from app.ui import figures
from app.ui.painting import in_lines, painted, smooth
from app.ui.theme.theme import TextStyle, Theme
from app.words import mark, tr
from engine.messages import MemberYield

#: Roles of the members' colours, in their order; further ones begin anew. Each is of another hue.
MEMBER_COLOURS = ("call", "map", "number", "acc", "red", "g3")
_PLOT_PX = 56
_MEMBER_PX = (20, 3)
_MEMBER_GAP_PX = 6
PADDING_PX = 1
_SPACE_PX = 4
_GLUE_PX = 0.5
_LEAST_PX = 4
_SWATCH_PX = (20, 14)
_GAP_PX = 5
_BETWEEN_PX = 14
_Look = tuple[Origin, str, str]  # its words, and the role of the colour under it
_ROW_PX = 24
_BOX_PX = 20
_NOTHING = mark("The tokens of a reply appear here as they are written.")


def member_colour(member: int) -> str:
    """Return the role of a member's colour."""
    return MEMBER_COLOURS[member % len(MEMBER_COLOURS)]


class VotesView(QWidget):
    """A line for each member from 0 at the bottom to the heaviest weight at the top, and its figures below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.members: tuple[MemberYield, ...] = ()  # members that are shown
        self._weights: list[tuple[float, ...]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(1)

    def set_votes(self, members: Sequence[MemberYield], weights: Sequence[tuple[float, ...]]) -> None:
        """Show some members, and their weights in each round that had any."""
        self.members = tuple(members)
        self._weights = [each for each in weights if len(each) == len(self.members)]
        said = "; ".join(f"{draft_name(one.name)}: {_figures(one)}" for one in self.members)
        self.setAccessibleName(tr("Who guessed: {members}", members=said))
        self.updateGeometry()
        self.update()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._plot_px() + _MEMBER_GAP_PX + len(self.members) * self._row_px())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        self._paint_weights(painter)
        painter.setFont(self._theme.font(TextStyle.SMALL))
        metrics = QFontMetricsF(painter.font())
        top, height = self._plot_px() + _MEMBER_GAP_PX, self._row_px()
        for at, member in enumerate(self.members):
            middle = top + at * height + height / 2
            swatch = painted(self, 0, middle - _MEMBER_PX[1] / 2, *_MEMBER_PX)
            painter.fillRect(swatch, self._theme.color(member_colour(at)))
            words = _figures(member)
            needed = metrics.horizontalAdvance(words) + 1
            left = _MEMBER_PX[0] + _MEMBER_GAP_PX
            room = max(0.0, self.width() - left - needed - _MEMBER_GAP_PX)
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
        for member in range(len(self.members)):
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
    return tr("{percent} % accepted, weight {weight}", percent=percent, weight=weight)


def shown_text(token: TracedToken) -> str:
    """Return a token's text as it is painted: what cannot be seen gets a sign."""
    text = token.text.strip(" ")
    if token.text == "":
        return "end"
    if not text:
        return "␣"
    return text.replace("\n", "↵").replace("\t", "⇥").replace("\ufffd", "⋯")  # a part of a character


@dataclass
class TokenFlow:
    """Lays tokens out in lines; those of one word stay together.

    It grows by tokens at its end, so that a long reply is not laid out anew for each of them.
    """

    width: float  # room in px
    row_px: int  # height of a line, a gap included
    box_px: int  # height of a token
    measure: Callable[[TracedToken], float]
    boxes: list[QRectF] = field(default_factory=list)  # a rectangle for each token
    _left: float = 0.0
    _top: float = 0.0
    _broken: bool = False
    _word: int = 0

    def add(self, token: TracedToken) -> None:
        """Place one more token."""
        needed = min(max(self.measure(token), _LEAST_PX) + 2 * PADDING_PX, self.width)
        if self._broken or not token.text or token.text[0].isspace():
            self._word = len(self.boxes)
            self._left += _SPACE_PX if self._left else 0.0
        elif self._left:
            self._left += _GLUE_PX
        if self._broken or (self._left and self._left + needed > self.width):
            self._break_line()
        self.boxes.append(QRectF(self._left, self._top, needed, self.box_px))
        self._left += needed
        self._broken = token.text.endswith("\n")

    def _break_line(self) -> None:
        """Go on in another line, and take the beginning of the word along unless it fills the line."""
        self._left = 0.0
        self._top += self.row_px
        word = self.boxes[self._word :]
        if word and word[0].left() > 0:
            for box in word:
                box.moveTo(self._left, self._top)
                self._left += box.width() + _GLUE_PX

    @property
    def height(self) -> int:
        """Height of all lines, in px."""
        return round(self._top) + self.row_px if self.boxes else 0

    def at(self, x: float, y: float) -> int | None:
        """Return the token at a place, or None."""
        return next((index for index, box in enumerate(self.boxes) if box.contains(x, y)), None)

    def in_line_beside(self, index: int, step: int) -> int | None:
        """Return the token nearest to one on the line above (-1) or below (1), or None if there is no line."""
        box = self.boxes[index]
        line = [
            other for other, place in enumerate(self.boxes) if abs(place.top() - (box.top() + step * self.row_px)) < 1
        ]
        middle = box.center().x()
        return min(line, key=lambda other: abs(self.boxes[other].center().x() - middle), default=None)


def token_font(theme: Theme, origin: Origin) -> QFont:
    """Return the font of a token."""
    return theme.font(TextStyle.UI_BOLD if origin is Origin.CORRECTED else TextStyle.UI)


def paint_token_ground(painter: QPainter, theme: Theme, origin: Origin, box: QRectF, accepted: str = "acc") -> None:
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
        places = self._places(1 << 20)
        return QSize(round(places[-1][0] + self._needed(places[-1][2])) + 1, self._line_px())

    def heightForWidth(self, width: int) -> int:
        return (self._places(width)[-1][1] + 1) * self._line_px()

    def paintEvent(self, event: QPaintEvent) -> None:
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
        members = [(Origin.ACCEPTED, name, member_colour(member)) for member, name in enumerate(self._members)]
        others = Origin if not members else (Origin.CORRECTED, Origin.PLAIN)
        return [*members, *((origin, tr(origin.value), "acc") for origin in others)]

    def _describe(self) -> None:
        self.setAccessibleName(tr("Legend: {looks}", looks=", ".join(words for _, words, _ in self._looks())))

    def _places(self, width: int) -> list[tuple[float, int, _Look]]:
        looks = self._looks()
        places = in_lines(map(self._needed, looks), width, _BETWEEN_PX)
        return [(left, line, look) for (left, line), look in zip(places, looks, strict=True)]

    def _needed(self, look: _Look) -> float:
        metrics = QFontMetricsF(self._theme.font(TextStyle.SMALL))
        return _SWATCH_PX[0] + _GAP_PX + metrics.horizontalAdvance(look[1])

    def _line_px(self) -> int:
        return self._theme.type.line_height(TextStyle.SMALL) + 2


class TokenView(QWidget):
    """Flows like text. The chosen round's tokens have a frame around them."""

    round_chosen = Signal(int)
    place_wanted = Signal(QRect)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tokens: list[TracedToken] = []
        self.count = 0  # tokens that are shown
        self.round: int = 0  # the chosen round
        self._members: list[str] = []
        self._flow = self._new_flow()
        self._describe()

    def token_box(self, index: int) -> QRect:
        """Place of a token."""
        return self._flow.boxes[index].toRect()

    def set_tokens(self, tokens: list[TracedToken]) -> None:
        """Show a reply's tokens; of the same list only what is new at its end is laid out."""
        if tokens is not self._tokens or len(tokens) < self.count:
            self._tokens, self.count, self._flow = tokens, 0, self._new_flow()
        if len(tokens) != self.count or not tokens:
            for token in tokens[self.count :]:
                self._flow.add(token)
            self.count = len(tokens)
            self._describe()
            self._fit()

    def set_members(self, names: Sequence[str]) -> None:
        """Name the drafts that vote."""
        self._members = list(names)

    def set_round(self, number: int) -> None:
        """Frame a round's tokens."""
        if number != self.round:
            self.round = number
            self._describe()
            self.update()

    def show_round(self) -> None:
        """Ask for the chosen round to be scrolled to."""
        tokens = self._of_round()
        if tokens:
            self.place_wanted.emit(self.token_box(tokens[-1]).united(self.token_box(tokens[0])))

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self._flow = self._new_flow()
        for token in self._tokens[: self.count]:
            self._flow.add(token)
        self._fit()

    def sizeHint(self) -> QSize:
        needed = self._flow.height if self.count else self._hint_height()
        return QSize(200, max(needed, self._theme.type.px(_ROW_PX)) + 4)

    def _hint_height(self) -> int:
        metrics = QFontMetrics(self._theme.font(TextStyle.SMALL))
        room = QRect(0, 0, max(self.width(), 40), 1000)
        return metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, tr(_NOTHING)).height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.restyle()

    # --- choosing ---------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._flow.at(event.position().x() - 2, event.position().y() - 2)
        if index is not None:
            self._choose(self._tokens[index].round)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = self._tokens[self.count - 1].round if self.count else 0
        steps = {
            Qt.Key.Key_Left: self.round - 1,
            Qt.Key.Key_Right: self.round + 1,
            Qt.Key.Key_Home: 1,
            Qt.Key.Key_End: last,
        }
        wanted = steps.get(Qt.Key(event.key()))
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            wanted = self._beside(-1 if event.key() == Qt.Key.Key_Up else 1)
        if wanted is None or not last:
            super().keyPressEvent(event)
            return
        self._choose(min(max(wanted, 1), last))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.show_round()
        self.update()

    def event(self, event: QEvent) -> bool:
        """Say a token's text and origin."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self._flow.at(event.pos().x() - 2, event.pos().y() - 2)
            if index is not None:
                token = self._tokens[index]
                words = f"{token.text!r}: {tr(token.origin.value)}"
                names = [self._members[member] for member in token.members if member < len(self._members)]
                if names:
                    words = tr("{token}, guessed by {members}", token=words, members=", ".join(names))
                if token.round:
                    words = tr("{token}, step {number}", token=words, number=token.round)
                QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def _choose(self, number: int) -> None:
        if number and number != self.round:
            self.round_chosen.emit(number)
            self.show_round()

    def _beside(self, step: int) -> int | None:
        tokens = self._of_round()
        if not tokens:
            return None
        other = self._flow.in_line_beside(tokens[0 if step < 0 else -1], step)
        return self.round if other is None else self._tokens[other].round

    def _of_round(self) -> list[int]:
        """Range of the tokens that the chosen round emitted: they stand one after the other."""
        if not self.round:
            return []
        first = bisect_left(self._tokens, self.round, hi=self.count, key=lambda token: token.round)
        end = bisect_left(self._tokens, self.round + 1, hi=self.count, key=lambda token: token.round)
        return list(range(first, end))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        if not self.count:
            painter.setFont(self._theme.font(TextStyle.SMALL))
            painter.setPen(self._theme.color("mute"))
            painter.drawText(QRectF(self.rect()), Qt.TextFlag.TextWordWrap, tr(_NOTHING))
            return
        painter.translate(2, 2)
        top, bottom = event.rect().top() - 2, event.rect().bottom()
        first = bisect_left(self._flow.boxes, top - self._flow.row_px, key=lambda box: round(box.top()))
        chosen = self._of_round()
        for index in range(first, self.count):
            box = self._flow.boxes[index]
            if box.top() > bottom:
                break
            self._paint_token(painter, self._tokens[index], box)
        pen = QPen(self._theme.color("acc" if self.hasFocus() else "ctl"), 2 if self.hasFocus() else 1)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for frame in self._frames(chosen):
            painter.drawRoundedRect(frame, 4, 4)

    def _paint_token(self, painter: QPainter, token: TracedToken, box: QRectF) -> None:
        colour = member_colour(token.members[0]) if token.members else "acc"
        paint_token_ground(painter, self._theme, token.origin, box, colour)
        roles = {Origin.ACCEPTED: "text", Origin.CORRECTED: "mapt", Origin.PLAIN: "text"}
        painter.setFont(token_font(self._theme, token.origin))
        painter.setPen(self._theme.color(roles[token.origin] if token.text.strip() else "mute"))
        inner = box.adjusted(PADDING_PX, 0, -PADDING_PX, -1)
        text = QFontMetricsF(painter.font()).elidedText(
            shown_text(token), Qt.TextElideMode.ElideRight, inner.width() + 1
        )
        painter.drawText(inner, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, text)

    def _frames(self, chosen: list[int]) -> list[QRectF]:
        frames: list[QRectF] = []
        for index in chosen:
            box = self._flow.boxes[index].adjusted(-1, -1, 1, 1)
            if frames and frames[-1].top() == box.top():
                frames[-1] = frames[-1].united(box)
            else:
                frames.append(box)
        return frames

    def _new_flow(self) -> TokenFlow:
        metrics = {origin: QFontMetricsF(token_font(self._theme, origin)) for origin in Origin}
        px = self._theme.type.px
        return TokenFlow(
            max(self.width() - 4, 40),
            px(_ROW_PX),
            px(_BOX_PX),
            lambda token: metrics[token.origin].horizontalAdvance(shown_text(token)) + 1,
        )

    def _fit(self) -> None:
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def _describe(self) -> None:
        # Nobody could see the focus of a view that paints nothing.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self.count else Qt.FocusPolicy.NoFocus)
        if not self.count:
            self.setAccessibleName(tr("Tokens: {words}", words=tr(_NOTHING)))
            return
        counts = dict.fromkeys(Origin, 0)
        for token in self._tokens[: self.count]:
            counts[token.origin] += 1
        words = ", ".join(f"{count} {tr(origin.value)}" for origin, count in counts.items())
        self.setAccessibleName(tr("Tokens: {words}", words=words))
        chosen = [self._tokens[index] for index in self._of_round()]
        self.setAccessibleDescription("; ".join(f"{shown_text(token)}: {tr(token.origin.value)}" for token in chosen))
