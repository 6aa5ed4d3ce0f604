"""The figures and words of one reply that the line under it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.chat.conversation import Message
from app.chat.modes import draft_names, known_modes, model_name
from app.ui import figures
from app.ui.inert_text import PlainLabel
from app.words import tr
from engine.sentences import paragraph

_BELOW_ALL = 100  # a row that no fact comes to
# A reply shorter than this may have ended before there was anything to guess from.
_FEWEST_TOKENS = 16
Fact = tuple[str, str]  # its name, and what it is


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
            found.append((tr("Guesses that held, of all users") if shared else tr("Guesses that held"), held))
        if statistics.mean_acceptance_length is not None:
            length = figures.ratio(statistics.mean_acceptance_length)
            found.append((tr("Tokens per step, of all users") if shared else tr("Tokens per step"), length))
        if statistics.plain_per_second is not None and statistics.mode != "plain":
            found.append((tr("Plain decoding"), figures.speed(statistics.plain_per_second)))
        if statistics.resident_bytes:
            found.append((tr("Memory in all"), figures.size(statistics.resident_bytes)))
        if statistics.disk_bytes_per_second:
            found.append((tr("Read from the disk"), figures.rate(statistics.disk_bytes_per_second)))
    if details is not None:
        found.append((tr("Model"), f"{model_name(details.model)}, {details.weights}"))
        if members := details.timings.members:
            found.append((tr("Drafts"), draft_names([member.name for member in members])))
        elif details.draft:
            found.append((tr("Draft"), model_name(details.draft)))
    return tuple(found)


def is_continued(message: Message) -> bool:
    """Return True if the figures leave out what stood there before it was continued."""
    details = message.details
    return message.kept_characters > 0 or (details is not None and details.continued)


def reply_reason(message: Message) -> str:
    """Why its mode was taken, and why nothing was guessed where the mode has a draft; empty before that is known."""
    details = message.details
    if details is None:
        return ""
    drafting = any(mode.drafts for mode in known_modes() if mode.name == details.mode)
    rested = drafting and not details.timings.draft_n and details.timings.predicted_n >= _FEWEST_TOKENS
    why = tr("Guessing rested in this reply, because it would not have paid here.") if rested else ""
    # As the engine said it then: only where that was in English, and without figures, can it be said anew.
    return paragraph(tr(details.mode_reason), why)
