"""Schedules: the shape of the next round's draft, fixed or by the worth of its nodes.

Source of `LengthSelector`: Wang et al. 2024, "Minions", section 3.3 and equation 4: the best length s has the least
t_LLM(s) / vl(s).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf
from typing import Protocol

from engine.decoding.round_cost import RoundCost
from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape

# Rounds without a draft at the start, with which all others are compared.
_FIRST_PLAIN = 2
# Rounds in a row that show nothing about plain decoding before it is measured again.
_REFRESH_AFTER = 64
# Tokens that a draft must gain beyond its cost: rounds with a draft have small costs that no clock sees.
_LEAST_GAIN = 0.03
# Most time that drafts may have lost: plain rounds at once, and a share of the plain time of the reply's tokens.
_ALLOWED_AT_ONCE, _ALLOWED_SHARE = 0.7, 0.01
# Drafts refused in a row after which the oldest measured costs are forgotten, as they may have been another
# program's; each time doubles this number.
_DOUBT_AFTER = 64
# Share of time and tokens, from which the reply's speed is told, that stays after each round.
_MEMORY = 0.9
# Multiple of its usual time that a forward may take after a network has drafted.
_PUSHED_OUT = 1.5
# Rounds after which a network has so many tokens to catch up with that its time is more than a step's.
_LAGS_AFTER = 2
_NOTHING = Draft()
# Records kept for each length.
_KEPT = 64


class Schedule(Protocol):
    """Decides the shape of each draft from what earlier rounds cost and gave."""

    def shape(self) -> DraftShape:
        """Return the largest shape of the next round's draft. Called once for each round."""

    def choose(self, draft: Draft) -> Draft:
        """Return the part of a draft of that shape to verify: all of it, unless a schedule knows better."""
        return draft

    def shape_beside(self, tokens_per_s: float, row_s: float) -> DraftShape:
        """Return the largest shape of the next round's draft in a forward that several replies share.

        Args:
            tokens_per_s: Tokens per second of all replies together; 0.0 if that is not known.
            row_s: Seconds that each row adds.
        """
        return self.shape()

    def chances(self, draft: Draft) -> Sequence[float]:
        """Return the (N,) chance of each node that the target gets to it, none above the one before.

        It is empty if the whole draft is to be verified.
        """
        return ()

    def observe(self, record: RoundRecord) -> None:
        """Take in a round that is over; it may have drafted fewer rows than the shape allows."""


class FixedShape(Schedule):
    """Drafts the same shape in every round; no rows are plain decoding."""

    def __init__(self, shape: DraftShape) -> None:
        """Draft this shape in each round."""
        self._shape = shape

    def shape(self) -> DraftShape:
        """Return the fixed shape."""
        return self._shape

    def observe(self, record: RoundRecord) -> None:
        """Learn nothing."""


class WorthwhileNodes(Schedule):
    """Takes the first nodes, as many as are expected to gain more tokens than their rows cost.

    A row's time is worth the tokens that the reply makes meanwhile at its recent speed, which counts as no less
    than plain decoding's. The drafter learns the chances from all of its proposals, verified or not, so nothing is
    spent to learn whether drafts hold; the cost of rows is measured as they are used, one row before many. Losses
    by drafts are kept in a ledger, and while that is overdrawn none is verified.

    Args:
        largest: Most nodes of a draft.
        cost: Measurements of earlier replies of the same mode and model, to which this reply adds; None for none.
        steps: True for drafters that may run steps of a network, which are given the worth of a step.
    """

    #: Most nodes of a draft if nobody says otherwise.
    LARGEST = 31

    def __init__(self, largest: int = LARGEST, cost: RoundCost | None = None, steps: bool = True) -> None:
        self._largest = DraftShape(largest)
        self._without_steps = replace(self._largest, step_worth=inf)
        self._of_steps = steps
        self._cost = RoundCost() if cost is None else cost
        self._since_plain = 0
        self._refused = 0
        # of drafts that take no time, and of those that do
        self._gained_s = {True: 0.0, False: 0.0}
        self._since_step = _LAGS_AFTER
        self._steps = 0
        self._tokens = 0
        self._lately_s = 0.0
        self._lately_tokens = 0.0

    def shape(self) -> DraftShape:
        """Return the largest shape; a drafter with steps of its own takes only those that are worth their time."""
        cost = self._cost
        if not self._of_steps or (cost.flat and not cost.measured):
            return self._largest
        if self._measures_plain() or self._overdrawn(free=False):
            return self._without_steps
        # The first row may cost more than the next ones, and without it there is no draft at all.
        one_s, tokens_per_s = cost.forward_s(1), self._tokens_per_s()
        row_s = max(one_s - cost.forward_s(0), cost.forward_s(2) - one_s)
        return replace(
            self._largest,
            step_worth=min(1.0, (cost.step_s + row_s) * tokens_per_s),
            second_worth=tokens_per_s,
            row_worth=row_s * tokens_per_s,
        )

    def choose(self, draft: Draft) -> Draft:
        """Return the nodes that pay; none while plain decoding must be measured or the ledger is overdrawn."""
        self._steps = draft.steps
        if not draft.tokens:
            return draft
        cost = self._cost
        if cost.measured and (self._measures_plain() or self._overdrawn(free=True)):
            return _NOTHING
        if not cost.measured:
            return draft if cost.flat else _NOTHING
        plain_s, tokens_per_s, probes = cost.forward_s(0), self._tokens_per_s(), draft.probes.nodes
        expected, best_gain, best = 0.0, _LEAST_GAIN, 0
        most = len(draft) if cost.flat else cost.nodes_to_try
        for count, score in enumerate(draft.scores[:most], 1):
            expected += exp(score)
            rows = count if not probes else count + sum(node < count for node in probes)
            gain = expected - (cost.forward_s(rows) - plain_s) * tokens_per_s
            if gain > best_gain:
                best_gain, best = gain, count
        self._refused = 0 if best else self._refused + 1
        if self._refused >= _DOUBT_AFTER << cost.doubts:
            self._refused = 0
            cost.doubt()
        return draft.first(best)

    def shape_beside(self, tokens_per_s: float, row_s: float) -> DraftShape:
        """Return the largest shape; a drafter with steps of its own takes only those that are worth their time."""
        if not self._of_steps or not tokens_per_s or not self._cost.measured:
            return self._largest if not self._of_steps else self._without_steps
        return replace(self._largest, step_worth=min(1.0, (self._cost.step_s + row_s) * tokens_per_s))

    def chances(self, draft: Draft) -> Sequence[float]:
        """Return the chances that the drafter learned."""
        self._steps = draft.steps
        return [exp(score) for score in draft.scores]

    def observe(self, record: RoundRecord) -> None:
        """Learn costs and what the draft gained or lost; from a shared forward only the cost of a step."""
        size, tokens = record.drafted_rows, len(record.accepted) + 1
        if record.beside:
            self._drafted_s(record.draft_ms / 1e3)
            return
        # A network that drafted pushes the target out of the caches, so its round is never a plain one.
        plain = not size and not self._steps
        if size or plain or not self._cost.measured:
            self._cost.add_verify(size, record.verify_ms / 1e3, record.waited_ms / 1e3)
        self._since_plain = 0 if plain else self._since_plain + 1
        plain_s = seconds = self._cost.forward_s(0)
        draft_s = self._drafted_s(record.draft_ms / 1e3)
        if size or draft_s:
            # At a known width more time is not the draft's fault, unless a network has drafted and pushed weights
            # out of the caches.
            known_s = self._cost.forward_s(size) if not size or self._cost.knows(size) else inf
            seconds = min(record.verify_ms / 1e3, known_s * (_PUSHED_OUT if draft_s else 1.0))
        seconds += draft_s
        self._tokens += tokens
        self._lately_s = _MEMORY * self._lately_s + seconds
        self._lately_tokens = _MEMORY * self._lately_tokens + tokens
        if size or draft_s:
            self._gained_s[not draft_s] += tokens * plain_s - seconds

    def _drafted_s(self, draft_s: float) -> float:
        """Return the seconds of a network's draft, or 0 if none drafted."""
        if not self._steps:
            self._since_step += 1
            return 0.0
        lags, self._since_step = self._since_step >= _LAGS_AFTER, 0
        if lags:
            return draft_s
        self._cost.add_step(draft_s / self._steps)
        return min(draft_s, 2 * self._steps * self._cost.step_s)

    def _measures_plain(self) -> bool:
        cost = self._cost
        if not cost.flat and cost.plain_rounds() < _FIRST_PLAIN:
            return True
        return self._since_plain >= _REFRESH_AFTER and not cost.waits

    def _overdrawn(self, free: bool) -> bool:
        gained_s, allowed = self._gained_s[free], _ALLOWED_AT_ONCE + _ALLOWED_SHARE * self._tokens
        return gained_s < 0.0 and gained_s < -allowed * self._cost.forward_s(0)

    def _tokens_per_s(self) -> float:
        """Return the reply's recent tokens per second, at least those of plain decoding."""
        lately = self._lately_tokens / self._lately_s if self._lately_s else 0.0
        return max(1.0 / self._cost.forward_s(0), lately)


class LengthSelector(Schedule):
    """Lengthens drafts while t / vl falls with their length, and shortens them while it rises.

    Each round is a record of its length: its seconds, and the tokens that it verified, the target's own included.
    The paper counts only the target's forward, as its pipeline hides the draft's time; here drafts take theirs. The
    average over a length's records is its vl, as in equation 4. Once there are enough records since the last
    change, a line is fitted to t / vl over the lengths around the present one. A slope above 0 says that the
    present length is longer than the best, one below 0 that there is room for more; if no other length was tried
    there is nothing to fit, and a longer one is tried. The paper does not say over what it fits. A fit over time
    would lengthen drafts again whenever a step back was followed by a fall, and the length would never stay where
    it is best.

    The paper does not say over what it fits. Over time a fall behind a step back would lengthen drafts again, and the
    length would never stay where it is best.

    Args:
        largest: Longest draft.
        cost: Measurements of earlier replies of the same mode and model, whose records and last length this one
            continues; None for none.
        length: Length of the first drafts if no earlier reply had any.
        decision_threshold: Records of a length before it is judged.
        s_reward: Tokens that a falling slope adds.
        s_punish: Tokens that a rising slope takes away.

    Attributes:
        length: Length of the next draft.
    """

    def __init__(
        self,
        largest: int,
        cost: RoundCost | None = None,
        length: int = 4,
        decision_threshold: int = 8,
        s_reward: int = 1,
        s_punish: int = 1,
    ) -> None:
        self._cost = RoundCost() if cost is None else cost
        self.length = min(self._cost.length or length, largest)
        self._largest = largest
        self._threshold = decision_threshold
        self._reward = s_reward
        self._punish = s_punish
        self._records = 0  # since the last change

    def shape(self) -> DraftShape:
        """Return the shape of a draft of the present length."""
        return DraftShape(self.length)

    def observe(self, record: RoundRecord) -> None:
        """Take the round's record, and judge the length once there are enough."""
        if not record.tokens:  # nothing was drafted, or a reply's end left no room
            return
        seconds = (record.draft_ms + record.verify_ms) / 1e3
        records = self._cost.lengths.setdefault(self.length, deque(maxlen=_KEPT))
        records.append((seconds, len(record.accepted) + 1))
        self._records += 1
        if self._records < self._threshold:
            return
        self._records = 0
        slope = self._slope()
        if slope > 0:
            self.length = max(1, self.length - self._punish)
        elif slope < 0:
            self.length = min(self._largest, self.length + self._reward)
        self._cost.length = self.length

    def _slope(self) -> float:
        """Return a number with the sign of the slope of t / vl over lengths, each weighted by its records."""
        # The curve of t / vl has a bottom, and is a line over a few lengths only: over fewer, the shorter they are.
        reach = (self.length + 1) // 2
        near = [each for each in self._cost.lengths.items() if abs(each[0] - self.length) <= reach]
        if len(near) == 1:
            return -1.0 if self.length < self._largest else 1.0
        middle = sum(length * len(records) for length, records in near) / sum(
            len(records) for _, records in near
        )
        slope = 0.0
        for length, records in near:
            seconds, verified = map(sum, zip(*records, strict=True))
            slope += len(records) * (length - middle) * seconds / verified
        return slope
