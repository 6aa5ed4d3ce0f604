"""Heads on the target's hidden states: EAGLE's, EAGLE-3's and Dovetail's layouts, and P-EAGLE, as drafts.

Row i of the cache joins the target's feature of position i with the token at position i + 1, so a text of n tokens
with the root at its end has n - 1 rows, all from the target's true features. Inside a tree the draft's own outputs
stand in for the features that the target has not computed yet; those rows are forgotten after each proposal, and what
was accepted is run again with the true ones, as EAGLE does.

Chains are for a head beside a target on the CPU; they end where the next step would cost more than it promises.
Rows of a forward and steps of the draft are dear there, so wide trees do not pay: beside each token of the chain
stands the second likeliest, for which no step is run. Prompt lookup, which takes no time, guesses what the text
itself repeats, in the same tree. The head is left alone if what it adds is not worth its steps.

P-EAGLE drafts all levels in one forward. The row of the root's parent is EAGLE-3's. Those after it stand for positions
whose token and hidden states are not there yet: a mask token and ``mask_hidden`` take their places, and each says what
follows there.

Source: P-EAGLE as vllm-project/speculators has it (models/peagle).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, zip_longest
from math import exp, inf, log, log2, sqrt
from typing import ClassVar, TypeAlias

import torch
from torch import Tensor

from engine.drafting import head_layout
from engine.drafting.chances import Chances, Matched
from engine.drafting.drafter import Drafter, ReadingPace
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_layout import HeadLayout
from engine.drafting.head_loader import SharedWeights, load_feature_network
from engine.drafting.kind import Drafting, DraftLoad, DraftText
from engine.drafting.level_drafter import LookedUpTree, RowLevelDrafter
from engine.drafting.lookup import PromptLookup
from engine.drafting.medusa import HeadCalibration, calibration_beside
from engine.drafting.target_draft import CHUNK_ROWS, SharingDraft, TargetRows
from engine.drafting.trees import (
    LARGEST_TREE,
    Level,
    TreeShape,
    grow_tree,
    with_states,
)
from engine.kernels.sampling import likeliest
from engine.messages import PromptKind
from engine.model.next_rows import MOST_ROWS
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.placement.device import Link

# Weight of the first assumption that shares mean what they say, in observations, and the rate at which they fade; and
# the most observations of a class that training's count for.
_WEIGHT, _MEMORY, _COUNTED = 8.0, 0.995, 32.0
# The assumed shares of guesses that hold before any was seen: those right behind the text, for a head whose training
# texts are unknown, and those behind a guess that held. The third is the rate at which observations fade.
_USUAL, _ONWARD, _ONWARD_MEMORY = 0.25, 0.5, 0.95
# Rates at which mean chances of guesses fade: lately, and in all texts.
_LATELY, _EVER = 0.9, 0.98
# Weight of the assumption that guesses hold in this text as often as in all texts, in expected hits, and the rate at
# which those seen fade.
_HERE, _HERE_MEMORY = 2.0, 0.95

#: A token that may follow, with its chance or the probability that a head gives it (its share).
Guess: TypeAlias = tuple[int, float]
#: Tokens that may follow, the likeliest first.
Guesses: TypeAlias = Sequence[Guess]
# Bounds to which a share is clamped before its odds are computed, which would be infinite at 1.
_LEAST_SHARE, _MOST_SHARE = 1e-6, 0.99
#: Tokens that are looked at after each node: the chain goes on with the first and ends at the others. On 27 greedy
# replies of a model of 1.5 billion parameters a third token gained 1 % where rows are cheap, and ten gained no more.
TOKENS = 3
# A draft shows what the head adds to a text if the chance that the next token is not the match's is at least this.
_HALF = 0.5
# A head that does not pay is left alone for at least so many tokens, and for four for each row of the prompt that
# it has not read.
_PAUSE, _FOR_EACH_ROW = 64, 4


class FeatureDraft(Drafter):
    """Drafts dynamic trees from the target's hidden states.

    Its rows of the prompt are run as the target reads it, so that the second token does not wait for them.

    Args:
        limits: Limits of its trees; width 1 drafts chains.
        context: Tokens of context of the target.
        link: The way to the draft's device.
        check: Called between the draft's blocks; raises to cancel.
        chains: True if chains pay without a short way too, since each row of a forward is dear.
    """

    reads_hidden = True

    def __init__(
        self,
        network: FeatureNetwork,
        limits: TreeShape,
        context: int,
        link: Link,
        check: Callable[[], None],
        chains: bool = False,
    ) -> None:
        self.hidden_layers = network.hidden_layers  # layers of the target whose hidden rows `observe` takes
        self.runs_chains = chains or network.has_short_way  # True if `run_chain` is worth to be called
        self.limits = limits  # limits of its trees. May be changed between replies
        self.reading_s = inf  # most seconds of reading a prompt. May be changed between replies
        self._pace = ReadingPace()
        self._network = network
        self._link = link
        self._check = check
        self._cache = network.new_cache(context + LARGEST_TREE)
        ids = network.weights.target_ids
        self._target_ids: list[int] | None = None if ids is None else ids.tolist()
        # Row i holds the token at i + 1 too.
        self._rows = TargetRows(self._cache, 1)
        self._root: Tensor | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what an earlier text shares with this prompt; return the first position whose rows are needed."""
        self._root = None
        return self._rows.reset(prompt)

    @torch.inference_mode()
    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Run the rows whose next token the prompt has."""
        self._rows.observe((), hidden)
        ready = min(self._rows.held, len(self._rows.text) - 1) - self._cache.length

        def piece() -> int:
            self._rows.put_back(self._run_waiting(self._rows.take(), ready))
            return ready

        if ready > 0:
            self._pace.read(piece, len(self._rows.text) - 1 - self._cache.length, self.reading_s)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Note emitted tokens and the target's rows of what was committed, which wait until a draft is asked for.

        Args:
            tokens: The last one is the new root.
            hidden: On the draft's device.
            probes: Unused: its drafts have none.

        Raises:
            ValueError: The rows are not those of every position up to the root.
        """
        self._rows.observe(tokens, hidden)

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree below the last observed token, dynamic or fixed."""
        if shape.rows < 1:
            return Draft()
        network, cache, link = self._network, self._cache, self._link
        root = self._take_in()

        def run(level: Level, features: Tensor) -> tuple[Tensor, Tensor]:
            count = len(level.tokens)
            made = network.run(
                network.target_tokens(link.to_device(torch.tensor(level.tokens))),
                link.to_device(torch.full((count,), cache.length - 1 + level.depth)),
                cache,
                features=features,
                sees=link.to_device(level.sees),
                uncommitted=level.sees.shape[1] - count,
                check=self._check,
            )
            return network.logits(made), made

        draft = grow_tree(self.limits, shape, network.logits(root)[0], with_states(run, root, link.to_device))
        if network.weights.target_ids is None:
            return draft
        own = link.to_device(torch.tensor(draft.tokens, dtype=torch.long))
        return replace(draft, tokens=tuple(link.to_host(network.target_tokens(own)).tolist()))

    @property
    def waiting(self) -> int:
        """Rows that the next chain has to take in first."""
        return len(self._rows.text) - 1 - self._cache.length

    def target_token(self, own: int) -> int:
        """Return the target's id of one of the draft's tokens."""
        return own if self._target_ids is None else self._target_ids[own]

    @torch.inference_mode()
    def run_chain(
        self, goes_on: Callable[[Tensor], int | None], known: Callable[[Tensor, Sequence[int]], None]
    ) -> None:
        """Run a chain below the last observed token, step by step, by the short way where there is one.

        Args:
            goes_on: Takes the (1, Vd) logits after each node, the root first, and returns the token of the next
                node by the target's ids, or None to end the chain.
            known: Takes the (k, Vd) logits after the last few tokens before the root at which no chain began, and
                the k tokens that came there.
        """
        network, cache = self._network, self._cache

        def run(tokens: Sequence[int], features: Tensor) -> tuple[Tensor, Tensor]:
            found = network.run_next(tokens, cache, features, self._check)
            if found is None:
                places = torch.arange(cache.length, cache.length + len(tokens))
                made = network.run(torch.tensor(tokens), places, cache, features=features, check=self._check)
                found = network.logits(made), made
            cache.commit(range(len(tokens)))
            return found

        features = self._run_waiting(self._rows.take(), max(0, self._rows.held - cache.length - MOST_ROWS))
        tokens = self._rows.text[cache.length + 1 :]
        logits, rows = run(tokens, features)
        self._root = rows[-1:].clone()
        known(logits[:-1], tokens[1:])
        length, logits, node = cache.length, logits[-1:], self._root
        while (token := goes_on(logits)) is not None:
            logits, node = run((token,), node)
        cache.truncate(length)

    def _take_in(self) -> Tensor:
        """Run the rows that wait, and return the output of the last one, the root's, (1, h)."""
        rows = self._rows.take()
        if rows is not None:
            self._run_waiting(rows, len(rows))
        if self._root is None:
            raise ValueError("a feature draft cannot draft before it has observed a token")
        return self._root

    def _run_waiting(self, rows: Tensor | None, most: int) -> Tensor:
        """Run at most so many of the waiting rows, and return the others."""
        if rows is None:
            raise ValueError("a feature draft cannot draft before it has observed a token")
        for start in range(0, most, CHUNK_ROWS):
            features, first = rows[start : min(start + CHUNK_ROWS, most)], self._cache.length
            behind = torch.tensor(self._rows.text[first + 1 : first + 1 + len(features)])
            made = self._network.run(
                self._link.to_device(behind),
                self._link.to_device(torch.arange(first, first + len(features))),
                self._cache,
                target_features=features,
                check=self._check,
            )
            self._cache.commit(range(len(features)))
            # A copy of one row, so that the others' memory is free again.
            self._root = made[-1:].clone()
        return rows[most:]


class ShareChances(Chances):
    """Chances of guesses by the head's shares: a head that was trained on few texts is too sure on others.

    At temperature 0.8 a share of 0.9 comes true in 84 of 100 cases, one of 0.8 in 58 (the bundled model's draft). If
    prompt lookup has a match, the chance of its token depends on the match's own chance and on the head's share of that
    token; the head's other guesses divide the rest.

    Args:
        usual: Assumed share of the likeliest guesses that hold, until some were seen.
        counted: Training's calibration, with which it begins; None without one.
    """

    def __init__(self, usual: float, counted: HeadCalibration | None = None) -> None:
        super().__init__(_WEIGHT, _MEMORY)
        accuracies = counted.accuracies if counted else ()
        self._first = accuracies[0][0] if accuracies else usual
        self._seen = {kind: Matched(*each) for kind, *each in counted.shares} if counted else {}
        self.limit(_COUNTED)
        # mean chances of the guesses of a next token, the likeliest first: in all texts, and lately
        self._usual = self._likely = tuple[float, ...]()
        # share of the likeliest guesses that held where the guess before had held
        self.onward = accuracies[1][0] if len(accuracies) > 1 else _ONWARD
        self.step_worth = 0.0  # least worth that the last proposal wanted of a step
        self._expected = self._held = 0.0  # lately

    def of_share(self, share: float) -> float:
        """Return the chance that a token to which the head gives this share comes."""
        here = (_HERE + self._held) / (_HERE + self._expected)
        return min(here * self.chance(share_class(share), share), _MOST_SHARE)

    def guessed(self, guesses: Guesses) -> None:
        """Note what guesses of a next token were expected to hold: rows may be dear now, and cheap in a moment."""
        chances = [self.of_share(share) for _, share in guesses]
        self._likely = _faded(self._likely, chances, _LATELY)
        self._usual = _faded(self._usual, chances, _EVER)

    def adds(self, shape: DraftShape) -> float:
        """Return the tokens that guesses of a next token gain beyond their rows, at a shape's prices."""
        return shape.gain(self._likely) if self._likely else self._first

    def begin(self) -> None:
        """Begin a reply, whose guesses may hold as often as usual."""
        self._likely = self._usual

    def of(self, guesses: Guesses, match: Guess | None) -> list[Guess]:
        """Return the tokens of a match and of guesses with their chances, the match's token first."""
        left = 1.0
        first: list[Guess] = []
        if match is not None:
            together = self.chance(*_agreement(guesses, match))
            first, left, guesses = [(match[0], together)], 1.0 - together, _beside(guesses, match)
        chances = accumulate((self.of_share(share) for _, share in guesses), min)  # the likeliest stays the likeliest
        return first + [(token, left * chance) for (token, _), chance in zip(guesses, chances, strict=True)]

    def learn_from(self, guesses: Guesses, token: int, match: Guess | None = None, first: bool = True) -> None:
        """Learn from the token that came in the place of these guesses.

        Args:
            guesses: Guesses of the head, with their shares.
            match: Token of the match there with its chance; None without a match.
            first: True if the guesses stood right behind the text.
        """
        if not first:
            self.onward = _ONWARD_MEMORY * self.onward + (1 - _ONWARD_MEMORY) * (token == guesses[0][0])
        if match is not None:
            self.learn(_agreement(guesses, match)[0], token == match[0])
            if token == match[0]:
                return
            guesses = _beside(guesses, match)
        self._expected *= _HERE_MEMORY
        self._held *= _HERE_MEMORY
        for guess, share in guesses:
            self._expected += self.chance(share_class(share), share)
            self._held += token == guess
            self.learn(share_class(share), token == guess)


def _faded(means: Sequence[float], chances: Sequence[float], memory: float) -> tuple[float, ...]:
    """Return means with one more observation of each; what was never observed begins with it."""
    return tuple(
        chance if mean is None else memory * mean + (1 - memory) * chance
        for mean, chance in zip_longest(means, chances)
    )


def share_class(share: float) -> int:
    """Return the class of a share of probability, by the power of two of its odds."""
    share = min(max(share, _LEAST_SHARE), _MOST_SHARE)
    return round(log2(share / (1.0 - share)))


def _agreement(guesses: Guesses, match: Guess) -> tuple[tuple[int, int], float]:
    """Return the class of a match's token, by its chance and the head's share of it, and its expected chance.

    That is the geometric mean of both odds, as a chance.
    """
    left = max(1.0 - sum(share for _, share in guesses), _LEAST_SHARE)
    share = next((share for token, share in guesses if token == match[0]), left / TOKENS)
    odds = sqrt(match[1] / (1.0 - match[1]) * min(share, _MOST_SHARE) / (1.0 - min(share, _MOST_SHARE)))
    return (share_class(match[1]), share_class(share)), odds / (1.0 + odds)


def _beside(guesses: Guesses, match: Guess) -> Guesses:
    """Return the guesses without the match's token, with shares that are divided by the sum of all other tokens'."""
    left = 1.0 - sum(share for token, share in guesses if token == match[0])
    return [(token, share / max(left, share)) for token, share in guesses if token != match[0]]


class ChainDraft(Drafter):
    """Chains of a head with the next likeliest tokens beside each node, joined with prompt lookup's matches.

    Both are in one tree, whose nodes have chances. The chain goes on with the likeliest token, whether the head or the
    match says it, and behind each of its nodes stands what lookup finds there.

    Args:
        head: Head that runs the chains; its own trees are not used.
        lookup: Prompt lookup, which learns from this reply; None if another drafter looks up.
        chances: Worth of the head's guesses; learns from this reply.
    """

    gives_chances = True

    def __init__(self, head: FeatureDraft, lookup: PromptLookup | None, chances: ShareChances) -> None:
        self.hidden_layers = head.hidden_layers
        self._head = head
        self._lookup = lookup
        self._chances = chances
        # For each step of the head's last chain: its guesses, the match's token, and the token that it went on with
        self._guessed: list[tuple[Guesses, Guess | None, int]] = []
        self._missed = 0  # tokens since it was asked
        # A round ahead it is decided whether the head is asked; rows for a head that is not asked stay where they are.
        self.wants_hidden = False

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply; the rows that are needed are the head's."""
        if self._lookup is not None:
            self._lookup.reset(prompt)
        self._guessed = []
        self._missed = 0
        self.wants_hidden = False
        self._chances.begin()
        # A head whose steps would not pay even if rows cost nothing reads nothing before it is asked.
        self.reads_hidden = self._chances.adds(DraftShape(0)) >= self._chances.step_worth
        return self._head.reset(prompt)

    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Let the head read the prompt."""
        if self.reads_hidden:
            self._head.read_prompt(end, hidden)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Learn what guesses were worth, and take tokens and rows in."""
        for step, (token, (guesses, match, followed)) in enumerate(zip(tokens, self._guessed, strict=False)):
            self._chances.learn_from(guesses, token, match, first=not step)
            if token != followed:
                break
        self._missed = 0 if self._guessed else self._missed + len(tokens)
        self._guessed = []
        if self._lookup is not None:
            self._lookup.observe(tokens)
        self._head.observe(tokens, hidden)

    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree within the shape's rows; each step of the head promises at least the shape's worth."""
        match, worth, chances = self._after((), shape.rows), shape.step_worth, self._chances
        chances.step_worth, adds = worth, chances.adds(shape)
        may_ask, self.wants_hidden = self.wants_hidden, worth <= 1.0 and (adds >= worth or self._may_pay())
        unsaid = self._unsaid(match)
        if shape.rows < 1 or worth > 1.0 or not may_ask or unsaid * max(adds, worth) < worth:
            return match
        tree, path = _Tree(), list[int]()
        place, steps = ROOT, 0

        def goes_on(logits: Tensor) -> int | None:
            nonlocal place, steps, match
            (guesses,) = self._guesses(logits)
            said = (match.tokens[0], min(exp(match.scores[0]), _MOST_SHARE)) if match else None
            nodes = {token: tree.add(place, token, log(chance)) for token, chance in chances.of(guesses, said)}
            if match:
                tree.hang(nodes[match.tokens[0]], match)
            token = max(nodes, key=lambda token: tree.scores[nodes[token]])
            self._guessed.append((guesses, said, token))
            path.append(token)
            place, steps, match = nodes[token], steps + 1, self._after(path, shape.rows - steps - 1)
            known = [*map(exp, tree.scores)]
            promise = exp(tree.scores[place]) * self._unsaid(match) * chances.onward
            gains = shape.gain([*known, promise]) - shape.gain(known)
            return None if steps >= shape.rows or gains < worth else token

        self._head.run_chain(goes_on, self._learn)
        if match:
            tree.hang(tree.add(place, match.tokens[0], match.scores[0]), match)
        if steps and unsaid >= _HALF:
            chances.guessed(self._guessed[0][0])
        return replace(tree.draft(shape.rows), steps=steps)

    def _after(self, path: Sequence[int], most: int) -> Draft:
        """Return what prompt lookup drafts behind the text and a path of guesses; empty without lookup."""
        return Draft() if self._lookup is None else self._lookup.after(path, most)

    def _unsaid(self, match: Draft) -> float:
        """Return the chance that the next token is not the match's; 1 without a match."""
        return 1.0 - exp(match.scores[0]) if match else 1.0

    def _may_pay(self) -> bool:
        """Return whether a head that did not pay may do so by now."""
        return self._missed >= max(_PAUSE, _FOR_EACH_ROW * (self._head.waiting - self._missed))

    def _learn(self, logits: Tensor, tokens: Sequence[int]) -> None:
        """Learn at once from the tokens that came while the head was not asked."""
        missed = min(self._missed, len(tokens))
        if missed:
            for guesses, token in zip(self._guesses(logits[-missed:]), tokens[-missed:], strict=True):
                self._chances.learn_from(guesses, token)
                self._chances.guessed(guesses)

    def _guesses(self, logits: Tensor) -> list[Guesses]:
        """Return the likeliest tokens after each row."""
        return [
            [
                (self._head.target_token(own), max(exp(share), _LEAST_SHARE))
                for own, share in zip(tokens, logs, strict=True)
            ]
            for tokens, logs in zip(*likeliest(logits, TOKENS), strict=True)
        ]


class _Tree:
    """Nodes with their scores (logs of chances), parents first; a node that is added twice keeps the higher score."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self._edges: dict[tuple[int, int], int] = {}

    def add(self, parent: int, token: int, score: float) -> int:
        """Add a node whose score is its parent's plus this one, and return its number."""
        score += 0.0 if parent == ROOT else self.scores[parent]
        node = self._edges.setdefault((parent, token), len(self._edges))
        if node == len(self.scores):
            self.scores.append(score)
        self.scores[node] = max(score, self.scores[node])
        return node

    def hang(self, node: int, chain: Draft) -> None:
        """Add the rest of a chain behind the node that has its first token."""
        for token, before, score in zip(chain.tokens[1:], chain.scores, chain.scores[1:], strict=False):
            node = self.add(node, token, score - before)

    def draft(self, most: int) -> Draft:
        """Return the likeliest nodes, at most so many, parents first.

        A parent is at least as likely as its children and was added earlier, so no node comes without its parent.
        """
        edges = list(self._edges)
        order = sorted(range(len(edges)), key=lambda node: -self.scores[node])[:most]
        rank = {node: at for at, node in enumerate(order)} | {ROOT: ROOT}
        return Draft(
            tuple(edges[node][1] for node in order),
            tuple(rank[edges[node][0]] for node in order),
            tuple(self.scores[node] for node in order),
        )


@dataclass(frozen=True)
class HeadDraft(SharingDraft[HeadLayout]):
    """A head of any of these layouts."""

    read_layout = staticmethod(head_layout.read_layout)
    kind = "head"
    # Dovetail's table I (Zhang et al. 2024), "Ours": tau of LLaMA2-Chat-7B.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 4.73,
        "code": 5.90,
        "arithmetic": 4.71,
        "instruction": 4.62,
    }
    #: Assumed share of its guesses of the next token that hold, until some were counted or seen.
    usual: ClassVar[float] = _USUAL

    @cached_property
    def calibration(self) -> HeadCalibration | None:
        """Worth of its guesses as its training counted it, in its folder; None for a published head."""
        return calibration_beside(HeadCalibration, self.opened.place)

    def counted(self, target: str) -> Mapping[int, float]:
        """Return the tokens of a round by nodes, as counted on texts that it has not learned."""
        return {} if self.calibration is None else self.calibration.tokens

    def texts(self, shared: SharedWeights, parts: DraftLoad) -> Callable[[], DraftText]:
        """Read the head; the worth of its guesses is learnt in all texts."""
        return partial(self.text, self.network(shared, parts), parts, ShareChances(self.usual, self.calibration))

    def network(self, shared: SharedWeights, parts: DraftLoad) -> FeatureNetwork:
        """Read the network; arguments are those of `texts`."""
        return load_feature_network(self.opened.head, parts.target.config, shared, parts.weights, parts.check)

    def text(self, network: FeatureNetwork, parts: DraftLoad, chances: ShareChances) -> DraftText:
        """Make room for a text.

        Args:
            network: The head in memory.
            parts: Context and device of the draft.
            chances: Worth of its guesses in all texts.
        """
        chains = self.comes_with_target and not parts.plan.on_gpu
        draft = FeatureDraft(network, TreeShape(), parts.context, parts.link, parts.check, chains)
        return partial(_drafter, draft, chances)


def _drafter(draft: FeatureDraft, chances: ShareChances, wanted: Drafting) -> Drafter:
    """Make a drafter of chains if the head runs them and nobody asks for trees, else of trees."""
    assert isinstance(wanted.growth, TreeShape), "a mode that paces branches was given a head"
    draft.reading_s = wanted.reading_s
    lookup = None if wanted.matches is None else PromptLookup(wanted.matches)
    if draft.runs_chains and wanted.growth == TreeShape(chains=True):
        return ChainDraft(draft, lookup, chances)
    draft.limits = wanted.growth
    if lookup is None or not draft.runs_chains or not wanted.growth.chains:
        return draft
    return LookedUpTree(draft, lookup)


@dataclass(frozen=True)
class ParallelDraft(HeadDraft):
    """A head whose levels do not wait for each other."""

    kind = "block"
    by_levels = False

    @property
    def block_rows(self) -> int:
        """Rows of the forward that drafts: one for each level."""
        return self.layout.depths

    def text(self, network: FeatureNetwork, parts: DraftLoad, chances: ShareChances) -> DraftText:
        """Make room for a text; nothing is learnt about the guesses."""
        token, depths = self.layout.mask_token, self.layout.depths
        assert token is not None, "a layout without a mask token is drafted level by level"
        return ParallelDrafter(network, token, depths, parts.context, parts.link, parts.check).for_reply


class ParallelDrafter(RowLevelDrafter):
    """Drafts trees of the distributions that one forward gives.

    Args:
        mask_token: Token in place of those that are not there yet.
        depths: Rows of a draft's forward, and levels of its tree.
        context: Tokens of context of the target.
        link: The way to the head's device.
        check: Called between its blocks; raises to cancel.
    """

    def __init__(
        self,
        network: FeatureNetwork,
        mask_token: int,
        depths: int,
        context: int,
        link: Link,
        check: Callable[[], None],
    ) -> None:
        cache = network.new_cache(context + depths)
        super().__init__(depths, network.hidden_layers, cache, 1, network.weights.target_ids)
        self._network, self._link, self._check = network, link, check
        self._masks = [mask_token] * (depths - 1)

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree below the last observed token.

        Raises:
            ValueError: No row was observed since the last draft.
        """
        if shape.rows < 1:
            return Draft()
        rows = self._rows.take()
        if rows is None:
            raise ValueError("a head cannot draft before it has observed a token")
        network = self._network
        while len(rows) > CHUNK_ROWS:
            self._run(rows[:CHUNK_ROWS], [])
            rows = rows[CHUNK_ROWS:]
        levels = network.logits(self._run(rows, self._masks)[len(rows) - 1 :])
        draft = self._tree(shape, levels)
        return replace(draft, tokens=self._by_target(draft.tokens))

    def _run(self, rows: Tensor, masks: list[int]) -> Tensor:
        """Run these rows and mask rows after them for the levels to come; return all outputs."""
        network, cache, first, count = self._network, self._cache, self._cache.length, len(rows)
        tokens = [*self._rows.text[first + 1 : first + 1 + count], *masks]
        if masks:
            hidden = network.weights.mask_hidden
            assert hidden is not None, "a layout with a mask token has a row for it"
            rows = torch.cat((rows.to(hidden.dtype), hidden.expand(len(masks), -1)))
        made = network.run(
            self._link.to_device(torch.tensor(tokens)),
            self._link.to_device(torch.arange(first, first + len(tokens))),
            cache,
            target_features=rows,
            check=self._check,
        )
        cache.commit(range(count))
        return made
