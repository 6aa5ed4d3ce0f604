"""Work whose cost a request decides: bounded, given up, and done by the next process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest

from engine.errors import Cancelled
from engine.preparer import Beyond, Died, Preparer, TookTooLong, TookTooMuch


def echo(question: bytes) -> bytes:
    return question


def loop(question: bytes) -> bytes:
    while True:
        pass


def fill(question: bytes) -> bytes:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def reserve(question: bytes) -> bytes:
    bytes(1 << 30)  # no page of it is touched, as a bytearray's would be
    return b""


def hold(question: bytes) -> bytes:
    held.append(b"\1" * int(question))
    return b""


def fail(question: bytes) -> bytes:
    raise ValueError("a word of a chat")


def many(question: bytes) -> Iterator[bytes]:
    for _ in range(int(question)):
        yield bytes(10)


def wait(question: bytes) -> bytes:
    time.sleep(600)
    return b""


def rest(question: bytes) -> bytes:
    time.sleep(0.6)
    return b""


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
    return preparer._running[0].pid


def test_one_process_answers_what_fits_its_bounds(preparer: Preparer) -> None:
    questions = (b"", b"a", b"b" * (8 << 20))
    assert [preparer.ask(f"{HERE}:echo", one) for one in questions] == list(questions)
    first = process_id(preparer)
    preparer.ask(f"{HERE}:echo", b"")
    assert process_id(preparer) == first


@pytest.mark.parametrize(("work", "kind"), [("loop", TookTooLong), ("fill", TookTooMuch), ("die", Died)])
def test_what_exceeds_its_bounds_ends_its_process_and_the_next_question_is_answered(
    preparer: Preparer, work: str, kind: type[Beyond]
) -> None:
    if work == "fill":
        preparer.time_s = 600.0
    with pytest.raises(kind):
        preparer.ask(f"{HERE}:{work}", b"")
    assert preparer._running is None
    assert preparer.ask(f"{HERE}:echo", b"next") == b"next"


def test_memory_has_its_bound_where_the_system_sets_none(preparer: Preparer) -> None:
    preparer.ask(f"{HERE}:echo", b"")  # its own limit is that of its start
    preparer.memory_bytes = 1 << 20
    with pytest.raises(TookTooMuch):
        preparer.ask(f"{HERE}:rest", b"")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit what a process may take")
def test_memory_that_is_taken_at_once_has_its_bound(preparer: Preparer) -> None:
    preparer.time_s = 600.0
    with pytest.raises(TookTooMuch):
        preparer.ask(f"{HERE}:reserve", b"")


def test_a_process_that_was_killed_or_left_is_started_again(preparer: Preparer) -> None:
    preparer.ask(f"{HERE}:echo", b"")
    psutil.Process(process_id(preparer)).kill()
    preparer._running[0].join()
    assert preparer.ask(f"{HERE}:echo", b"next") == b"next"
    idle = Preparer("tenon-of-a-test", 1.0, 256 << 20, 128 << 20, idle_s=0.05)
    idle.ask(f"{HERE}:echo", b"")
    idle._running[0].join(30)
    assert idle._running[0].exitcode == 0
    assert idle.ask(f"{HERE}:echo", b"next") == b"next"
    idle.end()


def test_a_process_that_holds_much_is_not_kept(preparer: Preparer) -> None:
    preparer.ask(f"{HERE}:hold", b"1000")
    assert preparer._running is not None
    preparer.ask(f"{HERE}:hold", str(160 << 20).encode(), time_s=30.0)
    assert preparer._running is None


def test_a_question_whose_asker_leaves_is_given_up(preparer: Preparer) -> None:
    preparer.ask(f"{HERE}:echo", b"")  # it runs before the asker leaves, and not while it starts
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


def test_answers_are_taken_as_they_come_and_bounded_together(preparer: Preparer) -> None:
    preparer.answer_bytes = 100
    assert list(preparer.answers(f"{HERE}:many", b"10")) == [bytes(10)] * 10
    first = process_id(preparer)
    with closing(preparer.answers(f"{HERE}:many", b"10")) as found:
        assert next(found) == bytes(10)
    assert preparer._running is None  # what is still to come would be taken for the next answer
    assert preparer.ask(f"{HERE}:echo", b"next") == b"next"
    assert process_id(preparer) != first
    with pytest.raises(TookTooMuch):
        list(preparer.answers(f"{HERE}:many", b"11"))


def test_a_question_has_so_long_by_the_clock_too(preparer: Preparer) -> None:
    preparer.clock_s = 0.2
    with pytest.raises(TookTooLong):
        preparer.ask(f"{HERE}:wait", b"")


def test_work_that_waits_for_a_disk_takes_none_of_the_processors_time(preparer: Preparer) -> None:
    assert preparer.ask(f"{HERE}:rest", b"") == b""


def test_a_mistake_of_the_work_tells_nothing_of_the_question(preparer: Preparer) -> None:
    with pytest.raises(RuntimeError, match="fail: ValueError") as raised:
        preparer.ask(f"{HERE}:fail", b"a word of a chat")
    assert "word" not in str(raised.value)
    assert preparer.ask(f"{HERE}:echo", b"next") == b"next"


def test_a_process_comes_alone() -> None:
    """Python would start another one, which tracks semaphores that Tenon does not have."""
    program = (
        "import psutil; from engine.preparer import QUICK; QUICK.start(); print(len(psutil.Process().children())); "
        "QUICK.end()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
