"""How sure the target was of each token, noted beside any rule of verification."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.model.token_tree import Draft
from engine.verifying.verdict import Verdict, Verifier


class ConfidenceRecord:
    """Passes verdicts on unchanged and keeps the probability that the target gave to each of their tokens.

    Attributes:
        latest: (k + 1,) probabilities of the last verdict's tokens, before temperature and filters.
    """

    def __init__(self, rule: Verifier) -> None:
        """Record what ``rule`` decides."""
        self._rule = rule
        self.latest: list[float] = []

    def verify(self, draft: Draft, logits: Tensor, position: int, seen: Sequence[int]) -> Verdict:
        """Decide as the rule does."""
        verdict = self._rule.verify(draft, logits, position, seen)
        rows = torch.tensor([0, *(node + 1 for node in verdict.nodes)])
        tokens = torch.tensor(verdict.tokens)
        self.latest = torch.softmax(logits[rows], -1).gather(1, tokens[:, None])[:, 0].tolist()
        return verdict
