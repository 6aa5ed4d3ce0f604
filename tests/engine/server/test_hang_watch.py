"""The watch over the engine: how long silence is borne, and what counts as a sign of life."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from engine.server import engine_link
from engine.server.engine_link import PATIENCE_TICKS, START_TICKS, EngineLink, watch


class Link:
    """An engine that says so many things, and has so many requests."""

    def __init__(self) -> None:
        self.process_id: int | None = 7
        self.running, self.heard, self.ready = 1, 0, True
        self.killed: list[int] = []  # at which tick
        self.ticks = 0

    def kill(self, sentence: str) -> None:
        assert sentence
        self.killed.append(self.ticks)


def watched(monkeypatch: pytest.MonkeyPatch, ticks: int, each: Callable[[Link], None] = lambda link: None) -> list[int]:
    """The ticks at which the engine is ended; before each of them something may happen."""
    link = Link()

    async def sleep(seconds: float) -> None:
        link.ticks += 1
        if link.ticks > ticks:
            raise asyncio.CancelledError
        each(link)

    # Of this module alone: a server in another thread sleeps too.
    monkeypatch.setattr(engine_link, "asyncio", SimpleNamespace(sleep=sleep))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(watch(cast(EngineLink, link)))
    return link.killed


def test_an_engine_that_owes_answers_and_is_silent_is_ended_after_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert PATIENCE_TICKS * engine_link.TICK_S == 60.0
    assert watched(monkeypatch, PATIENCE_TICKS) == []
    assert watched(monkeypatch, 30) in ([13, 26], [12, 24], [13, 25])


@pytest.mark.parametrize("every", [1, 2, 6, 11])
def test_one_that_says_something_now_and_then_is_not(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    def say(link: Link) -> None:
        link.heard += link.ticks % every == 0

    assert watched(monkeypatch, 100, say) == []


def test_the_last_word_counts_and_not_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def say(link: Link) -> None:
        link.heard += link.ticks == 9

    (killed,) = watched(monkeypatch, 30, say)
    assert 9 + PATIENCE_TICKS <= killed <= 10 + PATIENCE_TICKS


def test_one_that_owes_nothing_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def rest(link: Link) -> None:
        link.running = 0

    assert watched(monkeypatch, 100, rest) == []

    def rest_at_times(link: Link) -> None:
        link.running = link.ticks % 10 != 0

    assert watched(monkeypatch, 100, rest_at_times) == []


def test_one_that_is_starting_has_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert START_TICKS * engine_link.TICK_S > 180.0  # it may wait for a child that tries a GPU

    def start(link: Link) -> None:
        link.ready = False

    killed = watched(monkeypatch, START_TICKS + 5, start)
    assert killed in ([START_TICKS], [START_TICKS + 1])


def test_one_that_somebody_else_watches_over_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(link: Link) -> None:
        link.process_id = None

    assert watched(monkeypatch, 100, elsewhere) == []
