"""News of engines: what one says after its end is none of the next one's, and each question is told once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.bridge.engine_client import EngineClient
from engine.engine_process import EngineProcess
from engine.messages import (
    Cancel,
    Command,
    EngineReady,
    ErrorReport,
    Event,
    Failed,
    HandedBack,
    LoadOptions,
    MakePlan,
    Notice,
    Ping,
    Pong,
)

QUESTION = MakePlan("", LoadOptions("model"))


class Host(EngineProcess):
    """An engine that says what the test says."""

    process_id = None

    def __init__(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> None:
        self.say, self.exit = on_event, on_exit
        self.sent: list[Command] = []
        self.left = self.killed = 0

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def kill(self) -> None:
        self.killed += 1

    def leave(self) -> None:
        self.left += 1

    def close(self) -> None:
        pass


class Client(EngineClient):
    """Keeps its engines, and what it has told."""

    def __init__(self) -> None:
        super().__init__()
        self.hosts: list[Host] = []
        self.heard: list[Event] = []
        self.ends: list[str] = []
        self.event_received.connect(self.heard.append)
        self.stopped.connect(self.ends.append)

    def _make_host(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> EngineProcess:
        self.hosts.append(Host(on_event, on_exit))
        return self.hosts[-1]


@pytest.fixture
def client(qtbot: QtBot) -> Iterator[Client]:
    made = Client()
    yield made
    made.close()


def arrive() -> None:
    """Let what another thread has said arrive."""
    QCoreApplication.sendPostedEvents()
    QCoreApplication.processEvents()


@pytest.mark.parametrize("late", ["event", "ready", "pong", "failure", "exit"])
def test_an_engine_that_has_ended_is_not_heard(client: Client, late: str) -> None:
    told: list[Event] = []
    client.start()
    old = client.hosts[0]
    old.exit(-9)
    arrive()
    assert (len(client.ends), client.running) == (1, False)
    client.ask(QUESTION).each(told.append)
    number = client.hosts[1].sent[0].request_id  # type: ignore[union-attr]
    client.ping()
    client.heard.clear()
    said: dict[str, Event] = {
        "event": Notice(number, "old"),
        "ready": EngineReady(1, "old"),
        "pong": Pong(1),
        "failure": Failed(number, ErrorReport("InternalError", "old")),
    }
    if late == "exit":
        old.exit(0)
    else:
        old.say(said[late])
    arrive()
    assert (client.heard, told, len(client.ends)) == ([], [], 1)
    assert (client.running, client.ready, client.owes_answer) == (True, False, True)
    client.hosts[1].say(EngineReady(1, "new"))
    client.hosts[1].say(Notice(number, "new"))
    arrive()
    assert told == [Notice(number, "new")]
    assert client.ready


def test_what_is_under_way_when_an_engine_ends_is_heard_before_its_end(client: Client) -> None:
    told: list[object] = []
    client.ask(QUESTION).each(told.append).failed(told.append)
    host = client.hosts[0]
    number = host.sent[0].request_id  # type: ignore[union-attr]
    host.say(Notice(number, "first"))
    host.exit(1)
    arrive()
    assert told[0] == Notice(number, "first")
    assert [type(one) for one in told[1:]] == [ErrorReport]
    assert len(client.ends) == 1


def test_an_engine_that_no_signal_ends_is_left_and_its_end_is_no_news(client: Client) -> None:
    client.kill_timeout_ms = 0
    client.start()
    old = client.hosts[0]
    client.kill("It hung.")
    assert old.killed == 1
    for _ in range(50):
        arrive()
        if client.ends:
            break
    assert (old.left, len(client.ends)) == (1, 1)
    old.exit(-9)
    arrive()
    assert (client.running, len(client.ends)) == (False, 1)
    client.start()
    assert client.running


def test_after_the_close_nothing_is_heard_or_started(client: Client) -> None:
    client.start()
    client.close()
    client.hosts[0].say(EngineReady(1, "old"))
    client.hosts[0].exit(0)
    arrive()
    client.start()
    assert (client.heard, client.ends, len(client.hosts)) == ([], [], 1)


def test_an_engine_owes_an_answer_until_it_has_said_that_it_is_done_with_all(client: Client) -> None:
    client.start()
    assert client.owes_answer  # that it is ready
    host = client.hosts[0]
    host.say(EngineReady(1, "new"))
    arrive()
    assert not client.owes_answer
    client.ask(QUESTION)
    client.ping()
    client.ask(QUESTION)
    host.say(Pong(1))
    arrive()
    assert client.owes_answer
    client.ping()
    client.ping()
    assert [one for one in host.sent if isinstance(one, Ping)] == [Ping(1), Ping(2)]
    host.say(Pong(2))
    arrive()
    assert not client.owes_answer


def test_each_question_has_a_number_of_its_own_and_gets_its_own_answers(client: Client) -> None:
    told: list[list[Event]] = [[], [], []]
    for mine in told:
        client.ask(QUESTION).each(mine.append)
    host = client.hosts[0]
    numbers = [one.request_id for one in host.sent if isinstance(one, MakePlan)]
    assert len({*numbers}) == 3
    for number in reversed(numbers):
        host.say(Notice(number, number))
    arrive()
    assert told == [[Notice(number, number)] for number in numbers]


@pytest.mark.parametrize(("kind", "logged"), [("InternalError", True), ("RemoteError", False), ("Cancelled", False)])
def test_a_failure_s_own_words_are_logged_unless_they_are_another_server_s(
    client: Client, caplog: pytest.LogCaptureFixture, kind: str, logged: bool
) -> None:
    """A server of others may quote the chat."""
    client.start()
    with caplog.at_level(logging.DEBUG):
        client.hosts[0].say(Failed("x", ErrorReport(kind, "my diary of Tuesday")))
        arrive()
    assert ("my diary of Tuesday" in caplog.text) == logged


def test_a_cancel_of_a_question_reaches_the_engine_once_and_is_of_its_number(client: Client) -> None:
    question = client.ask(QUESTION)
    other = client.ask(QUESTION)
    question.cancel()
    sent = [one for one in client.hosts[0].sent if isinstance(one, Cancel)]
    assert sent == [Cancel(question.command.request_id)]
    assert other.command.request_id != question.command.request_id


def test_an_engine_is_not_killed_while_another_process_follows(client: Client) -> None:
    """It imports its libraries, as a new one would have to; its time to stop begins when it is ready."""
    client.start()
    host = client.hosts[0]
    host.say(EngineReady(1, "first"))
    arrive()
    question = client.ask(QUESTION)
    question.cancel()
    states = [(client.ready, client._cancel_timer.isActive())]
    host.say(HandedBack(question.command))
    arrive()
    states.append((client.ready, client._cancel_timer.isActive()))
    host.say(EngineReady(2, "second"))
    arrive()
    states.append((client.ready, client._cancel_timer.isActive()))
    assert states == [(True, True), (False, False), (True, True)]
