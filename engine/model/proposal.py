"""Proposal: how the siblings of a sampled draft were drawn, which a rule of verification must know to undo it.

A draft that was chosen by its scores (the best k tokens, what followed earlier in the text) needs none: it is
deterministic. A draft whose tokens were drawn at random is verified against the distribution they were drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Proposal:
    """Draws below each row of a sampled draft; row 0 is the root, row ``i + 1`` node ``i``.

    The number of draws below a row may depend on what was drawn before, never on what would be drawn next or on the
    target: a sampled tree that is pruned by its scores afterwards is no sampled tree any more.

    Attributes:
        replacement: Each sibling was drawn from the same distribution, so that tokens may repeat, and not from
            what the siblings before it had left, renormalised.
        draws: (N + 1,) for each row the tokens drawn below it in order, repeats included.
        distributions: (N + 1,) for each row the (V,) float64 probabilities that its first child was drawn from, V
            being the target's vocabulary; None where nothing was drawn.
    """

    replacement: bool
    draws: tuple[tuple[int, ...], ...]
    distributions: tuple[Tensor | None, ...] = field(compare=False)

    def check(self, children: Sequence[Sequence[int]]) -> None:
        """Refuse draws that are not those of a tree.

        Args:
            children: (N + 1,) tokens of each row's children in the tree.

        Raises:
            ValueError: rows are missing, tokens differ from the tree's, or tokens repeat that cannot.
        """
        if not len(self.draws) == len(self.distributions) == len(children):
            raise ValueError("a proposal must say for each row of its draft what was drawn there")
        for drawn, distribution, tokens in zip(self.draws, self.distributions, children, strict=True):
            # dict.fromkeys drops the repeats and keeps the order.
            if list(dict.fromkeys(drawn)) != list(tokens) or (drawn and distribution is None):
                raise ValueError("the draws of a proposal must be its draft's tokens, in order")
            if not self.replacement and len(drawn) != len(tokens):
                raise ValueError("tokens drawn without replacement cannot repeat")
