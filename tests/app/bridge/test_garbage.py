"""Objects of Qt must end in their own thread."""

from __future__ import annotations

import gc
import threading

from pytestqt.qtbot import QtBot

from app.bridge.workspace import GarbageInWindowThread


class Knot:
    """Garbage that only the collector can find; notes the thread that it ends in."""

    ended_in: list[int]

    def __init__(self, ended_in: list[int]) -> None:
        self.me = self
        self.ended_in = ended_in

    def __del__(self) -> None:
        self.ended_in.append(threading.get_ident())


def test_garbage_of_all_threads_ends_in_this_one(qtbot: QtBot) -> None:
    garbage = GarbageInWindowThread()
    ended_in: list[int] = []
    try:

        def make() -> None:
            for _ in range(5000):
                Knot(ended_in)

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        assert ended_in == []
        qtbot.waitUntil(lambda: len(ended_in) > 0)
        assert set(ended_in) == {threading.get_ident()}
    finally:
        garbage.close()
    assert gc.isenabled()


def test_two_users(qtbot: QtBot) -> None:
    first, second = GarbageInWindowThread(), GarbageInWindowThread()
    first.close()
    assert not gc.isenabled()
    second.close()
    assert gc.isenabled()
