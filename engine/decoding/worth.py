"""Chance times cost: which nodes of a draft pay for their rows and their time, for one text and in shared forwards.

A node is worth the chance that the target gets to it, and costs what its row adds to the forward and what drafting it
takes. Time is worth the tokens that are made meanwhile at the recent speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import exp, inf
from typing import Protocol

from numpy import diff, interp

from engine.decoding.costs import Costs, Settling
from engine.drafting.chances import Chances, Matched
from engine.drafting.drafter import Drafter
from engine.drafting.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape

# `python -m tests.benchmarks.worth` replays recorded replies. Nine of these numbers were halved and doubled there: the
# mean of no kind of case changed by more than a hundredth.
#
# Rounds without a draft at the start, with which all others are compared. One loses 0.6 % with a head, four lose 1 %
# on chains.
_FIRST_PLAIN = 2
# Rounds in a row that show nothing about plain decoding before it is measured again; the first time, if forwards were
# expected to wait for weights. As many rounds in a row that drafted nothing on account of rows make the costs of rows
# forgotten, as they may have been another program's (tests/engine/decoding/test_worth.py); each time doubles that
# number, at most so often.
_REFRESH_AFTER, _FIRST_AFTER, _DOUBTED_SELDOM = 64, 8, 3
# After so many drafts in a row whose last nodes did not pay, one node more is verified to measure its row again; the
# number doubles each time, at most so often.
_WIDER_AFTER, _WIDER_SELDOM = 12, 2
# Tokens that a draft must gain beyond its cost: rounds with a draft have small costs that no clock sees.
_LEAST_GAIN = 0.03
# Most time that drafts may have lost: plain rounds at once, and a share of the plain time of the reply's tokens.
_ALLOWED_AT_ONCE, _ALLOWED_SHARE = 0.7, 0.01
#: Share of the plain time of the reply's tokens that trying again a draft without chances may lose.
TRIES_SHARE = 0.03
# Share of time and tokens, from which the reply's speed is told, that stays after each round.
_MEMORY = 0.9
# Multiple of its usual time that a forward may take after a network has drafted.
_PUSHED_OUT = 1.5
# Rounds after which a drafter has so many tokens to catch up with that its time is more than a draft's.
_LAGS_AFTER = 2
# Rounds without a draft before a drafter without chances is tried again, after the first failure and at most; each
# failure doubles them. As many drafted rounds as the first pause has make earlier failures forgotten.
_FIRST_PAUSE, _LONGEST_PAUSE = 8, 64
# Rounds that the expected chance of a rank counts for, and those that are left of what was known when a draft is tried
# again; the rate at which rounds fade (a half-life of ten); rounds that other replies' figures count for.
_RANK_WEIGHT, _RANK_MEMORY, _COUNTED_ROUNDS = 1.0, 0.93, 4.0
# Chance that is expected of the likeliest node.
_FIRST_CHANCE = 0.6
# Drafters with steps are told the cost of 1, 2 and so on up to so many rows, and that of each further row.
_PRICED = 8
_NOTHING = Draft()
#: Most nodes of a draft if nobody says otherwise.
LARGEST = 31


def draft_sizes(largest: int) -> tuple[int, ...]:
    """Return the sizes of drafts that are compared: the largest, its half and so on down to 1, ascending."""
    return (*(draft_sizes(largest // 2) if largest > 1 else ()), largest)


class RankChances(Chances):
    """Chances of a draft's nodes by their rank: each power of two of ranks is a kind.

    A draft of b nodes is the b likeliest nodes of a larger one, so a round shows the worth of all smaller sizes too.
    Ranks twice as far on are expected to hold as often as both halves of the way do together.

    Args:
        largest: Most rows of a draft, its probes included.
        drafter: Tells how many tokens rounds had on other replies if that was counted.
    """

    def __init__(self, largest: int, drafter: Drafter) -> None:
        super().__init__(_RANK_WEIGHT, _RANK_MEMORY)
        self.sizes = draft_sizes(largest)
        self._counted: tuple[float, ...] = ()
        if drafter.counted:
            tokens = interp((0, *self.sizes), (0, *drafter.counted), (1.0, *drafter.counted.values()))
            self._counted = tuple((diff(tokens) / diff((0, *self.sizes))).tolist())
            for size, each in zip(self.sizes, self._counted, strict=True):
                self._seen[size] = Matched(_COUNTED_ROUNDS, _COUNTED_ROUNDS * each)
        self._known: list[float] = []

    def of_rows(self) -> list[float]:
        """Return the tokens that each row gains."""
        if not self._known:
            smaller, chance = 0, _FIRST_CHANCE
            for at, size in enumerate(self.sizes):
                chance = self.chance(size, self._counted[at] if self._counted else chance)
                self._known += [chance] * (size - smaller)
                smaller, chance = size, chance**2
        return self._known

    def learn_from(self, record: RoundRecord) -> None:
        """Learn from a round that drafted at least one node."""
        self._known = []
        order = sorted(range(len(record.tokens)), key=lambda node: -record.scores[node] if record.scores else node)
        rank = {node: at for at, node in enumerate(order)}
        smaller = before = 0
        for size in self.sizes:
            if smaller >= record.drafted_rows:
                break
            # A smaller draft has probes for the same share of its rows.
            nodes = size * len(record.tokens) // record.drafted_rows
            held = sum(rank[node] < nodes for node in record.accepted)
            self.learn(size, (held - before) / (size - smaller))
            smaller, before = size, held

    def limit(self, weight: float) -> None:
        """Let what was learned count for no more than so many rounds."""
        self._known = []
        super().limit(weight)


class Worth(Schedule):
    """Takes the nodes that are expected to gain more tokens than their rows and their draft cost.

    A drafter with chances of its own learns them from all of its proposals, verified or not, so that nothing is spent
    to learn whether drafts hold: of each draft the first nodes are taken, as many as pay. Of any other drafter the
    chances of ranks are learned from what was drafted, and the size with the most tokens a second is asked for; while
    no size pays it is tried ever more rarely. The cost of rows is measured as they are used, one row before many.
    Losses by drafts are kept in a ledger, and while that is overdrawn none is verified or tried: so a reply is never
    much slower than plain decoding, and one that has gained by its drafts can afford more tries. A target that waits
    for its weights takes as long for many rows as for one: its drafts may have all the nodes there are.

    Args:
        drafter: The drafter, whose kind decides.
        largest: Most rows of a draft.
        cost: Measurements of earlier replies of the same mode and model, to which this reply adds; None for none.
    """

    def __init__(self, drafter: Drafter, largest: int = LARGEST, cost: Costs | None = None) -> None:
        self._largest = DraftShape(largest)
        self._ranks = None if drafter.gives_chances else RankChances(largest, drafter)
        self._of_steps = bool(drafter.hidden_layers or drafter.members)
        self._cost = Costs() if cost is None else cost
        self._settling = Settling()
        self._since_plain = 0
        self._refused = 0
        self._cut = self._wider = 0
        # of drafts that are known to take no time, and of all others
        self._gained_s = {True: 0.0, False: 0.0}
        # Of a draft that the ledger kept from being verified: its first token, the tokens that are expected if that one
        # comes true, and the cost of its rows in tokens
        self._kept_back: tuple[int, float, float] | None = None
        self._steps = 0
        self._since_draft = _LAGS_AFTER
        self._first_draft = True
        self._drafted = 0
        self._failures = 0
        self._trying = False
        self._try_s = 0.0
        self._tokens = 0
        self._lately_s = 0.0
        self._lately_tokens = 0.0

    def shape(self) -> DraftShape:
        """Return the largest shape that may pay, and what time and rows are worth to drafters with steps."""
        if self._ranks is not None:
            return self._priced(self._cost.forward_s(1) - self._cost.forward_s(0), self._choose())
        cost = self._cost
        if not self._of_steps or (cost.flat and not cost.known):
            return self._largest
        if self._measures_plain() or self._overdrawn(free=False, next_s=cost.step_s):
            return replace(self._largest, step_worth=inf)
        return self._priced((cost.forward_s(3) - cost.forward_s(0)) / 3, self._largest.rows)

    def choose(self, draft: Draft) -> Draft:
        """Return the nodes that pay; none while plain decoding must be measured or the ledger is overdrawn."""
        self._steps = draft.steps
        cost = self._cost
        # A network that is not asked for long, since rows look dear, would leave them unmeasured for ever.
        if self._ranks is not None or (cost.flat and not cost.known) or not (draft.tokens or self._of_steps):
            return draft
        if not cost.known or self._measures_plain():
            return _NOTHING
        plain_s, tokens_per_s, probes = cost.forward_s(0), self._tokens_per_s(), draft.probes.nodes
        expected, best_gain, best, best_cost = 0.0, _LEAST_GAIN, 0, 0.0
        most = len(draft) if cost.flat else cost.nodes_to_try
        for count, score in enumerate(draft.scores[:most], 1):
            expected += exp(score)
            rows = count if not probes else count + sum(node < count for node in probes)
            rows_cost = (cost.forward_s(rows) - plain_s) * tokens_per_s
            if expected - rows_cost > best_gain:
                best_gain, best, best_cost = expected - rows_cost, count, rows_cost
        self._refused = 0 if best else self._refused + 1
        if self._refused >= _REFRESH_AFTER << min(cost.doubts, _DOUBTED_SELDOM):
            self._refused = 0
            cost.doubt()
        self._cut = self._cut + 1 if best and best < min(len(draft), most) else 0
        if self._cut >= _WIDER_AFTER << self._wider:
            # What a row more costs was measured long ago, maybe beside other programs.
            self._cut, self._wider, best = 0, min(self._wider + 1, _WIDER_SELDOM), best + 1
        if best and self._overdrawn(free=True):
            self._kept_back = draft.tokens[0], (best_gain + best_cost) / exp(draft.scores[0]), best_cost
            return _NOTHING
        return draft.first(best)

    def shape_beside(self, tokens_per_s: float, row_s: float) -> DraftShape:
        """Return the size that gains most beyond what its rows and its draft cost all replies; seldom a retry."""
        if self._ranks is None:
            if not self._of_steps or not tokens_per_s or not self._cost.measured:
                return self._largest if not self._of_steps else replace(self._largest, step_worth=inf)
            return replace(
                self._largest, step_worth=min(1.0, self._cost.step_s * tokens_per_s), row_worth=row_s * tokens_per_s
            )
        chances, gains = self._ranks.of_rows(), {}
        for size in self._ranks.sizes:
            gains[size] = sum(chances[:size]) - tokens_per_s * (row_s * size + self._cost.draft_s(size))
        best = max(gains, key=gains.__getitem__)
        tries = gains[best] > 0.0 or self._since_draft >= _LONGEST_PAUSE
        return DraftShape(best if tries else 0)

    def chances(self, draft: Draft) -> Sequence[float]:
        """Return the chance of each node, the drafter's own or its rank's."""
        self._steps = draft.steps
        if self._ranks is None:
            return [exp(score) for score in draft.scores]
        return list(accumulate(self._ranks.of_rows()[: len(draft)], min))

    def observe(self, record: RoundRecord) -> None:
        """Learn costs and what the draft gained or lost; after a shared forward only chances and the draft's cost."""
        size, tokens, verify_s = record.drafted_rows, len(record.accepted) + 1, record.verify_ms / 1e3
        cost, settled = self._cost, self._settling(record)
        self._tokens += tokens
        draft_s = self._drafted_s(record)
        if self._ranks is not None and record.tokens:
            if self._trying:
                self._ranks.limit(_RANK_WEIGHT)
            self._ranks.learn_from(record)
        if record.beside:
            return
        # A network that drafted pushes the target out of the caches, so its round is never a plain one. The first
        # rounds of a reply are hardly settled, but nothing else is known: later ones replace them.
        plain = not size and not self._steps
        if size or not cost.measured or (plain and (settled or cost.plain_rounds() < _FIRST_PLAIN)):
            cost.add_forward(size, verify_s, record.waited_ms / 1e3)
        self._since_plain = 0 if plain else self._since_plain + 1
        plain_s = seconds = cost.forward_s(0)
        if size or draft_s:
            # At a known width more time is not the draft's fault, unless a network has drafted and pushed weights
            # out of the caches.
            known_s = cost.forward_s(size) if not size or cost.knows(size) else inf
            seconds = min(verify_s, known_s * (_PUSHED_OUT if draft_s else 1.0)) + draft_s
            lost_s = seconds - tokens * plain_s
            self._gained_s[self._ranks is None and not draft_s] -= lost_s
            if record.tokens:
                self._trying, self._try_s = False, max(lost_s, 0.0)
        if self._kept_back:  # the token that came tells what the draft would have gained
            token, held, rows_cost = self._kept_back
            self._kept_back = None
            self._gained_s[True] += (held * (record.emitted[:1] == (token,)) - rows_cost) * plain_s
        self._lately_s = _MEMORY * self._lately_s + seconds
        self._lately_tokens = _MEMORY * self._lately_tokens + tokens

    def _drafted_s(self, record: RoundRecord) -> float:
        """Return the seconds of a draft that takes time; what it spent on reading the prompt is spent anyway."""
        draft_s = record.draft_ms / 1e3
        if not (self._steps if self._ranks is None else record.drafted_rows):
            self._since_draft += 1
            return 0.0
        lags, self._since_draft = self._since_draft >= _LAGS_AFTER, 0
        self._drafted += 1
        first, self._first_draft = self._first_draft, False
        if self._ranks is not None:
            if record.tokens and not lags:
                self._cost.add_draft(record.drafted_rows, draft_s)
            return 0.0 if first else draft_s
        if lags:
            return draft_s
        self._cost.add_step(draft_s / self._steps)
        return min(draft_s, 2 * self._steps * self._cost.step_s)

    def _choose(self) -> int:
        """Return the size with the most tokens a second, or 0 if none pays now."""
        cost, ranks = self._cost, self._ranks
        assert ranks is not None
        if not cost.known:
            return ranks.sizes[-1] if cost.flat else 0
        waits = cost.flat and cost.waits
        most = ranks.sizes[-1] if cost.flat else cost.nodes_to_try
        chances = ranks.of_rows()
        rates = {
            size: (1.0 + sum(chances[:size])) / (cost.forward_s(size) + cost.draft_s(size))
            for size in (ranks.sizes[-1:] if waits else ranks.sizes)
            if size <= most
        }
        best = max(rates, key=rates.__getitem__)
        if rates[best] * cost.forward_s(0) >= 1.0:
            if self._drafted >= _FIRST_PAUSE:
                self._failures = 0
            return 0 if self._measures_plain() else best
        if self._measures_plain():
            return 0
        if self._drafted:
            self._drafted = 0
            self._failures += 1
        pause = min(_FIRST_PAUSE << max(self._failures - 1, 0), _LONGEST_PAUSE)
        if not self._trying:
            allowed_s = TRIES_SHARE * self._tokens * cost.forward_s(0)
            self._trying = self._since_draft >= pause and self._try_s - self._gained_s[False] <= allowed_s
        return best if self._trying else 0

    def _measures_plain(self) -> bool:
        cost = self._cost
        if not cost.flat and cost.plain_rounds() < _FIRST_PLAIN:
            return True
        after = _REFRESH_AFTER if cost.knows_plain else _FIRST_AFTER
        return self._since_plain >= after and not cost.waits

    def _overdrawn(self, free: bool, next_s: float = 0.0) -> bool:
        """Return whether drafts lost more time than is allowed, if the next one loses ``next_s`` seconds."""
        allowed = _ALLOWED_AT_ONCE + _ALLOWED_SHARE * self._tokens
        return next_s - self._gained_s[free] > allowed * self._cost.forward_s(0)

    def _priced(self, row_s: float, rows: int) -> DraftShape:
        """Return a shape with what steps, time and rows are worth; nothing before any round was measured."""
        if not self._cost.known:
            return DraftShape(rows)
        tokens_per_s = self._tokens_per_s()
        plain_s, forward_s = self._cost.forward_s(0), self._cost.forward_s
        return DraftShape(
            rows,
            step_worth=min(1.0, self._cost.step_s * tokens_per_s),
            second_worth=tokens_per_s,
            row_worth=max(0.0, row_s) * tokens_per_s,
            row_worths=tuple(
                [max(0.0, forward_s(size) - plain_s) * tokens_per_s for size in range(1, min(rows, _PRICED) + 1)]
            ),
        )

    def _tokens_per_s(self) -> float:
        """Return the reply's recent tokens per second, at least those of plain decoding."""
        lately = self._lately_tokens / self._lately_s if self._lately_s else 0.0
        return max(1.0 / self._cost.forward_s(0), lately)


class Asked(Protocol):
    """Rows that one reply asks of a shared forward: `engine.decoding.sequence.AskedRows`."""

    draft: Draft | None
    chances: Sequence[float]

    @property
    def rows(self) -> int:
        """Number of rows."""

    def cut(self, count: int) -> None:
        """Keep the first nodes of the draft."""


class SharedForwards:
    """Costs of rows in forwards that replies share, and the choice of nodes that are worth them.

    Nodes are taken in the order of worth by cost, as many as give the most tokens per second together.

    Attributes:
        tokens_per_s: Tokens per second expected of the last forward that was divided.
        row_s: Seconds that each further row adds to it.
    """

    def __init__(self) -> None:
        self.replies = 0  # number of open replies; forwards are shared only if there are several
        self.tokens_per_s = self.row_s = 0.0
        self._cost = Costs(alone=False)

    @property
    def shares(self) -> bool:
        """True if several replies share forwards."""
        return self.replies > 1

    def observe(self, rows: int, seconds: float, waited_s: float) -> None:
        """Take in the time of a forward over so many rows; for ``waited_s`` of it the forward waited for weights."""
        self._cost.add_forward(rows - 1, seconds, waited_s)

    def divide(self, asked: Sequence[Asked]) -> None:
        """Cut the drafts of a forward to the nodes that are worth their rows; drafts without chances stay whole."""
        if not any(one.chances for one in asked):
            return
        offers: list[tuple[float, float, float, int]] = []
        rows, tokens = 0.0, 0.0
        for at, one in enumerate(asked):
            if one.draft is None or not one.chances:
                rows += one.rows
                tokens += 0 if one.draft is None else 1
                continue
            rows, tokens = rows + 1, tokens + 1
            cost = (one.rows - 1) / len(one.draft)  # a node's own row, and its part of the probes'
            offers += [(-chance / cost, chance, cost, at) for chance in one.chances]
        best, best_rows = (tokens / self.seconds(rows), rows) if self._cost.measured else (0.0, rows)
        counts, taken = [0] * len(asked), [0] * len(asked)
        if self._cost.measured:
            for _, chance, cost, at in sorted(offers, key=lambda offer: offer[0]):
                rows, tokens = rows + cost, tokens + chance
                taken[at] += 1
                rate = tokens / self.seconds(rows)
                if rate > best:
                    best, best_rows, counts = rate, rows, taken[:]
        self.tokens_per_s, self.row_s = best, self.seconds(best_rows + 1) - self.seconds(best_rows)
        for one, count in zip(asked, counts, strict=True):
            if one.draft is not None and one.chances and count < len(one.draft):
                one.cut(count)

    def seconds(self, rows: float) -> float:
        """Return the seconds of a forward over so many rows."""
        return self._cost.forward_s(rows - 1)
