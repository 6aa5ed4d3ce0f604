from __future__ import annotations

import time

from PySide6.QtCore import QObject, Slot
from pytestqt.qtbot import QtBot

from app.bridge.token_coalescer import TokenCoalescer


class Receiver(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.times: list[float] = []

    @Slot(str)
    def take(self, text: str) -> None:
        self.texts.append(text)
        self.times.append(time.monotonic())


def test_the_first_at_once_then_thirty_times_a_second_and_nothing_is_lost(qtbot: QtBot) -> None:
    coalescer, receiver = TokenCoalescer(), Receiver()
    coalescer.text_ready.connect(receiver.take)
    coalescer.add("")
    assert receiver.texts == []
    coalescer.add("0 ")
    assert receiver.texts == ["0 "]
    sent = ["0 "]
    for number in range(1, 100):
        sent.append(f"{number} ")
        coalescer.add(sent[-1])
        qtbot.wait(2)
    coalescer.flush()
    coalescer.flush()
    assert "".join(receiver.texts) == "".join(sent)
    # However long a busy machine took for it, there was no more than one piece for each 30 ms or so.
    assert 3 < len(receiver.texts) < (receiver.times[-1] - receiver.times[0]) / 0.028 + 3
    gaps = [after - before for before, after in zip(receiver.times[:-2], receiver.times[1:-1], strict=True)]
    assert min(gaps) > 0.02


def test_after_a_pause_text_comes_at_once_again(qtbot: QtBot) -> None:
    coalescer, receiver = TokenCoalescer(), Receiver()
    coalescer.text_ready.connect(receiver.take)
    coalescer.add("a")
    qtbot.wait(80)
    coalescer.add("b")
    assert receiver.texts == ["a", "b"]
    coalescer.flush()
    coalescer.add("c")  # the next reply
    assert receiver.texts == ["a", "b", "c"]


def test_the_latest_guess_follows_the_text_before_it(qtbot: QtBot) -> None:
    coalescer = TokenCoalescer()
    said: list[str] = []
    coalescer.text_ready.connect(said.append)
    coalescer.unconfirmed_ready.connect(lambda text: said.append(f"?{text}"))
    coalescer.draft("a")
    coalescer.draft("ab")
    coalescer.add("a")
    coalescer.draft("bc")
    assert said == ["?a"]
    qtbot.waitUntil(lambda: len(said) == 3)
    assert said == ["?a", "a", "?bc"]
    coalescer.add("")
    qtbot.waitUntil(lambda: said[-1] == "?")
    coalescer.draft("x")
    coalescer.add("y")
    coalescer.flush()
    coalescer.flush()
    assert said[3:] == ["?", "y"]
