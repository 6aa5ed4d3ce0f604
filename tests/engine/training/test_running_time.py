"""A training's clock counts the time in which its process ran, and not that in which it was stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from engine.training import trainer
from engine.training.trainer import RunningTime


def test_a_gap_in_which_nobody_looked_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "_TICK_S", 3600.0)  # nobody else looks
    times = iter((100.0, 101.0, 104.0, 194.0, 196.0))
    clock = RunningTime(lambda: next(times))
    assert [clock.seconds() for _ in range(4)] == pytest.approx([1.0, 4.0, 4.0, 6.0])


_CHILD = """
import sys, time
from engine.training import trainer
trainer._TICK_S, trainer._STOPPED_S = 0.05, 0.8
clock, begun = trainer.RunningTime(), time.monotonic()
print("begun", flush=True)
sys.stdin.readline()
print(time.monotonic() - begun - clock.seconds())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows stops no process by a signal")
def test_a_process_that_is_stopped_does_not_run() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        child.send_signal(signal.SIGCONT)
        said, _ = child.communicate("\n")
    assert float(said) > 1.2
