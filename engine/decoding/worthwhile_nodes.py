"""The schedule for drafts that cost nothing and list the likeliest nodes first: it verifies those that pay."""

from __future__ import annotations

from math import exp

from engine.decoding.round_cost import RoundCost
from engine.decoding.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape

# Rounds without a draft at the start: all others are judged against them.
_FIRST_PLAIN = 2
# Rounds with a draft in a row before plain decoding is measured again.
_REFRESH_AFTER = 64
# Tokens that a draft must be expected to gain beyond its cost: rounds with one have small costs that no clock sees.
_LEAST_GAIN = 0.03
# What drafts may have lost: plain rounds at once, and a share of those that the reply's tokens would have taken.
_ALLOWED_AT_ONCE, _ALLOWED_SHARE = 0.7, 0.01
# Drafts refused in a row after which the oldest measured costs are forgotten, as they may have been another program's;
# each time doubles them.
_DOUBT_AFTER = 64
# Of the time and the tokens that tell how fast the reply is, after each round.
_MEMORY = 0.9
_NOTHING = Draft()


class WorthwhileNodes(Schedule):
    """Takes as many nodes, in their order, as are expected to gain more tokens than their rows cost.

    A row's time is worth the tokens that the reply makes meanwhile, at the speed that it has lately, and never less
    than plain decoding's. The drafter learns the chances from all of its proposals, verified or not, so nothing is
    spent to learn whether drafts hold; what rows cost is measured as they are used, one row before many. What drafts
    have lost all the same is kept in a ledger, and while that is overdrawn none is verified.

    Args:
        largest: Most nodes of a draft.
        cost: What earlier replies of the same mode and model measured, and where this one adds; None for nothing.
    """

    def __init__(self, largest: int = 31, cost: RoundCost | None = None) -> None:
        self._largest = DraftShape(largest)
        self._cost = RoundCost() if cost is None else cost
        self._drafted_in_a_row = 0
        self._refused = 0
        self._gained_s = 0.0
        self._tokens = 0
        self._lately_s = 0.0
        self._lately_tokens = 0.0

    def shape(self) -> DraftShape:
        """As many as there may be: they cost nothing before they are verified."""
        return self._largest

    def choose(self, draft: Draft) -> Draft:
        """The nodes that pay; none while plain decoding has to be measured, or the ledger is overdrawn."""
        if not draft.tokens:
            return draft
        cost = self._cost
        if not cost.flat and cost.plain_rounds() < _FIRST_PLAIN:
            return _NOTHING
        if not cost.measured:
            return draft
        if self._drafted_in_a_row >= _REFRESH_AFTER and not cost.waits:
            return _NOTHING
        plain_s = cost.forward_s(0)
        if self._gained_s < -(_ALLOWED_AT_ONCE + _ALLOWED_SHARE * self._tokens) * plain_s:
            return _NOTHING
        tokens_per_s = max(1.0 / plain_s, self._lately_tokens / self._lately_s if self._lately_s else 0.0)
        expected, best_gain, best = 0.0, _LEAST_GAIN, 0
        most = len(draft) if cost.flat else cost.nodes_to_try
        for count, score in enumerate(draft.scores[:most], 1):
            expected += exp(score)
            gain = expected - (cost.forward_s(count) - plain_s) * tokens_per_s
            if gain > best_gain:
                best_gain, best = gain, count
        self._refused = 0 if best else self._refused + 1
        if self._refused >= _DOUBT_AFTER << cost.doubts:
            self._refused = 0
            cost.doubt()
        return draft.first(best)

    def observe(self, record: RoundRecord) -> None:
        """Learn costs, and what the draft has gained or lost."""
        size, tokens = record.drafted_rows, len(record.accepted) + 1
        self._cost.add_verify(size, record.verify_ms / 1e3, record.waited_ms / 1e3)
        plain_s = seconds = self._cost.forward_s(0)
        if size:
            # Where the width is known, whatever came in between is not the draft's fault.
            known = self._cost.knows(size)
            seconds = self._cost.forward_s(size) if known else record.verify_ms / 1e3
        self._tokens += tokens
        self._lately_s = _MEMORY * self._lately_s + seconds
        self._lately_tokens = _MEMORY * self._lately_tokens + tokens
        if not size:
            self._drafted_in_a_row = 0
            return
        self._drafted_in_a_row += 1
        self._gained_s += tokens * plain_s - seconds
