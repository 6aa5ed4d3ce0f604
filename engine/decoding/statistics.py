"""Statistics of a reply and its drafts, counted as the reply runs."""

from __future__ import annotations

import statistics
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from engine.decoding.costs import Settling
from engine.messages import MemberYield, RoundRecord, Timings

# Records handed over at once to be drawn: more rounds than anybody follows between two events.
_ROUNDS_TAKEN = 64
# Rounds without a draft that show the time of plain decoding; hiccups count among them as among all rounds.
_FEWEST_PLAIN = 8


@dataclass
class ReplyClock:
    """Counters and clocks of one reply; `timings` turns them into the figures that users see."""

    # time.perf_counter() when the request began, after any load
    started: float = field(default_factory=time.perf_counter)
    load_ms: float | None = None
    prompt_n: int = 0  # tokens of the prompt that were computed
    cache_n: int = 0  # tokens of the prompt that were already in the cache
    predicted_n: int = 0  # tokens emitted
    target_forwards: int = 0  # number of verifying forwards; the prompt's forwards are not counted
    draft_n: int = 0
    draft_n_accepted: int = 0
    probe_n: int = 0
    draft_s: float = 0.0
    verify_s: float = 0.0
    # Mean seconds of a forward without a draft in earlier replies, or None if not known
    recalled_plain_s: float | None = None
    plain_share: float = 1.0  # time of a forward where plain decoding would have its layers, as a share of one here
    rounds: list[RoundRecord] = field(default_factory=list)  # records of all rounds, oldest first
    members: tuple[str, ...] = ()  # names of the drafters that vote
    _plain_s: list[float] = field(default_factory=list)
    _plain_n: int = 0
    _plain_sum_s: float = 0.0
    _began_plain: bool = True
    _settling: Settling = field(default_factory=Settling)
    _prompt_done: float | None = None
    _first_token: float | None = None
    _last_token: float | None = None
    _tested: list[int] = field(default_factory=list)
    _accepted: list[int] = field(default_factory=list)
    _taken: int = 0
    _by_member: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def prompt_done(self) -> None:
        """Note that the prompt is in the cache."""
        self._prompt_done = time.perf_counter()

    def emitted(self, tokens: int) -> None:
        """Count tokens that left the loop."""
        self._last_token = time.perf_counter()
        if self._first_token is None:
            self._first_token = self._last_token
        self.predicted_n += tokens

    def round_done(self, record: RoundRecord) -> None:
        """Count a round whose draft was verified."""
        tested, accepted = record.tested, len(record.accepted)
        self.rounds.append(record)
        self.target_forwards += 1
        self.draft_n += len(record.tokens)
        self.draft_n_accepted += accepted
        self.probe_n += len(record.probes)
        self.draft_s += record.draft_ms / 1e3
        self.verify_s += record.verify_ms / 1e3
        self._count_plain(record)
        if record.sources:
            self._count_members(record)
        while len(self._tested) < tested:
            self._tested.append(0)
            self._accepted.append(0)
        for position in range(tested):
            self._tested[position] += 1
            self._accepted[position] += position < accepted

    def _count_plain(self, record: RoundRecord) -> None:
        """Count a round without a draft; a round after a wide forward shows nothing, unless that was the prompt's."""
        settled = self._settling(record)
        self._began_plain = self._began_plain and not record.drafted_rows
        if record.drafted_rows or record.beside or not (settled or self._began_plain):
            return
        self._plain_n += 1
        self._plain_sum_s += record.verify_ms / 1e3
        if settled:
            self._plain_s.append(record.verify_ms / 1e3)

    def _count_members(self, record: RoundRecord) -> None:
        """Count by member: nodes, positions of the path at which it had a guess, and guesses that held."""
        for sources in record.sources:
            for member in sources:
                self._by_member[member]["draft_n"] += 1
        reached = {-1, *record.accepted}
        at = zip(record.parents, record.sources, strict=True)
        for member, _ in {(member, parent) for parent, sources in at if parent in reached for member in sources}:
            self._by_member[member]["draft_n_tested"] += 1
        for node in record.accepted:
            for member in record.sources[node]:
                self._by_member[member]["draft_n_accepted"] += 1

    def _member_yields(self) -> tuple[MemberYield, ...]:
        weights = self.rounds[-1].weights if self.rounds else ()
        found = []
        for member, name in enumerate(self.members):
            counted = self._by_member[member]
            tested = counted["draft_n_tested"]
            rate = counted["draft_n_accepted"] / tested if tested else None
            weight = weights[member] if weights else 1.0
            found.append(MemberYield(name, weight, acceptance_rate=rate, **counted))
        return tuple(found)

    def take_rounds(self, all_rounds: bool = False) -> tuple[RoundRecord, ...]:
        """Return the records of the rounds since the last call, only the latest unless all are wanted."""
        fresh, self._taken = self.rounds[self._taken :], len(self.rounds)
        return tuple(fresh if all_rounds else fresh[-_ROUNDS_TAKEN:])

    def timings(self) -> Timings:
        """Return the figures so far."""
        prompt_s = (self._prompt_done or time.perf_counter()) - self.started
        predicted_s = (self._last_token or 0.0) - (self._prompt_done or 0.0)
        decoded = self.predicted_n - 1  # the first token comes out of the prompt's forward
        tested = sum(self._tested)
        return Timings(
            prompt_n=self.prompt_n,
            prompt_ms=prompt_s * 1e3,
            prompt_per_second=self.prompt_n / prompt_s if self.prompt_n and prompt_s > 0 else None,
            cache_n=self.cache_n,
            time_to_first_token_ms=None if self._first_token is None else (self._first_token - self.started) * 1e3,
            predicted_n=self.predicted_n,
            predicted_ms=max(predicted_s, 0.0) * 1e3,
            predicted_per_second=decoded / predicted_s if decoded > 0 and predicted_s > 0 else None,
            draft_n=self.draft_n,
            probe_n=self.probe_n,
            draft_n_tested=tested,
            draft_n_accepted=self.draft_n_accepted,
            acceptance_rate=sum(self._accepted) / tested if tested else None,
            mean_acceptance_length=decoded / self.target_forwards if self.target_forwards else None,
            acceptance_by_position=tuple(
                accepted / count for accepted, count in zip(self._accepted, self._tested, strict=True)
            ),
            target_forwards=self.target_forwards,
            draft_ms=self.draft_s * 1e3,
            verify_ms=self.verify_s * 1e3,
            load_ms=self.load_ms,
            plain_per_second=self._plain_per_second(predicted_s),
            members=self._member_yields(),
        )

    def _plain_per_second(self, predicted_s: float) -> float | None:
        """Return the tokens per second with which plain decoding would have written the same tokens.

        They are counted as the reply's own speed is, without the first. Rounds without a draft took what they took;
        each token of the others costs the mean of such rounds, and every token the mean time between two rounds.
        """
        enough = len(self._plain_s) >= _FEWEST_PLAIN
        forward_s = statistics.fmean(self._plain_s) if enough else self.recalled_plain_s
        decoded = self.predicted_n - 1
        others = decoded - self._plain_n
        if decoded < 1 or not self.target_forwards or (others > 0 and not forward_s):
            return None
        between_s = max(predicted_s - self.draft_s - self.verify_s, 0.0) / self.target_forwards
        forwards_s = self._plain_sum_s + max(others, 0) * (forward_s or 0.0)
        seconds = self.plain_share * forwards_s + between_s * decoded
        return decoded / seconds if seconds else None
