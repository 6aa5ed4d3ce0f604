from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.drafting.drafter import NoDrafter
from engine.drafting.prompt_lookup import LONGEST_MATCH, SHORTEST_MATCH, PromptLookup

texts = st.lists(st.integers(0, 3), max_size=40)


def paths(draft_tokens: tuple[int, ...], parents: tuple[int, ...]) -> list[list[int]]:
    found = []
    for node in range(len(draft_tokens)):
        if node in parents:
            continue
        path = []
        while node != -1:
            path.append(draft_tokens[node])
            node = parents[node]
        found.append(path[::-1])
    return found


@given(texts, st.integers(0, 12), st.integers(1, 3))
def test_every_path_follows_an_earlier_match(tokens: list[int], budget: int, branches: int) -> None:
    drafter = PromptLookup(branches)
    drafter.reset(tokens)
    draft = drafter.propose(budget)
    assert len(draft) <= budget
    for path in paths(draft.tokens, draft.parents):
        # A continuation that reaches the end of the text goes on with its own repetition.
        matches = [
            start
            for start in range(SHORTEST_MATCH, len(tokens))
            if tokens[start - SHORTEST_MATCH : start] == tokens[-SHORTEST_MATCH:]
        ]
        assert any(
            all((tokens + path)[start + offset] == token for offset, token in enumerate(path))
            for start in matches
        )


@given(texts, texts)
def test_observing_is_the_same_as_a_longer_prompt(head: list[int], tail: list[int]) -> None:
    grown, whole = PromptLookup(), PromptLookup()
    grown.reset(head)
    for token in tail:
        grown.observe([token])
    whole.reset(head + tail)
    assert grown.propose(8) == whole.propose(8)


def test_the_longest_match_comes_first_and_others_branch() -> None:
    drafter = PromptLookup(branches=1)
    drafter.reset([1, 2, 3, 4, 50, 60, 9, 9, 3, 4, 70, 80, 8, 8, 1, 2, 3, 4])
    draft = drafter.propose(4)
    assert draft.tokens[:4] == (50, 60, 9, 9)
    draft = PromptLookup(branches=2)
    draft.reset([3, 4, 50, 7, 3, 4, 70, 6, 3, 4])
    tree = draft.propose(8)
    assert set(tree.children[0]) == {50, 70}


def test_nothing_is_drafted_without_a_match() -> None:
    drafter = PromptLookup()
    drafter.reset([1, 2, 3, 4, 5])
    assert len(drafter.propose(8)) == 0
    assert LONGEST_MATCH > SHORTEST_MATCH
    assert len(NoDrafter().propose(8)) == 0
