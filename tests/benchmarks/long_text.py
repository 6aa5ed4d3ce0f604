"""Text of any size in the window: ``python -m tests.benchmarks.long_text [KIND ...]``.

For each kind of text it prints for how long the window answers nobody, in ms: after the text is pasted into the
composer, at a key after it, at each of twenty keys in a row, when it is sent, when a chat is opened in which it is a
message, and when one is opened in which it is a reply. The median of three, each in a window of its own. ``--write``
keeps what it takes to paste a text and to open such a reply for BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("win32", "darwin")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from tests.benchmarks.page import keep
from tests.support.scripted_workspace import ScriptedWorkspace

_TICK_MS = 2
_QUIET_MS = 400  # nothing that takes time begins later than this after what was done
_LINE = "The quick brown fox jumps over the lazy dog. " * 2 + "\n"
_SCRIPT = "function a(b,c){return b.map(d=>d*c)}var e=[1,2,3],f=a(e,'x');"
KINDS = {
    "base64 20k": "QUJD" * 5_000,
    "base64 100k": "QUJD" * 25_000,
    "base64 1M": "QUJD" * 250_000,
    "base64 5M": "QUJD" * 1_250_000,
    "script 200k": _SCRIPT * (200_000 // len(_SCRIPT)),
    "lines 5M": _LINE * (5_000_000 // len(_LINE)),
    "one line 5M": "word " * 1_000_000,
    "chinese 5M": "你好世界我们today" * 454_545,
    "code 200k": f"```js\n{_SCRIPT * (200_000 // len(_SCRIPT))}\n```\n",
    "table 300k": f"| a | b |\n|---|---|\n| {'QUJD' * 75_000} | 1 |\n",
    "list 300k": f"- {'QUJD' * 75_000}\n- b\n",
}


class Silence:
    """The longest time in which a window's event loop did not turn."""

    def __init__(self) -> None:
        self._longest_ms = 0.0
        self._last = perf_counter()
        self._timer = QTimer(interval=_TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def after(self, act: Callable[[], object]) -> float:
        """Do something; return the longest silence after it, in ms."""
        self._longest_ms, self._last = 0.0, perf_counter()
        self._timer.start()
        act()
        QTest.qWait(_QUIET_MS)
        self._tick()
        self._timer.stop()
        return self._longest_ms

    def _tick(self) -> None:
        now = perf_counter()
        self._longest_ms, self._last = max(self._longest_ms, (now - self._last) * 1000), now


def measure(theme: Theme, text: str) -> list[float]:
    """Paste, key, keys, send, open a message, open a reply: ms."""
    workspace = ScriptedWorkspace()
    window = MainWindow(theme, workspace)
    window.resize(QSize(1100, 780))
    window.show()
    short = workspace.add_conversation("Short", 0, "a question", "an answer")
    message = workspace.add_conversation("Message", 0, text, "an answer")
    reply = workspace.add_conversation("Reply", 0, "a question", text)
    window.page.open(short)
    prompt = window.page.composer.prompt
    prompt.setFocus()
    QTest.qWait(500)
    silence = Silence()
    QApplication.clipboard().setText(text)
    figures = [silence.after(prompt.paste)]
    assert window.page.composer.text == text, "the composer has another text"
    figures.append(silence.after(lambda: QTest.keyClick(prompt, Qt.Key.Key_A)))
    keys = [silence.after(lambda: QTest.keyClick(prompt, Qt.Key.Key_B)) for _ in range(5)]
    figures.append(max(keys))
    figures.append(silence.after(lambda: QTest.keyClick(prompt, Qt.Key.Key_Return)))
    figures.append(silence.after(lambda: window.page.open(message)))
    figures.append(silence.after(lambda: window.page.open(reply)))
    window.close()
    workspace.close()
    return figures


def main() -> None:
    """Print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--times", type=int, default=3, help="windows for each kind")
    parser.add_argument("--write", action="store_true", help="keep figures for BENCHMARKS.md")
    arguments = parser.parse_args()
    QApplication.instance() or QApplication(sys.argv[:1])
    theme = Theme(dark=False)
    theme.apply()
    print(f"{'ms':14}{'paste':>9}{'key':>9}{'worst key':>11}{'send':>9}{'message':>9}{'reply':>9}")
    for kind in arguments.kinds or KINDS:
        rows = [measure(theme, KINDS[kind]) for _ in range(arguments.times)]
        paste, key, keys, send, message, reply = (median(column) for column in zip(*rows, strict=True))
        print(f"{kind:14}{paste:9.0f}{key:9.1f}{keys:11.1f}{send:9.0f}{message:9.0f}{reply:9.0f}", flush=True)
        if arguments.write:
            keep("window", f"{kind}, paste", paste, "ms")
            keep("window", f"{kind}, a chat with such a reply is opened", reply, "ms")


if __name__ == "__main__":
    main()
