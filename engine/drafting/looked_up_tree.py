"""Trees of heads or prompt tokens together with what followed the same words earlier in the text.

Both guess without a step of a network, and where they agree one node serves both. A forward that waits for its weights
takes as long for their rows together as for either's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING

from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.prompt_lookup import PromptLookup
from engine.model.token_tree import ROOT, Draft, DraftShape

if TYPE_CHECKING:
    from engine.drafting.level_drafter import LevelDrafter

# Tokens of a match that are less likely than this give way to nodes of the tree.
_LIKELY = 0.2
# Share of a draft's rows that a match may take.
_SHARE = 0.5


class LookedUpTree(Drafter):
    """Adds the continuation of the longest match to a drafter's trees.

    Args:
        drafter: Makes the trees.
        lookup: Learns from this reply.
    """

    def __init__(self, drafter: LevelDrafter, lookup: PromptLookup) -> None:
        self.hidden_layers = drafter.hidden_layers
        self.counted = drafter.counted
        self._drafter = drafter
        self._lookup = lookup

    def reset(self, prompt: Sequence[int]) -> int:
        """The drafter says which rows are needed."""
        self._lookup.reset(prompt)
        return self._drafter.reset(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Tell both."""
        self._lookup.observe(tokens)
        self._drafter.observe(tokens, hidden, probes)

    def propose(self, shape: DraftShape) -> Draft:
        """One tree of both, whose first nodes are the match's."""
        match = self._match(shape)
        if not len(match):
            return self._drafter.propose(shape)
        tree = self._drafter.propose(shape.at_most(shape.rows - self._rows(len(match))))
        joined, place = join(match, tree)
        reaches = [1] * (1 + len(joined))
        reaches[len(match)] = self._drafter.levels
        asked = Counter(tree.probes.nodes)
        for node, at in enumerate(place, ROOT):
            each = asked[node] // max(1, self._drafter.probes_each)
            reaches[at + 1] = max(each, reaches[at + 1])
        return replace(joined, probes=self._drafter.probes_behind(reaches))

    def _match(self, shape: DraftShape) -> Draft:
        """The part of the longest match that is likely and leaves rows for a tree."""
        if shape.parents is not None:
            return Draft()
        most = int(_SHARE * shape.rows)
        while most and self._rows(most) > _SHARE * shape.rows:
            most -= 1
        match = self._lookup.propose(DraftShape(most))
        return match.first(sum(exp(score) >= _LIKELY for score in match.scores))

    def _rows(self, nodes: int) -> int:
        """Of a match of so many nodes: a probe behind each, and behind the last as many as there are."""
        return nodes + self._drafter.probes_each * (nodes - 1 + self._drafter.levels)


def join(first: Draft, second: Draft) -> tuple[Draft, list[int]]:
    """Two trees as one, without their probes.

    Returns:
        The nodes of the first, then those of the second that it lacks; and the place of the root and of each node of
        the second among them. It has scores where both have.
    """
    nodes = {
        edge: node for node, edge in enumerate(zip(first.parents, first.tokens, strict=True))
    }  # by parent and token
    place = [ROOT]
    for token, parent in zip(second.tokens, second.parents, strict=True):
        edge = (place[parent + 1], token)
        place.append(nodes.setdefault(edge, len(nodes)))
    parents, tokens = zip(*nodes, strict=True) if nodes else ((), ())
    scores = dict(zip(place[1:], second.scores, strict=False)) | dict(enumerate(first.scores))
    whole = len(scores) == len(nodes)
    return Draft(tokens, parents, tuple(scores[node] for node in range(len(nodes))) if whole else ()), place
