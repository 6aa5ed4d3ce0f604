"""Smoothness of the window: ``python -m tests.benchmarks.ui_streaming [--tokens N] [--rate N] [--formulas]``.

Streams a Markdown reply (prose, lists, tables, code) into a real window and prints four things in ms: how long the
event loop is held by one update, how late a 5 ms timer fires (painting is in that), how much of its time the window's
thread had a processor between two such timers (the same, less what other programs take), and how long a conversation
of 1,000 messages takes until it is shown.
"""

from __future__ import annotations

import argparse
import os
import sys
from time import perf_counter, process_time, thread_time

if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("win32", "darwin")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

from app.bridge.typesetter import Typesetter
from app.bridge.worker import LexerMaker
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from tests.support.scripted_workspace import ScriptedWorkspace, statistics
from tests.support.window_scene import ANSWER, LONG

_BATCH_MS = 33
_TICK_MS = 5
_FORMULAS = r"""
With $a_{@} \ne 0$ the roots of \(a_{@}x^2 + bx + c = 0\) are

$$
x_{@} = \frac{-b \pm \sqrt{b^2 - 4a_{@}c}}{2a_{@}}
$$

and the sum is $\sum_{i=1}^{@} i$, as a table says:

| $n$ | $f_{@}(n)$ |
|---|---|
| 1 | $\frac{1}{@}$ |

"""


class Stream(QObject):
    """Feeds tokens the way the bridge does: one batch per 33 ms."""

    def __init__(self, window: MainWindow, workspace: ScriptedWorkspace, text: str, tokens: int, rate: float) -> None:
        super().__init__()
        self.window = window
        self.workspace = workspace
        self.chat = workspace.turns.send(None, "Go")
        window.page.open(self.chat)
        size = max(1, len(text) // tokens)
        self.pieces = [text[start : start + size] for start in range(0, len(text), size)]
        self.rate = rate
        self.sent = 0
        self.held_ms: list[float] = []
        self.late_ms: list[float] = []
        self.busy_ms: list[float] = []
        self.begun = perf_counter()
        self.last_tick = perf_counter()
        self.last_busy = thread_time()
        self.feeder = QTimer(self, interval=_BATCH_MS, timerType=Qt.TimerType.PreciseTimer)
        self.feeder.timeout.connect(self.feed)
        self.ticker = QTimer(self, interval=_TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self.ticker.timeout.connect(self.tick)
        self.feeder.start()
        self.ticker.start()

    @Slot()
    def feed(self) -> None:
        due = min(len(self.pieces), int((perf_counter() - self.begun) * self.rate))
        if due > self.sent:
            begun = perf_counter()
            self.workspace.stream(self.chat, "".join(self.pieces[self.sent : due]))
            if due // 50 != self.sent // 50:
                self.workspace.change(self.chat, statistics=statistics(due))
            self.held_ms.append((perf_counter() - begun) * 1000)
            self.sent = due
        if self.sent == len(self.pieces):
            self.feeder.stop()
            self.ticker.stop()
            self.workspace.finish(self.chat)
            QApplication.quit()

    @Slot()
    def tick(self) -> None:
        now = perf_counter()
        self.late_ms.append(max(0.0, (now - self.last_tick) * 1000 - _TICK_MS))
        self.last_tick = now
        busy = thread_time()
        self.busy_ms.append((busy - self.last_busy) * 1000)
        self.last_busy = busy


def line(name: str, values: list[float]) -> str:
    """Median, 95th and 99th percentile and maximum."""
    ranked = sorted(values)
    p50, p95, p99 = (ranked[min(len(ranked) - 1, int(len(ranked) * q))] for q in (0.5, 0.95, 0.99))
    return f"{name:<34} n {len(ranked):5}  p50 {p50:6.2f}  p95 {p95:6.2f}  p99 {p99:6.2f}  max {ranked[-1]:6.2f} ms"


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=4_000)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--formulas", action="store_true", help="a quarter of the text is formulas, each another one")
    arguments = parser.parse_args()
    application = QApplication([])
    theme = Theme()
    theme.apply()
    workspace = ScriptedWorkspace()
    window = MainWindow(theme, workspace)
    window.show()
    sample = (
        ANSWER + "\n" + LONG.split("</think>")[1] + "\n" + "A paragraph of plain prose that goes on. " * 12 + "\n\n"
    )
    typesetter, lexer_maker = Typesetter(), LexerMaker()
    theme.formulas.use(typesetter)
    theme.lexers.use(lexer_maker)
    text, number = "", 0
    while len(text) < arguments.tokens * 4:
        number += 1
        text += sample + (2 * _FORMULAS.replace("@", str(number)) if arguments.formulas else "")
    text = text[: arguments.tokens * 4]
    stream = Stream(window, workspace, text, arguments.tokens, arguments.rate)
    application.exec()
    share = 100 * process_time() / (perf_counter() - stream.begun)
    print(line("held by one update", stream.held_ms))
    print(line("5 ms timer late by", stream.late_ms))
    print(line("worked between two ticks", stream.busy_ms))
    print(f"{'processor time, of one core':<34} {share:.0f} %")
    chat = workspace.add_conversation("Long", 0, *["A question?", ANSWER] * 500)
    opened = []
    for _ in range(5):
        window.page.open(None)
        application.processEvents()
        begun = perf_counter()
        window.page.open(chat)
        window.repaint()
        opened.append((perf_counter() - begun) * 1000)
    print(line("1,000 messages shown", opened))
    typesetter.close()
    window.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
