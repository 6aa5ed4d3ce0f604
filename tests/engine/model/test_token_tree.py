from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.model.token_tree import PROBE_MASKS, ROOT, Draft, DraftShape, Probes


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    size = draw(st.integers(0, 12))
    parents = tuple(draw(st.integers(-1, node - 1)) for node in range(size))
    asked = st.tuples(st.integers(-1, size - 1), st.integers(1, 3), st.integers(0, 2))
    asking = draw(st.lists(asked, max_size=8, unique=True))
    nodes, distances, members = zip(*asking, strict=True) if asking else ((), (), ())
    embeddings = torch.arange(len(asking) * 2.0).reshape(len(asking), 2)
    probes = Probes(nodes, distances, members, embeddings, draw(st.sampled_from(PROBE_MASKS)))
    return Draft(tuple(draw(st.integers(0, 5)) for _ in range(size)), parents, probes=probes)


def _ancestors(draft: Draft, node: int) -> list[int]:
    found = []
    while node != ROOT:
        found.append(node)
        node = draft.parents[node]
    return found


def _mask(draft: Draft) -> torch.Tensor:
    """(rows, rows) bool: whom each row sees."""
    chain = torch.ones(draft.rows, draft.rows, dtype=torch.bool).tril()
    return chain if draft.paths is None else draft.paths.mask(draft.rows)


@given(drafts())
def test_depths_and_mask_follow_the_parents(draft: Draft) -> None:
    mask, probes = _mask(draft), draft.probes
    assert not mask[: len(draft) + 1, len(draft) + 1 :].any()  # no node sees a probe
    for row in range(len(draft) + 1):
        path = _ancestors(draft, row - 1)
        assert draft.row_depths[row] == len(path)
        assert {int(column) for column in mask[row].nonzero()} == {0} | {node + 1 for node in path}
    places = list(zip(probes.nodes, probes.distances, probes.members, strict=True))
    for probe, (node, distance, member) in enumerate(places, len(draft) + 1):
        assert draft.row_depths[probe] == draft.row_depths[node + 1] + distance
        assert torch.equal(mask[probe, : len(draft) + 1], mask[node + 1, : len(draft) + 1])
        seen = {
            "ensemble": {(node, nearer, member) for nearer in range(1, distance + 1)},
            "decoder": {(node, *place) for place in product(range(4), range(3)) if place <= (distance, member)},
            "encoder": {(node, *place) for place in product(range(1, distance + 1), range(3))},
        }[probes.mask]
        rows = {int(row) for row in mask[probe, len(draft) + 1 :].nonzero()}
        assert {places[row] for row in rows} == seen & set(places)
    if draft.is_chain:
        assert torch.equal(mask, torch.ones_like(mask).tril())
        assert draft.row_depths == tuple(range(draft.rows))


@given(drafts())
def test_children_point_to_nodes_of_that_token_and_parent(draft: Draft) -> None:
    for row, children in enumerate(draft.children):
        for token, node in children.items():
            assert draft.tokens[node] == token
            assert draft.parents[node] == row - 1


@given(drafts())
def test_a_probe_is_its_node_s(draft: Draft) -> None:
    nodes = range(ROOT, len(draft))
    assert sorted(row for node in nodes for row in draft.probe_rows(node)) == list(range(len(draft) + 1, draft.rows))


@given(drafts(), st.integers(0, 20))
def test_the_first_nodes_are_a_draft_too(draft: Draft, count: int) -> None:
    first = draft.first(count)
    assert len(first) == min(count, len(draft))
    # Probes stay with their nodes.
    if count < len(draft):
        kept = [probe for probe, node in enumerate(draft.probes.nodes) if node < count]
        assert first.probes.distances == tuple(draft.probes.distances[probe] for probe in kept)
        assert torch.equal(first.probes.embeddings, draft.probes.embeddings[kept])
    everybody = _mask(draft)
    rows = [
        *range(len(first) + 1),
        *(row for node in range(ROOT, len(first)) for row in draft.probe_rows(node)),
    ]
    assert torch.equal(_mask(first), everybody[sorted(rows)][:, sorted(rows)])
    assert first.children == tuple(
        {token: node for token, node in children.items() if node < count}
        for children in draft.children[: len(first) + 1]
    )


def test_a_chain_is_a_chain() -> None:
    chain = Draft.chain([7, 8, 9])
    assert chain.is_chain
    assert chain.row_depths == (0, 1, 2, 3)
    assert Draft().is_chain
    assert not Draft((1, 2), (-1, -1)).is_chain
    probes = Probes((2, 2), (1, 2), (0, 0), torch.zeros(2, 4))
    assert Draft(chain.tokens, chain.parents, probes=probes).is_chain
    assert not replace(chain, probes=replace(probes, nodes=(1, 1))).is_chain
    assert not replace(chain, probes=replace(probes, members=(0, 1))).is_chain


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="before their children"):
        Draft((1, 2), (1, -1))
    with pytest.raises(ValueError, match="same length"):
        Draft((1, 2), (-1,))
    with pytest.raises(ValueError, match="an embedding"):
        Probes((0,), (1,), (0,))
    with pytest.raises(ValueError, match="behind its node"):
        Probes((0,), (0,), (0,), torch.zeros(1, 4))
    with pytest.raises(ValueError, match="a node of its draft"):
        Draft((1,), (-1,), probes=Probes((1,), (1,), (0,), torch.zeros(1, 4)))


def test_a_shape_is_cut_to_rows() -> None:
    tree = DraftShape.tree((-1, -1, 0, 2))
    assert (tree.rows, tree.depth, tree.at_most(9)) == (4, 3, tree)
    assert tree.at_most(2) == DraftShape(2, (-1, -1))
    assert DraftShape(8).at_most(-1) == DraftShape(0)
