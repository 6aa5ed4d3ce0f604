"""Parts of the inspector that are words: its head, the heading of each section, and the facts of a reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.chat.conversation import Message, ReplyStatistics
from app.chat.modes import draft_names
from app.ui import figures
from app.ui.parts import STRETCH, PlainLabel, filled, icon_button
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.words import tr
from engine.hub.titles import title_of_model
from engine.messages import Promise
from engine.modes import MODES
from engine.sentences import paragraph

_GAP_PX = 12
_CLOSE_PX = 28
_ICON_PX = 14
_BELOW_ALL = 100  # a row that no fact comes to
# A reply shorter than this may have ended before there was anything to guess from.
_FEWEST_TOKENS = 16
Fact = tuple[str, str]  # its name, and what it is


class InspectorSection(QWidget):
    """Stands below a rule; the word goes under the heading where there is no room beside it.

    Args:
        content: The widget below the heading.
        detail: Another widget in place of the word beside the heading.
        rule: True if a line parts it from what is above.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        content: QWidget,
        detail: QWidget | None = None,
        rule: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rule = rule
        self._below = False
        self.title = PlainLabel(title, self, kind="strong")
        self.detail = PlainLabel(self, kind="small")
        for label in (self.title, self.detail):
            label.setMinimumWidth(1)  # else large text would widen the panel's contents
        self._detail = detail or self.detail
        self.detail.setVisible(detail is None)
        column = filled(QVBoxLayout(self), margins=(0, 7 if rule else 0, 0, 7), spacing=4)
        self._head = QGridLayout()
        column.addLayout(self._head)  # before it is filled, or PySide keeps the items of what moves in it
        self._head.setContentsMargins(0, 0, 0, 0)
        self._head.setHorizontalSpacing(_GAP_PX)
        self._head.setVerticalSpacing(2)
        self._head.setColumnStretch(0, 1)
        self._head.addWidget(self.title, 0, 0)
        self._place_detail()
        column.addWidget(content)

    def event(self, event: QEvent) -> bool:
        """Find room for the word, or for whatever widget is in its place, when its size or this one is another."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._rule:
            QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))

    def _fit(self) -> None:
        needed = self.title.sizeHint().width() + _GAP_PX + self._detail.sizeHint().width()
        below = needed > self.width()
        if below != self._below:
            self._below = below
            self._place_detail()

    def _place_detail(self) -> None:
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if self._below:
            self._head.addWidget(self._detail, 1, 0, 1, 2)
        else:
            self._head.addWidget(self._detail, 0, 1, right)


class Head(QWidget):
    """One line; the comparison goes first where there is no room."""

    close_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title = PlainLabel(tr("Inspector"), self, kind="title")
        self._chip = QFrame(self)
        self._chip.setProperty("kind", "chip")
        self._icon = PlainLabel(self._chip)
        self._mode = PlainLabel(self._chip)
        filled(QHBoxLayout(self._chip), self._icon, self._mode, margins=(6, 3, 8, 3), spacing=4)
        self._compared = PlainLabel(self, kind="small")
        self.close_button = icon_button(
            *(theme, "x", tr("Close the inspector"), self, self.close_requested),
            side_px=_CLOSE_PX,
            tip=tr("Close the inspector (F12)"),
        )
        filled(
            QHBoxLayout(self),
            *(self.title, self._chip, STRETCH, self._compared, self.close_button),
            margins=(16, 8, 8, 6),
            spacing=9,
        )
        self.set_mode("", "")
        self.restyle()

    @property
    def texts(self) -> tuple[str, str]:
        """The mode and the comparison."""
        return self._mode.text(), self._compared.text()

    def set_mode(self, title: str, compared: str) -> None:
        """Show a mode and how it compares; empty where that is not known."""
        self._mode.setText(title)
        self._chip.setVisible(bool(title))
        self._compared.setText(compared)
        self._fit()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        color, ratio = self._theme.palette.acc, self.devicePixelRatioF()
        self._icon.setPixmap(tinted_pixmap("zap", color, _ICON_PX, ratio))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        parts = (self.title, self._chip, self._compared)
        needed = sum(part.sizeHint().width() for part in parts) + _CLOSE_PX + 16 + 8 + 4 * 9
        self._compared.setVisible(bool(self._compared.text()) and needed <= self.width())


class FactTable(QWidget):
    """A line for each fact: its name, and what it is at the right; below them why the mode was taken."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._lines: list[tuple[QLabel, QLabel]] = []
        self._reason = PlainLabel(self, kind="meter", wrap=True)
        self._grid.addWidget(self._reason, _BELOW_ALL, 0, 1, 2)
        self.facts: tuple[Fact, ...] = ()

    @property
    def reason(self) -> str:
        """Reason for the mode."""
        return self._reason.text()

    def set_facts(self, facts: Sequence[Fact], reason: str) -> None:
        """Show these."""
        if (tuple(facts), reason) == (self.facts, self.reason):
            return
        self.facts = tuple(facts)
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        while len(self._lines) < len(facts):
            self._add_line()
        for at, (name, value) in enumerate(self._lines):
            shown = at < len(facts)
            name.setVisible(shown)
            value.setVisible(shown)
            if shown:
                name.setText(facts[at][0])
                value.setText(facts[at][1])
        said = ", ".join(" ".join(fact) for fact in facts) or tr("nothing yet")
        self.setAccessibleName(tr("This reply: {facts}", facts=said))
        self.setAccessibleDescription(reason)

    def _add_line(self) -> None:
        name, value = PlainLabel(self, kind="small"), PlainLabel(self, kind="meter", wrap=True)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        row = len(self._lines)
        self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, row, 1)
        self._lines.append((name, value))


def reply_facts(message: Message) -> tuple[Fact, ...]:
    """Everything that is known of how a reply was made, as it was then."""
    statistics, details = message.statistics, message.details
    found: list[tuple[str, str]] = []
    # A server's counters do not tell this reply from those to others.
    shared = details is not None and details.timings.shared
    if statistics is not None:
        found.append((tr("Tokens"), figures.whole(statistics.tokens)))
        if statistics.acceptance_rate is not None:
            held = figures.percent(statistics.acceptance_rate)
            found.append((tr("Accepted guesses, of all requests") if shared else tr("Accepted guesses"), held))
        if statistics.mean_acceptance_length is not None:
            length = figures.ratio(statistics.mean_acceptance_length)
            found.append((tr("Tokens per step, of all requests") if shared else tr("Tokens per step"), length))
        if statistics.plain_per_second is not None and statistics.mode != "plain":
            found.append((tr("Plain decoding"), figures.speed(statistics.plain_per_second)))
        if details is not None and details.promise is not None:
            found += _promises(statistics, details.promise, details.busy)
        elif statistics.resident_bytes:
            found.append((tr("Memory, measured"), figures.size(statistics.resident_bytes)))
        if statistics.disk_bytes_per_second:
            found.append((tr("Read from the disk"), figures.rate(statistics.disk_bytes_per_second)))
    if details is not None:
        found.append((tr("Model"), f"{title_of_model(details.model)}, {details.weights}"))
        if members := details.timings.members:
            found.append((tr("Drafts"), draft_names([member.name for member in members])))
        elif details.draft:
            found.append((tr("Draft"), title_of_model(details.draft)))
    return tuple(found)


def _promises(came: ReplyStatistics, promise: Promise, busy: bool) -> list[Fact]:
    """Return what was promised of a reply, and what came."""
    first_ms = 1e3 * (promise.first_token_s or 0.0)
    said: list[tuple[str, Callable[[Any], str], float | None, float | None]] = [
        (tr("Speed"), figures.speed, promise.tokens_per_second, came.tokens_per_second),
        (tr("First token"), figures.duration, first_ms, came.time_to_first_token_ms),
        (tr("Memory"), figures.size, promise.memory_bytes, came.resident_bytes),
    ]
    found = [
        (name, tr("promised {promised}, got {got}", promised=figure(promised), got=figure(got)))
        for name, figure, promised, got in said
        if promised and got
    ]
    if found and (promise.rough or busy):  # of the speed first of all
        found[0] = (found[0][0], f"{found[0][1]}, {tr('measured while other programs were busy')}")
    return found


def is_continued(message: Message) -> bool:
    """Return True if the figures leave out what stood there before it was continued."""
    details = message.details
    return message.kept_characters > 0 or (details is not None and details.continued)


def reply_reason(message: Message) -> str:
    """Return why a reply has its mode, and why a draft guessed nothing; empty before that is known."""
    details = message.details
    if details is None:
        return ""
    drafting = details.mode in MODES and bool(MODES[details.mode].drafts)
    rested = drafting and not details.timings.draft_n and details.timings.predicted_n >= _FEWEST_TOKENS
    why = tr("No tokens were guessed in this reply, because that would not have been faster here.") if rested else ""
    # A kept sentence is translated only if it was said in English, without figures.
    return paragraph(tr(details.mode_reason), why)
