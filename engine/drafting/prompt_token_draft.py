"""Prompt tokens as a draft: the model itself guesses, in rows of the forward that verifies the guesses before.

Source: Parallel Prompt Decoding (Chen et al. 2024). Behind the root and each node of a tree stand probes; those behind
the last accepted token say which tokens the next tree is made of, and nothing else takes any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import DEEPEST, Level, TreeShape, grow_tree
from engine.drafting.head_calibration import calibration_beside, read_calibration
from engine.drafting.head_loader import check_sizes
from engine.drafting.kind import (
    Drafting,
    DraftKind,
    DraftLoad,
    DraftText,
    LoadedDraft,
    ReadTokenizer,
    Seconds,
)
from engine.drafting.prompt_token_calibration import PromptTokenCalibration
from engine.drafting.prompt_tokens import (
    PromptTokenLayout,
    PromptTokens,
    load_prompt_tokens,
    read_prompt_tokens,
)
from engine.drafting.sampled_tree import DraftSampling, sampled_draft
from engine.errors import DraftMismatch
from engine.hub.installed import cache_folder
from engine.kernels.sampling import likeliest
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat, weight_format
from engine.sentences import say
from engine.weights.draft_kind import is_prompt_tokens
from engine.weights.head_checkpoint import HeadCheckpoint

# Limits of a tree without a mode's: children of a node, as in the code of the report, and rows.
_WIDTH, _ROWS = 10, 64


@dataclass(frozen=True)
class PromptTokenDraft(DraftKind):
    """Some embeddings, with neither blocks nor a cache: they take the model's own.

    Attributes:
        layout: Contents of their checkpoint.
        target: The target's config.
        beside: The calibration that came with them; None for none.
    """

    layout: PromptTokenLayout
    target: ModelConfig
    beside: PromptTokenCalibration | None = None

    kind = "prompt-tokens"
    by_levels = False
    on_host = True
    # Half the gain of Vicuna-7B in the report, whose trees have up to 104 rows: tau of table 6.1, and of code and
    # arithmetic the speed of table 6.2 times the seconds of a forward. MT-bench stands for instructions too.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 1.77,
        "code": 1.86,
        "arithmetic": 1.88,
        "instruction": 1.77,
    }

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """A folder whose config counts prompt tokens."""
        return is_prompt_tokens(folder)

    @classmethod
    def read(cls, name: str, folder: Path, target: ModelConfig) -> PromptTokenDraft:
        """The prompt tokens in a folder, all of which must be here."""
        checkpoint = HeadCheckpoint(folder)
        beside = calibration_beside(PromptTokenCalibration, folder)
        return cls(name, checkpoint.digest(), read_prompt_tokens(checkpoint), target, beside)

    def calibration(self, target: str) -> PromptTokenCalibration | None:
        """Their calibration for a model, by its digest: made here, else the one that came with them."""
        made = read_calibration(PromptTokenCalibration, cache_folder(), target, self.digest)
        found = made or self.beside
        return found if found is None or found.fits(self.layout) else None

    def counted(self, target: str) -> Mapping[int, float]:
        """Tokens of a round by rows on the replies of the calibration."""
        calibration = self.calibration(target)
        return {} if calibration is None else calibration.tokens

    @property
    def layers(self) -> int:
        """None."""
        return 0

    @property
    def read_elements(self) -> int:
        """None: what its rows read is part of the target's forward."""
        return 0

    @property
    def context_length(self) -> int:
        """The target's."""
        return self.target.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """They are kept as they enter the first layer."""
        return weight_format("fp32")

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Their rows."""
        return self.layout.size_bytes

    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Hidden size and layers must be the target's: the same width may be another model's."""
        layout = self.layout
        check_sizes(layout.hidden_size, config.vocabulary_size, config)
        if layout.layers not in (None, config.layers):
            raise DraftMismatch(
                say(
                    "The prompt tokens are for a model of {wanted} layers, and this one has {layers}; choose a set "
                    "that was trained for this model.",
                    wanted=layout.layers,
                    layers=config.layers,
                )
            )

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read their rows.

        Raises:
            DraftMismatch: The context has no room for them.
        """
        tokens = load_prompt_tokens(HeadCheckpoint(parts.folder))
        rows = tokens.count * tokens.members
        if rows >= parts.context:
            raise DraftMismatch(
                say(
                    "There are {count} prompt tokens, and the context has room for {context} tokens; choose a longer "
                    "context or a smaller set.",
                    count=rows,
                    context=parts.context,
                )
            )

        calibration = self.calibration(parts.checkpoint.digest())

        def new_text() -> DraftText:
            return partial(_drafter, PromptTokenDrafter(tokens, calibration))

        return LoadedDraft(self.name, parts.link, new_text)


class PromptTokenDrafter(Drafter):
    """Drafts trees of what the model said after the probes of the last accepted token.

    Args:
        tokens: The prompt tokens.
        calibration: Theirs; None for none.

    Attributes:
        limits: Limits of trees. May be changed between replies.
        sampling: The way of drawing drafts; None for the likeliest tokens. May be changed between replies.
    """

    def __init__(self, tokens: PromptTokens, calibration: PromptTokenCalibration | None = None) -> None:
        self.limits = TreeShape(_WIDTH, tokens.count, _ROWS)
        self.sampling: DraftSampling | None = None
        self._tokens = tokens
        self._trees = {} if calibration is None else calibration.by_rows
        self.counted = {} if calibration is None else calibration.tokens
        self._text: list[int] = []
        self._said: Tensor | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """No row of the prompt is wanted: the first draft asks."""
        self._text, self._said = list(prompt), None
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Keep what the model said further on."""
        self._text.extend(tokens)
        self._said = None if probes is None else self._tokens.average(probes)

    def propose(self, shape: DraftShape) -> Draft:
        """A tree and its probes, or probes alone where the forward before had none behind its last token."""
        rows = min(shape.rows, self.limits.nodes)
        trees = [tree for most, tree in self._trees.items() if most <= rows] if self.limits.searched else []
        nodes, reach = self._divided(rows)
        if not reach:
            return Draft()
        if self._said is None:
            return Draft(probes=self._tokens.behind([min(self._tokens.count, rows // self._tokens.members)]))
        if not trees:
            draft = self._tree(DraftShape(nodes), self._said)
            return replace(draft, probes=self._tokens.behind([reach] * (1 + len(draft))))
        state = trees[-1].states[min(len(self._said), self.limits.depth) - 1]
        if self.sampling is not None:
            draft = self._tree(DraftShape.tree(state.parents), self._said)
            return replace(draft, probes=self._tokens.behind(state.reaches_of(draft.parents)))
        tokens, _ = likeliest(self._said, 1 + max(path[-1] for path in state.nodes))
        # In the order of the nodes, which tells the schedule what a smaller tree would have had.
        return Draft(
            tuple(tokens[len(path) - 1][path[-1]] for path in state.nodes),
            state.parents,
            probes=self._tokens.behind(state.reaches),
        )

    def _divided(self, rows: int) -> tuple[int, int]:
        """Nodes of a draft of so many rows, and how far it asks behind the root and each of them; (0, 0) for too few.

        Probes are as many as leave room for a node.
        """
        for reach in range(self._tokens.count, 0, -1):
            behind_each = reach * self._tokens.members
            nodes = (rows - behind_each) // (1 + behind_each)
            if nodes > 0:
                return nodes, reach
        return 0, 0

    def _tree(self, shape: DraftShape, said: Tensor) -> Draft:
        limits = replace(self.limits, depth=min(self.limits.depth, len(said), shape.rows))
        if self.sampling is None:
            return grow_tree(limits, shape, said[0], lambda level: said[level.depth, None])

        def follow(level: Level) -> Tensor:
            return said[level.depth].expand(len(level.tokens), -1)

        return sampled_draft(limits, shape, said[0], follow, self.sampling, self._text)


def _drafter(draft: PromptTokenDrafter, wanted: Drafting) -> Drafter:
    """Trees within the limits; where branches are paced, as many rows as the schedule asks for."""
    growth = wanted.growth
    paced = TreeShape(_WIDTH, DEEPEST, _ROWS, searched=True)
    draft.limits = growth if isinstance(growth, TreeShape) else replace(paced, depth=growth.length)
    draft.sampling = wanted.sampling
    return draft
