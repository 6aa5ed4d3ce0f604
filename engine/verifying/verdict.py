"""Interface of a rule of verification, and its answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from engine.model.sampling import Sampler
from engine.model.token_tree import Draft


@dataclass(frozen=True)
class Verdict:
    """The path that holds.

    Attributes:
        tokens: (k + 1,) the k accepted tokens and the one that the target adds after them.
        nodes: (k,) the accepted nodes of the draft, a path from the root.
    """

    tokens: tuple[int, ...]
    nodes: tuple[int, ...]


class Verifier(ABC):
    """Compares a draft with the target's logits.

    Args:
        sampler: The target's own way of sampling.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    @abstractmethod
    def verify(self, draft: Draft, logits: Tensor, position: int, text: Sequence[int]) -> Verdict:
        """Choose the accepted path and the token after it.

        Args:
            draft: N nodes below the root.
            logits: (N + 1, V) float32; row 0 follows the root, row i + 1 follows node i.
            position: The position of the root's successor.
            text: The token ids up to and including the root.
        """
