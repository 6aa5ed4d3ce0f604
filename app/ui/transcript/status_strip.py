"""The status strip under a reply: its words, its paint, and its place beside the buttons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.chat.conversation import Message, MessageState, ReplyStatistics
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.modes import mode_title
from app.ui import figures
from app.ui.painting import isolated, mirrored, paint_box, paint_dot, paint_icon, painted, place, smooth
from app.ui.theme.theme import TextStyle, Theme, Typography
from app.ui.transcript.message_actions import MessageActions
from app.words import mark, tr

_FROM_DISK = mark("Weights that are not in memory are read from the disk for every pass; the speed is the disk's.")
_STRIP_GAP_PX = 10
_FOOTER_GAP_PX = 7
_FOOTER_PX = 28
_BETWEEN_PX = 8
_INSET_PX = 6  # the icon, not the button's edge, stands in line with the text


@dataclass(frozen=True)
class Figure:
    """One figure of the strip."""

    before: str  # words before the value
    value: str  # the value, which stands out
    after: str  # words after it
    # A value as wide as any that is likely, so that live figures do not jitter; empty where it only grows
    widest: str
    rank: int  # order of leaving figures out where there is no room: the highest first, 0 never
    help: str = ""  # one sentence for a figure that needs it, else empty

    @property
    def text(self) -> str:
        """The figure in words."""
        return " ".join(part for part in (self.before, self.value, self.after) if part)


@dataclass(frozen=True)
class ReplyStatus:
    """Everything the strip shows."""

    live: bool  # True if the reply is still to come or coming
    dot: str = ""  # role of the dot's colour, empty for none
    phrase: str = ""  # words at the left
    figures: tuple[Figure, ...] = ()  # figures after them

    @property
    def text(self) -> str:
        """The whole strip in words, for a screen reader."""
        return ", ".join([self.phrase] * bool(self.phrase) + [figure.text for figure in self.figures])

    @property
    def explanation(self) -> str:
        """The strip in words and a line for each figure that needs one, for the tool tip."""
        return "\n".join([self.text, *(figure.help for figure in self.figures if figure.help)])


class Prefill(NamedTuple):
    """A prompt that is being read."""

    fraction: float  # share that is read
    seconds_left: float | None = None  # until all of it is; None before that is known


def reply_status(message: Message, engine: EngineState, prefill: Prefill | None) -> ReplyStatus:
    """Return the content of a reply's strip; ``prefill`` is None before the prompt is read."""
    live = message.state is MessageState.STREAMING
    shown = speed_figures(message.statistics, live) if message.statistics else ()
    steps = {step.state for step in message.steps}
    if message.state is MessageState.QUEUED and "runs" in steps:
        return ReplyStatus(True, "acc", tr("A tool works"))
    if message.state is MessageState.QUEUED and "asks" in steps:
        return ReplyStatus(True, "hollow", tr("Waiting for your answer"))
    if message.state is MessageState.QUEUED and engine.phase is EnginePhase.STOPPED:
        return ReplyStatus(True, "hollow", tr("Waiting for the engine to start again"))
    if message.state is MessageState.QUEUED and engine.measuring:
        return ReplyStatus(True, "hollow", tr("Waiting until this machine is measured"))
    if message.state is MessageState.QUEUED:
        return ReplyStatus(True, "hollow", tr("Waiting for the other reply"))
    if message.state is MessageState.WAITING:
        return ReplyStatus(True, "acc", waiting_phrase(engine, prefill))
    if live:
        return ReplyStatus(True, "acc", "" if shown else tr("Writing"), shown)
    if message.state is MessageState.STOPPED:
        return ReplyStatus(False, "red", tr("Stopped"), shown)
    if message.state is MessageState.INTERRUPTED:
        return ReplyStatus(False, "red", tr("Interrupted"), shown)
    return ReplyStatus(False, "", "", shown)


def waiting_phrase(engine: EngineState, prefill: Prefill | None) -> str:
    """Phrase for the time before the first token."""
    if engine.phase in (EnginePhase.STARTING, EnginePhase.STOPPED):
        return tr("Warming up")
    if engine.phase is EnginePhase.LOADING:
        if engine.fraction is None:
            return tr("Loading the model")
        return tr("Loading the model, {percent}", percent=figures.percent(engine.fraction))
    if prefill is not None and prefill.fraction < 1.0:
        said = tr("Reading the prompt, {percent}", percent=figures.percent(prefill.fraction))
        return said if prefill.seconds_left is None else f"{said}, {figures.time_left(prefill.seconds_left)}"
    return tr("Reading the prompt")


def speed_figures(statistics: ReplyStatistics, live: bool) -> tuple[Figure, ...]:
    """Return a reply's three figures: its speed, its first token, and its mode's gain.

    The disk is named while a model is read from it, because its speed is the disk's.
    """
    found = []
    if statistics.tokens_per_second is not None:
        widest, help = (
            "00.0 tok/s" if live else "",
            tr(_FROM_DISK) if statistics.disk_bytes_per_second else "",
        )
        found.append(Figure("", figures.speed(statistics.tokens_per_second), "", widest, 0, help))
    if live and statistics.disk_bytes_per_second:
        read = figures.rate(statistics.disk_bytes_per_second)
        found.append(Figure(tr("disk"), read, "", "000 MB/s", 2))
    if statistics.time_to_first_token_ms is not None:
        first = figures.duration(statistics.time_to_first_token_ms)
        found.append(Figure(tr("first token"), first, "", "", 3))
    if statistics.thought_tokens:
        tokens = figures.whole(statistics.thought_tokens)
        of_all = tr(
            "This many of the {all} tokens were thoughts before the answer.",
            all=figures.whole(statistics.tokens),
        )
        found.append(Figure(tr("thought"), tokens, tr("tokens"), "", 4, of_all))
    if statistics.mode:
        times = statistics.times_plain
        gain = "" if times is None else figures.times_plain(times)
        found.append(Figure("", mode_title(statistics.mode), gain, "", 1, gain_words(statistics)))
    return tuple(found)


def gain_words(statistics: ReplyStatistics) -> str:
    """Words for a mode's gain over plain decoding; empty where there is none."""
    if statistics.times_plain is None or statistics.plain_per_second is None:
        return ""
    speed = figures.speed(statistics.plain_per_second)
    return tr("Plain decoding would have reached {speed}, measured during this reply.", speed=speed)


_ROW_PX = 28
_PADDING_X_PX = 12
_GAP_PX = 13
_DOT_PX = 8
_SPACE_PX = 4
_CHEVRON_PX = 16
_ONE_ROW_PX = 560  # narrower than this a live strip takes two rows
_DIGIT = re.compile(r"\d")

_Piece = Figure | str  # a phrase is words alone
_Placed = tuple[float, _Piece, float]  # its left edge and width, in px


class StatusStrip(QAbstractButton):
    """A line of figures in a box while the reply runs, right-aligned and without a box when it is done.

    The least important ones that do not fit are left to the tool tip; a narrow box has two lines.

    A click asks for more about them.
    """

    def __init__(self, theme: Theme, status: ReplyStatus, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.status = status  # content that is shown
        self._reserved: dict[int, float] = {}
        self._rows: list[list[_Placed]] = []
        self._fitted: tuple[int, Typography] | None = None
        self._type = theme.type
        self._words, self._value, self._widest_digit = self._measured()
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleDescription(tr("Opens the inspector"))
        self._describe()

    @property
    def _chevron_px(self) -> int:
        return self._theme.type.px(_CHEVRON_PX)

    def set_status(self, status: ReplyStatus) -> bool:
        """Show something else; returns whether the strip may need another height."""
        if status == self.status:
            return False
        before = self.status
        self.status = status
        self._fitted = None
        self._describe()
        self.update()
        if before.live != status.live or len(before.figures) != len(status.figures):
            self._reserved.clear()
            return True
        return len(self._rows) > 1 or bool(self._widened())

    def fit(self, width: int) -> int:
        """Lay the figures out in rows and return the height in px."""
        if self._fitted != (width, self._theme.type):
            if self._type is not self._theme.type:
                self._type = self._theme.type
                self._words, self._value, self._widest_digit = self._measured()
            self._lay_out(width)
            self._fitted = (width, self._type)
        return self._theme.type.side(_ROW_PX) * len(self._rows) + (4 if self.status.live else 0)

    def _lay_out(self, width: int) -> None:
        """Leave out the least important figures until the others fit; the tool tip has all of them."""
        status = self.status
        phrase: list[_Piece] = [status.phrase] if status.phrase else []
        pieces = list(enumerate([*phrase, *status.figures]))
        most_rows = 2 if status.live and width < self._theme.type.px(_ONE_ROW_PX) else 1
        self._rows = self._in_rows(pieces, width)
        while len(self._rows) > most_rows:
            least = max(pieces, key=lambda piece: -1 if isinstance(piece[1], str) else piece[1].rank)
            pieces.remove(least)
            self._rows = self._in_rows(pieces, width)

    def _in_rows(self, pieces: list[tuple[int, _Piece]], width: int) -> list[list[_Placed]]:
        begin = (_PADDING_X_PX if self.status.live else 0) + (_DOT_PX + 8 if self.status.dot else 0)
        end = width - (_PADDING_X_PX + self._chevron_px if self.status.live else 0)
        rows: list[list[_Placed]] = [[]]
        left = float(begin)
        for index, piece in pieces:
            needed = self._piece_width(index, piece)
            if rows[-1] and left + needed > end:
                rows.append([])
                left = float(begin)
            needed = min(needed, max(0.0, end - left))
            rows[-1].append((left, piece, needed))
            left += needed + 2 * _GAP_PX
        return rows

    def places(self) -> list[tuple[float, float]]:
        """Left edge and width of each figure as laid out, in px."""
        return [(left, width) for row in self._rows for left, _, width in row]

    @property
    def shown(self) -> list[str]:
        """Parts that there is room for, as laid out."""
        return [piece if isinstance(piece, str) else piece.text for row in self._rows for _, piece, _ in row]

    def natural_width(self) -> int:
        """Width of everything on one line, in px."""
        self.fit(1 << 20)
        left, _, needed = self._rows[0][-1] if self._rows[0] else (0.0, "", 0.0)
        return round(left + needed + (_PADDING_X_PX if self.status.live else 0)) + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        if self.status.live:
            paint_box(painter, self._theme, self.rect(), 8, "surf", "line")
            end = self.width() - self._chevron_px - 8
            paint_icon(painter, self._theme, self, "chevron-right", end, self._chevron_px)
        height = self._theme.type.side(_ROW_PX)
        top = 2.0 if self.status.live else 0.0
        self._paint_dot(painter, top + height / 2)
        for row in self._rows:
            for number, (left, piece, needed) in enumerate(row):
                if number:
                    rule = self._theme.color("line")
                    painter.fillRect(painted(self, round(left - _GAP_PX), top + 7, 1, height - 14), rule)
                self._paint_piece(painter, piece, QRectF(left, top, needed, height))
            top += height

    def _paint_dot(self, painter: QPainter, middle: float) -> None:
        if not self.status.dot:
            return
        inset = _PADDING_X_PX if self.status.live else 0
        center = painted(self, inset, middle - _DOT_PX / 2, _DOT_PX, _DOT_PX).center()
        hollow = self.status.dot == "hollow"
        paint_dot(painter, self._theme, center, _DOT_PX, "acc" if hollow else self.status.dot, hollow)

    def _paint_piece(self, painter: QPainter, piece: _Piece, box: QRectF) -> None:
        flags, way = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.layoutDirection()
        if isinstance(piece, str):
            painter.setFont(self._theme.font(TextStyle.SMALL_MEDIUM))
            painter.setPen(self._theme.color("sub"))
            metrics = QFontMetricsF(painter.font())
            words = metrics.elidedText(piece, Qt.TextElideMode.ElideRight, box.width() + 1)
            painter.drawText(mirrored(self, box), flags, isolated(words, way))
            return
        plain_font, value_font = self._fonts()
        plain = self._words
        painter.setFont(plain_font)
        painter.setPen(self._theme.color("sub"))
        left = box.left()
        if piece.before:
            painter.drawText(mirrored(self, box), flags, isolated(piece.before, way))
            left += plain.horizontalAdvance(piece.before) + _SPACE_PX
        right = box.right()
        if piece.after:
            right -= plain.horizontalAdvance(piece.after)
            after = QRectF(right, box.top(), box.right() - right + 1, box.height())
            painter.drawText(mirrored(self, after), flags, isolated(piece.after, way))
            right -= _SPACE_PX
        painter.setFont(value_font)
        painter.setPen(self._theme.color("text" if self.status.live else "sub"))
        inner = QRectF(left, box.top(), right - left + 1, box.height())
        if piece.after:  # the spare room of a changing figure stands before it, not between it and its word
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(mirrored(self, inner), flags, isolated(piece.value, way))

    def _measured(self) -> tuple[QFontMetricsF, QFontMetricsF, str]:
        """Metrics of words and of values, and the widest digit: found once, for they are used at every update."""
        words, value = (QFontMetricsF(font) for font in self._fonts())
        return words, value, max("0123456789", key=value.horizontalAdvance)

    def _fonts(self) -> tuple[QFont, QFont]:
        return self._theme.font(TextStyle.SMALL), self._theme.font(TextStyle.SMALL_BOLD)

    def _piece_width(self, index: int, piece: _Piece) -> float:
        if isinstance(piece, str):
            return QFontMetricsF(self._theme.font(TextStyle.SMALL_MEDIUM)).horizontalAdvance(piece)
        plain, strong = self._words, self._value
        needed = strong.horizontalAdvance(piece.value)
        if self.status.live:
            texts = [_DIGIT.sub(self._widest_digit, text) for text in (piece.value, piece.widest) if text]
            needed = max(needed, *(strong.horizontalAdvance(text) for text in texts))
            needed = max(needed, self._reserved.get(index, 0.0))
            self._reserved[index] = needed
        for word in (piece.before, piece.after):
            if word:
                needed += plain.horizontalAdvance(word) + _SPACE_PX
        return needed

    def _widened(self) -> bool:
        before = dict(self._reserved)
        self.fit(self.width())
        return before != self._reserved

    def _describe(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self.status.text else Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Status: {words}", words=self.status.text) if self.status.text else tr("Status"))
        self.setToolTip(self.status.explanation if self.status.figures else "")


def fit_live_foot(strip: StatusStrip, buttons: MessageActions, width: int, top: int) -> int:
    """Place the strip over the whole width, and the buttons below it; return where they end, in px.

    ``top`` is the end of the reply; 0 for a reply without a word.
    """
    top += _STRIP_GAP_PX if top else 0
    height = strip.fit(width)
    place(strip, 0, top, width, height, width)
    top += height
    row = buttons.natural_size()
    place(buttons, -_INSET_PX, top, row.width(), row.height(), width)
    return top + row.height()


def fit_finished_foot(theme: Theme, strip: StatusStrip, buttons: MessageActions, width: int, top: int) -> int:
    """Place the strip at the end of the row of buttons, or below it where it does not fit; return where they end."""
    row = buttons.natural_size()
    if row.isEmpty() and not strip.status.text:
        return top
    top += _FOOTER_GAP_PX
    place(buttons, -_INSET_PX, top, row.width(), row.height(), width)
    height = theme.type.side(_FOOTER_PX)
    beside = width - max(row.width() - _INSET_PX, 0) - _BETWEEN_PX
    if strip.natural_width() > beside and not row.isEmpty():
        top, beside = top + height, width
    strip_width = min(strip.natural_width(), beside)
    strip_height = strip.fit(strip_width)
    left = width - strip_width if beside < width else 0
    place(strip, left, top, strip_width, strip_height, width)
    return top + max(height, strip_height)
