"""Drafters that know all levels of a tree at once, independent of the path to them: by heads or by prompt tokens.

Their trees may be joined with what followed the same words earlier in the text. Both guess without a step of a
network, and where they agree one node serves both. A forward that waits for its weights takes as long for their rows
together as for either's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp

from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.fixed_trees import Path
from engine.drafting.kind import Drafting
from engine.drafting.lookup import PromptLookup
from engine.drafting.target_draft import TargetRows
from engine.drafting.trees import Expand, TreeShape, grow_tree
from engine.errors import DraftMismatch
from engine.kernels.sampling import likeliest
from engine.model.kv_cache import KVCache
from engine.model.token_tree import ROOT, Draft, DraftShape, Probes

# Tokens of a match that are less likely than this give way to nodes of the tree.
_LIKELY = 0.2
# Share of a draft's rows that a match may take.
_SHARE = 0.5
# Limits of a tree for modes that have none: children of a node, as in Medusa's and PPD's code, and rows.
_WIDTH, _ROWS = 10, 64


class LookedUpTree(Drafter):
    """Adds the continuation of the longest match to a drafter's trees.

    Args:
        drafter: Makes the trees.
        lookup: Prompt lookup, which learns from this reply.
    """

    def __init__(self, drafter: Drafter, lookup: PromptLookup) -> None:
        self.hidden_layers, self.reads_hidden = drafter.hidden_layers, drafter.reads_hidden
        self.counted = drafter.counted
        self._drafter = drafter
        self._levels = drafter if isinstance(drafter, LevelDrafter) else None  # which may need probes
        self._lookup = lookup

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply; the drafter decides which rows are needed."""
        self._lookup.reset(prompt)
        return self._drafter.reset(prompt)

    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Let the drafter read the prompt."""
        self._drafter.read_prompt(end, hidden)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Pass tokens and rows on to the drafter and the lookup."""
        self._lookup.observe(tokens)
        self._drafter.observe(tokens, hidden, probes)

    def propose(self, shape: DraftShape) -> Draft:
        """Draft one tree of both, whose first nodes are the match's."""
        match = self._match(shape)
        if not len(match):
            return self._drafter.propose(shape)
        tree = self._drafter.propose(shape.at_most(shape.rows - self._rows(len(match))))
        joined, place = join(match, tree)
        if self._levels is None:
            return joined
        reaches = [1] * (1 + len(joined))
        reaches[len(match)] = self._levels.levels
        asked = Counter(tree.probes.nodes)
        for node, at in enumerate(place, ROOT):
            each = asked[node] // max(1, self._levels.probes_each)
            reaches[at + 1] = max(each, reaches[at + 1])
        return replace(joined, probes=self._levels.probes_behind(reaches))

    def _match(self, shape: DraftShape) -> Draft:
        """Return the part of the longest match that is likely and leaves rows for a tree."""
        if shape.parents is not None:
            return Draft()
        most = int(_SHARE * shape.rows)
        while most and self._rows(most) > _SHARE * shape.rows:
            most -= 1
        match = self._lookup.after((), most)
        return match.first(sum(exp(score) >= _LIKELY for score in match.scores))

    def _rows(self, nodes: int) -> int:
        """Return the rows of a match of so many nodes: a probe after each, and one for every level after the last."""
        levels = self._levels
        return nodes if levels is None else nodes + levels.probes_each * (nodes - 1 + levels.levels)


def join(first: Draft, second: Draft) -> tuple[Draft, list[int]]:
    """Join two trees without their probes.

    Returns:
        The nodes of the first tree, then those that only the second has; and the places in it of the root and of
        each node of the second tree. It has scores if both have.
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


class LevelDrafter(Drafter):
    """Drafts trees of one distribution for each level.

    Args:
        levels: Most levels of a tree.
        counted: Tokens of a round by rows of its draft, if they were counted.
        probes_each: Rows of a forward that ask for one level after one node; 0 for a drafter that needs none.
    """

    def __init__(self, levels: int, counted: Mapping[int, float], probes_each: int = 0) -> None:
        self.levels = levels  # most levels of a tree
        self.probes_each = probes_each  # rows of a forward that ask for one level after one node
        self.limits = TreeShape(_WIDTH, levels, _ROWS)  # limits of trees. May be changed between replies
        self.counted = counted
        self._text: list[int] = []

    def for_reply(self, wanted: Drafting) -> Drafter:
        """Return the drafter of one reply; if a mode paces branches, trees have as many rows as the schedule asks."""
        growth = wanted.growth
        if not isinstance(growth, TreeShape):
            growth = TreeShape(_WIDTH, growth.length, _ROWS, searched=True)
        self.limits = growth
        if not wanted.looks_up or wanted.matches is None:
            return self
        return LookedUpTree(self, PromptLookup(wanted.matches))

    def probes_behind(self, reaches: Sequence[int]) -> Probes:
        """Return the rows that ask for so many levels after the root and each node of a draft."""
        return Probes()

    def _tree(self, shape: DraftShape, levels: Tensor) -> Draft:
        """Draft a tree of this shape.

        Args:
            shape: Shape that the schedule asks for.
            levels: (k, V) logits of the tokens at each level.
        """
        return self._grown(shape, levels[0], lambda level: levels[level.depth, None], len(levels))

    def _grown(self, shape: DraftShape, first: Tensor, expand: Expand, levels: int | None = None) -> Draft:
        """Grow a tree of this shape if a level's distribution may depend on the path to it.

        Args:
            shape: Shape that the schedule asks for.
            first: (V,) logits of what follows the root.
            expand: Function from the nodes of a level to the logits after them.
            levels: Most levels; None for all.

        Raises:
            DraftMismatch: A fixed tree is deeper than there are levels.
        """
        most = self.levels if levels is None else levels
        self._check_depth(shape)
        limits = replace(self.limits, depth=min(self.limits.depth, most, shape.rows))
        return grow_tree(limits, shape, first, expand)

    def _check_depth(self, shape: DraftShape) -> None:
        if shape.depth > self.levels:
            raise DraftMismatch(
                "The tree is {depth} tokens deep and the draft has {heads} heads; choose a tree that was made "
                "for these heads.",
                depth=shape.depth,
                heads=self.levels,
            )


def likeliest_along(tree: Sequence[Path], parents: tuple[int, ...], levels: Tensor) -> Draft:
    """Draft the likeliest tokens in the places of a searched tree.

    They come in the order of its nodes, so that the schedule can tell what a smaller tree would have had.

    Args:
        tree: Nodes of the searched tree.
        parents: Parents of the nodes, as `parents_of` finds them.
        levels: (k, V) logits of the tokens at each level.
    """
    tokens, _ = likeliest(levels, 1 + max(path[-1] for path in tree))
    return Draft(tuple(tokens[len(path) - 1][path[-1]] for path in tree), parents)


class LastRowDrafter(Drafter):
    """Takes the target's row of the token before the root, and no others."""

    def __init__(self, hidden_layer: int) -> None:
        self.hidden_layers = (hidden_layer,)  # the number of the target's layers names the rows that its head maps
        self._text: list[int] = []
        self._row: Tensor | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply; only the prompt's last row is needed."""
        self._text, self._row = list(prompt), None
        return len(prompt) - 1

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Keep the row of the token before the new root."""
        self._text.extend(tokens)
        if hidden is not None:
            self._row = hidden[-1:].clone()  # not the whole of a long prompt's memory

    @property
    def _last(self) -> Tensor:
        """The row, (1, h)."""
        if self._row is None:
            raise ValueError("a draft cannot begin before a token was observed")
        return self._row


class RowLevelDrafter(LevelDrafter):
    """Keeps the target's rows until a draft is asked for.

    Args:
        levels: Most levels of a tree.
        hidden_layers: Layers of the target whose rows it takes.
        cache: Cache of the draft: row i is made of the target's row i.
        ahead: Tokens after its own position that a row of the cache holds.
        target_ids: (draft's vocabulary,) the target's ids of the draft's; None if they are the same.
    """

    def __init__(
        self,
        levels: int,
        hidden_layers: tuple[int, ...],
        cache: KVCache,
        ahead: int,
        target_ids: Tensor | None,
    ) -> None:
        super().__init__(levels, {})
        self.hidden_layers = hidden_layers  # layers of the target whose rows it takes
        self._cache = cache
        self._rows = TargetRows(cache, ahead)
        self._target_ids: list[int] | None = None if target_ids is None else target_ids.tolist()

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what an earlier text shares with this prompt; return the first position whose rows are needed."""
        held = self._rows.reset(prompt)
        self._text = self._rows.text
        return held

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Note emitted tokens, and keep the rows until a draft is asked for."""
        self._rows.observe(tokens, hidden)

    def _by_target(self, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """Return the target's ids of the draft's tokens."""
        ids = self._target_ids
        return tokens if ids is None else tuple(ids[token] for token in tokens)
