from __future__ import annotations

import threading
import time

from pytestqt.qtbot import QtBot

from app.bridge.background_writer import BackgroundWriter
from engine.errors import StorageError


def test_work_is_done_in_order_elsewhere_and_answered_here(qtbot: QtBot) -> None:
    writer = BackgroundWriter()
    done: list[tuple[int, int]] = []
    answered: list[tuple[int, int]] = []

    def submit(number: int) -> None:
        writer.submit(
            lambda: done.append((number, threading.get_ident())),
            lambda error: answered.append((number, threading.get_ident())),
        )

    for number in range(20):
        submit(number)
    qtbot.waitUntil(lambda: len(answered) == 20)
    here = threading.get_ident()
    assert [number for number, _ in done] == list(range(20))
    assert here not in {thread for _, thread in done}
    assert answered == [(number, here) for number in range(20)]
    writer.close()


def test_a_failure_is_answered_and_the_next_work_is_done(qtbot: QtBot) -> None:
    writer = BackgroundWriter()
    errors: list[StorageError | None] = []

    def refuse() -> None:
        raise StorageError("No.")

    def break_down() -> None:
        raise ValueError("a mistake")

    for work in (refuse, break_down, lambda: None):
        writer.submit(work, errors.append)
    qtbot.waitUntil(lambda: len(errors) == 3)
    assert [error.message if error else None for error in errors][::2] == ["No.", None]
    assert isinstance(errors[1], StorageError)
    writer.close()


def test_closing_does_what_is_queued_and_ends_the_thread() -> None:
    writer = BackgroundWriter()
    done: list[int] = []

    def work() -> None:
        time.sleep(0.01)
        done.append(1)

    for _ in range(5):
        writer.submit(work)
    writer.close()
    writer.close()
    writer.submit(work)
    assert len(done) == 5
    assert "tenon-writer" not in {thread.name for thread in threading.enumerate()}
