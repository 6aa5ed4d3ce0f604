"""Judges whether running one more node is likely to gain more tokens than its time is worth."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

# Share of a round's weight that is left after each further round.
_MEMORY = 0.9
# Tokens that the first assumption counts for: that confidences mean what they say.
_PRIOR_TOKENS = 1.0


class StepWorth:
    """Weighs running a node against what rounds yield.

    LLMCad's threshold weighs nothing: after errors it ends drafts early even where a forward of the target takes a
    hundred times as long as a step of the draft. A node is worth its time while the tokens to expect of it are more
    than a round yields in that time; this is where tokens per second are most (the marginal value theorem,
    Charnov 1976). What to expect is its cumulative confidence, corrected by how many tokens were accepted so far
    where confidences promised how many.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._promised = self._accepted = _PRIOR_TOKENS
        self._tokens = self._round_s = 0.0
        self._node_s: float | None = None
        self._begun = clock()

    def begin(self) -> None:
        """The first round of a reply begins."""
        self._begun = self._clock()

    def round_done(self, emitted: int, scores: Sequence[float]) -> None:
        """A round is over, and the next begins.

        Args:
            emitted: Its tokens, the target's own included.
            scores: Cumulative log-probabilities of the nodes that it drafted.
        """
        now = self._clock()
        self._tokens = _MEMORY * self._tokens + emitted
        self._round_s = _MEMORY * self._round_s + now - self._begun
        self._begun = now
        if scores:
            self._promised = _MEMORY * self._promised + sum(map(math.exp, scores))
            self._accepted = _MEMORY * self._accepted + emitted - 1

    def step_done(self, nodes: int, seconds: float) -> None:
        """Running these nodes at once took this long."""
        each_s = seconds / nodes
        self._node_s = each_s if self._node_s is None else _MEMORY * self._node_s + (1 - _MEMORY) * each_s

    def is_worth(self, confidence: float) -> bool:
        """Decide whether to run a node.

        Args:
            confidence: Its cumulative confidence.

        Returns:
            False too while no round or no step was measured.
        """
        if self._node_s is None or self._round_s <= 0.0:
            return False
        expected = confidence * self._accepted / self._promised
        return expected > self._tokens / self._round_s * self._node_s
