from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.token_tree import ROOT, Draft


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    size = draw(st.integers(0, 12))
    parents = tuple(draw(st.integers(-1, node - 1)) for node in range(size))
    return Draft(tuple(draw(st.integers(0, 5)) for _ in range(size)), parents)


def _ancestors(draft: Draft, node: int) -> list[int]:
    found = []
    while node != ROOT:
        found.append(node)
        node = draft.parents[node]
    return found


@given(drafts())
def test_depths_and_mask_follow_the_parents(draft: Draft) -> None:
    mask = draft.row_mask()
    for row in range(len(draft) + 1):
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


@given(drafts(), st.integers(0, 20))
def test_the_first_nodes_are_a_draft_too(draft: Draft, count: int) -> None:
    first = draft.first(count)
    assert len(first) == min(count, len(draft))
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
