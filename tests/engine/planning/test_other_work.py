from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.planning.probes import host
from engine.planning.probes.host import OtherWork, Reading, share_of_others

seconds = st.floats(0.0, 1e6)


@pytest.mark.parametrize(
    ("used_s", "own_s", "share"),
    [(0.0, 0.0, 0.0), (8.0, 8.0, 0.0), (8.0, 4.0, 0.5), (2.0, 1.0, 0.125), (3.0, 3.1, 0.0)],
    ids=["rests", "all of it is ours", "halved", "a window", "ticks apart"],
)
def test_what_is_not_ours_is_other_work(used_s: float, own_s: float, share: float) -> None:
    begin = Reading(100.0, 5000.0, 70.0, 4)
    assert share_of_others(begin, Reading(102.0, 5000.0 + used_s, 70.0 + own_s, 4)) == pytest.approx(share)


@given(seconds, seconds, seconds)
def test_it_is_a_share_whatever_the_counters_say(passed_s: float, used_s: float, own_s: float) -> None:
    assert 0.0 <= share_of_others(Reading(0.0, 0.0, 0.0, 2), Reading(passed_s, used_s, own_s, 2)) <= 1.0


def test_what_is_over_at_once_tells_nothing() -> None:
    assert share_of_others(Reading(0.0, 0.0, 0.0, 1), Reading(0.05, 0.05, 0.0, 1)) == 0.0


def test_another_program_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "share_of_others", share_of_others)
    others = OtherWork()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            # One of the processors, where this program does nothing at all.
            while others.share <= 0.5 / Reading.now().processors:
                time.sleep(0.1)
        finally:
            other.kill()


def test_own_work_counts_as_own_in_a_child_too() -> None:
    begin = Reading.now()
    end_s = time.process_time() + 0.5
    while time.process_time() < end_s:
        pass
    assert Reading.now().own_s - begin.own_s > 0.15
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        # It counts what this process has used, as the engine's does the window's.
        assert pool.apply(Reading.now).own_s > Reading.now().own_s / 4
