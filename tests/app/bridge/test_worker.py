"""Work in a thread of its own, and what comes of it in this one."""

from __future__ import annotations

import threading
import time

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.worker import Worker
from engine.errors import HubError, StorageError, TenonError


def test_results_come_in_order_in_this_thread(qtbot: QtBot) -> None:
    worker, seen = Worker("tenon-test"), list[tuple[object, int]]()
    here = threading.get_ident()
    for number in range(3):
        worker.run(lambda number=number: number, lambda n: seen.append((n, threading.get_ident())), _unexpected)  # type: ignore[misc]
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == [(0, here), (1, here), (2, here)]
    worker.close(1.0)


def test_errors_are_told_and_the_next_piece_is_done(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    worker, told, done = Worker("tenon-test"), list[TenonError](), list[int]()

    def fail(error: Exception) -> int:
        raise error

    worker.run(lambda: fail(HubError("The hub is gone: wait.")), done.append, told.append)
    worker.run(lambda: fail(KeyError("mistake")), done.append, told.append)
    worker.run(lambda: 3, done.append, told.append)
    qtbot.waitUntil(lambda: done == [3])
    assert [error.message.partition(":")[0] for error in told] == [
        "The hub is gone",
        "Tenon made a mistake here",
    ]
    assert "mistake" in caplog.text
    worker.close(1.0)


def test_a_closed_worker_tells_nothing_more(qtbot: QtBot) -> None:
    worker, done, started, go = Worker("tenon-test"), list[int](), threading.Event(), threading.Event()

    def slow() -> int:
        started.set()
        go.wait(10)
        return 1

    worker.run(slow, done.append, _unexpected)
    assert started.wait(10)
    worker.close()
    go.set()
    worker.close(10.0)
    worker.run(lambda: 2, done.append, _unexpected)
    qtbot.wait(20)
    assert done == []


def test_finishing_does_what_waits_and_ends_the_thread() -> None:
    worker, done = Worker("tenon-test"), list[int]()

    def work() -> None:
        time.sleep(0.01)
        done.append(1)

    for _ in range(5):
        worker.run(work)
    worker.finish()
    worker.finish()
    worker.run(work)
    assert len(done) == 5
    assert "tenon-test" not in {thread.name for thread in threading.enumerate()}


def test_a_mistake_is_told_as_its_owner_wants(qtbot: QtBot) -> None:
    worker = Worker("tenon-test", mistake=lambda details: StorageError("Not saved.", details))
    told: list[TenonError] = []
    worker.run(lambda: 1 // 0, failed=told.append)
    qtbot.waitUntil(lambda: len(told) == 1)
    assert isinstance(told[0], StorageError)
    worker.finish()


def _unexpected(error: TenonError) -> None:
    raise AssertionError(error)
