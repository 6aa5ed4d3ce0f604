"""The process of an engine: how its end is told, and how another one follows it."""

from __future__ import annotations

import atexit
import queue
import sys
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import pytest

from engine.engine_process import EngineProcess
from engine.messages import (
    ErrorReport,
    Event,
    Failed,
    HandedBack,
    Ping,
    Pong,
    Shutdown,
    TextDrafted,
    TokensAdded,
    Unload,
)
from engine.messages.pipe import receive, send


def fail_slowly(connection: Connection) -> None:
    """End as an engine with large libraries does: the pipe closes first, and the process ends later."""
    atexit.register(time.sleep, 1.0)
    connection.close()
    sys.exit(3)


def test_a_process_that_takes_its_time_to_end_is_not_called_killed() -> None:
    codes: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    EngineProcess(fail_slowly, lambda event: None, codes.put)
    assert codes.get(timeout=100) == 3


def write_half(connection: Connection, torch: bool = False) -> None:
    """An engine that tells two pieces of a reply and hands it back, and one with torch that tells three others."""
    asked = receive(connection)
    pieces = (("Once u", (1, 2, 3)), ("pon", (4,)), (" a time", (5, 6))) if torch else (("Once", (1, 2)), (" up", (3,)))
    for text, tokens in pieces:
        send(connection, TokensAdded("1", text, tokens, drafted=len(tokens)))
        send(connection, TextDrafted("1", f"?{text}"))
    send(connection, Failed("1", ErrorReport("", "the end")) if torch else HandedBack(asked))
    while not isinstance(command := receive(connection), Shutdown):
        send(connection, Pong(command.number) if torch else HandedBack(command))


def test_a_reply_goes_on_in_another_process_where_it_was() -> None:
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    process = EngineProcess(write_half, events.put, lambda code: None)
    try:
        process.send(Unload())
        process.send(Ping(3))
        told = [events.get(timeout=100) for _ in range(12)]
    finally:
        process.close()
    written = [event for event in told if isinstance(event, TokensAdded)]
    assert "".join(event.text for event in written) == "Once upon a time"
    assert [token for event in written for token in event.token_ids] == [1, 2, 3, 4, 5, 6]
    assert [event.drafted for event in written] == [2, 1, 0, 1, 2]
    guesses = [event.text for event in told if isinstance(event, TextDrafted)]
    assert guesses == ["?Once", "? up", "?pon", "? a time"]  # none of what was told
    assert told[-2:] == [Failed("1", ErrorReport("", "the end")), Pong(3)]


def test_an_end_is_told_where_the_system_has_no_room_for_the_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    process = EngineProcess(write_half, lambda event: None, codes.put)

    def refuse(self: BaseProcess) -> None:
        process.kill()  # another thread's, at the same time
        raise OSError("no room")

    monkeypatch.setattr(BaseProcess, "start", refuse)
    process.send(Unload())
    assert codes.get(timeout=100) == 0
