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


@given(st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=4), st.integers(0, 10))
def test_merged_paths_share_prefixes_and_keep_the_limit(paths: list[list[int]], limit: int) -> None:
    draft = Draft.from_paths(paths, limit)
    assert len(draft) <= limit
    assert len(set(zip(draft.parents, draft.tokens, strict=True))) == len(draft)
    if limit == 10 and paths:
        row = 0
        for token in paths[0]:
            row = draft.children[row][token] + 1


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
