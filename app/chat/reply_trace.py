"""Trace of how a reply was made: its rounds, each token's origin, speed and memory, and the same as bytes on disk."""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from app.words import mark
from engine.json_text import from_plain
from engine.messages import (
    Event,
    Finished,
    MemoryPlace,
    PlanChosen,
    PlanReport,
    RoundRecord,
    RoundTexts,
    StatisticsUpdated,
    Timings,
)

# The latest ones of a longer reply are kept.
_MOST_SAMPLES = 4_096

# The latest rounds of a longer reply are kept.
MOST_ROUNDS = 4_096

# A trace that is read is of a reply of a few thousand tokens at most.
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Sample:
    """The figures of one moment."""

    at_s: float  # when, on a clock that only goes forward
    tokens_per_second: float | None  # since the sample before; None where no token came
    resident_bytes: int  # memory of the engine's process
    disk_bytes_per_second: float  # weights read from the disk since the sample before


def smooth_speeds(samples: Iterable[Sample], over: int = 5) -> list[float | None]:
    """Return the speed at each sample, averaged with those just before it.

    A step emits whole tokens, so that the speed from one sample to the next jumps even where nothing changes.

    Args:
        over: Samples to average, the one itself included.
    """
    speeds: list[float | None] = []
    recent: deque[float] = deque(maxlen=over)
    for sample in samples:
        if sample.tokens_per_second is not None:
            recent.append(sample.tokens_per_second)
        speeds.append(None if sample.tokens_per_second is None else sum(recent) / len(recent))
    return speeds


class Gauges:
    """Turns running totals into figures of each moment."""

    def __init__(self) -> None:
        self.samples: deque[Sample] = deque(maxlen=_MOST_SAMPLES)
        self._last: StatisticsUpdated | None = None

    def take(self, event: StatisticsUpdated, at_s: float) -> None:
        """Add an event that came at a moment."""
        last = self._last
        if last is None:
            speed, disk = event.timings.predicted_per_second, 0.0
            worked_ms = event.timings.prompt_ms + event.timings.predicted_ms
            read_bytes = event.memory.disk_read_bytes
        else:
            tokens = event.timings.predicted_n - last.timings.predicted_n
            took_ms = event.timings.predicted_ms - last.timings.predicted_ms
            speed = tokens / took_ms * 1e3 if tokens > 0 and took_ms > 0 else None
            worked_ms = took_ms
            read_bytes = event.memory.disk_read_bytes - last.memory.disk_read_bytes
        disk = read_bytes / worked_ms * 1e3 if worked_ms > 0 else 0.0
        self._last = event
        self.samples.append(Sample(at_s, speed, event.memory.resident_bytes, disk))


class Origin(str, Enum):
    """Origin of a token; the value is what a user reads, marked."""

    ACCEPTED = mark("draft, accepted")
    CORRECTED = mark("corrected")  # the draft had guessed other tokens here
    PLAIN = mark("plain")  # nothing was guessed here


@dataclass(frozen=True)
class TracedToken:
    """A token of a reply."""

    text: str  # characters
    origin: Origin
    round: int  # the number of its round, counted from 1; 0 for the reply's first token, which takes no round
    # Drafts that guessed an accepted token, if several vote, as `Timings.members` has them
    members: tuple[int, ...] = ()


@dataclass
class ReplyTrace:
    """Grows with the events of one reply."""

    mode: str = ""  # the mode that runs, by its name; empty before that is known
    timings: Timings | None = None  # the latest figures, None before the first
    # The reply's tokens in order, as far as their rounds have come
    tokens: list[TracedToken] = field(default_factory=list)
    complete: bool = False  # True if the reply has ended
    plan: PlanReport | None = None  # every mode when it began; None where that was not kept
    places: tuple[MemoryPlace, ...] = ()  # its model in memory then
    gauges: Gauges = field(default_factory=Gauges)  # speed and memory, from moment to moment
    _rounds: list[RoundRecord] = field(default_factory=list)
    _dropped: int = 0

    def take(self, event: Event, at_s: float) -> bool:
        """Follow an event of the reply that came at a moment; returns whether it changed anything."""
        if isinstance(event, PlanChosen):
            self.mode, self.plan, self.places = event.plan.mode, event.modes, event.places
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


def to_bytes(trace: ReplyTrace) -> bytes:
    """Return a finished reply's rounds with the texts of their tokens and trees, and its speed and memory over time."""
    rounds = [record for number in range(trace.first_round, trace.last_round + 1) if (record := trace.round(number))]
    drafts = [
        [
            place,
            record.texts.drafted,
            record.parents,
            [round(score, 2) for score in record.scores],
            record.accepted,
            record.sources,
            [round(weight, 3) for weight in record.weights],
            record.probes,
        ]
        for place, record in enumerate(rounds)
        if record.texts is not None and (record.drafted_rows or (not place and record.weights))
    ]
    start_s = trace.gauges.samples[0].at_s if trace.gauges.samples else 0.0
    samples = [
        [
            round(sample.at_s - start_s, 2),
            None if sample.tokens_per_second is None else round(sample.tokens_per_second, 2),
            sample.resident_bytes >> 20,
            round(sample.disk_bytes_per_second / 1e6, 1),
        ]
        for sample in trace.gauges.samples
    ]
    values = {
        "root": next((record.texts.root for record in rounds if record.texts is not None), ""),
        "emitted": [record.texts.emitted for record in rounds if record.texts is not None],
        "drafts": drafts,
        "samples": samples,
        "plan": None if trace.plan is None else asdict(trace.plan),
        "places": [asdict(place) for place in trace.places],
    }
    written = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(written.encode("utf-8", "surrogatepass"))


def from_bytes(kept: bytes, trace: ReplyTrace) -> bool:
    """Put what `to_bytes` wrote into a trace without rounds; returns False, and adds nothing, where it is not that."""
    try:
        unpacker = zlib.decompressobj()
        values = json.loads(unpacker.decompress(kept, _MOST_BYTES).decode("utf-8", "surrogatepass"))
        rounds = _rounds(values)
        samples = [
            Sample(float(at), None if speed is None else float(speed), int(memory) << 20, float(disk) * 1e6)
            for at, speed, memory, disk in values["samples"]
        ]
        plan = values.get("plan")  # earlier versions kept neither
        trace.plan = None if plan is None else from_plain(PlanReport, plan)
        trace.places = tuple(from_plain(MemoryPlace, place) for place in values.get("places", ()))
    except (
        zlib.error,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):
        return False
    for record in rounds:
        trace.add(record)
    trace.gauges.samples.extend(samples)
    return True


def _rounds(values: dict[str, Any]) -> list[RoundRecord]:
    drafts = {place: draft for place, *draft in values["drafts"]}
    root, rounds = str(values["root"]), []
    for place, said in enumerate(values["emitted"]):
        drafted, parents, scores, accepted, *others = drafts.get(place, ((), (), (), ()))
        # Earlier versions kept neither votes nor probes.
        sources, weights, probes = (*others, (), (), ())[:3]
        emitted = tuple(map(str, said))
        if not (len(drafted) == len(parents) and len(scores) in (0, len(drafted))):
            raise ValueError("a draft has a parent and a score for each node")
        if not all(-1 <= parent < node for node, parent in enumerate(parents)):
            raise ValueError("a node's parent stands before it")
        if not all(0 <= node < len(drafted) for node in accepted):
            raise ValueError("what was accepted was drafted")
        if not all(-1 <= node < len(drafted) for node in probes):
            raise ValueError("a probe follows a node or the root")
        if len(sources) not in (0, len(drafted)):
            raise ValueError("each node has its members")
        rounds.append(
            RoundRecord(
                position=0,
                tokens=(0,) * len(drafted),
                parents=tuple(parents),
                scores=tuple(map(float, scores)),
                accepted=tuple(accepted),
                emitted=(0,) * len(emitted),
                draft_ms=0.0,
                verify_ms=0.0,
                texts=RoundTexts(root, tuple(map(str, drafted)), emitted),
                sources=tuple(tuple(map(int, members)) for members in sources),
                weights=tuple(map(float, weights)),
                probes=tuple(probes),
            )
        )
        root = emitted[-1] if emitted else root
    return rounds
