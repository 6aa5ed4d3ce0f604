"""The watch over the window's engine: how long silence is borne, what counts as a sign of life, and what comes then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.bridge import engine_watch
from app.bridge.engine_watch import PATIENCE_TICKS, START_TICKS, EngineWatch
from engine.messages import EngineReady, Notice, Pong
from tests.app.bridge.test_engine_news import QUESTION, Client, Host, arrive


class Model:
    """Counts how often an engine is wanted."""

    wanted = 0

    def ensure_engine(self) -> None:
        self.wanted += 1


@pytest.fixture
def client(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(Host, "process_id", 7)
    made = Client()
    yield made
    made.close()


@pytest.fixture
def watch(client: Client) -> EngineWatch:
    made = EngineWatch(client, Model())  # type: ignore[arg-type]
    made.timer.stop()
    return made


def ready(client: Client) -> Host:
    client.start()
    client.hosts[0].say(EngineReady(1, "x"))
    arrive()
    return client.hosts[0]


def ticks_until_killed(watch: EngineWatch, host: Host, most: int = 100) -> int:
    for tick in range(1, most):
        watch.tick()
        if host.killed:
            return tick
    return 0


def test_an_engine_that_owes_an_answer_and_is_silent_is_ended_after_a_minute(
    client: Client, watch: EngineWatch
) -> None:
    host = ready(client)
    client.ask(QUESTION)
    assert ticks_until_killed(watch, host) in (PATIENCE_TICKS, PATIENCE_TICKS + 1)
    assert PATIENCE_TICKS * engine_watch.TICK_MS == 60_000
    assert host.killed == 1


def test_one_that_owes_nothing_may_be_silent(client: Client, watch: EngineWatch) -> None:
    host = ready(client)
    assert ticks_until_killed(watch, host) == 0
    client.ask(QUESTION)
    watch.tick()
    host.say(Pong(1))
    arrive()
    assert ticks_until_killed(watch, host) == 0


@pytest.mark.parametrize("every", [1, 5, 11])
def test_one_that_says_something_now_and_then_is_not_ended(client: Client, watch: EngineWatch, every: int) -> None:
    host = ready(client)
    client.ask(QUESTION)
    for tick in range(100):
        if tick % every == 0:
            host.say(Notice("x", "still here"))
            arrive()
        watch.tick()
    assert not host.killed


def test_one_that_is_starting_has_more_time_and_is_not_started_again(client: Client, watch: EngineWatch) -> None:
    assert START_TICKS * engine_watch.TICK_MS > 180_000  # it may wait for a child that tries a GPU
    client.start()
    (host,) = client.hosts
    assert ticks_until_killed(watch, host) in (START_TICKS, START_TICKS + 1)
    host.exit(-9)
    arrive()
    assert watch._model.wanted == 0  # type: ignore[attr-defined]


def test_one_that_hung_is_started_again_and_one_that_died_is_not(client: Client, watch: EngineWatch) -> None:
    host = ready(client)
    client.ask(QUESTION)
    assert ticks_until_killed(watch, host)
    host.exit(-9)
    arrive()
    assert watch._model.wanted == 1  # type: ignore[attr-defined]
    assert "neither computed nor answered" in client.ends[-1]
    client.start()
    client.hosts[1].exit(1)
    arrive()
    assert watch._model.wanted == 1  # type: ignore[attr-defined]
