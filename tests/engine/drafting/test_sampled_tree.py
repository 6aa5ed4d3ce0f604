from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from engine.drafting.trees import TreePlan, TreeShape, draw_siblings, draw_tree, plan_tree
from engine.model.proposal import Proposal
from engine.model.sampling import uniform
from engine.model.token_tree import ROOT, Draft, DraftShape

Q = torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64)


def _path(tokens: Sequence[int], parents: Sequence[int], node: int) -> tuple[int, ...]:
    return () if node == ROOT else (*_path(tokens, parents, parents[node]), tokens[node])


def _by_path(tokens: Sequence[int], parents: Sequence[int], nodes: Sequence[int]) -> Tensor:
    """Distributions that differ by path: Q turned by the sum of the path's tokens."""
    return torch.stack([Q.roll(sum(_path(tokens, parents, node))) for node in nodes])


def test_siblings_with_replacement_are_independent_draws() -> None:
    counts = Counter(draw_siblings(Q, 2, True, lambda n, s=s: uniform(s, n)) for s in range(20_000))
    for pair in itertools.product(range(4), repeat=2):
        assert counts[pair] / 20_000 == pytest.approx(float(Q[pair[0]] * Q[pair[1]]), abs=0.015)


def test_siblings_without_replacement_come_from_what_is_left() -> None:
    counts = Counter(draw_siblings(Q, 2, False, lambda n, s=s: uniform(s, n)) for s in range(20_000))
    for first, second in itertools.permutations(range(4), 2):
        expected = float(Q[first] * Q[second] / (1 - Q[first]))
        assert counts[first, second] / 20_000 == pytest.approx(expected, abs=0.015)
    assert all(first != second for first, second in counts)


def test_nothing_is_drawn_that_has_no_probability() -> None:
    assert sorted(draw_siblings(Q, 4, False, lambda n: uniform(3, n))) == [0, 1, 2]


def test_a_planned_tree_is_the_likeliest_one() -> None:
    assert plan_tree(TreeShape(1, 4, 9), DraftShape(9)).parents == (ROOT, 0, 1, 2)
    assert plan_tree(TreeShape(4, 4, 9), DraftShape(0)).parents == ()
    # Chances .8, .64, .51, .41, then .16 for a second draw below the root.
    assert plan_tree(TreeShape(4, 4, 9), DraftShape(5)).parents == (ROOT, ROOT, 0, 2, 3)
    whole = plan_tree(TreeShape(10, 7, 15), DraftShape(15))
    assert len(whole.parents) == 15
    assert whole.scores[0] == pytest.approx(math.log(0.8))
    depths = [0] * 15
    for node, parent in enumerate(whole.parents):
        depths[node] = 1 if parent == ROOT else depths[parent] + 1
        assert parent == ROOT or whole.scores[node] < whole.scores[parent]
    assert depths == sorted(depths)
    assert max(depths) > 3


def test_a_smaller_plan_is_part_of_a_larger_one() -> None:
    """An assumption of `DraftYield`: a small draft is the best part of a larger one."""
    for shape in (TreeShape(10, 7, 64), TreeShape(2, 3, 64)):
        largest = plan_tree(shape, DraftShape(64))
        for budget in range(1, len(largest.parents)):
            ranked = sorted(largest.scores, reverse=True)[:budget]
            assert sorted(plan_tree(shape, DraftShape(budget)).scores, reverse=True) == pytest.approx(ranked)


def test_a_chain_and_its_distributions() -> None:
    chain = draw_tree(plan_tree(TreeShape(1, 5, 16), DraftShape(16)), _by_path, True, seed=1, position=7)
    assert chain.is_chain
    assert len(chain) == 5
    assert chain.proposal is not None
    for row in range(5):
        drawn_from = chain.proposal.distributions[row]
        assert drawn_from is not None
        assert torch.equal(drawn_from, Q.roll(sum(chain.tokens[:row])))
        assert chain.draws[row] == (chain.tokens[row],)
    assert chain.draws[5] == ()


def test_the_budget_is_kept_and_repeats_share_a_node() -> None:
    for seed, budget in itertools.product(range(30), (0, 1, 5, 9)):
        tree = draw_tree(
            plan_tree(TreeShape(3, 3, 9), DraftShape(budget)), _by_path, True, seed=seed, position=0
        )
        assert len(tree) <= budget
        assert len(tree.scores) == len(tree)
        for row, children in enumerate(tree.children):
            assert set(tree.draws[row]) == set(children)
            assert len(children) == sum(parent == row - 1 for parent in tree.parents)
    flat = TreePlan((ROOT, ROOT, ROOT))
    repeated = [draw_tree(flat, _by_path, True, seed=seed, position=0) for seed in range(30)]
    assert all(len(tree.draws[0]) == 3 for tree in repeated)
    assert any(len(tree) < 3 for tree in repeated)


def test_nodes_draw_independently_of_each_other() -> None:
    """Two nodes of one level stand at one position: the same noise would make their children copies."""
    same = torch.full((4,), 0.25, dtype=torch.float64)
    trees = [
        draw_tree(
            TreePlan((ROOT, ROOT, 0, 1)), lambda t, p, n: same.expand(len(n), 4), False, seed=seed, position=0
        )
        for seed in range(2000)
    ]
    equal = sum(tree.tokens[2] == tree.tokens[3] for tree in trees) / len(trees)
    assert equal == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize(
    ("draws", "distributions", "message"),
    [
        (((1,),), (Q,), "for each row"),
        (((2,), ()), (Q, None), "in order"),
        (((1,), ()), (None, None), "in order"),
        (((1, 1), ()), (Q, None), "cannot repeat"),
    ],
)
def test_a_proposal_of_another_tree_is_refused(
    draws: tuple[tuple[int, ...], ...], distributions: tuple[Tensor | None, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Draft((1,), (ROOT,), proposal=Proposal(False, draws, distributions))
