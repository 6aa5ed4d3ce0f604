"""What a long text costs the window: ``python -m tests.benchmarks.long_replies [--only WORD] [--kilobytes N]``.

Opens, scrolls, resizes, searches, copies and streams texts of many kinds, each kind in a process of its own, and prints
for each act the longest silence of the event loop (the largest gap of a 5 ms timer, in ms), the most that its thread
worked between two ticks (other programs on the machine do not lengthen that), and the memory that the process has at
most above an empty window, in MB.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter, sleep, thread_time

KINDS: dict[str, Callable[[int], str]] = {
    "short paragraphs": lambda n: "p\n\n" * (n // 3),
    "paragraphs": lambda n: ("A paragraph of plain prose that goes on for a while. " * 8 + "\n\n") * (n // 426),
    "rows of a table": lambda n: "|a|b|\n|-|-|\n" + "|x|y|\n" * (n // 6),
    "many tables": lambda n: "|a|b|\n|-|-|\n|x|y|\n\n" * (n // 19),
    "entities": lambda n: "&amp;" * (n // 5),
    "one paragraph": lambda n: "word " * (n // 5),
    "right to left": lambda n: "שלום " * (n // 5),
    "private use": lambda n: "\ue000" * n,
    "one address": lambda n: "https://example.org/" + "QUJD" * (n // 4),
    "list": lambda n: "- an item\n" * (n // 10),
    "nested lists": lambda n: "- an item\n  - within\n" * (n // 21),
    "headings": lambda n: "# h\n" * (n // 4),
    "quote": lambda n: "> a line\n" * (n // 9),
    "code blocks": lambda n: "```py\nx = 1\n```\n" * (n // 16),
    "lines of code": lambda n: "```python\n" + "def f(x):  # a comment\n    return x + 1\n" * (n // 40),
    "one line of code": lambda n: "```js\n" + "a=b(c,d);" * (n // 9) + "\n```",
    "formulas": lambda n: "with $x^2$ and $y$\n\n" * (n // 20),
    "marks": lambda n: "*a* `b` **c** " * (n // 14),
    "brackets": lambda n: "[a](b" * (n // 5),
    "hidden signs": lambda n: "```\n" + "a\u200bb\n" * (n // 4) + "```",
    "lines": lambda n: "a line of a poem\n" * (n // 17),
    "rules": lambda n: "---\n" * (n // 4),
    "thoughts": lambda n: "<think>" + "word\n\n" * (n // 6) + "</think>done",
}
_END_S = 15.0  # an act that takes longer is not waited for
_STREAMED = 200  # pieces


def measure(kind: str, size: int) -> None:
    """Measure one kind in this process, and print a line for each act."""
    from PySide6.QtCore import QEvent, Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from app.chat.search import phrase_pattern
    from app.ui.main_window import MainWindow
    from app.ui.theme.theme import Theme
    from app.ui.transcript.message_actions import Action
    from tests.support.scripted_workspace import ScriptedWorkspace

    application = QApplication([])
    workspace, theme = ScriptedWorkspace(), Theme(dark=False)
    theme.apply()
    window = MainWindow(theme, workspace)
    window.resize(1200, 800)
    window.show()
    text = KINDS[kind](size)
    chat = workspace.add_conversation("Long", 0, "q", text)
    worst = worked = 0.0
    last, busy = perf_counter(), thread_time()

    def tick() -> None:
        nonlocal last, busy, worst, worked
        now, used = perf_counter(), thread_time()
        worst, worked = max(worst, now - last), max(worked, used - busy)
        last, busy = now, used

    def settle(seconds: float) -> None:
        end = perf_counter() + seconds
        while perf_counter() < end:
            application.processEvents()
            application.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
            sleep(0.001)

    def act(name: str, do: Callable[[], object], seconds: float = 1.0) -> None:
        nonlocal last, busy, worst, worked
        settle(0.1)
        worst, worked, last, busy = 0.0, 0.0, perf_counter(), thread_time()
        do()
        tick()
        settle(seconds)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - before
        print(f"{kind:18} {len(text):9} {name:12} {worst * 1e3:7.0f} {worked * 1e3:7.0f} {most:6.0f}", flush=True)

    timer = QTimer(interval=5, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start()
    settle(0.3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    page = window.page
    act("opened", lambda: page.open(chat), 1.5)
    begun = perf_counter()
    while not page.transcript.views[-1].blocks.settled and perf_counter() - begun < 3 * _END_S:
        act("read", lambda: None, 2.0)
    column, bar = page.transcript, page.transcript.verticalScrollBar()

    def scroll() -> None:
        for place in (*range(40), *range(100, 10, -10)):
            bar.setValue(bar.maximum() * place // 100 + 7 * place if place > 9 else bar.value() - 300)
            settle(0.02)
            if perf_counter() - begun > _END_S:
                return

    def select() -> None:
        column.selection.select_message(page.transcript.views[-1].blocks.widgets[-1].selectables()[0])
        column.selection.text()
        column.selection._clear()

    begun = perf_counter()
    act("scrolled", scroll)
    begun = perf_counter()
    act("home", lambda: bar.setValue(0))
    act("end", column.jump_to_latest)
    act("resized", lambda: (window.resize(1000, 800), settle(0.3), window.resize(760, 700), settle(0.3)))
    act("150 %", lambda: theme.set_scale(1.5))
    act("find", lambda: window.find_in_chat.finder.search(phrase_pattern("a")))
    act("find nothing", lambda: window.find_in_chat.finder.search(phrase_pattern("not in it")))
    window.find_in_chat.finder.search(None)
    act("copied", lambda: page.transcript.views[-1]._act(Action.COPY))
    act("copied plain", lambda: page.transcript.views[-1]._act(Action.COPY_PLAIN), 3.0)
    act("selected", select)
    act("left", lambda: page.open(None))
    own = workspace.add_conversation("Own", 0, text, "a")
    act("own message", lambda: page.open(own), 2.0)
    act("left again", lambda: page.open(None))
    streamed = workspace.turns.send(None, "Go")
    page.open(streamed)
    step = max(1, len(text) // _STREAMED)

    def stream() -> None:
        begun = perf_counter()
        for at in range(0, len(text), step):
            workspace.stream(streamed, text[at : at + step])
            settle(0.033)
            if perf_counter() - begun > _END_S:
                print(f"{kind:18} streamed {at} of {len(text)} in {_END_S:.0f} s", flush=True)
                return

    act("streamed", stream)
    act("finished", lambda: workspace.finish(streamed))
    os._exit(0)


def main() -> int:
    """Measure all kinds, or those with a word in their names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--kilobytes", type=int, default=10_000)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one kind")
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if arguments.kind:
        measure(arguments.kind, arguments.kilobytes * 1000)
    print(f"{'kind':18} {'length':>9} {'act':12} {'silence':>7} {'worked':>7} {'MB':>6}")
    for kind in KINDS:
        if arguments.only in kind:
            command = [sys.executable, "-m", "tests.benchmarks.long_replies", "--kind", kind]
            try:
                subprocess.run(
                    [*command, "--kilobytes", str(arguments.kilobytes)], timeout=arguments.limit, check=False
                )
            except subprocess.TimeoutExpired:
                print(f"{kind:18} not within {arguments.limit:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
