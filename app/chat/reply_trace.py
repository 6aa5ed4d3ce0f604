"""Trace of how a reply was made: its rounds, and the origin of each of its tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from app.chat.gauges import Gauges
from app.words import mark
from engine.messages import Event, Finished, ModeChanged, PlanChosen, RoundRecord, StatisticsUpdated, Timings

# Of a reply with more rounds the latest are kept.
MOST_ROUNDS = 4_096


class Origin(str, Enum):
    """Origin of a token; the value is what a user reads, marked."""

    ACCEPTED = mark("draft, accepted")
    CORRECTED = mark("corrected")  # the draft had guessed other tokens here
    PLAIN = mark("plain")  # nothing was guessed here


@dataclass(frozen=True)
class TracedToken:
    """A token of a reply.

    Attributes:
        text: Characters.
        origin: Origin.
        round: The number of its round, counted from 1; 0 for the reply's first token, which takes no round.
        members: Drafts that guessed an accepted token, if several vote, as `Timings.members` has them.
    """

    text: str
    origin: Origin
    round: int
    members: tuple[int, ...] = ()


@dataclass
class ReplyTrace:
    """Grows with the events of one reply.

    Attributes:
        mode: The mode that runs, by its name; empty before that is known.
        timings: The latest figures, None before the first.
        tokens: The reply's tokens in order, as far as their rounds have come.
        complete: True if the reply has ended.
        gauges: Speed and memory, from moment to moment.
    """

    mode: str = ""
    timings: Timings | None = None
    tokens: list[TracedToken] = field(default_factory=list)
    complete: bool = False
    gauges: Gauges = field(default_factory=Gauges)
    _rounds: list[RoundRecord] = field(default_factory=list)
    _dropped: int = 0

    def take(self, event: Event, at_s: float) -> bool:
        """Follow an event of the reply that came at a moment; returns whether it changed anything."""
        if isinstance(event, PlanChosen):
            self.mode = event.plan.mode
        elif isinstance(event, ModeChanged):
            self.mode = event.mode
        elif isinstance(event, StatisticsUpdated):
            self.mode, self.timings = event.mode, event.timings
            self.gauges.take(event, at_s)
            for record in event.rounds:
                self.add(record)
        elif isinstance(event, Finished):
            self.mode, self.timings = event.reply.mode, event.reply.timings
            self.complete = True
        else:
            return False
        return True

    @property
    def first_round(self) -> int:
        """The number of the first round that is kept."""
        return self._dropped + 1

    @property
    def last_round(self) -> int:
        """The number of the last round, 0 before there is one."""
        return self._dropped + len(self._rounds)

    def round(self, number: int) -> RoundRecord | None:
        """Return a round by its number, or None if it is not kept."""
        index = number - self.first_round
        return self._rounds[index] if 0 <= index < len(self._rounds) else None

    def weights(self) -> list[tuple[float, ...]]:
        """Weights of the drafts that vote, in each round that is kept; empty where nobody votes."""
        return [record.weights for record in self._rounds if record.weights]

    @property
    def weights_go_on(self) -> bool:
        """True if the drafts that vote began with the weights that an earlier reply left."""
        first = self.round(1)
        return first is not None and any(weight != 1.0 for weight in first.weights)

    def add(self, record: RoundRecord) -> None:
        """Take the next round; one without texts is passed over."""
        if record.texts is None:
            return
        self._rounds.append(record)
        if not self.tokens:
            self.tokens.append(TracedToken(record.texts.root, Origin.PLAIN, 0))
        for place, text in enumerate(record.texts.emitted):
            origin: Origin = origin_in(record, place)
            members: tuple[int, ...] = ()
            if origin is Origin.ACCEPTED and record.sources:
                members = record.sources[record.accepted[place]]
            self.tokens.append(TracedToken(text, origin, self.last_round, members))
        if len(self._rounds) > MOST_ROUNDS:
            surplus = len(self._rounds) - MOST_ROUNDS
            del self._rounds[:surplus]
            self._dropped += surplus


def origin_in(record: RoundRecord, place: int) -> Origin:
    """Origin of a round's token, by its place among those that the round emitted."""
    if place < len(record.accepted):
        return Origin.ACCEPTED
    return Origin.CORRECTED if record.tested > len(record.accepted) else Origin.PLAIN
