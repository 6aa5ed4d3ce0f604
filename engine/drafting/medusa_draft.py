"""Medusa heads as a draft: trees of what each head holds likely, whatever stands on the way there.

Source: Medusa (Cai et al. 2024). One pass of the heads makes the whole draft; a node's score is the product of the
heads' own probabilities along its path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from engine.drafting.calibrated_draft import CalibratedDraft
from engine.drafting.head_calibration import FILE, HeadCalibration
from engine.drafting.head_loader import check_sizes
from engine.drafting.kind import DraftLoad, DraftText, LoadedDraft, ReadTokenizer
from engine.drafting.level_drafter import LevelDrafter, likeliest_along
from engine.drafting.medusa_heads import MedusaLayout, MedusaNetwork, load_medusa, read_medusa
from engine.drafting.rank_log import Path as Node
from engine.drafting.searched_tree import parents_of
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.linear import Linear, LinearMap
from engine.model.loader import read_slots
from engine.model.tensors import head_slot
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat
from engine.sentences import mark, say
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import is_medusa
from engine.weights.head_checkpoint import HeadCheckpoint

_UNUSED = mark(
    "The file {file} beside the heads {name} is damaged or was made for other heads, so their tree is not used: search "
    "one with `tenon train tree`."
)


@dataclass(frozen=True)
class MedusaDraft(CalibratedDraft[MedusaLayout, HeadCalibration]):
    """Medusa heads, which bring no tokenizer and may share the target's head."""

    kind = "medusa"
    calibration_type = HeadCalibration
    # Half the gain of Vicuna-7B's heads in Ghidorah's table I (Wei et al. 2025) with trees of 16 rows on MT-bench,
    # HumanEval and GSM8K, MT-bench standing for instructions too: other heads are seldom as good.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 1.97,
        "code": 2.10,
        "arithmetic": 2.04,
        "instruction": 1.97,
    }

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """A folder whose tensors are numbered heads."""
        return is_medusa(folder)

    @classmethod
    def read_layout(cls, checkpoint: HeadCheckpoint) -> MedusaLayout:
        """The heads of a checkpoint."""
        return read_medusa(checkpoint)

    @property
    def layers(self) -> int:
        """Blocks of all heads."""
        return len(self.layout.heads) * self.layout.blocks

    @property
    def read_elements(self) -> int:
        """Their matrices, and the target's head where they share it."""
        slots = [slot for head in self.layout.heads for slot in head if len(slot.shape) == 2]
        own = sum(slot.shape[0] * slot.shape[1] for slot in slots)
        if self.layout.own_maps:
            return own
        return own + (self.layout.drafted or self.target.vocabulary_size) * self.target.hidden_size

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Their weights; on another device with a copy of a head that they share. They have no cache."""
        own = self.layout.size_bytes(weights)
        if self.layout.own_maps or self.layout.drafted is not None or not elsewhere:
            return own
        return own + self.target.vocabulary_size * self.target.hidden_size * weights.dense.itemsize

    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Hidden size and vocabulary must be the target's."""
        vocabulary = self.layout.vocabulary_size
        check_sizes(
            self.layout.hidden_size, config.vocabulary_size if vocabulary is None else vocabulary, config
        )

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights, and a copy of the target's head where they share it elsewhere."""
        source, config, link, check = parts.target.source, parts.target.config, parts.link, parts.check
        weights, head, head_type = parts.weights, source.whole_head, source.dtype
        if parts.plan.on_gpu:
            head_type = weights.dense
            if not self.layout.own_maps:
                head = _read_head(parts.checkpoint, config, head_type, link.device, check)
        checkpoint, cap = HeadCheckpoint(parts.folder), config.logit_soft_cap
        network = load_medusa(checkpoint, head, head_type, cap, weights, link.device, check)
        calibration = self.calibration(parts.checkpoint.digest())

        def new_text() -> DraftText:
            return MedusaDrafter(network, config.layers, calibration).for_reply

        unused = calibration is None and (parts.folder / FILE).exists()
        notes = (say(_UNUSED, file=FILE, name=self.name),) if unused else ()
        return LoadedDraft(self.name, self.kind, link, new_text, notes)


def _read_head(
    checkpoint: Checkpoint,
    config: ModelConfig,
    dtype: torch.dtype,
    device: torch.device,
    check: Callable[[], None],
) -> LinearMap:
    found = read_slots(checkpoint, [head_slot(config)], dtype, device, lambda count: None, check)
    return Linear(found["head"])


class MedusaDrafter(LevelDrafter):
    """Drafts trees from the hidden state of the token before the root.

    Args:
        network: The heads.
        hidden_layer: The number of the target's layers, which names the rows that its head maps.
        calibration: Theirs; None for none.

    Attributes:
        hidden_layers: That one.
    """

    def __init__(
        self,
        network: MedusaNetwork,
        hidden_layer: int,
        calibration: HeadCalibration | None = None,
    ) -> None:
        super().__init__(network.heads, {} if calibration is None else calibration.tokens)
        self.hidden_layers: tuple[int, ...] = (hidden_layer,)
        self._network = network
        self._nodes = () if calibration is None else calibration.followed
        self._known: dict[tuple[int, int], tuple[Sequence[Node], tuple[int, ...]]] = {}
        self._target_ids = None if network.target_ids is None else network.target_ids.tolist()
        self._row: Tensor | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """The prompt's last row is all that is wanted."""
        self._text, self._row = list(prompt), None
        return len(prompt) - 1

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Keep the row of the token before the new root."""
        self._text.extend(tokens)
        if hidden is not None:
            self._row = hidden if len(hidden) == 1 else hidden[-1:]

    def propose(self, shape: DraftShape) -> Draft:
        """A tree below the last observed token: dynamic, fixed or searched, its tokens drawn where that is wanted.

        Raises:
            DraftMismatch: A fixed tree is deeper than there are heads.
        """
        network = self._network
        if shape.rows < 1:
            return Draft()
        if self._row is None:
            raise ValueError("heads cannot draft before a token was observed")
        searched: Sequence[Node] = ()
        if self.limits.searched and shape.parents is None:
            searched, parents = self._searched(shape.rows)
            shape = DraftShape.tree(parents) if searched else shape
        most = network.heads
        self._check_depth(shape)
        logits = network.logits(self._row, shape.depth or min(self.limits.depth, most, shape.rows))
        draft = (
            likeliest_along(searched, shape.parents or (), logits) if searched else self._tree(shape, logits)
        )
        ids = self._target_ids
        return draft if ids is None else replace(draft, tokens=tuple(ids[token] for token in draft.tokens))

    def _searched(self, rows: int) -> tuple[Sequence[Node], tuple[int, ...]]:
        """The first so many nodes of the searched tree within the depth that trees may have, and their parents."""
        depth = self.limits.depth
        if (rows, depth) not in self._known:
            nodes = [node for node in self._nodes if len(node) <= depth][:rows]
            self._known[rows, depth] = nodes, parents_of(nodes)
        return self._known[rows, depth]
