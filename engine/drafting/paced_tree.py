"""A small model drafts a tree branch by branch until it is no longer sure of any, and goes on while the target loads.

Source: LLMCad (Xu et al. 2023, "LLMCad: Fast and Scalable On-device Large Language Model Inference"), sections 3.2 to
3.4. The tree decoder is the draft model's own cache and a mask: a step's nodes are rows after those of the steps
before, and see their own branch only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.drafting.draft_model import DraftModel
from engine.drafting.drafter import Drafter
from engine.drafting.kind import Pacing
from engine.kernels.sampling import Following, likeliest
from engine.model.token_tree import Draft, DraftShape

ROOT = 0
# Share of a round's weight that is left after each further round.
_MEMORY = 0.9
# Tokens that the first assumption, that confidences mean what they say, counts for.
_PRIOR_TOKENS = 1.0
#: Any token more likely than this opens a branch (section 3.2).
BRANCHING_THRESHOLD = 0.3
# Tokens remembered below each node.
_CHILDREN = 8
# Branches that one step lengthens at most: a forward over four rows reads the weights once, like one over one row.
_BRANCHES = 4
# Nodes that one step runs at most if it follows no branch.
_NODES = 8
# Nodes run for one tree, as a multiple of those that a draft may have: for this draft and the next one.
_RUN_FOR_EACH = 4
# Tokens of the prompt that one step reads while the target loads.
_PROMPT_STEP = 64
#: Below this the limit of nodes ends every draft first, and halving further would only delay the way back.
LOWEST_THRESHOLD = 1e-6


@dataclass
class _Node:
    token: int
    parent: int
    depth: int
    #: Sum of log-probabilities from the root on.
    score: float
    #: True if its parent's step made it part of a branch; others are only known to be possible.
    opened: bool
    #: True if it and all its ancestors were opened.
    joined: bool
    #: Its row among the draft model's uncommitted ones, once it was run; the root's is committed.
    row: int | None = None
    #: By token, the likeliest first; None until the node was run.
    children: dict[int, int] | None = None
    #: True if the target was asked about it.
    drafted: bool = False


class BranchTree:
    """The tokens that may follow the root, as far as a draft model was asked.

    A branch is a path from the root to a node that was not run yet. Where a node was run the likeliest token lengthens
    its branch, and each other one above the branching threshold opens a branch (section 3.2 of LLMCad). Further
    ones are remembered as possible: the target may say them.

    Args:
        threshold: Probability above which a token other than the likeliest opens a branch.
        children: Tokens remembered below each node; 1 makes a chain.
    """

    def __init__(self, threshold: float, children: int) -> None:
        self._threshold = threshold
        self._children = children
        self._nodes = [_Node(-1, -1, 0, 0.0, opened=True, joined=True)]
        self._rows = 0

    @property
    def begun(self) -> bool:
        """True if it is known which tokens may follow the root."""
        return self._nodes[ROOT].children is not None

    @property
    def rows(self) -> int:
        """Nodes that were run: uncommitted rows of the draft model."""
        return self._rows

    @property
    def size(self) -> int:
        """Nodes of all branches."""
        return sum(node.joined for node in self._nodes) - 1

    @property
    def confidence(self) -> float:
        """T_c, the cumulative confidence of the most confident branch; 0 where no branch can be lengthened."""
        scores = [self._nodes[branch].score for branch in self._branches()]
        return math.exp(max(scores)) if scores else 0.0

    def confidence_of(self, node: int) -> float:
        """Return the cumulative confidence of a node."""
        return math.exp(self._nodes[node].score)

    @property
    def longest(self) -> int:
        """Tokens of the longest branch."""
        return max(node.depth for node in self._nodes if node.joined)

    def begin(self, following: Following) -> None:
        """Take in the log-probabilities of the tokens after the root, which was run."""
        self._add([ROOT], following)

    def behind(self, count: int, deepest: int) -> list[int]:
        """Return the ends of ``count`` branches at most to lengthen next, none deeper than ``deepest``."""
        branches = [node for node in self._branches() if self._nodes[node].depth <= deepest]
        confidences = [math.exp(self._nodes[node].score) for node in branches]
        lengths = [self._nodes[node].depth for node in branches]
        return [branches[at] for at in most_behind(confidences, lengths, self.size, count)]

    def likeliest_ends(self, count: int, deepest: int) -> list[int]:
        """Return at most ``count`` of the likeliest nodes that were not run, of branches or not."""
        ends = [
            at for at, node in enumerate(self._nodes) if node.children is None and at != ROOT and node.depth <= deepest
        ]
        return sorted(ends, key=lambda at: -self._nodes[at].score)[:count]

    def level(self, nodes: Sequence[int]) -> tuple[list[int], list[int], Tensor]:
        """Return the inputs of a forward over these nodes.

        Returns:
            Their tokens, their distances from the root, and (n, rows + n) bool that marks the uncommitted rows that
            each of them sees, its ancestors and itself, if their own rows follow the others.
        """
        sees = torch.zeros(len(nodes), self._rows + len(nodes), dtype=torch.bool)
        for at, node in enumerate(nodes):
            sees[at, self._rows + at] = True
            above = self._nodes[self._nodes[node].parent]
            while above.row is not None:
                sees[at, above.row] = True
                above = self._nodes[above.parent]
        chosen = [self._nodes[node] for node in nodes]
        return [node.token for node in chosen], [node.depth for node in chosen], sees

    def extend(self, nodes: Sequence[int], following: Following) -> None:
        """Take in (n, V) log-probabilities after these nodes, whose rows follow the others."""
        for at, node in enumerate(nodes):
            self._nodes[node].row = self._rows + at
        self._rows += len(nodes)
        self._add(nodes, following)

    def draft(self, limit: int, branches_only: bool = False) -> Draft:
        """Return the likeliest nodes as a draft, parents first and with their scores.

        Besides the branches it has tokens that opened none: they cost the draft nothing, and a target that waits
        for its weights hardly anything.

        Args:
            limit: Most nodes of the draft.
            branches_only: True if tokens that opened no branch are left out.
        """
        # No node scores above its parent, and of equal ones the earlier comes first: parents are kept with children.
        wanted = (at for at in range(1, len(self._nodes)) if self._nodes[at].joined or not branches_only)
        nodes = sorted(wanted, key=lambda at: (-self._nodes[at].score, at))
        kept = sorted(nodes[:limit])
        for at, node in enumerate(self._nodes):
            node.drafted = at in kept
        place = {node: at for at, node in enumerate(kept)}
        return Draft(
            tuple(self._nodes[node].token for node in kept),
            tuple(place.get(self._nodes[node].parent, -1) for node in kept),
            tuple(self._nodes[node].score for node in kept),
        )

    def outcome(self, tokens: Sequence[int]) -> tuple[int, int]:
        """Compare the last draft's branches with the target's tokens.

        Args:
            tokens: The target's tokens, including the one after the accepted ones.

        Returns:
            N_all and N_correct: the tokens of the branch that matched best (of equal ones the one that goes on with
            the likeliest tokens), and how many of them held. (0, 0) if nothing was drafted.
        """
        asked = [node.drafted and node.joined for node in self._nodes]
        at = ROOT
        for token in tokens:
            child = (self._nodes[at].children or {}).get(token)
            if child is None or not asked[child]:
                break
            at = child
        correct = self._nodes[at].depth
        while True:
            children = [child for child in (self._nodes[at].children or {}).values() if asked[child]]
            if not children:
                return self._nodes[at].depth, correct
            at = children[0]

    def guess(self) -> list[int]:
        """Return the likeliest token, the likeliest one after it, and so on as far as was drafted."""
        tokens: list[int] = []
        node = self._nodes[ROOT]
        while node.children:
            node = self._nodes[next(iter(node.children.values()))]
            tokens.append(node.token)
        return tokens

    def follow(self, tokens: Sequence[int]) -> tuple[list[int], list[int], BranchTree]:
        """Follow these tokens down the tree.

        Returns:
            Rows of the first of these tokens, as many as were run; rows of all nodes that were run below the last
            token; and the tree below it, whose rows are in this order and whose root is the last token.
        """
        at = ROOT
        rows: list[int] = []
        rest = BranchTree(self._threshold, self._children)
        for token in tokens:
            child = (self._nodes[at].children or {}).get(token)
            if child is None:
                return rows, [], rest
            at = child
            row = self._nodes[at].row
            if row is not None:
                rows.append(row)
        return rows, rest._take(self._nodes, at), rest

    def _add(self, parents: Sequence[int], following: Following) -> None:
        """Take in the likeliest children of each parent from (n, V) log-probabilities."""
        for parent, row_tokens, row_values in zip(parents, *likeliest(following, self._children), strict=True):
            above = self._nodes[parent]
            above.children = {}
            for value, token in zip(row_values, row_tokens, strict=True):
                if not value > -math.inf:  # NaN too
                    break
                opened = not above.children or math.exp(value) > self._threshold
                above.children[token] = len(self._nodes)
                score = above.score + min(value, 0.0)
                node = _Node(token, parent, above.depth + 1, score, opened, opened and above.joined)
                self._nodes.append(node)

    def _take(self, nodes: Sequence[_Node], root: int) -> list[int]:
        """Become the subtree below a node of another tree; return its rows there."""
        top = nodes[root]
        moved = {root: ROOT}
        for at, node in enumerate(nodes):
            if node.parent not in moved:
                continue
            moved[at] = len(self._nodes)
            parent = moved[node.parent]
            joined = node.opened and self._nodes[parent].joined
            score = node.score - top.score
            depth = node.depth - top.depth
            self._nodes.append(replace(node, parent=parent, depth=depth, score=score, joined=joined, drafted=False))
        for at, new in moved.items():
            children = nodes[at].children
            if children is not None:
                self._nodes[new].children = {token: moved[child] for token, child in children.items()}
        kept = sorted((node.row, at) for at, node in enumerate(self._nodes) if node.row is not None)
        for place, (_, at) in enumerate(kept):
            self._nodes[at].row = place
        self._rows = len(kept)
        return [row for row, _ in kept]

    def _branches(self) -> list[int]:
        return [at for at, node in enumerate(self._nodes) if at != ROOT and node.joined and node.children is None]


def most_behind(confidences: Sequence[float], lengths: Sequence[int], tokens: int, count: int) -> list[int]:
    """Return the branches that the next steps would lengthen one after the other, until one comes twice.

    Max-min fairness: of M tokens a branch of cumulative confidence C_x deserves M * C_x / sum(C), and what it lacks is
    f(x) = M * C_x / sum(C) - T_x for its T_x tokens (LLMCad, section 3.2, equations 1 and 2). The paper prints the
    objective as a minimum; its text gives more to the likelier branch, so the one that lacks most is lengthened.

    A forward over a few rows takes hardly longer than one over a single row, so a step lengthens several branches.
    Each counts as one token longer while the others are chosen, as if it had been lengthened.

    Args:
        confidences: C of each branch, the product of its tokens' probabilities.
        lengths: T of each branch, in tokens from the root on.
        tokens: M, tokens of all branches, shared ones counted once.
        count: Most branches to choose.

    Returns:
        Indices of the branches, the one that lacks most first; at least one if there is any.
    """
    whole = sum(confidences)
    # If all branches are impossible, none deserves more than another.
    shares = [each / whole if whole > 0 else 1 / len(confidences) for each in confidences]
    chosen: list[int] = []
    grown = list(lengths)
    while len(chosen) < min(count, len(shares)):
        drafted = tokens + len(chosen)
        best = max(range(len(shares)), key=lambda branch: drafted * shares[branch] - grown[branch])
        if best in chosen:
            break
        chosen.append(best)
        grown[best] += 1
    return chosen


class FallbackThreshold:
    """Alpha: the target verifies once the most confident branch of a draft is less likely than this.

    Source: section 3.3, equation 3. Where the paper's formula and its prose differ, this follows the prose. A
    verification without an error halves alpha. One with errors divides it by the average confidence of the tokens from
    the first wrong one on, which the prose takes to be T_c ** ((N_all - N_correct) / N_all) for a branch of N_all
    tokens, N_correct of them right, and the tree-cumulative confidence T_c; the printed formula has the exponent alone.

    Args:
        initial: Alpha at the start.
    """

    DEFAULT = Pacing.fallback_threshold

    def __init__(self, initial: float = DEFAULT) -> None:
        self.value = max(initial, LOWEST_THRESHOLD)  # alpha now, between `LOWEST_THRESHOLD` and 1

    def observe(self, confidence: float, drafted: int, correct: int) -> None:
        """Adapt alpha to the outcome of a draft.

        Args:
            confidence: T_c, the cumulative confidence of the draft's most confident branch.
            drafted: N_all, tokens of the branch that matched best.
            correct: N_correct, the number of them that held.
        """
        if correct == drafted:
            self.value = max(self.value * 0.5, LOWEST_THRESHOLD)
            return
        wrong: float = (drafted - correct) / drafted
        self.value = min(self.value / max(confidence, LOWEST_THRESHOLD) ** wrong, 1.0)


class PacedTree(Drafter):
    """Drafts branches of a small model's continuations.

    A draft made ahead grows the same tree beyond the part that is being verified, the likeliest node first. The
    part of it below the tokens that the target emits begins the next draft, and the rest is dropped. The paper
    keeps drafts made ahead only if nothing was wrong; this one also keeps them wherever the draft has foreseen the
    token that the target put in place of a wrong one.

    Args:
        pacing: Options of drafting.
        drafted: Called after each step with the tokens of the draft's best guess so far.
    """

    def __init__(
        self,
        model: DraftModel,
        pacing: Pacing,
        drafted: Callable[[Sequence[int]], None] = lambda tokens: None,
    ) -> None:
        self._model = model
        self._pacing = pacing
        self._drafted = drafted
        self._threshold = FallbackThreshold(pacing.fallback_threshold)
        # Tokens that were promised by the nodes of drafts and that held, lately, and seconds of running a node.
        self._promised = self._accepted = _PRIOR_TOKENS
        self._node_s = 0.0
        self._tokens_per_s = 0.0
        self._tree = self._empty()
        self._draft = Draft()
        self._confidence = 0.0
        self._limit = 0
        self._fresh_prompt = False

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what the cache and the prompt share."""
        self._model.reset(prompt)
        self._threshold = FallbackThreshold(self._pacing.fallback_threshold)
        self._tree = self._empty()
        self._draft = Draft()
        self._limit = 0
        self._fresh_prompt = True
        return len(prompt)

    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Read with the target what was not read while it waited for its weights."""
        if self._model.room > 0:
            self._model.read(end)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Learn from the verdict, and keep what was drafted below it."""
        drafted, correct = self._tree.outcome(tokens)
        if drafted:
            self._threshold.observe(self._confidence, drafted, correct)
        rows, kept, rest = self._tree.follow(tokens)
        self._tree = rest if self._model.extend(tokens, rows, kept) else self._empty()
        self._fresh_prompt = False
        if self._draft.scores:
            self._promised = _MEMORY * self._promised + sum(map(math.exp, self._draft.scores))
            self._accepted = _MEMORY * self._accepted + len(tokens) - 1
        self._draft = Draft()

    def propose(self, shape: DraftShape) -> Draft:
        """Lengthen branches until none is confident enough; draft nothing if the text outgrew the draft's context.

        LLMCad's threshold weighs nothing: after errors it ends drafts early even if a forward of the target takes a
        hundred times as long as a step of the draft. If it is switched on, nodes are run beyond that while their
        expected tokens exceed what rounds yield in their time: tokens per second are most at that point (the marginal
        value theorem, Charnov 1976).
        """
        self._tokens_per_s = shape.second_worth
        self._limit = shape.rows if self._room >= 1 else 0
        if self._limit < 1:
            return Draft()
        if not self._tree.begun:
            self._tree.begin(self._model.read_root())
            self._drafted(self._tree.guess())
        self._lengthen_branches()
        self._confidence = self._tree.confidence
        if self._pacing.adaptive_fallback and self._pacing.draft_beyond:
            self._take_what_is_worth_it()
        self._draft = self._tree.draft(self._limit, branches_only=not self._pacing.draft_beyond)
        return self._draft

    def draft_ahead(self) -> bool:
        """Read a piece of the prompt, or run the likeliest nodes that were not run yet."""
        if not self._pacing.draft_ahead:
            return False
        if self._fresh_prompt:
            return self._read_ahead()
        free = _RUN_FOR_EACH * self._limit - self._tree.rows
        if free < 1 or not self._tree.begun:
            return False
        ends = self._tree.likeliest_ends(min(_NODES, free), self._room)
        if ends:
            self._run(ends)
        return bool(ends)

    def _read_ahead(self) -> bool:
        """Read a piece of the prompt while the target reads it."""
        model = self._model
        if model.room < 1 or model.missing <= 1:
            return False
        model.read(len(model.text) - 1, _PROMPT_STEP)
        return True

    @property
    def _room(self) -> int:
        """Greatest depth of a node that may be run."""
        return self._model.same_kind_room

    def _lengthen_branches(self) -> None:
        """Lengthen the branches that the pacer chooses, until the fallback."""
        while self._tree.size < self._limit:
            if self._pacing.adaptive_fallback:
                ended = self._tree.confidence < self._threshold.value
            else:
                ended = self._tree.longest >= self._pacing.length
            free = self._limit - self._tree.size
            branches = [] if ended else self._tree.behind(min(_BRANCHES, free), self._room)
            if not branches:
                return
            self._run(branches)

    def _take_what_is_worth_it(self) -> None:
        """Run the likeliest nodes beyond the fallback, no more than can be drafted."""
        while self._tree.rows < self._limit:
            most = min(_NODES, self._limit - self._tree.rows)
            ends = self._tree.likeliest_ends(most, self._room)
            ends = [end for end in ends if self._is_worth(self._tree.confidence_of(end))]
            if not ends:
                return
            self._run(ends)

    def _is_worth(self, confidence: float) -> bool:
        """Return whether a node of this confidence, corrected by what held, is worth running; not before any was."""
        worth = self._tokens_per_s * self._node_s
        return 0.0 < worth < confidence * self._accepted / self._promised

    def _run(self, nodes: Sequence[int]) -> None:
        """Run these nodes in one step."""
        begun = time.perf_counter()
        tokens, depths, sees = self._tree.level(nodes)
        positions = [len(self._model.text) + depth - 1 for depth in depths]
        self._tree.extend(nodes, self._model.run(tokens, positions, sees, self._tree.rows))
        each_s = (time.perf_counter() - begun) / len(nodes)
        self._node_s = _MEMORY * self._node_s + (1 - _MEMORY) * each_s if self._node_s else each_s
        self._drafted(self._tree.guess())

    def _empty(self) -> BranchTree:
        return BranchTree(BRANCHING_THRESHOLD, _CHILDREN if self._pacing.branching else 1)
