"""Medusa heads for training.

Source: Medusa (Cai et al. 2024), sections 2.1 and 2.2.1: the target stays as it is, and each head learns its own token.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.errors import InvalidOption
from engine.model.config import ModelConfig
from engine.training.draft.network import FeatureGuesser, check_blocks
from engine.weights.draft_kind import MEDUSA_SAFETENSORS

MOST_HEADS = 16
# Weight of a head in the loss, as a share of that of the head before it.
_NEXT_HEAD = 0.8


class MedusaBlock(nn.Module):
    """x + SiLU(W x + b), the identity at first."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map (..., h) to (..., h)."""
        return hidden + functional.silu(self.linear(hidden))


class MedusaNetwork(FeatureGuesser):
    """Medusa heads (Cai et al. 2024, section 2.1), which begin as the target's own head.

    Args:
        target: The target.
        heads: Number of heads, 1 to 16.
        blocks: Blocks of each head.
        own_maps: True if each has an output map of its own.
        token_ids: As in `FeatureGuesser`.
    """

    file_name = MEDUSA_SAFETENSORS
    prefix = "heads."

    def __init__(
        self,
        target: ModelConfig,
        heads: int,
        blocks: int,
        own_maps: bool,
        token_ids: Tensor | None = None,
    ) -> None:
        super().__init__(token_ids)
        self.target, self.blocks, self.own_maps = target, blocks, own_maps
        self.shares = tuple(_NEXT_HEAD**head for head in range(heads))
        rows = target.vocabulary_size if token_ids is None else len(token_ids)
        self.heads = nn.ModuleList()
        for _ in range(heads):
            parts: list[nn.Module] = [MedusaBlock(target.hidden_size) for _ in range(blocks)]
            if own_maps:
                parts.append(nn.Linear(target.hidden_size, rows, bias=False))
            self.heads.append(nn.Sequential(*parts))

    @staticmethod
    def check(heads: int, blocks: int) -> None:
        """Refuse counts that are out of their range.

        Raises:
            InvalidOption: One of these.
        """
        check_blocks(blocks)
        if not 1 <= heads <= MOST_HEADS:
            raise InvalidOption(f"The draft has {heads} heads, but it must have between 1 and {MOST_HEADS}.")

    def guesses(self, embedding: Tensor, features: Tensor) -> list[Tensor]:
        """Output of each head for the feature that it sees."""
        found = []
        for number, head in enumerate(self._heads()):
            found.append(head[: self.blocks](features).roll(number, 1))
        return found

    @property
    def maps(self) -> list[Tensor]:
        """Each head's own."""
        return [cast(nn.Linear, head[-1]).weight for head in self._heads()] if self.own_maps else []

    def _heads(self) -> list[nn.Sequential]:
        return cast(list[nn.Sequential], list(self.heads))

    @torch.no_grad()
    def begin_as(self, head: Tensor) -> None:
        """Let maps of their own begin as the target's head, (Vd, h)."""
        for own in self.maps:
            own.copy_(head)

    def sizes(self) -> dict[str, Any]:
        """Medusa's names of its own counts; sizes by the names that models have."""
        return {
            "medusa_num_heads": len(self.heads),
            "medusa_num_layers": self.blocks,
            "hidden_size": self.target.hidden_size,
            "vocab_size": self.target.vocabulary_size,
        }
