"""Dynamic trees against a brute force that expands everything and cuts afterwards."""

from __future__ import annotations

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.drafting.trees import Level, TreeShape, grow_tree
from engine.kernels.library import NotFinite
from engine.model.token_tree import Draft, DraftShape

Path = tuple[int, ...]


class RandomModel:
    """Log-probabilities that depend on the whole path, as a draft that reads it through the mask would give."""

    def __init__(self, vocabulary: int, seed: int, levels: int | None = None) -> None:
        self.vocabulary = vocabulary
        self.seed = seed
        self.levels = levels  # few distinct values: many ties
        self.expanded: list[Path] = []

    def after(self, path: Path) -> torch.Tensor:
        chance = random.Random(hash((self.seed, path)))
        if self.levels is None:
            logits = [4 * chance.random() for _ in range(self.vocabulary)]
        else:
            logits = [float(chance.randrange(self.levels)) for _ in range(self.vocabulary)]
        return torch.tensor(logits).log_softmax(-1)

    def expand(self, level: Level) -> torch.Tensor:
        """Find each node's path through the mask and through its parents, which must agree."""
        before = len(self.expanded)
        for token, parent in zip(level.tokens, level.parents, strict=True):
            self.expanded.append((*(() if parent == -1 else self.expanded[parent]), token))
        assert level.sees.shape == (len(level.tokens), len(self.expanded))
        for row, sees in enumerate(level.sees):
            path = self.expanded[before + row]
            assert len(path) == level.depth
            assert [self.expanded[node] for node in sees.nonzero()[:, 0].tolist()] == [
                path[: end + 1] for end in range(len(path))
            ]
        return torch.stack([self.after(path) for path in self.expanded[before:]])


def paths(draft: Draft) -> list[Path]:
    found: list[Path] = []
    for token, parent in zip(draft.tokens, draft.parents, strict=True):
        found.append((*(() if parent == -1 else found[parent]), token))
    return found


def brute_force(shape: TreeShape, budget: int, model: RandomModel) -> dict[Path, float]:
    """Expand the best ``width`` of every level, none left out; keep the best of all that was seen."""
    found: dict[Path, float] = {}
    level: list[Path] = [()]
    for _ in range(shape.depth):
        children: dict[Path, float] = {}
        for path in level:
            values, tokens = model.after(path).topk(min(shape.width, model.vocabulary))
            for value, token in zip(values.tolist(), tokens.tolist(), strict=True):
                child = (*path, token)
                children[child] = found.get(path, 0.0) + value
        level = sorted(children, key=lambda path: -children[path])[: shape.width]
        found.update(children)
    best = sorted(found, key=lambda path: -found[path])[: min(shape.nodes, budget)]
    return {path: found[path] for path in best}


@given(
    width=st.integers(1, 6),
    depth=st.integers(1, 5),
    nodes=st.integers(1, 30),
    budget=st.integers(0, 30),
    vocabulary=st.integers(2, 6),
    seed=st.integers(0, 10**6),
)
def test_the_nodes_are_those_of_a_brute_force(
    width: int, depth: int, nodes: int, budget: int, vocabulary: int, seed: int
) -> None:
    shape, model = TreeShape(width, depth, nodes), RandomModel(vocabulary, seed)
    draft = grow_tree(shape, DraftShape(budget), model.after(()), model.expand)
    expected = brute_force(shape, budget, model)
    assert set(paths(draft)) == set(expected)
    for path, score in zip(paths(draft), draft.scores, strict=True):
        assert math.isclose(score, expected[path], abs_tol=1e-5)


@given(seed=st.integers(0, 10**6), vocabulary=st.integers(2, 6), data=st.data())
def test_a_fixed_tree_takes_the_likeliest_tokens_below_each_node(
    seed: int, vocabulary: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, 20))
    parents = tuple(data.draw(st.integers(-1, node - 1)) for node in range(size))
    model = RandomModel(vocabulary, seed)
    draft = grow_tree(TreeShape(1, 1, 1), DraftShape.tree(parents), model.after(()), model.expand)
    expected: dict[int, Path] = {-1: ()}
    ranks: dict[int, int] = {}
    for node, parent in enumerate(parents):
        rank = ranks.get(parent, 0)
        ranks[parent] = rank + 1
        if parent in expected and rank < vocabulary:
            path = expected[parent]
            token = int(model.after(path).argsort(descending=True, stable=True)[rank])
            expected[node] = (*path, token)
    assert sorted(paths(draft)) == sorted(path for path in expected.values() if path)
    assert len(model.expanded) <= len(set(parents) - {-1})


@given(width=st.integers(1, 5), nodes=st.integers(1, 30), seed=st.integers(0, 10**6))
def test_equal_scores_still_make_a_tree_of_the_right_size(width: int, nodes: int, seed: int) -> None:
    shape, model = TreeShape(width, 4, nodes), RandomModel(4, seed, levels=2)
    draft = grow_tree(shape, DraftShape(64), model.after(()), model.expand)
    assert len(set(paths(draft))) == len(draft) == len(brute_force(shape, 64, model))
    for path, score in zip(paths(draft), draft.scores, strict=True):
        steps = [float(model.after(path[:end])[token]) for end, token in enumerate(path)]
        assert math.isclose(score, sum(steps), abs_tol=1e-5)


def test_width_one_is_the_greedy_chain() -> None:
    model = RandomModel(6, 1)
    draft = grow_tree(TreeShape(1, 5, 16), DraftShape(16), model.after(()), model.expand)
    path: Path = ()
    for _ in range(5):
        path = (*path, int(model.after(path).argmax()))
    assert draft.is_chain
    assert draft.tokens == path


def test_nodes_that_cannot_be_kept_are_not_expanded() -> None:
    """A sure draft: the chain beats every other node, so nothing beside it is run."""
    calls: list[int] = []

    def expand(level: Level) -> torch.Tensor:
        calls.append(len(level.tokens))
        return torch.tensor([[0.97, 0.02, 0.01]] * len(level.tokens)).log()

    draft = grow_tree(TreeShape(3, 6, 4), DraftShape(16), torch.tensor([0.97, 0.02, 0.01]).log(), expand)
    assert draft.tokens == (0, 0, 0, 0)
    assert sum(calls) <= 3 * 4
    assert len(calls) <= 5
    assert calls[-1] == 1


def test_impossible_continuations_are_never_drafted() -> None:
    first = torch.tensor([0.0, -torch.inf, -torch.inf])
    broken = torch.tensor([[float("nan")] * 3])
    assert grow_tree(TreeShape(3, 1, 8), DraftShape(8), first, lambda level: broken).tokens == (0,)
    with pytest.raises(NotFinite):
        grow_tree(TreeShape(3, 3, 8), DraftShape(8), first, lambda level: broken)
    assert len(grow_tree(TreeShape(), DraftShape(0), first, lambda level: broken)) == 0
