"""Yield of drafts of several sizes: tokens for each round, estimated from the rounds so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy

from engine.messages import RoundRecord

# Share of a round's weight that is left after each further round, so that the estimate follows a text that changes:
# a half-life of ten rounds.
_MEMORY = 0.93
# The acceptance of a drafted position that is assumed at the start.
_PRIOR_ACCEPTANCE = 0.6
# Measured rounds that an extrapolation counts for.
_EXTRAPOLATION_WEIGHT = 1.0
# Rounds that figures of other replies stand for.
_COUNTED_ROUNDS = 4.0
_NOTHING: Mapping[int, float] = MappingProxyType({})


@dataclass
class _Mean:
    """A mean in which older values fade."""

    total: float
    weight: float

    def add(self, value: float) -> None:
        """One more value."""
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
        """The mean. At least one value must have been added."""
        return self.total / self.weight


class DraftYield:
    """Expected tokens of a round by the size of its draft.

    One round tells of all smaller sizes too: a draft of b nodes is the b likeliest nodes of a larger one, so what it
    would have had accepted can be read off. Of larger sizes a round says how often it would have mattered: when
    everything down to a leaf was accepted. Then each further position is taken to hold with the acceptance a of the
    positions tested so far, which yields a + ... + a^k for k of them (Leviathan et al. 2023, equation 1). Where yields
    were counted on other replies these stand in its place.

    Args:
        sizes: The sizes to tell apart, ascending, each at least 1: rows, of which a draft has its probes too.
        counted: Tokens of a round by size, as they were counted on other replies; they stand for some rounds of this.
    """

    def __init__(self, sizes: Sequence[int], counted: Mapping[int, float] = _NOTHING) -> None:
        self._sizes = tuple(sizes)
        # Of each size: tokens that it gains over the next smaller one, and how often it is accepted down to a leaf.
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
        """A round that drafted at least one node, and how many rows it was allowed."""
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
        """Expected tokens of a round that drafts one of the sizes, the target's own token included."""
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
    """(N,) each node's place among all by likelihood; drafts without scores list the likeliest first."""
    if not record.scores:
        return list(range(len(record.tokens)))
    ranks = [0] * len(record.tokens)
    for place, node in enumerate(sorted(range(len(ranks)), key=lambda node: -record.scores[node])):
        ranks[node] = place
    return ranks
