"""The self-test against a scripted engine: what it reports when all is well, and when it is not."""

from __future__ import annotations

import subprocess
import sys
import time

from app.bridge.self_test import SelfTest, SelfTestReport
from tests.app.bridge.conftest import Desk


def run(desk: Desk, question: str, timeout_s: float = 100.0) -> SelfTestReport:
    workspace = desk.open(start=False)
    test = SelfTest(workspace, "1.2.3", question, timeout_s, workspace)
    with desk.qtbot.waitSignal(test.finished):
        workspace.start()
        test.begin()
    return test.report


def test_an_answer_passes_and_times_are_in_order(desk: Desk) -> None:
    report = run(desk, "say 3")
    assert report.passed, report.text()
    moments = [report.window_s, report.engine_s, report.model_s, report.first_token_s, report.answer_s]
    assert moments == sorted(moments)  # type: ignore[type-var]
    lines = report.text().splitlines()
    assert lines[0].startswith("Tenon 1.2.3 self-test on ")
    assert lines[-1].split() == ["result", "passed"]
    assert any(line.startswith("first token") and line.endswith("s after the start") for line in lines)


def test_what_stands_beside_the_answer_is_told(desk: Desk) -> None:
    assert "notice        A notice." in run(desk, "trim").text().splitlines()


def test_a_failed_reply_fails_with_its_sentence(desk: Desk) -> None:
    report = run(desk, "fail")
    assert not report.passed
    assert report.problem
    assert report.text().splitlines()[-1] == f"result        FAILED: {report.problem}"


def test_a_dead_engine_fails(desk: Desk) -> None:
    report = run(desk, "die")
    assert not report.passed
    assert "stopped" in report.problem


def test_silence_fails_in_time(desk: Desk) -> None:
    report = run(desk, "read", timeout_s=2.0)
    assert report.problem == "There was no complete answer within 2 s."
    assert report.answer_s is None
    assert "answer        not reached" in report.text()


def test_an_empty_answer_is_none() -> None:
    assert not SelfTestReport("1", "Q", answer_s=1.0, answer="  \n").passed


def test_times_count_from_the_start_of_the_process() -> None:
    code = "from app.bridge.self_test import seconds_since_start as age; input(); print(age())"
    before = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        started = time.monotonic()
        time.sleep(0.1)
        least = time.monotonic() - started
        told, _ = child.communicate(b"\n")
    tick = 0.02
    assert least - tick <= float(told) <= time.monotonic() - before + tick
