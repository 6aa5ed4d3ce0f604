"""A committee: several drafters guess, and what they say together goes to the target.

Source: Minions (Wang et al. 2024), section 3.2. Two ways: the paper's (`MajorityCommittee`), where the path of the
majority is verified, and ours (`MergedCommittee`), where the merged tree is, with each node's chance.

The length of the majority's path is settled by section 3.3 and equation 4: the best length s has the least
t_LLM(s) / vl(s). Weights of members follow section 3.2 too, after the weighted majority algorithm (Littlestone and
Warmuth 1994). Merged trees are those of its figure 5, there for chains.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, log
from statistics import median_low

import torch
from torch import Tensor

from engine.drafting.chances import Chances
from engine.drafting.drafter import Drafter
from engine.drafting.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import ROOT, Draft, DraftShape, Probes, followed

# Number of classes for shares of probability, of equal width, and number of depths that are told apart.
_CLASSES, _DEPTHS = 10, 4
# Weight of the first assumption about a class of guesses, in observations, and the rate at which observations fade.
_GUESS_WEIGHT, _GUESS_MEMORY = 8.0, 0.99
# The same for the ratio of recent hits to expected hits: a drafter may or may not know the kind of text.
_LATELY_WEIGHT, _LATELY_MEMORY = 1.0, 0.9
# Chances of a guess without a score, by the number of likelier siblings.
_BY_RANK = (0.3, 0.1, 0.05, 0.03)
_LEAST_CHANCE = 1e-4
# A weight is never less than this share of the largest, so that a member which does well again is heard again.
_LEAST_WEIGHT = 1e-3
#: Kinds of members that run no network of their own.
LOOKUP, PROMPT_TOKENS = "lookup", "prompt-tokens"
# A guess of a free member that is at least this likely is verified without asking another member.
_LIKELY = 0.5
# Drafts before a member is judged by its worth, and the rate at which earlier drafts fade.
_TRIALS, _MEMORY = 4, 0.9
# Tokens for which a member that does not pay is left alone; each further failure doubles them up to the most.
_PAUSE, _LONGEST_PAUSE = 64, 1024
# Drafts whose times are remembered, and records kept for each length.
_KEPT, _RECORDS = 7, 64
# Limits of a node's chance: it is never lower than the first and never certain.
_LEAST, _MOST = 1e-6, 0.999
_NOTHING = Draft()


class GuessChances(Chances):
    """Chances of one drafter's guesses where the token before them holds, by depth and by the share that it gives them.

    If a draft has no scores, the rank among siblings stands for the share. All chances are multiplied by the ratio
    of recent hits to expected hits, so that a drafter that is wrong throughout a text is ignored after a few
    rounds.
    """

    def __init__(self) -> None:
        super().__init__(_GUESS_WEIGHT, _GUESS_MEMORY)
        # True if the drafter's scores are observed chances already, so that there is nothing to learn
        self.known = False
        self._expected = self._held = 0.0  # lately

    def of(self, draft: Draft) -> list[float]:
        """Return the (N,) chances of the nodes of a draft."""
        if self.known and draft.scores:
            return [share for _, share in _shares(draft)]
        lately = (_LATELY_WEIGHT + self._held) / (_LATELY_WEIGHT + self._expected)
        usual = (self.chance(*guess) for guess in _shares(draft))
        return [min(1.0, max(_LEAST_CHANCE, lately * each)) for each in usual]

    def learn_from(self, draft: Draft, tokens: Sequence[int]) -> None:
        """Learn which nodes of a draft held, given the tokens that came after its root."""
        if self.known and draft.scores:
            return
        guesses = list(_shares(draft))
        at = ROOT
        for token in tokens:
            children = [node for node, parent in enumerate(draft.parents) if parent == at]
            if not children:
                return
            following = None
            self._expected *= _LATELY_MEMORY
            self._held *= _LATELY_MEMORY
            for node in children:
                held = draft.tokens[node] == token
                self._expected, self._held = self._expected + self.chance(*guesses[node]), self._held + held
                self.learn(guesses[node][0], held)
                following = node if held else following
            if following is None:
                return
            at = following


def _shares(draft: Draft) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the class of each node, and the share that its drafter gives it after its parent."""
    depths: list[int] = []
    children: dict[int, int] = {}
    for node, parent in enumerate(draft.parents):
        depths.append(1 + (0 if parent == ROOT else depths[parent]))
        depth = min(depths[-1], _DEPTHS)
        rank = children.get(parent, 0)
        children[parent] = rank + 1
        if not draft.scores:
            rank = min(rank, len(_BY_RANK) - 1)
            yield (depth, -1 - rank), _BY_RANK[rank]
            continue
        share = exp(min(0.0, draft.scores[node] - (0.0 if parent == ROOT else draft.scores[parent])))
        yield (depth, min(int(share * _CLASSES), _CLASSES - 1)), share


@dataclass(frozen=True)
class Rewards:
    """Thresholds of acceptance, and the factors by which weights change beyond them."""

    reward_threshold: float = 0.6  # a member whose average acceptance rate is above it is rewarded
    punish_threshold: float = 0.3  # one whose rate is below it is punished
    reward_factor: float = 1.1  # multiplies the weight of a member that is rewarded
    punish_factor: float = 0.9  # multiplies the weight of one that is punished


_REWARDS = Rewards()


class MemberWeights:
    """Weights of some members, and the average acceptance rate (ACR) of each, equation 1.

    The largest weight is 1: only their relations count in a vote, and products of factors would have no end.

    Args:
        members: Number of members.
        rewards: Thresholds and factors.
    """

    def __init__(self, members: int, rewards: Rewards) -> None:
        self.weights = (1.0,) * members  # (m,) weight of each member
        self._rewards = rewards
        self._rates = [0.0] * members
        self._judged = [0] * members

    def rate(self, member: int) -> float | None:
        """Return a member's average acceptance rate, or None before it was judged."""
        return self._rates[member] / self._judged[member] if self._judged[member] else None

    def judge(self, rates: Sequence[tuple[int, float]]) -> None:
        """Take in what a verdict shows.

        Args:
            rates: Members that the verdict judges, and the share of each one's output that the target accepted.
        """
        weights, rewards = list(self.weights), self._rewards
        for member, rate in rates:
            self._rates[member] += rate
            self._judged[member] += 1
            average = self._rates[member] / self._judged[member]
            if average > rewards.reward_threshold:
                weights[member] *= rewards.reward_factor
            elif average < rewards.punish_threshold:
                weights[member] *= rewards.punish_factor
        most = max(weights, default=1.0)
        self.weights = tuple(max(weight / most, _LEAST_WEIGHT) for weight in weights)


class MergedTree:
    """A tree of drafts.

    Args:
        drafts: (m,) one for each member, in their order; an empty one of a member that guesses nothing.
    """

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self.tokens: list[int] = []  # (N,) token ids
        # (N,) index of each node's parent, -1 for the root; parents come before their children
        self.parents: list[int] = []
        self.sources: list[list[int]] = []  # (N,) the members that guessed each node, ascending
        # (m,) for each member, the node of the tree that each node of its draft has become
        self.places: list[list[int]] = []
        self._child: dict[tuple[int, int], int] = {}
        for member, draft in enumerate(drafts):
            places: list[int] = []
            for token, parent in zip(draft.tokens, draft.parents, strict=True):
                key = (ROOT if parent == ROOT else places[parent], token)
                place = self._child.get(key)
                if place is None:
                    place = self._child[key] = len(self.tokens)
                    self.tokens.append(token)
                    self.parents.append(key[0])
                    self.sources.append([])
                if not self.sources[place] or self.sources[place][-1] != member:
                    self.sources[place].append(member)
                places.append(place)
            self.places.append(places)

    def __len__(self) -> int:
        return len(self.tokens)

    def path(self, tokens: Sequence[int]) -> list[int]:
        """Return the nodes that these tokens pass from the root on, as far as the tree has them."""
        return followed(self._child, tokens)

    def majority(self, weights: Sequence[float]) -> tuple[list[int], int | None]:
        """Return the majority-approved output: from the root down to a leaf, always the child that weighs most.

        A node's weight is the sum of the weights of its members. If children are equal, the one of the earlier
        member wins.

        Args:
            weights: (m,) of the members.

        Returns:
            Its nodes, and the member whose chain that is (voted_SSM; if several agree, the one that weighs most);
            no nodes and None if nobody guessed anything.
        """
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(node)
        found: list[int] = []
        at = ROOT
        while at in children:
            at = max(children[at], key=lambda node: sum(weights[member] for member in self.sources[node]))
            found.append(at)
        if not found:
            return found, None
        return found, max(self.sources[at], key=lambda member: weights[member])


@dataclass(frozen=True)
class Member:
    """A drafter that a mode may use."""

    name: str  # the user's name for the draft
    kind: str  # kind of draft, as modes name it, or `LOOKUP`
    drafter: Drafter

    @property
    def takes_time(self) -> bool:
        """True if the drafter runs a network of its own."""
        return self.kind not in (LOOKUP, PROMPT_TOKENS)


@dataclass
class _Standing:
    """The worth of asking a member."""

    chances: GuessChances = field(default_factory=GuessChances)
    draft_s: float = 0.0  # of a draft; 0 before one was measured
    worth: float = 0.0  # tokens of a draft that no cheaper member had guessed, less their rows
    trials: int = 0
    failures: int = 0
    alone: int = 0  # tokens for which it is still left alone
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def took(self, seconds: float) -> None:
        """Note how long a draft took."""
        self._seconds.append(seconds)
        self.draft_s = median_low(self._seconds)

    def tried(self, worth: float) -> None:
        """Note a draft that was worth this many tokens."""
        self.worth = worth if not self.trials else _MEMORY * self.worth + (1 - _MEMORY) * worth
        self.trials += 1

    def leave(self) -> None:
        """Leave the member alone for some time because it did not pay, and judge it anew then."""
        self.alone = min(_PAUSE << self.failures, _LONGEST_PAUSE)
        self.failures += 1
        self.trials = 0


class CommitteeMemory:
    """Experience with a committee's members from replies of a model, for its next ones."""

    def __init__(self) -> None:
        # Length of the next reply's first drafts if `LengthSelector` found one that costs least
        self.length: int | None = None
        # Records of `LengthSelector`: seconds and tokens of a round by the length of its draft
        self.lengths: dict[int, deque[tuple[float, int]]] = {}
        self._standings: dict[str, _Standing] = {}
        self._votes: dict[tuple[tuple[str, ...], Rewards], MemberWeights] = {}

    def standings(self, members: Sequence[Member]) -> list[_Standing]:
        """Return the standing of each member."""
        found = [self._standings.setdefault(member.name, _Standing()) for member in members]
        for member, standing in zip(members, found, strict=True):
            standing.chances.known = member.drafter.gives_chances
        return found

    def votes(self, members: Sequence[Member], rewards: Rewards) -> MemberWeights:
        """Return the members' weights under these thresholds and factors."""
        key = (tuple(member.name for member in members), rewards)
        return self._votes.setdefault(key, MemberWeights(len(members), rewards))


class Committee(Drafter):
    """Drafters whose guesses are brought together.

    Each member observes what is emitted and gets the hidden rows that it wants, whether or not it is asked. A
    member that fails is left behind by its own `FallbackDrafter` and says nothing from then on.

    Args:
        members: At least one.
        memory: Experience from earlier replies; it learns from this one.
        rewards: Thresholds and factors of their weights.

    Attributes:
        weights: (m,) of the members' votes.
    """

    def __init__(self, members: Sequence[Member], memory: CommitteeMemory, rewards: Rewards = _REWARDS) -> None:
        self.members = tuple(member.name for member in members)
        slow = [member.drafter.apart for member in members if member.takes_time]
        self.apart = bool(slow) and all(slow)
        self.hidden_layers = tuple(sorted({layer for each in members for layer in each.drafter.hidden_layers}))
        self._members = tuple(members)
        self._memory = memory
        self._votes = memory.votes(members, rewards)
        self._standings = memory.standings(members)
        self._drafts: list[Draft] = []  # of the members, in the last round that had any
        self._voted: int | None = None
        # Hidden rows that members have not taken, and how many of the next ones they do not need.
        self._rows: list[list[Tensor]] = [[] for _ in members]
        self._unneeded = [0] * len(members)

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply for all members; return the first position whose rows any of them needs."""
        begins = [member.drafter.reset(prompt) for member in self._members]
        least = min(begins)
        self._unneeded = [begin - least for begin in begins]
        self._rows = [[] for _ in begins]
        self._drafts, self._voted = [], None
        self.wants_hidden = any(map(self._listens, range(len(self._members))))
        return least

    def read_prompt(self, end: int) -> None:
        """Let each member read the prompt up to a position."""
        for member in self._members:
            member.drafter.read_prompt(end)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Judge the members by what was emitted, and pass it on to each of them with its own rows."""
        if self._drafts:
            self._judge(tokens)
        if hidden is not None:
            self._divide(hidden)
        for at, member in enumerate(self._members):
            drafter, rows = member.drafter, None
            if self._rows[at] and self._listens(at):
                rows = self._rows[at][0] if len(self._rows[at]) == 1 else torch.cat(self._rows[at])
                self._rows[at] = []
            drafter.observe(tokens, rows, probes if member.kind == PROMPT_TOKENS else None)

    def draft_ahead(self) -> bool:
        """Take a step ahead with the first member that has one to take."""
        return any(member.drafter.draft_ahead() for member in self._members)

    @property
    def weights(self) -> tuple[float, ...]:  # type: ignore[override]
        """(m,) weights of the members' votes, in their order."""
        return self._votes.weights

    def rate(self, member: int) -> float | None:
        """Return the average acceptance rate of a member, or None before it was judged."""
        return self._votes.rate(member)

    @abstractmethod
    def _judge(self, tokens: Sequence[int]) -> None:
        """Learn from the tokens that came after the last drafts' root."""

    def _listens(self, at: int) -> bool:
        """Return whether a member wants its hidden rows now."""
        drafter = self._members[at].drafter
        return bool(drafter.hidden_layers) and drafter.wants_hidden

    def _divide(self, hidden: Tensor) -> None:
        """Keep the rows for the members that want any, each with its own columns."""
        width = hidden.shape[1] // len(self.hidden_layers)
        for at, member in enumerate(self._members):
            layers = member.drafter.hidden_layers
            if not layers:
                continue
            unneeded = min(self._unneeded[at], len(hidden))
            self._unneeded[at] -= unneeded
            own = hidden[unneeded:] if unneeded else hidden
            if layers != self.hidden_layers:
                first = [self.hidden_layers.index(layer) * width for layer in layers]
                own = torch.cat([own[:, column : column + width] for column in first], 1)
            if len(own):
                self._rows[at].append(own)


class MajorityCommittee(Committee):
    """The paper's committee: each member gives a chain, and the majority's path is the draft.

    After verification the acceptance rate of the voted member is averaged, and its weight rewarded or punished.
    """

    # True if each verdict judges all members by what they would have had accepted; else only the voted one
    judge_all = False

    def length_selector(self, largest: int) -> LengthSelector:
        """Return the paper's schedule for its drafts, which goes on where earlier replies ended."""
        return LengthSelector(largest, self._memory)

    def propose(self, shape: DraftShape) -> Draft:
        """Draft the majority's path in the merged tree of the members' chains."""
        self._drafts, self._voted = [], None
        if shape.rows < 1:
            return _NOTHING
        drafts = [member.drafter.propose(shape) for member in self._members]
        tree = MergedTree(drafts)
        path, self._voted = tree.majority(self.weights)
        self._drafts = drafts
        chain = Draft(
            tuple(tree.tokens[node] for node in path),
            tuple(range(ROOT, len(path) - 1)),
            sources=tuple(tuple(tree.sources[node]) for node in path),
        )
        return _with_probes(chain, {node: at for at, node in enumerate(path)}, tree, drafts)

    def _judge(self, tokens: Sequence[int]) -> None:
        judged = range(len(self._drafts)) if self.judge_all else (self._voted,)
        rates = []
        for member in judged:
            if member is not None and self._drafts[member].tokens:
                held, missed = _outcome(self._drafts[member], tokens)
                # If no guess was seen to miss, the rest of the chain was not verified.
                rates.append((member, held / len(self._drafts[member]) if missed else 1.0))
        self._votes.judge(rates)


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

    Args:
        largest: Longest draft.
        memory: Experience from earlier replies, whose records and last length this one continues.
        length: Length of the first drafts if no earlier reply had any.
        decision_threshold: Records of a length before it is judged.
        s_reward: Tokens that a falling slope adds.
        s_punish: Tokens that a rising slope takes away.
    """

    def __init__(
        self,
        largest: int,
        memory: CommitteeMemory,
        length: int = 4,
        decision_threshold: int = 8,
        s_reward: int = 1,
        s_punish: int = 1,
    ) -> None:
        self._memory = memory
        self.length = min(memory.length or length, largest)  # length of the next draft
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
        records = self._memory.lengths.setdefault(self.length, deque(maxlen=_RECORDS))
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
        self._memory.length = self.length

    def _slope(self) -> float:
        """Return a number with the sign of the slope of t / vl over lengths, each weighted by its records."""
        # The curve of t / vl has a bottom, and is a line over a few lengths only: over fewer, the shorter they are.
        reach = (self.length + 1) // 2
        near = [each for each in self._memory.lengths.items() if abs(each[0] - self.length) <= reach]
        if len(near) == 1:
            return -1.0 if self.length < self._largest else 1.0
        middle = sum(length * len(records) for length, records in near) / sum(len(records) for _, records in near)
        slope = 0.0
        for length, records in near:
            seconds, verified = map(sum, zip(*records, strict=True))
            slope += len(records) * (length - middle) * seconds / verified
        return slope


class MergedCommittee(Committee):
    """A committee that verifies the merged tree, each node with the chance that the target gets there.

    A node holds after its parent if any of its members is right, and each member is right as often as its guesses
    of that kind have been. Nodes are ordered by these chances, and nodes of equal chance by the weights of their
    members, so that a schedule which takes the first nodes takes the best. (Weighting the members in the chances
    gave a tenth fewer tokens.) A member that takes time is asked while the tokens that it adds to the guesses of
    cheaper members are worth that time; prompt tokens are asked while they are worth their rows.
    """

    gives_chances = True

    _accepted = 0.0  # tokens of a draft lately
    _most = 1  # tokens that the next call of `observe` may bring

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Judge the members, and shorten the pause of those that were left alone by the tokens that came."""
        for standing in self._standings:
            standing.alone = max(0, standing.alone - len(tokens))
        if self._drafts:
            self._accepted = _MEMORY * self._accepted + (1 - _MEMORY) * (len(tokens) - 1)
        super().observe(tokens, hidden, probes)

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply, whose first token comes alone."""
        self._most = 1
        return super().reset(prompt)

    def propose(self, shape: DraftShape) -> Draft:
        """Draft the likeliest nodes of the merged tree, in the order of their chances."""
        draft = self._proposed(shape)
        self._most = len(draft) + 1
        # Rows are decided a round ahead, so that those for a member that is not asked stay where they are.
        self.wants_hidden = any(map(self._listens, range(len(self._members))))
        return draft

    def _listens(self, at: int) -> bool:
        """Return whether a member wants its rows and may be asked in the next round."""
        return self._standings[at].alone <= self._most and super()._listens(at)

    def _proposed(self, shape: DraftShape) -> Draft:
        self._drafts, self._voted = [], None
        if shape.rows < 1:
            return _NOTHING
        drafts = [_NOTHING] * len(self._members)
        chances: list[list[float]] = [[] for _ in drafts]
        steps, likeliest = 0, 0.0
        for at in self._in_turn():
            member, standing = self._members[at], self._standings[at]
            own = self._asked(at, shape, likeliest)
            if own is None:
                continue
            begun = time.perf_counter()
            draft = drafts[at] = member.drafter.propose(own)
            if member.takes_time and (draft.tokens or draft.steps):
                steps += max(1, draft.steps)
                standing.took(time.perf_counter() - begun)
            if draft.tokens:
                chances[at] = standing.chances.of(draft)
                likeliest = max(likeliest, chances[at][0])
        guessed = [at for at, draft in enumerate(drafts) if draft.tokens or len(draft.probes)]
        if not guessed:
            return _NOTHING if not steps else Draft(steps=steps)
        self._drafts = drafts
        if len(guessed) == 1 and not len(drafts[guessed[0]].probes):
            (at,) = guessed
            draft = _ordered(drafts[at], chances[at], shape.rows)
            draft = replace(draft, steps=steps, sources=((at,),) * len(draft))
        else:
            draft = replace(self._merged(drafts, chances, shape.rows), steps=steps)
        self._weigh(draft, guessed, shape)
        return draft

    def _in_turn(self) -> list[int]:
        """Return the members' indices, the cheapest first."""
        return sorted(
            range(len(self._members)),
            key=lambda at: (self._members[at].takes_time, self._standings[at].draft_s),
        )

    def _asked(self, at: int, shape: DraftShape, likeliest: float) -> DraftShape | None:
        """Return the shape that a member is asked for, or None if it is left alone in this round."""
        member, standing = self._members[at], self._standings[at]
        if member.kind == LOOKUP:
            return shape
        if shape.step_worth == inf:
            return None
        if member.kind == PROMPT_TOKENS:
            # A row for prompt tokens is one less for the nodes of other members.
            row_worth = max(shape.row_worth, self._accepted / shape.rows)
            return None if standing.alone else _rows_that_pay(member.drafter, shape, row_worth)
        if not shape.second_worth:
            return shape
        if likeliest >= _LIKELY:
            return None
        if member.drafter.gives_chances:  # it judges its steps by itself
            step_worth = min(1.0, standing.draft_s * shape.second_worth + shape.row_worth)
            return replace(shape, step_worth=step_worth)
        if standing.alone:
            return None
        if standing.trials >= _TRIALS and standing.worth < standing.draft_s * shape.second_worth:
            standing.leave()
            return None
        return shape

    def _weigh(self, draft: Draft, guessed: Sequence[int], shape: DraftShape) -> None:
        """Note the tokens that each asked member added to the guesses of cheaper ones."""
        for at in guessed:
            member, standing = self._members[at], self._standings[at]
            if member.kind == LOOKUP:
                continue
            own = (score for score, sources in zip(draft.scores, draft.sources, strict=True) if sources == (at,))
            worth = sum(max(0.0, exp(score) - shape.row_worth) for score in own)
            if member.kind != PROMPT_TOKENS:
                standing.tried(worth)
            elif draft.tokens:
                standing.tried(worth - shape.row_worth * len(draft.probes))
                if standing.trials >= _TRIALS and standing.worth < 0.0:
                    standing.leave()

    def _merged(self, drafts: Sequence[Draft], chances: Sequence[Sequence[float]], rows: int) -> Draft:
        tree, weights = MergedTree(drafts), self.weights
        wrong = [0.0] * len(tree)  # logarithms of the chances that every member is wrong
        for places, each in zip(tree.places, chances, strict=True):
            for place, chance in zip(places, each, strict=True):
                wrong[place] += log(1.0 - min(chance, _MOST))
        scores: list[float] = []
        for parent, missed in zip(tree.parents, wrong, strict=True):
            above = 0.0 if parent == ROOT else scores[parent]
            scores.append(above + log(max(_LEAST, 1.0 - exp(missed))))
        votes = [sum(weights[member] for member in sources) for sources in tree.sources]
        room = rows - sum(len(draft.probes) for draft in drafts)
        # A node never comes before its parent, which is likelier.
        order = sorted(range(len(tree)), key=lambda node: (-scores[node], -votes[node]))[: max(0, room)]
        place_of = {node: at for at, node in enumerate(order)}
        draft = Draft(
            tuple(tree.tokens[node] for node in order),
            tuple(place_of.get(tree.parents[node], ROOT) for node in order),
            tuple(scores[node] for node in order),
            sources=tuple(tuple(tree.sources[node]) for node in order),
        )
        return _with_probes(draft, place_of, tree, drafts)

    def _judge(self, tokens: Sequence[int]) -> None:
        rates = []
        for at, draft in enumerate(self._drafts):
            if draft.tokens:
                self._standings[at].chances.learn_from(draft, tokens)
                held, missed = _outcome(draft, tokens)
                rates.append((at, held / (held + missed) if held + missed else 0.0))
        self._votes.judge(rates)


def _ordered(draft: Draft, chances: Sequence[float], rows: int) -> Draft:
    """Return one member's draft with its best nodes first."""
    scores: list[float] = []
    for chance, parent in zip(chances, draft.parents, strict=True):
        above = 0.0 if parent == ROOT else scores[parent]
        scores.append(above + log(max(_LEAST, min(chance, _MOST))))
    order = sorted(range(len(draft)), key=lambda node: -scores[node])[:rows]
    place = {node: at for at, node in enumerate(order)}
    return Draft(
        tuple(draft.tokens[node] for node in order),
        tuple(place.get(draft.parents[node], ROOT) for node in order),
        tuple(scores[node] for node in order),
    )


def _with_probes(draft: Draft, place: dict[int, int], tree: MergedTree, drafts: Sequence[Draft]) -> Draft:
    """Return a draft of the tree's nodes, with the probes of members after those of their own nodes that it has."""
    for places, own in zip(tree.places, drafts, strict=True):
        probes = own.probes
        if not len(probes):
            continue
        behind = [ROOT if node == ROOT else place.get(places[node]) for node in probes.nodes]
        kept = [probe for probe, node in enumerate(behind) if node is not None]
        nodes = tuple(node for node in behind if node is not None)
        return replace(
            draft,
            probes=Probes(
                nodes,
                tuple(probes.distances[probe] for probe in kept),
                tuple(probes.members[probe] for probe in kept),
                probes.embeddings[kept],
                probes.mask,
            ),
        )
    return draft


def _outcome(draft: Draft, tokens: Sequence[int]) -> tuple[int, bool]:
    """Return how many of these tokens a draft guessed in a row, and whether it guessed another one after them."""
    at, held = ROOT, 0
    for token in tokens:
        missed = False
        for node, parent in enumerate(draft.parents):
            if parent == at:
                if draft.tokens[node] == token:
                    at, held = node, held + 1
                    break
                missed = True
        else:
            return held, missed
    return held, False


def _rows_that_pay(drafter: Drafter, shape: DraftShape, row_worth: float) -> DraftShape | None:
    """Return the shape whose rows let prompt tokens gain most, or None if their rows cost more than they gain.

    They get half of all rows at most, since the nodes of the others need some too.
    """
    most = shape.rows // 2
    gains = [(tokens - 1.0 - rows * row_worth, rows) for rows, tokens in drafter.counted.items() if rows <= most]
    gain, best = max(gains, default=(1.0, most))
    return replace(shape, rows=best) if gain > 0.0 else None
