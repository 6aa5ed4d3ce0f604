"""Work whose cost a request decides: bounded, given up, and done by the next process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from engine.errors import Cancelled
from engine.preparer import Beyond, Preparer


def echo(question: bytes) -> bytes:
    return question


def loop(question: bytes) -> bytes:
    while True:
        pass


def fill(question: bytes) -> bytes:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def hold(question: bytes) -> bytes:
    held.append(b"\1" * int(question))
    return b""


def fail(question: bytes) -> bytes:
    raise ValueError("a word of a chat")


def die(question: bytes) -> bytes:
    os._exit(3)


held: list[bytes] = []
HERE = __name__


@pytest.fixture
def preparer() -> Iterator[Preparer]:
    made = Preparer("tenon-of-a-test", 0.3, 256 << 20, 128 << 20)
    yield made
    made.end()


def process_id(preparer: Preparer) -> int | None:
    assert preparer._running is not None
    return preparer._running[0].pid


def test_one_process_answers_what_fits_its_bounds(preparer: Preparer) -> None:
    questions = (b"", b"a", b"b" * (8 << 20))
    assert [preparer.ask(f"{HERE}:echo", one) for one in questions] == list(questions)
    first = process_id(preparer)
    preparer.ask(f"{HERE}:echo", b"")
    assert process_id(preparer) == first


@pytest.mark.parametrize("work", ["loop", "fill", "die"])
def test_what_exceeds_its_bounds_ends_its_process_and_the_next_question_is_answered(
    preparer: Preparer, work: str
) -> None:
    with pytest.raises(Beyond):
        preparer.ask(f"{HERE}:{work}", b"")
    assert preparer._running is None
    assert preparer.ask(f"{HERE}:echo", b"next") == b"next"


def test_a_process_that_was_killed_or_left_is_started_again(preparer: Preparer) -> None:
    preparer.ask(f"{HERE}:echo", b"")
    psutil.Process(process_id(preparer)).kill()
    assert preparer._running is not None
    preparer._running[0].join()
    assert preparer.ask(f"{HERE}:echo", b"next") == b"next"
    idle = Preparer("tenon-of-a-test", 1.0, 256 << 20, 128 << 20, idle_s=0.05)
    idle.ask(f"{HERE}:echo", b"")
    assert idle._running is not None
    idle._running[0].join(30)
    assert idle._running[0].exitcode == 0
    assert idle.ask(f"{HERE}:echo", b"next") == b"next"
    idle.end()


def test_a_process_that_holds_much_is_not_kept(preparer: Preparer) -> None:
    preparer.ask(f"{HERE}:hold", b"1000")
    assert preparer._running is not None
    preparer.ask(f"{HERE}:hold", str(160 << 20).encode())
    assert preparer._running is None


def test_a_question_whose_asker_leaves_is_given_up(preparer: Preparer) -> None:
    preparer.time_s = 600.0
    left = threading.Event()
    threading.Timer(0.2, left.set).start()
    with pytest.raises(Cancelled):
        preparer.ask(f"{HERE}:loop", b"", left.is_set)
    assert preparer._running is None


def test_who_waits_behind_another_question_may_leave_too(preparer: Preparer) -> None:
    preparer.time_s = 600.0
    left = threading.Event()

    def ask() -> None:
        with pytest.raises(Cancelled):
            preparer.ask(f"{HERE}:loop", b"", left.is_set)

    first = threading.Thread(target=ask)
    first.start()
    while preparer._running is None:
        time.sleep(0.01)
    with pytest.raises(Cancelled):
        preparer.ask(f"{HERE}:echo", b"", lambda: True)
    left.set()
    first.join()


def test_a_mistake_of_the_work_tells_nothing_of_the_question(preparer: Preparer) -> None:
    with pytest.raises(RuntimeError, match="fail: ValueError") as raised:
        preparer.ask(f"{HERE}:fail", b"a word of a chat")
    assert "word" not in str(raised.value)
    assert preparer.ask(f"{HERE}:echo", b"next") == b"next"
