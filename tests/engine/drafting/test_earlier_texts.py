"""Places in order find what a search through all texts finds; texts of others are bounded, and go when they must."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafting import lookup
from engine.drafting.lookup import LONGEST_MATCH, SHORTEST_MATCH, EarlierTexts, MatchChances, PromptLookup, Texts
from engine.model.token_tree import ROOT, DraftShape

pieces = st.lists(st.lists(st.integers(0, 2), max_size=50), max_size=4)


def longest(texts: list[list[int]], end: list[int]) -> int:
    """Length of the longest suffix of ``end`` after which something comes in any text; 0 for one that is too short."""
    best = 0
    for text in texts:
        for place in range(1, len(text)):
            length = 0
            while length < min(place, len(end), LONGEST_MATCH) and text[place - length - 1] == end[-length - 1]:
                length += 1
            best = max(best, length)
    return best if best >= SHORTEST_MATCH else 0


@given(pieces, st.lists(st.integers(0, 2), max_size=40))
def test_a_text_that_grows_finds_what_a_search_finds(grown: list[list[int]], end: list[int]) -> None:
    texts, whole = Texts(), []
    for at, piece in enumerate(grown):
        whole += piece
        if at % 2:
            texts.extend(piece)
        else:
            for token in piece:
                texts.append(token)
    length, places = texts.find(array("i", end[: -LONGEST_MATCH - 1 : -1]))
    assert length == longest([whole], end)
    assert all(whole[place - length : place] == end[len(end) - length :] for place in places)


@given(pieces, st.lists(st.integers(0, 2), max_size=40), st.sets(st.integers(0, 3)))
def test_texts_of_others_end_where_they_end(said: list[list[int]], end: list[int], gone: set[int]) -> None:
    texts = EarlierTexts()
    for at, text in enumerate(said):
        texts.add(texts.chat(str(at)), text)
    length, places = texts.find(array("i", end[: -LONGEST_MATCH - 1 : -1]))
    assert length == longest(said, end)
    for place in places:
        after = texts.after(place, 100)
        assert any(text[len(text) - len(after) :] == list(after) for text in said)
    for at in gone:
        texts.forget(str(at))
    left = [text for at, text in enumerate(said) if at not in gone]
    known = longest(left, end)
    # What two chats had said was noted for the first of them alone.
    assert texts.find(array("i", end[: -LONGEST_MATCH - 1 : -1]))[0] <= known
    assert len(texts) <= sum(len(text) + 1 for text in left)


def numbers(first: int, count: int = 100) -> list[int]:
    return list(range(first, first + count))


def test_what_an_erased_chat_has_said_is_nowhere() -> None:
    texts = EarlierTexts()
    chats = [texts.chat(name) for name in "abc"]
    for at, chat in enumerate(chats):
        texts.add(chat, numbers(1000 * at))
    late = texts.chat("b")
    texts.forget("b")
    texts.add(late, numbers(5000))  # of a reply that ran when its chat was erased
    assert set(texts.tokens) == {*numbers(0), *numbers(2000), -1}
    assert not texts.find(array("i", numbers(1000)[:50][::-1][:LONGEST_MATCH]))[1]
    for first in (0, 2000):
        length, places = texts.find(array("i", numbers(first)[:50][::-1][:LONGEST_MATCH]))
        assert length == LONGEST_MATCH
        assert list(texts.after(places[0], 5)) == numbers(first + 50, 5)
    texts.forget("")
    assert not len(texts)


def test_the_least_used_go_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "_MOST_TOKENS", 1000)
    texts = EarlierTexts()
    for at in range(50):
        texts.add(texts.chat(str(at)), numbers(1000 * at))
        assert len(texts) <= 1000
        place = texts.find(array("i", numbers(0)[:40][::-1][:LONGEST_MATCH]))[1]
        texts.use(place[0])
    assert {token // 1000 for token in texts.tokens if token >= 0} > {0, 49}
    texts.add(texts.chat("long"), list(range(100_000, 200_000)))
    assert len(texts) <= max(1000, lookup._MOST_OF_ONE + 1)


def test_what_was_said_before_is_noted_once() -> None:
    texts = EarlierTexts()
    chat = texts.chat("")
    for _ in range(3):
        texts.add(chat, numbers(0))
    assert len(texts) == 101
    texts.add(chat, [*numbers(0), *numbers(500, 10)])
    assert len(texts) < 101 + 10 + 2 * LONGEST_MATCH + 1


def test_a_reply_of_another_chat_is_guessed_and_branches_where_two_replies_differ() -> None:
    others = EarlierTexts()
    for reply in (numbers(500), [*numbers(500, 3), *numbers(900)], [*numbers(500, 3), *numbers(900, 50)]):
        others.add(others.chat(""), [*numbers(0, 40), *reply])
    drafter = PromptLookup(MatchChances(others=others))
    drafter.reset([7, *numbers(0, 40)])
    draft = drafter.propose(DraftShape(20))
    first = [(token, parent) for token, parent in zip(draft.tokens, draft.parents, strict=True)]
    assert first[0] == (500, ROOT)
    below = {token for token, parent in first if parent != ROOT and draft.tokens[parent] == 502}
    assert below == {503, 900}
    assert list(draft.scores) == sorted(draft.scores, reverse=True)
    assert drafter.after((), 20).is_chain
    without = PromptLookup()
    without.reset([7, *numbers(0, 40)])
    assert not without.propose(DraftShape(20)).tokens


def test_matches_elsewhere_have_chances_of_their_own() -> None:
    chances = MatchChances()
    for _ in range(100):
        chances.learn(4, held=False, elsewhere=True)
    assert chances.log_chance(4) == MatchChances().log_chance(4)
    assert chances.log_chance(4, elsewhere=True) < MatchChances().log_chance(4, elsewhere=True) - 1
    chances.keep()
    assert MatchChances(chances.earlier).log_chance(4, elsewhere=True) < -1


def test_a_chat_may_be_forgotten_while_a_reply_guesses_from_it() -> None:
    others = EarlierTexts()
    others.add(others.chat("1"), range(100, 200))
    lookup = PromptLookup(MatchChances(others=others))
    lookup.reset(list(range(120, 140)))
    assert lookup.propose(DraftShape(3)).tokens == (140, 141, 142)
    others.forget("1")
    assert not lookup.propose(DraftShape(3)).tokens
    lookup.observe([140, 141])
    assert not lookup.propose(DraftShape(3)).tokens
