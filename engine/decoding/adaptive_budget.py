"""The schedule that drafts as much as pays for itself, and nothing while drafting loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy

from engine.decoding.round_cost import RoundCost, Settling
from engine.decoding.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape

# Share of a round's weight that is left after each further round, so that the estimate follows a text that changes:
# a half-life of ten rounds.
_MEMORY = 0.93
# Acceptance of a drafted position that is assumed at the start.
_PRIOR_ACCEPTANCE = 0.6
# Measured rounds that an extrapolation counts for.
_EXTRAPOLATION_WEIGHT = 1.0
# Rounds that figures of other replies count for.
_COUNTED_ROUNDS = 4.0
_NOTHING: Mapping[int, float] = MappingProxyType({})
# Rounds without a draft at the start, with which all others are compared.
_FIRST_PLAIN = 2
# Rounds with a draft before plain decoding is measured again.
_REFRESH_AFTER = 32
# Drafted rounds before plain decoding is measured for the first time, if forwards were expected to wait for
# weights.
_FIRST_AFTER = 8
# Rounds without a draft before drafting is tried again, after the first failure and at most; each failure doubles
# them.
_FIRST_PAUSE = 8
_LONGEST_PAUSE = 64
# Drafted rounds in a row that make earlier failures forgotten.
_ESTABLISHED = 8
# Trying again may cost this share of the time that the reply would have taken without any draft.
_ALLOWANCE = 0.03
# Rounds without a draft after which the drafter is taken to have fallen behind the text.
_LAGS_AFTER = 4
# Most rounds that earlier knowledge counts for when drafting is tried again, so that one try can overturn it.
_KNOWN_AT_PROBE = 1.0


@dataclass
class _Mean:
    """A mean in which older values fade."""

    total: float
    weight: float

    def add(self, value: float) -> None:
        """Add one more value."""
        self.total += value
        self.weight += 1.0

    def fade(self, factor: float) -> None:
        """Let what was added so far count for less."""
        self.total *= factor
        self.weight *= factor

    def limit(self, weight: float) -> None:
        """Let what was added so far count no more than this many values."""
        if self.weight > weight:
            self.fade(weight / self.weight)

    @property
    def value(self) -> float:
        """Mean of the values, at least one of which must have been added."""
        return self.total / self.weight


class DraftYield:
    """Expected tokens of a round by the size of its draft.

    One round also shows the yield of all smaller sizes: a draft of b nodes is the b likeliest nodes of a larger
    one, so what it would have had accepted can be read off. For larger sizes a round shows how often they would
    have mattered: when everything down to a leaf was accepted. Then each further position is taken to hold with the
    acceptance a of the positions tested so far, which yields a + ... + a^k for k of them (Leviathan et al. 2023,
    equation 1). Yields that were counted on other replies replace this estimate.

    Args:
        sizes: Sizes to tell apart, ascending, each at least 1: rows of a draft, its probes included.
        counted: Tokens of a round by size, as counted on other replies; they count for some rounds of this one.
    """

    def __init__(self, sizes: Sequence[int], counted: Mapping[int, float] = _NOTHING) -> None:
        self._sizes = tuple(sizes)
        # For each size: tokens that it gains over the next smaller one, and how often it is accepted down to a
        # leaf.
        self._gains = [_Mean(0.0, 0.0) for _ in sizes]
        self._exhausted = [_Mean(_PRIOR_ACCEPTANCE**size, 1.0) for size in sizes]
        self._acceptance = _Mean(4.0 * _PRIOR_ACCEPTANCE, 4.0)
        self._counted: tuple[float, ...] = ()
        self._known: dict[int, float] = {}  # tokens by size, until the next round that drafts
        if counted:
            tokens = numpy.interp([0, *self._sizes], [0, *counted], [1.0, *counted.values()])
            self._counted = tuple(numpy.diff(tokens).tolist())
            for counted_gain, gain in zip(self._counted, self._gains, strict=True):
                gain.total, gain.weight = _COUNTED_ROUNDS * counted_gain, _COUNTED_ROUNDS

    def observe(self, record: RoundRecord, budget: int) -> None:
        """Learn from a round that drafted at least one node, given the rows that it was allowed."""
        self._known.clear()
        for gain in self._gains:
            gain.fade(_MEMORY)
        self._acceptance.fade(_MEMORY)
        for position in range(record.tested):
            self._acceptance.add(position < len(record.accepted))
        rank = _ranks(record)
        before = 0
        for size, gain, exhausted in zip(self._sizes, self._gains, self._exhausted, strict=True):
            if size > budget:
                break
            # A smaller draft has probes for the same share of its rows.
            nodes = size * len(record.tokens) // record.drafted_rows
            path = [node for node in record.accepted if rank[node] < nodes]
            last = path[-1] if path else -1
            children = [node for node, parent in enumerate(record.parents) if parent == last]
            gain.add(len(path) - before)
            exhausted.fade(_MEMORY)
            exhausted.add(not any(rank[node] < nodes for node in children))
            before = len(path)

    def limit(self, rounds: float) -> None:
        """Let what is known so far count no more than this many rounds."""
        self._known.clear()
        for mean in (*self._gains, *self._exhausted, self._acceptance):
            mean.limit(rounds)

    def tokens(self, size: int) -> float:
        """Return the expected tokens of a round that drafts one of the sizes, the target's own token included."""
        if size not in self._known:
            self._known[size] = self._tokens(size)
        return self._known[size]

    def _tokens(self, size: int) -> float:
        expected, smaller, reached = 1.0, 0, 1.0
        acceptance = self._acceptance.value
        for at, (each, gain, exhausted) in enumerate(
            zip(self._sizes, self._gains, self._exhausted, strict=True)
        ):
            if each > size:
                break
            if self._counted:
                further = self._counted[at]
            else:
                further = reached * sum(acceptance**position for position in range(1, each - smaller + 1))
            expected += (gain.total + _EXTRAPOLATION_WEIGHT * further) / (gain.weight + _EXTRAPOLATION_WEIGHT)
            smaller, reached = each, exhausted.value
        return expected


def _ranks(record: RoundRecord) -> list[int]:
    """Return each node's rank by likelihood, (N,); drafts without scores list the likeliest first."""
    if not record.scores:
        return list(range(len(record.tokens)))
    ranks = [0] * len(record.tokens)
    for place, node in enumerate(sorted(range(len(ranks)), key=lambda node: -record.scores[node])):
        ranks[node] = place
    return ranks


class AdaptiveBudget(Schedule):
    """Chooses the rows with the most expected tokens per second, on this machine and for this text.

    While no size beats plain decoding, nothing is drafted. Drafting is then tried again ever more rarely, and only
    while the time lost by such tries stays within a share of the reply's time: so a reply is never much slower than
    plain decoding, and one that has gained by its drafts can afford more tries. A try counts with its whole cost,
    including what the drafter spends to catch up with the tokens it missed; the cost of a draft is judged by the
    rounds in which it had none to catch up with. Plain rounds come first, except for a target that waits for its
    weights: its rounds are too long to be spent so, and wider ones take no longer. Its drafts may have all the
    nodes there are; the drafter knows what they cost it.

    Args:
        largest: Most rows of a draft; the other sizes are its halves, down to 1.
        cost: Measurements of earlier replies of the same mode and model, to which this reply adds; None for none.
        counted: Tokens of a round by nodes of its draft, as counted on other replies.
    """

    def __init__(
        self, largest: int = 15, cost: RoundCost | None = None, counted: Mapping[int, float] = _NOTHING
    ) -> None:
        self._sizes = _halves(largest)
        self._yield = DraftYield(self._sizes, counted)
        self._cost = RoundCost() if cost is None else cost
        self._rows = 0
        self._settling = Settling()
        self._undrafted = _LAGS_AFTER
        self._drafted = 0
        self._failures = 0
        self._tokens = 0
        self._lost_s = 0.0
        self._probe_s = 0.0
        self._first_draft = True
        self._probing = False
        self._pauses = False

    def shape(self) -> DraftShape:
        """Return the number of rows that is best in the next round."""
        self._rows = self._choose()
        return DraftShape(self._rows)

    def shape_beside(self, tokens_per_s: float, row_s: float) -> DraftShape:
        """Return the size that gains most beyond what its rows and its draft cost all replies; seldom a retry."""

        def gain(size: int) -> float:
            return self._yield.tokens(size) - tokens_per_s * (row_s * size + self._cost.draft_s(size))

        best = max(self._sizes, key=gain)
        if gain(best) <= 1.0:
            best = best if self._undrafted >= _LONGEST_PAUSE else 0
        self._rows = best
        return DraftShape(best)

    def chances(self, draft: Draft) -> Sequence[float]:
        """Return the tokens that each further node has gained, as learnt from rounds of each size."""
        found: list[float] = []
        smaller, tokens, least = 0, 1.0, 1.0
        for size in self._sizes:
            more = self._yield.tokens(size)
            least = min(least, max(more - tokens, 0.0) / (size - smaller))
            found += [least] * (size - smaller)
            smaller, tokens = size, more
        return found[: len(draft)]

    def observe(self, record: RoundRecord) -> None:
        """Update yield, costs and what trying has lost; after a shared forward only yield and the draft's cost."""
        if record.beside:
            self._observe_beside(record)
            return
        draft_s, verify_s = record.draft_ms / 1e3, record.verify_ms / 1e3
        # The first rounds of a reply are hardly settled, but nothing else is known: later ones replace them.
        known = self._cost.plain_rounds() >= _FIRST_PLAIN
        if self._settling(record) or record.drafted_rows or not known:
            self._cost.add_verify(record.drafted_rows, verify_s, record.waited_ms / 1e3)
        self._tokens += len(record.accepted) + 1
        if not record.drafted_rows:
            self._undrafted += 1
            return
        caught_up = self._undrafted >= _LAGS_AFTER
        self._undrafted = 0
        self._drafted += 1
        if not record.tokens:  # probes alone: the next round drafts the tokens that they have asked for
            self._lost_s += draft_s + verify_s - self._cost.plain_s()
            return
        if not caught_up:
            self._cost.add_draft(record.drafted_rows, draft_s)
        if self._first_draft:
            # The drafter may have read the prompt in this time, which is spent whatever is decided now.
            self._first_draft = False
            draft_s = 0.0
        if self._probing:
            self._probing = False
            self._yield.limit(_KNOWN_AT_PROBE)
        self._yield.observe(record, self._rows)
        lost_s = draft_s + verify_s - (len(record.accepted) + 1) * self._cost.plain_s()
        self._lost_s += lost_s
        self._probe_s = max(lost_s, 0.0)

    def _observe_beside(self, record: RoundRecord) -> None:
        self._tokens += len(record.accepted) + 1
        if not record.drafted_rows:
            self._undrafted += 1
            return
        if self._undrafted < _LAGS_AFTER and not self._first_draft:
            self._cost.add_draft(record.drafted_rows, record.draft_ms / 1e3)
        self._undrafted, self._first_draft = 0, False
        if record.tokens:
            self._yield.observe(record, record.drafted_rows)

    def _choose(self) -> int:
        if not self._cost.flat and self._cost.plain_rounds() < _FIRST_PLAIN:
            return 0
        if not self._cost.measured:
            return self._sizes[-1]
        # Then nothing new is known about drafts.
        if self._pauses and self._undrafted and not self._probing and not self._may_probe():
            return 0
        waits = self._cost.flat and self._cost.waits
        best = max(self._sizes[-1:] if waits else self._sizes_to_try(), key=self._tokens_per_second)
        self._pauses = self._tokens_per_second(best) * self._cost.plain_s() < 1.0
        if not self._pauses:
            if self._drafted >= _ESTABLISHED:
                self._failures = 0
            refresh_after = _REFRESH_AFTER if self._cost.knows_plain else _FIRST_AFTER
            due = self._drafted and self._drafted % refresh_after == 0 and self._undrafted == 0
            if due and not waits:
                return 0
            return best
        if self._drafted:
            self._drafted = 0
            self._failures += 1
        if self._probing or self._may_probe():
            self._probing = True
            return best
        return 0

    def _sizes_to_try(self) -> tuple[int, ...]:
        """Return the sizes to consider; a forward much wider than any measured may take as long as many plain ones."""
        most = self._sizes[-1] if self._cost.flat else self._cost.nodes_to_try
        return tuple(size for size in self._sizes if size <= most)

    def _may_probe(self) -> bool:
        pause = min(_FIRST_PAUSE << max(self._failures - 1, 0), _LONGEST_PAUSE)
        allowed_s = _ALLOWANCE * self._tokens * self._cost.plain_s()
        return self._undrafted >= pause and self._lost_s + self._probe_s <= allowed_s

    def _tokens_per_second(self, size: int) -> float:
        return self._yield.tokens(size) / self._cost.seconds(size)


def _halves(largest: int) -> tuple[int, ...]:
    """Return the size, its half and so on down to 1, ascending."""
    sizes = [largest]
    while sizes[-1] > 1:
        sizes.append(sizes[-1] // 2)
    return tuple(reversed(sizes))
