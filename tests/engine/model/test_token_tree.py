from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.model.token_tree import ROOT, Draft, DraftShape, Probes


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    size = draw(st.integers(0, 12))
    parents = tuple(draw(st.integers(-1, node - 1)) for node in range(size))
    behind = draw(st.integers(0, 8))
    below = tuple(draw(st.integers(-1, size + probe - 1)) for probe in range(behind))
    probes = Probes(below, torch.arange(behind * 2.0).reshape(behind, 2))
    return Draft(tuple(draw(st.integers(0, 5)) for _ in range(size)), parents, probes=probes)


def _ancestors(draft: Draft, node: int) -> list[int]:
    found = []
    while node != ROOT:
        found.append(node)
        node = (*draft.parents, *draft.probes.parents)[node]
    return found


@given(drafts())
def test_depths_and_mask_follow_the_parents(draft: Draft) -> None:
    mask = draft.row_mask()
    assert not mask[: len(draft) + 1, len(draft) + 1 :].any()  # no node sees a probe
    for row in range(draft.rows):
        path = _ancestors(draft, row - 1)
        assert draft.row_depths[row] == len(path)
        visible = {0} | {node + 1 for node in path}
        assert {int(column) for column in mask[row].nonzero()} == visible


@given(drafts())
def test_children_point_to_nodes_of_that_token_and_parent(draft: Draft) -> None:
    for row, children in enumerate(draft.children):
        for token, node in children.items():
            assert draft.tokens[node] == token
            assert draft.parents[node] == row - 1


@given(drafts())
def test_a_probe_is_its_node_s(draft: Draft) -> None:
    nodes = range(ROOT, len(draft))
    assert sorted(row for node in nodes for row in draft.probe_rows(node)) == list(
        range(len(draft) + 1, draft.rows)
    )
    for node in nodes:
        for row in draft.probe_rows(node):
            path = [above for above in _ancestors(draft, row - 1) if above < len(draft)]
            assert path == _ancestors(draft, node)


@given(drafts(), st.integers(0, 20))
def test_the_first_nodes_are_a_draft_too(draft: Draft, count: int) -> None:
    first = draft.first(count)
    assert len(first) == min(count, len(draft))
    # Probes stay with their nodes, in the same chains.
    for node in range(ROOT, len(first)):
        chains = [
            [(above.row_depths[row], above.probes.embeddings[row - len(above) - 1, 0]) for row in rows]
            for above, rows in ((draft, draft.probe_rows(node)), (first, first.probe_rows(node)))
        ]
        assert chains[0] == chains[1]
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


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="before their children"):
        Draft((1, 2), (1, -1))
    with pytest.raises(ValueError, match="same length"):
        Draft((1, 2), (-1,))
    with pytest.raises(ValueError, match="one embedding"):
        Draft((1,), (-1,), probes=Probes((0,)))
    with pytest.raises(ValueError, match="before their children"):
        Draft((1,), (-1,), probes=Probes((1,), torch.zeros(1, 4)))


def test_a_shape_is_cut_to_rows() -> None:
    tree = DraftShape.tree((-1, -1, 0, 2))
    assert (tree.rows, tree.depth, tree.at_most(9)) == (4, 3, tree)
    assert tree.at_most(2) == DraftShape(2, (-1, -1))
    assert DraftShape(8).at_most(-1) == DraftShape(0)
