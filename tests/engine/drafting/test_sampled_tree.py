from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from engine.drafting.sampled_tree import draw_siblings, draw_tree
from engine.model.proposal import Proposal
from engine.model.sampling import uniform
from engine.model.token_tree import ROOT, Draft

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


def test_a_chain_and_its_distributions() -> None:
    chain = draw_tree([1] * 5, 16, _by_path, True, seed=1, position=7)
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
        tree = draw_tree([3, 2, 2], budget, _by_path, True, seed=seed, position=0)
        assert len(tree) <= budget
        for row, children in enumerate(tree.children):
            assert set(tree.draws[row]) == set(children)
            assert len(children) == sum(parent == row - 1 for parent in tree.parents)
    repeated = [draw_tree([3], 9, _by_path, True, seed=seed, position=0) for seed in range(30)]
    assert all(len(tree.draws[0]) == 3 for tree in repeated)
    assert any(len(tree) < 3 for tree in repeated)


def test_nodes_draw_independently_of_each_other() -> None:
    """Two nodes of one level stand at one position: the same noise would make their children copies."""
    same = torch.full((4,), 0.25, dtype=torch.float64)
    trees = [
        draw_tree([2, 1], 4, lambda t, p, nodes: same.expand(len(nodes), 4), False, seed=seed, position=0)
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
