"""Prompt tokens of a small model that drafts: one forward of it yields several levels of its tree.

Behind nodes that the draft runs stand probes, which say what it would say some tokens further on. The tree is filled
with these guesses, and the next forward runs its likeliest nodes of all levels at once: where a guess was right, the
levels behind it are the draft's own words already.

Source: Parallel Prompt Decoding (Chen et al. 2024; the report, section 6.4.2).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.drafting.draft_model import DraftModel
from engine.drafting.draft_model_drafter import DraftModelDrafter
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.prompt_tokens import PromptTokens
from engine.drafting.sampled_tree import DraftSampling
from engine.kernels.sampling import likeliest
from engine.model.token_tree import ROOT, Draft, DraftShape

# Levels that a forward comes to in the mean: its own, and what holds of its guesses.
_LEVELS = 2
# Nodes that a forward runs, and those of them behind which it asks.
_RUN, _ASKING = 8, 2

Following = Sequence[tuple[int, float]]
"""Tokens that may stand in a place and the logarithms of their chances, the likeliest first."""


@dataclass
class _Node:
    token: int
    parent: int
    depth: int
    score: float
    #: Its row among the draft's uncommitted ones, once it was run; the root's is committed.
    row: int | None = None
    #: Of the next place, and of those that its probes asked for; empty until it was run.
    following: Sequence[Following] = ()


class PromptedDraft(DraftModelDrafter):
    """Drafts the trees of a second model in fewer forwards. Fixed and drawn trees grow level by level all the same.

    Args:
        model: The draft.
        tokens: Its prompt tokens.
        limits: On the size of its trees.
        sampling: The way of drawing drafts; None for the likeliest tokens.
    """

    def __init__(
        self,
        model: DraftModel,
        tokens: PromptTokens,
        limits: TreeShape,
        sampling: DraftSampling | None = None,
    ) -> None:
        super().__init__(model, limits, sampling)
        self._tokens = tokens

    def propose(self, shape: DraftShape) -> Draft:
        """The likeliest nodes, by what the draft says of those that it has run and guesses of the others."""
        limits, tokens = self._limits, self._tokens
        most = min(limits.nodes, shape.rows)
        grows = self._sampling is None and shape.parents is None and most > 0
        if not grows or limits.depth + tokens.count > self._model.same_kind_room:
            return super().propose(shape)
        first, said = self._model.ask_root(tokens.behind([tokens.count]))
        tree = _Growth(limits, most, self._places(first[None], said))
        rows = 0
        for _ in range(-(-min(limits.depth, most) // _LEVELS) - 1):
            chosen = tree.to_run()
            if not chosen:
                break
            tree.learn(chosen, rows, self._run(tree, chosen, rows))
            rows += len(chosen)
        draft = tree.draft()
        self._row_of = tree.rows()
        return draft

    def _run(self, tree: _Growth, chosen: Sequence[int], rows: int) -> list[Sequence[Following]]:
        """One forward over nodes, with probes behind the likeliest of them."""
        count = self._tokens.count
        asking = min(_ASKING, len(chosen))
        # Node i of these probes is the i-th that is run here; the root is committed and asks no more.
        probes = self._tokens.behind([0, *[count] * asking])
        new, depths = len(chosen), [tree.nodes[node].depth for node in chosen]
        sees = torch.zeros(new + len(probes), rows + new + len(probes), dtype=torch.bool)
        place = {node: rows + at for at, node in enumerate(chosen)}
        for at, node in enumerate(chosen):
            for above in tree.path(node):
                row = tree.nodes[above].row
                sees[at, place[above] if row is None else row] = True
        for probe, node in enumerate(probes.nodes, new):
            sees[probe] = sees[node]
        sees[new:, rows + new :] = probes.sees()
        depths += [depths[node] + away for node, away in zip(probes.nodes, probes.distances, strict=True)]
        following = self._model.run(
            [tree.nodes[node].token for node in chosen],
            [len(self._model.text) + depth - 1 for depth in depths],
            sees,
            rows,
            probes=probes,
        )
        own, said = following[:new], following[new:].chunk(asking)
        asked = [self._places(own[at : at + 1], said[at]) for at in range(asking)]
        return [*asked, *([one] for one in self._places(own[asking:]))]

    def _places(self, own: Tensor, said: Tensor | None = None) -> Sequence[Following]:
        """Of what the draft says after nodes, and after the probes of one."""
        rows = own if said is None else torch.cat((own, self._tokens.average(said)))
        found = likeliest(rows, self._limits.width)
        return [list(zip(*each, strict=True)) for each in zip(*found, strict=True)] if len(rows) else []


class _Growth:
    """A tree that grows by what is known of each node.

    Args:
        limits: On its size.
        most: Nodes that are drafted.
        following: Of the root.
    """

    def __init__(self, limits: TreeShape, most: int, following: Sequence[Following]) -> None:
        self.nodes = [_Node(-1, ROOT, 0, 0.0, following=following)]
        self._limits = limits
        self._most = most
        self._by_path: dict[tuple[int, int], int] = {}

    def to_run(self) -> list[int]:
        """The likeliest nodes that were not run, parents first."""
        nodes = [node for node in self._likeliest() if not self.nodes[node].following]
        inner = [node for node in nodes if self.nodes[node].depth < self._limits.depth]
        return inner[:_RUN]

    def learn(self, chosen: Sequence[int], rows: int, following: Sequence[Sequence[Following]]) -> None:
        """These nodes were run, behind so many rows."""
        for at, (node, each) in enumerate(zip(chosen, following, strict=True)):
            self.nodes[node].row, self.nodes[node].following = rows + at, each

    def path(self, node: int) -> list[int]:
        """The node and those above it, without the root."""
        return [node, *self.path(self.nodes[node].parent)] if node else []

    def rows(self) -> dict[tuple[int, int], int]:
        """Of the nodes that were run, by the row above and the token."""
        found = {}
        for node in self.nodes[1:]:
            if node.row is not None:
                above = self.nodes[node.parent].row
                found[ROOT if above is None else above, node.token] = node.row
        return found

    def draft(self) -> Draft:
        """The likeliest nodes, parents first and with their scores."""
        kept = self._likeliest()
        place = {0: ROOT} | {node: at for at, node in enumerate(kept)}
        return Draft(
            tuple(self.nodes[node].token for node in kept),
            tuple(place[self.nodes[node].parent] for node in kept),
            tuple(self.nodes[node].score for node in kept),
        )

    def _likeliest(self) -> list[int]:
        """As many nodes as are drafted, the likeliest first: none scores above its parent."""
        waiting: list[tuple[float, int, int, int, Following]] = []
        found: list[int] = []

        def offer(parent: int, rank: int, following: Following) -> None:
            # The next likeliest below a node, behind those that were taken.
            if rank < len(following) and following[rank][1] > -torch.inf:
                score = self.nodes[parent].score + min(following[rank][1], 0.0)
                heapq.heappush(waiting, (-score, parent, rank, len(waiting), following))

        offer(0, 0, self._following(0))
        while waiting and len(found) < self._most:
            score, parent, rank, _, following = heapq.heappop(waiting)
            node = self._node(parent, following[rank][0], -score)
            found.append(node)
            offer(parent, rank + 1, following)
            if self.nodes[node].depth < self._limits.depth:
                offer(node, 0, self._following(node))
        return found

    def _node(self, parent: int, token: int, score: float) -> int:
        node = self._by_path.setdefault((parent, token), len(self.nodes))
        if node == len(self.nodes):
            self.nodes.append(_Node(token, parent, self.nodes[parent].depth + 1, score))
        self.nodes[node].score = score
        return node

    def _following(self, node: int) -> Following:
        """The draft's logits after a node, or its guess from the last one above it that was run."""
        away = 0
        while not self.nodes[node].following:
            node, away = self.nodes[node].parent, away + 1
        places = self.nodes[node].following
        return places[away] if away < len(places) else ()
