"""The schedule for drafts that know the chances of their nodes: it has those drafted and verified that pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf

from engine.decoding.round_cost import RoundCost
from engine.decoding.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape

# Rounds without a draft at the start: all others are judged against them.
_FIRST_PLAIN = 2
# Rounds in a row that tell nothing of plain decoding before it is measured again.
_REFRESH_AFTER = 64
# Tokens that a draft must be expected to gain beyond its cost: rounds with one have small costs that no clock sees.
_LEAST_GAIN = 0.03
# Most that drafts may have lost: plain rounds at once, and a share of those that the reply's tokens would have taken.
_ALLOWED_AT_ONCE, _ALLOWED_SHARE = 0.7, 0.01
# Drafts refused in a row after which the oldest measured costs are forgotten, as they may have been another program's;
# each time doubles them.
_DOUBT_AFTER = 64
# Of the time and the tokens that tell how fast the reply is, after each round.
_MEMORY = 0.9
# Times as long as usual that a forward may take behind a network that drafted.
_PUSHED_OUT = 1.5
# Rounds after which a network has so many tokens to catch up with that its time is not a step's.
_LAGS_AFTER = 2
_NOTHING = Draft()


class WorthwhileNodes(Schedule):
    """Takes as many nodes, in their order, as are expected to gain more tokens than their rows cost.

    A row's time is worth the tokens that the reply makes meanwhile, at the speed that it has lately, and never less
    than plain decoding's. The drafter learns the chances from all of its proposals, verified or not, so nothing is
    spent to learn whether drafts hold; what rows cost is measured as they are used, one row before many. What drafts
    have lost all the same is kept in a ledger, and while that is overdrawn none is verified.

    Args:
        largest: Most nodes of a draft.
        cost: Measurements of earlier replies of the same mode and model, to which this one adds; None for none.
        steps: True for drafters that may run steps of a network, which are told the worth of one.
    """

    #: Most nodes of a draft where nobody says.
    LARGEST = 31

    def __init__(self, largest: int = LARGEST, cost: RoundCost | None = None, steps: bool = True) -> None:
        self._largest = DraftShape(largest)
        self._without_steps = replace(self._largest, step_worth=inf)
        self._of_steps = steps
        self._cost = RoundCost() if cost is None else cost
        self._since_plain = 0
        self._refused = 0
        # Of drafts that take no time, and of those that do.
        self._gained_s = {True: 0.0, False: 0.0}
        self._since_step = _LAGS_AFTER
        self._steps = 0
        self._tokens = 0
        self._lately_s = 0.0
        self._lately_tokens = 0.0

    def shape(self) -> DraftShape:
        """As many as there may be; of a drafter's own steps those that are worth their time."""
        cost = self._cost
        if not self._of_steps or (cost.flat and not cost.measured):
            return self._largest
        if self._measures_plain() or self._overdrawn(free=False):
            return self._without_steps
        # The first row may cost more than those behind it, and without it there is no draft at all.
        one_s, tokens_per_s = cost.forward_s(1), self._tokens_per_s()
        row_s = max(one_s - cost.forward_s(0), cost.forward_s(2) - one_s)
        return replace(
            self._largest,
            step_worth=min(1.0, (cost.step_s + row_s) * tokens_per_s),
            second_worth=tokens_per_s,
            row_worth=row_s * tokens_per_s,
        )

    def choose(self, draft: Draft) -> Draft:
        """The nodes that pay; none while plain decoding has to be measured, or the ledger is overdrawn."""
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
        """As many as there may be; of a drafter's own steps those that are worth their time."""
        if not self._of_steps or not tokens_per_s or not self._cost.measured:
            return self._largest if not self._of_steps else self._without_steps
        return replace(self._largest, step_worth=min(1.0, (self._cost.step_s + row_s) * tokens_per_s))

    def chances(self, draft: Draft) -> Sequence[float]:
        """Those that the drafter learned."""
        self._steps = draft.steps
        return [exp(score) for score in draft.scores]

    def observe(self, record: RoundRecord) -> None:
        """Learn costs, and what the draft has gained or lost; of a forward that others share only a step's cost."""
        size, tokens = record.drafted_rows, len(record.accepted) + 1
        if record.beside:
            self._drafted_s(record.draft_ms / 1e3)
            return
        # A network that drafted pushes the target out of the caches, so a round in which it did is never a plain one.
        plain = not size and not self._steps
        if size or plain or not self._cost.measured:
            self._cost.add_verify(size, record.verify_ms / 1e3, record.waited_ms / 1e3)
        self._since_plain = 0 if plain else self._since_plain + 1
        plain_s = seconds = self._cost.forward_s(0)
        draft_s = self._drafted_s(record.draft_ms / 1e3)
        if size or draft_s:
            # At a width that is known, more time is not the draft's fault, unless a network has drafted and pushed
            # weights out of the caches.
            known_s = self._cost.forward_s(size) if not size or self._cost.knows(size) else inf
            seconds = min(record.verify_ms / 1e3, known_s * (_PUSHED_OUT if draft_s else 1.0))
        seconds += draft_s
        self._tokens += tokens
        self._lately_s = _MEMORY * self._lately_s + seconds
        self._lately_tokens = _MEMORY * self._lately_tokens + tokens
        if size or draft_s:
            self._gained_s[not draft_s] += tokens * plain_s - seconds

    def _drafted_s(self, draft_s: float) -> float:
        """Seconds that a network's draft took; 0 where none drafted."""
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
        """Of the reply lately, and never less than plain decoding's."""
        lately = self._lately_tokens / self._lately_s if self._lately_s else 0.0
        return max(1.0 / self._cost.forward_s(0), lately)
