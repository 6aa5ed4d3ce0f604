"""A committee: several drafters guess, and the tree of what they say goes to the target, each node with its chance.

Source: Minions (Wang et al. 2024), section 3.2: weights of members, after the weighted majority algorithm (Littlestone
and Warmuth 1994), and merged trees, in figure 5 for chains. The paper's own choice, the path of the majority, is in
`engine.drafting.minions`.
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
from engine.model.token_tree import ROOT, Draft, DraftShape, Probes, followed

# Measured together and not each by itself, with SmolLM2's drafts by `python -m tests.benchmarks.speculation`
# (docs/papers/minions.md); tests/engine/drafting/test_committee.py holds trials and pauses.
#
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
# Drafts whose times are remembered.
_KEPT = 7
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
    """Weights of some members, by the average acceptance rate (ACR) of each, equation 1.

    The largest weight is 1: only their relations count in a vote, and products of factors would have no end.

    Args:
        members: Number of members.
        rewards: Thresholds and factors.
    """

    def __init__(self, members: int, rewards: Rewards = _REWARDS) -> None:
        self.weights = (1.0,) * members  # (m,) weight of each member
        self._rewards = rewards
        self._rates = [0.0] * members
        self._judged = [0] * members

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
        self.sources: list[tuple[int, ...]] = []  # (N,) the members that guessed each node, ascending
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
                    self.sources.append((member,))
                elif self.sources[place][-1] != member:
                    self.sources[place] += (member,)
                places.append(place)
            self.places.append(places)

    def __len__(self) -> int:
        return len(self.tokens)

    def path(self, tokens: Sequence[int]) -> list[int]:
        """Return the nodes that these tokens pass from the root on, as far as the tree has them."""
        return followed(self._child, tokens)


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
    draft_s: float = 0.0  # of a draft, or of each of its steps if it counts them; 0 before one was measured
    worth: float = 0.0  # tokens that a draft gains beyond those of other members, less their rows
    trials: int = 0
    failures: int = 0
    alone: int = 0  # tokens for which it is still left alone
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def took(self, seconds: float) -> None:
        """Note how long a draft took, or each step of it."""
        self._seconds.append(seconds)
        self.draft_s = median_low(self._seconds)

    def tried(self, worth: float) -> None:
        """Note a draft that was worth this many tokens."""
        self.worth = worth if not self.trials else _MEMORY * self.worth + (1 - _MEMORY) * worth
        self.trials += 1

    def pays(self, second_worth: float) -> bool:
        """Return whether its tokens are worth its time; one that does not pay is left alone, and judged anew then."""
        if self.trials >= _TRIALS and self.worth < self.draft_s * second_worth:
            self.alone = min(_PAUSE << self.failures, _LONGEST_PAUSE)
            self.failures += 1
            self.trials = 0
        return not self.alone


class CommitteeMemory:
    """Experience with a committee's members from replies of a model, for its next ones."""

    def __init__(self) -> None:
        # Length of the next reply's first drafts if `LengthSelector` found one that costs least
        self.length: int | None = None
        # Records of `LengthSelector`: seconds and tokens of a round by the length of its draft
        self.lengths: dict[int, deque[tuple[float, int]]] = {}
        self._standings: dict[str, _Standing] = {}
        self._votes: dict[tuple[str, ...], MemberWeights] = {}

    def standings(self, members: Sequence[Member]) -> list[_Standing]:
        """Return the standing of each member."""
        found = [self._standings.setdefault(member.name, _Standing()) for member in members]
        for member, standing in zip(members, found, strict=True):
            standing.chances.known = member.drafter.gives_chances
        return found

    def votes(self, members: Sequence[Member]) -> MemberWeights:
        """Return the members' weights."""
        return self._votes.setdefault(tuple(member.name for member in members), MemberWeights(len(members)))


class Committee(Drafter):
    """Drafters whose guesses are brought together.

    Each member observes what is emitted and gets the hidden rows that it wants, whether or not it is asked. A
    member that fails is left behind by its own `FallbackDrafter` and says nothing from then on.

    Args:
        members: At least one.
        memory: Experience from earlier replies; it learns from this one.
    """

    def __init__(self, members: Sequence[Member], memory: CommitteeMemory) -> None:
        self.members = tuple(member.name for member in members)
        slow = [member.drafter.apart for member in members if member.takes_time]
        self.apart = bool(slow) and all(slow)
        self.hidden_layers = tuple(sorted({layer for each in members for layer in each.drafter.hidden_layers}))
        self._members = tuple(members)
        self._memory = memory
        self._votes = memory.votes(members)
        self._drafts: list[Draft] = []  # of the members, in the last round that had any
        # Hidden rows that members have not taken, and how many of the next ones they do not need.
        self._rows: list[list[Tensor]] = [[] for _ in members]
        self._unneeded = [0] * len(members)

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply for all members; return the first position whose rows any of them needs."""
        begins = [member.drafter.reset(prompt) for member in self._members]
        least = min(begins)
        self._unneeded = [begin - least for begin in begins]
        self._rows = [[] for _ in begins]
        self._drafts = []
        self.wants_hidden = any(map(self._listens, range(len(self._members))))
        return least

    @property
    def reads_hidden(self) -> bool:  # type: ignore[override]
        """True if any member reads the prompt's rows; those of others are kept for them."""
        return any(member.drafter.reads_hidden for member in self._members if member.drafter.hidden_layers)

    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Let each member read the prompt up to a position."""
        if hidden is not None:
            self._divide(hidden)
        for at, member in enumerate(self._members):
            reads = bool(member.drafter.hidden_layers) and member.drafter.reads_hidden
            member.drafter.read_prompt(end, self._take_rows(at) if reads else None)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Judge the members by what was emitted, and pass it on to each of them with its own rows."""
        if self._drafts:
            self._judge(tokens)
        if hidden is not None:
            self._divide(hidden)
        for at, member in enumerate(self._members):
            rows = self._take_rows(at) if self._listens(at) else None
            member.drafter.observe(tokens, rows, probes if member.kind == PROMPT_TOKENS else None)

    def draft_ahead(self) -> bool:
        """Take a step ahead with the first member that has one to take."""
        return any(member.drafter.draft_ahead() for member in self._members)

    @property
    def weights(self) -> tuple[float, ...]:  # type: ignore[override]
        """(m,) weights of the members' votes, in their order."""
        return self._votes.weights

    @abstractmethod
    def _judge(self, tokens: Sequence[int]) -> None:
        """Learn from the tokens that came after the last drafts' root."""

    def _listens(self, at: int) -> bool:
        """Return whether a member wants its hidden rows now."""
        drafter = self._members[at].drafter
        return bool(drafter.hidden_layers) and drafter.wants_hidden

    def _take_rows(self, at: int) -> Tensor | None:
        """Return a member's rows that it has not taken, and forget them; None if there are none."""
        rows, self._rows[at] = self._rows[at], []
        return (rows[0] if len(rows) == 1 else torch.cat(rows)) if rows else None

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


class MergedCommittee(Committee):
    """A committee that verifies the merged tree, each node with the chance that the target gets there.

    A node holds after its parent if any of its members is right, and each member is right as often as its guesses
    of that kind have been. Nodes are ordered by these chances, and nodes of equal chance by the weights of their
    members, so that a schedule which takes the first nodes takes the best. (Weighting the members in the chances
    gave a tenth fewer tokens.) A member that takes time is asked while the tokens that it adds to the guesses of
    those asked before it are worth that time; prompt tokens are asked while they are worth their rows.
    """

    gives_chances = True

    _accepted = 0.0  # tokens of a draft lately
    _most = 1  # tokens that the next call of `observe` may bring

    def __init__(self, members: Sequence[Member], memory: CommitteeMemory) -> None:
        super().__init__(members, memory)
        self._standings = memory.standings(members)

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
        self._drafts = []
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
                standing.took((time.perf_counter() - begun) / max(1, draft.steps))
            if draft.tokens:
                chances[at] = standing.chances.of(draft)
                likeliest = max(likeliest, chances[at][0])
        guessed = [at for at, draft in enumerate(drafts) if draft.tokens or len(draft.probes)]
        if not guessed:
            return _NOTHING if not steps else Draft(steps=steps)
        self._drafts = drafts
        draft = replace(self._merged(drafts, chances, shape.rows), steps=steps)
        if draft.tokens:
            self._weigh(draft, guessed, shape)
        return draft

    def _in_turn(self) -> list[int]:
        """Return the members' indices: those that take no time, those that judge their steps, then the cheapest."""

        def turn(at: int) -> tuple[bool, bool, float]:
            member = self._members[at]
            return member.takes_time, not member.drafter.gives_chances, self._standings[at].draft_s

        return sorted(range(len(self._members)), key=turn)

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
            return _rows_that_pay(member.drafter, shape, row_worth) if standing.pays(shape.second_worth) else None
        if not shape.second_worth:
            return None if standing.alone else shape  # it may not have heard the text meanwhile
        if likeliest >= _LIKELY:
            return None
        if member.drafter.gives_chances:  # it judges its steps by itself
            return replace(shape, step_worth=min(1.0, standing.draft_s * shape.second_worth))
        return shape if standing.pays(shape.second_worth) else None

    def _weigh(self, draft: Draft, guessed: Sequence[int], shape: DraftShape) -> None:
        """Note the tokens that the best tree with an asked member's own guesses gains over the best one without."""
        chances = [*map(exp, draft.scores)]
        gain = shape.gain(chances)
        for at in guessed:
            others = [chance for chance, sources in zip(chances, draft.sources, strict=True) if sources != (at,)]
            probes = len(draft.probes) if self._members[at].kind == PROMPT_TOKENS else 0
            self._standings[at].tried(gain - shape.gain(others) - shape.row_worth * probes)

    def _merged(self, drafts: Sequence[Draft], chances: Sequence[Sequence[float]], rows: int) -> Draft:
        tree = MergedTree(drafts)
        wrong = [0.0] * len(tree)  # logarithms of the chances that every member is wrong
        for places, each in zip(tree.places, chances, strict=True):
            for place, chance in zip(places, each, strict=True):
                wrong[place] += log(1.0 - min(chance, _MOST))
        scores: list[float] = []
        for parent, missed in zip(tree.parents, wrong, strict=True):
            above = 0.0 if parent == ROOT else scores[parent]
            scores.append(above + log(max(_LEAST, 1.0 - exp(missed))))
        weights = self.weights
        votes = [sum([weights[member] for member in sources]) for sources in tree.sources]
        room = rows - sum(len(draft.probes) for draft in drafts)
        # A node never comes before its parent, which is likelier.
        order = sorted(range(len(tree)), key=lambda node: (-scores[node], -votes[node]))[: max(0, room)]
        place_of = {node: at for at, node in enumerate(order)} | {ROOT: ROOT}
        draft = Draft(
            tuple([tree.tokens[node] for node in order]),
            tuple([place_of[tree.parents[node]] for node in order]),
            tuple([scores[node] for node in order]),
            sources=tuple([tree.sources[node] for node in order]),
        )
        return with_probes(draft, place_of, tree, drafts)

    def _judge(self, tokens: Sequence[int]) -> None:
        rates = []
        for at, draft in enumerate(self._drafts):
            if draft.tokens:
                self._standings[at].chances.learn_from(draft, tokens)
                held, missed = outcome(draft, tokens)
                rates.append((at, held / (held + missed) if held + missed else 0.0))
        self._votes.judge(rates)


def with_probes(draft: Draft, place: dict[int, int], tree: MergedTree, drafts: Sequence[Draft]) -> Draft:
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


def outcome(draft: Draft, tokens: Sequence[int]) -> tuple[int, bool]:
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
