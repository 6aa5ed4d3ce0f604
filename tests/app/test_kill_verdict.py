"""The verdict over a kill: nothing that is lost may pass because its words stand somewhere else, too."""

from __future__ import annotations

from typing import Any

from tests.support.kill_verdict import Shown, Tally

NEW_CHAT, CHAT = "typed 0", "prompt 1"


def verdict(start: dict[str, Any], changes: list[dict[str, Any]], found: dict[str, Any]) -> Tally:
    """Over a window that showed something at its start and then changed it, once a second."""
    shown, tally = Shown(), Tally()
    shown.take(0.0, "set", start)
    for second, change in enumerate(changes, 1):
        shown.take(float(second), "set", change)
    tally.compare(shown, found, len(changes) + 1.0, disturbed=False)
    return tally


def sent(text: str) -> list[Any]:
    return [text, "complete", False]


def test_a_prompt_that_is_only_in_the_composer_still_is_not_lost() -> None:
    changes = [{NEW_CHAT: "a b"}, {NEW_CHAT: "", CHAT: sent("a b")}]
    assert not [one for one in verdict({NEW_CHAT: ""}, changes, {NEW_CHAT: "a b"}).lost if CHAT in one]
    assert [one for one in verdict({NEW_CHAT: ""}, changes, {NEW_CHAT: ""}).lost if CHAT in one]
    assert verdict({NEW_CHAT: ""}, changes, {NEW_CHAT: "a b", CHAT: sent("a b")}).twice == 1
    assert verdict({NEW_CHAT: ""}, changes, {NEW_CHAT: "", CHAT: sent("a b")}).twice == 0


def test_a_text_that_was_sent_before_it_was_typed_again_stands_for_nothing() -> None:
    start = {NEW_CHAT: "", CHAT: sent("a b")}
    assert verdict(start, [{NEW_CHAT: "a b"}], {NEW_CHAT: "", CHAT: sent("a b")}).lost
    again = verdict(start, [{NEW_CHAT: "a b"}], {NEW_CHAT: "a b", CHAT: sent("a b")})
    assert (again.lost, again.twice) == ([], 0)


def test_a_text_from_before_the_start_is_not_counted_again() -> None:
    start = {NEW_CHAT: "a b"}
    found = {NEW_CHAT: "a b", CHAT: sent("a b")}
    assert verdict(start, [{CHAT: sent("a b")}], found).twice == 0


def test_a_text_whose_prompt_the_window_had_no_time_to_show_is_not_lost() -> None:
    tally = verdict({NEW_CHAT: ""}, [{NEW_CHAT: "a b"}], {NEW_CHAT: "", CHAT: sent("a b")})
    assert not [one for one in tally.lost if NEW_CHAT in one]


def test_a_reply_that_closing_has_stopped_is_compared_with_what_was_shown() -> None:
    shown = Shown()
    shown.take(0.0, "set", {"answer 1": ["Once upon", "streaming", False]})
    shown.take(1.0, "closing", "")
    shown.take(1.1, "reply", [1, "Once upon a time"])
    for found, lost in (("Once upon", 0), ("Once", 1)):
        tally = Tally()
        tally.compare(shown, {"answer 1": [found, "stopped", False]}, 2.0, disturbed=False)
        assert len(tally.lost) == lost
    tally = Tally()  # by the kill, not by closing
    tally.compare(shown, {"answer 1": ["Once upon", "interrupted", False]}, 2.0, disturbed=False)
    assert len(tally.lost) == 1
