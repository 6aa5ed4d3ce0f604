"""A small model drafts a tree branch by branch until it is no longer sure of any, and goes on while the target loads.

Source: LLMCad (Xu et al. 2023), sections 3.2 to 3.4. The tree decoder is the draft model's own cache and a mask: a
step's nodes are rows behind those of the steps before, and see their own branch only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from engine.drafting.branch_tree import BranchTree
from engine.drafting.draft_model import DraftModel
from engine.drafting.drafter import Drafter
from engine.drafting.step_worth import StepWorth
from engine.model.token_tree import Draft, DraftShape

#: Any token more likely than this opens a branch (section 3.2).
BRANCHING_THRESHOLD = 0.3
# Tokens remembered below each node.
_CHILDREN = 8
# Branches that one step lengthens at most: a forward over four rows reads the weights once, as one over one row does.
_BRANCHES = 4
# Nodes that one step runs at most where it follows no branch.
_NODES = 8
# Nodes that are run for one tree, as a multiple of those that a draft may have: its own and a next one's.
_RUN_FOR_EACH = 4
# Tokens of the prompt that one step reads while the target loads.
_PROMPT_STEP = 64
#: Below it the limit of nodes ends every draft first, and halving it on would only delay its way back.
LOWEST_THRESHOLD = 1e-6


class FallbackThreshold:
    """Alpha: the target verifies once the most confident branch of a draft has become less likely than this.

    Source: section 3.3, equation 3. Where the paper's formula and its prose differ, this follows the prose. A
    verification without an error halves alpha. One with errors divides it by the average confidence of the tokens from
    the first wrong one on, which the prose takes to be T_c ** ((N_all - N_correct) / N_all) for a branch of N_all
    tokens, N_correct of them right, and the tree-cumulative confidence T_c; the printed formula has the exponent alone.

    Args:
        initial: Alpha at the start.

    Attributes:
        value: Alpha now, between `LOWEST_THRESHOLD` and 1.
    """

    DEFAULT = 0.01

    def __init__(self, initial: float = DEFAULT) -> None:
        self.value = max(initial, LOWEST_THRESHOLD)

    def observe(self, confidence: float, drafted: int, correct: int) -> None:
        """A draft was verified.

        Args:
            confidence: T_c, the cumulative confidence of the draft's most confident branch.
            drafted: N_all, tokens of the branch that matched best.
            correct: N_correct, how many of them held.
        """
        if correct == drafted:
            self.value = max(self.value * 0.5, LOWEST_THRESHOLD)
            return
        wrong: float = (drafted - correct) / drafted
        self.value = min(self.value / max(confidence, LOWEST_THRESHOLD) ** wrong, 1.0)


@dataclass(frozen=True)
class Pacing:
    """Options of LLMCad's drafting; each of its techniques can be switched off.

    Attributes:
        fallback_threshold: Alpha at the start of a reply, above 0 and at most 1.
        branching: Drafts are trees; else the likeliest token follows the likeliest token.
        adaptive_fallback: Confidence ends a draft; else its longest branch has ``length`` tokens.
        draft_ahead: The draft goes on while the target loads its weights.
        draft_beyond: Nodes that are worth their time are run below the threshold, and likely tokens that opened
            no branch take the places that branches leave; else a draft is the paper's branches alone.
        length: Of drafts whose length is fixed.
    """

    fallback_threshold: float = FallbackThreshold.DEFAULT
    branching: bool = True
    adaptive_fallback: bool = True
    draft_ahead: bool = True
    draft_beyond: bool = True
    length: int = 7


class PacedTree(Drafter):
    """Drafts branches of a small model's continuations.

    A draft made ahead grows the same tree beyond the part that is being verified, the likeliest node first. Of it the
    part below the tokens that the target emits is the beginning of the next draft, and the rest is dropped. The paper
    keeps drafts made ahead when nothing was wrong; this keeps them wherever the draft has foreseen the token that the
    target put in place of a wrong one, too.

    Args:
        model: The draft.
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
        self._worth = StepWorth()
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

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Learn from the verdict, and keep what was drafted below it. The prompt is read here at the latest."""
        drafted, correct = self._tree.outcome(tokens)
        if drafted:
            self._threshold.observe(self._confidence, drafted, correct)
        rows, kept, rest = self._tree.follow(tokens)
        self._tree = rest if self._model.extend(tokens, rows, kept) else self._empty()
        if self._fresh_prompt:
            self._fresh_prompt = False
            if self._model.room > 0:
                self._model.read(len(self._model.text) - 1)
            self._worth.begin()
        else:
            self._worth.round_done(len(tokens), self._draft.scores)
        self._draft = Draft()

    def propose(self, shape: DraftShape) -> Draft:
        """Lengthen branches until none is confident enough; nothing where the text outgrew the draft's context.

        Beyond that, where it is switched on, nodes are run that are worth their time: see `StepWorth`.
        """
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
        """While the target reads the prompt."""
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
        """As the pacer says, until the fallback."""
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
        """Beyond the fallback, the likeliest nodes first; no more than can be drafted."""
        while self._tree.rows < self._limit:
            most = min(_NODES, self._limit - self._tree.rows)
            ends = self._tree.likeliest_ends(most, self._room)
            ends = [end for end in ends if self._worth.is_worth(self._tree.confidence_of(end))]
            if not ends:
                return
            self._run(ends)

    def _run(self, nodes: Sequence[int]) -> None:
        """One step: run these nodes."""
        begun = time.perf_counter()
        tokens, depths, sees = self._tree.level(nodes)
        positions = [len(self._model.text) + depth - 1 for depth in depths]
        self._tree.extend(nodes, self._model.run(tokens, positions, sees, self._tree.rows))
        self._worth.step_done(len(nodes), time.perf_counter() - begun)
        self._drafted(self._tree.guess())

    def _empty(self) -> BranchTree:
        return BranchTree(BRANCHING_THRESHOLD, _CHILDREN if self._pacing.branching else 1)
