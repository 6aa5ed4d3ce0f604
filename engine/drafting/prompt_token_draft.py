"""Prompt tokens as a draft: the model itself guesses, in rows of the forward that verifies the guesses before.

Source: Parallel Prompt Decoding (Chen et al. 2024). Behind the root and each node of a tree stand probes; those behind
the last accepted token say which tokens the next tree is made of, and nothing else takes any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import Tensor

from engine.drafting.calibrated_draft import CalibratedDraft
from engine.drafting.kind import DraftLoad, DraftText, LoadedDraft, ReadTokenizer, Seconds
from engine.drafting.level_drafter import LevelDrafter, likeliest_along
from engine.drafting.prompt_token_calibration import PromptTokenCalibration
from engine.drafting.prompt_tokens import (
    PromptTokenLayout,
    PromptTokens,
    check_prompt_tokens,
    load_prompt_tokens,
    read_prompt_tokens,
)
from engine.errors import DraftMismatch
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.token_tree import Draft, DraftShape, Probes
from engine.model.weight_format import WeightFormat, weight_format
from engine.weights.draft_kind import is_prompt_tokens
from engine.weights.head_checkpoint import HeadCheckpoint


@dataclass(frozen=True)
class PromptTokenDraft(CalibratedDraft[PromptTokenLayout, PromptTokenCalibration]):
    """Some embeddings, with neither blocks nor a cache: they take the model's own."""

    kind = "prompt-tokens"
    calibration_type = PromptTokenCalibration
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
    def read_layout(cls, checkpoint: HeadCheckpoint) -> PromptTokenLayout:
        """The prompt tokens of a checkpoint."""
        return read_prompt_tokens(checkpoint)

    @property
    def layers(self) -> int:
        """None."""
        return 0

    @property
    def read_elements(self) -> int:
        """None: what its rows read is part of the target's forward."""
        return 0

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """They are kept as they enter the first layer."""
        return weight_format("fp32")

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Their rows."""
        return self.layout.size_bytes

    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Sizes must be the target's: the same width may be another model's."""
        check_prompt_tokens(self.layout, config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read their rows.

        Raises:
            DraftMismatch: The context has no room for them.
        """
        tokens = load_prompt_tokens(HeadCheckpoint(parts.folder))
        rows = tokens.count * tokens.members
        if rows >= parts.context:
            raise DraftMismatch(
                "There are {count} prompt tokens, and the context has room for {context} tokens; choose a longer "
                "context or a smaller set.",
                count=rows,
                context=parts.context,
            )

        calibration = self.calibration(parts.checkpoint.digest())

        def new_text() -> DraftText:
            return PromptTokenDrafter(tokens, calibration).for_reply

        return LoadedDraft(self.name, self.kind, parts.link, new_text)


class PromptTokenDrafter(LevelDrafter):
    """Drafts trees of what the model said after the probes of the last accepted token.

    Args:
        tokens: The prompt tokens.
        calibration: Theirs; None for none.
    """

    def __init__(self, tokens: PromptTokens, calibration: PromptTokenCalibration | None = None) -> None:
        super().__init__(tokens.count, {} if calibration is None else calibration.tokens, tokens.members)
        self._tokens = tokens
        self._trees = {} if calibration is None else calibration.by_rows
        self._said: Tensor | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """No row of the prompt is wanted: the first draft asks."""
        self._text, self._said = list(prompt), None
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Keep what the model said further on."""
        self._text.extend(tokens)
        self._said = None if probes is None else self._tokens.average(probes)

    def probes_behind(self, reaches: Sequence[int]) -> Probes:
        """Prompt tokens behind the root and each node."""
        return self._tokens.behind(reaches)

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
        draft = likeliest_along(state.nodes, state.parents, self._said)
        return replace(draft, probes=self._tokens.behind(state.reaches))

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
