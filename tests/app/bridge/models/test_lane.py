"""Work in a thread of its own, and what comes of it in this one."""

from __future__ import annotations

import threading

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.models.lane import Lane
from engine.errors import HubError, TenonError


def test_results_come_in_order_in_this_thread(qtbot: QtBot) -> None:
    lane, seen = Lane("models-test"), list[tuple[object, int]]()
    here = threading.get_ident()
    for number in range(3):
        lane.run(lambda number=number: number, lambda n: seen.append((n, threading.get_ident())), _unexpected)  # type: ignore[misc]
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == [(0, here), (1, here), (2, here)]
    lane.close(1.0)


def test_errors_are_told_and_the_next_piece_is_done(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    lane, told, done = Lane("models-test"), list[TenonError](), list[int]()

    def fail(error: Exception) -> int:
        raise error

    lane.run(lambda: fail(HubError("The hub is gone: wait.")), done.append, told.append)
    lane.run(lambda: fail(KeyError("mistake")), done.append, told.append)
    lane.run(lambda: 3, done.append, told.append)
    qtbot.waitUntil(lambda: done == [3])
    assert [error.message.partition(":")[0] for error in told] == [
        "The hub is gone",
        "Tenon made a mistake here",
    ]
    assert "mistake" in caplog.text
    lane.close(1.0)


def test_a_closed_lane_tells_nothing_more(qtbot: QtBot) -> None:
    lane, done, started, go = Lane("models-test"), list[int](), threading.Event(), threading.Event()

    def slow() -> int:
        started.set()
        go.wait(10)
        return 1

    lane.run(slow, done.append, _unexpected)
    assert started.wait(10)
    lane.close()
    go.set()
    lane.close(10.0)
    lane.run(lambda: 2, done.append, _unexpected)
    qtbot.wait(20)
    assert done == []


def _unexpected(error: TenonError) -> None:
    raise AssertionError(error)
