"""Sample the target once at each node of the path and follow the child that matches.

Lossless for every draft, chosen or drawn: each emitted token is drawn from the target's own distribution given its
prefix, and the draft only decides how many of them one forward yields. With temperature 0 this is greedy match. The
noise is keyed by (seed, position), so the text is the same with and without speculation.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from engine.model.token_tree import Draft
from engine.verifying.verdict import Verdict, Verifier


class SampleAndMatch(Verifier):
    """The default rule."""

    def verify(self, draft: Draft, logits: Tensor, position: int, text: Sequence[int]) -> Verdict:
        """Walk down from the root while the sampled token is one of the drafted children."""
        tokens: list[int] = []
        nodes: list[int] = []
        row = 0
        history = self._sampler.history(text, position)  # the path's own, node by node
        while True:
            token = self._sampler.pick(logits, row, position + len(tokens), history)
            tokens.append(token)
            children = draft.children[row]
            if token not in children:
                return Verdict(tuple(tokens), tuple(nodes))
            nodes.append(children[token])
            history.append(token)
            row = children[token] + 1
