"""Sampling among the tokens that a reply's form allows.

The mask comes before anything else, so a drafted token that the form forbids is never the one that is sampled, and the
text is the same with and without drafts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import torch
from torch import Tensor

from engine.model.sampling import Sampler
from engine.text.output_form import TokenMask


@dataclass(frozen=True)
class MaskedSampler(Sampler):
    """A sampler whose picks are the tokens of one reply, in their order.

    Attributes:
        mask: Is told of each pick.
    """

    mask: TokenMask = field(kw_only=True)

    def pick(self, logits: Tensor, row: int, position: int, text: Sequence[int] = ()) -> int:
        """The token at a position; see `Sampler.pick`."""
        allowed = self.mask.allowed()
        if allowed is not None:
            forbidden = torch.ones(logits.shape[1], dtype=torch.bool)  # there may be rows that no token has
            known = min(len(allowed), len(forbidden))
            forbidden[:known] = torch.from_numpy(~allowed[:known])
            logits, row = logits[row].masked_fill(forbidden, -inf)[None], 0
        token = super().pick(logits, row, position, text)
        self.mask.take(token)
        return token
