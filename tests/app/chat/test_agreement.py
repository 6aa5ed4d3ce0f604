from __future__ import annotations

import pytest

from app.chat.comparison import Contender, Trial, agreement


def trial(ids: tuple[int, ...], text: str = "", **changes: object) -> Trial:
    return Trial(Contender("smollm2", "SmolLM2 135M", "plain"), text=text, token_ids=ids, ended=True, **changes)  # type: ignore[arg-type]


def test_the_same_tokens_are_identical() -> None:
    found = agreement(trial((1, 2, 3), "abc"), trial((1, 2, 3), "abc"))
    assert (found.identical, found.tokens, found.complete) == (True, 3, True)


@pytest.mark.parametrize(
    ("first", "second", "tokens"),
    [((1, 2, 3), (1, 9, 3), 1), ((1, 2), (1, 2, 3), 2), ((9,), (1,), 0), ((), (1,), 0)],
)
def test_the_first_difference(first: tuple[int, ...], second: tuple[int, ...], tokens: int) -> None:
    found = agreement(trial(first, "same but"), trial(second, "same and"))
    assert (found.identical, found.tokens, found.characters) == (False, tokens, 5)


def test_other_tokens_of_the_same_text_are_a_difference() -> None:
    found = agreement(trial((1, 2), "ab"), trial((3,), "ab"))
    assert not found.identical


def test_a_stopped_reply_is_compared_as_far_as_it_came() -> None:
    found = agreement(trial((1, 2), "ab", stopped=True), trial((1, 2, 3), "abc"))
    assert (found.identical, found.complete, found.tokens) == (True, False, 2)
    found = agreement(trial((1, 9), "ax", stopped=True), trial((1, 2, 3), "abc"))
    assert not found.identical
    longer = agreement(trial((1, 2, 3), "abc", stopped=True), trial((1, 2), "ab"))
    assert not longer.identical  # the one that came to its end is shorter


def test_nothing_is_said_of_what_failed_or_did_not_begin() -> None:
    assert agreement(trial((1,), "a"), Trial(Contender("smollm2", "SmolLM2 135M", "lookup"))) is None
    assert agreement(trial((1,), "a", problem="It failed."), trial((1,), "a")) is None
    assert agreement(trial((), stopped=True), trial((1,), "a")) is None
