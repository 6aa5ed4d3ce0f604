from __future__ import annotations

import logging
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer, qWarning
from pytestqt.qtbot import QtBot

from app.bridge.uncaught import UncaughtErrors
from engine.messages import ErrorReport

SECRET = "my diary"


@pytest.fixture
def errors(qtbot: QtBot) -> Iterator[UncaughtErrors]:
    errors = UncaughtErrors()
    errors.install()
    yield errors
    errors.remove()


def fail() -> None:
    raise ValueError(SECRET)


def fail_elsewhere() -> None:
    raise KeyError(SECRET)


def reports_of(errors: UncaughtErrors) -> list[ErrorReport]:
    reports: list[ErrorReport] = []
    errors.happened.connect(reports.append)
    return reports


def test_a_slot_that_raises_is_told_once_and_the_loop_goes_on(
    qtbot: QtBot, errors: UncaughtErrors, caplog: pytest.LogCaptureFixture
) -> None:
    reports = reports_of(errors)
    for _ in range(20):
        QTimer.singleShot(0, fail)
    QTimer.singleShot(0, fail_elsewhere)
    qtbot.waitUntil(lambda: len(reports) == 2)
    assert [report.kind for report in reports] == ["InternalError"] * 2
    assert "in fail\n" in reports[0].details
    assert reports[0].details.endswith("ValueError")
    assert SECRET not in str(reports)
    assert SECRET not in caplog.text
    assert len(caplog.records) == 4  # three of the twenty, and the other


def test_threads_and_finalizers_are_heard(qtbot: QtBot, errors: UncaughtErrors) -> None:
    reports = reports_of(errors)
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()

    class Fragile:
        def __del__(self) -> None:
            fail_elsewhere()

    Fragile()
    qtbot.waitUntil(lambda: len(reports) == 2)
    assert reports[1].details.endswith("KeyError")


def test_qt_complains_to_the_log_without_what_it_quotes(
    errors: UncaughtErrors, caplog: pytest.LogCaptureFixture
) -> None:
    qWarning(f'QTextBrowser: No document for https://example.org/{SECRET.split()[1]} in "{SECRET}"')
    assert caplog.record_tuples == [
        ("app.qt", logging.WARNING, "default: QTextBrowser: No document for ... in ..."),
    ]


def test_everything_is_put_back(qtbot: QtBot) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    errors = UncaughtErrors()
    errors.install()
    assert sys.excepthook != before[0]
    errors.remove()
    errors.remove()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before


def test_what_an_error_s_frames_hold_is_let_go_at_once(qtbot: QtBot, errors: UncaughtErrors) -> None:
    """A painter that outlives its paint event takes the window with it."""
    held: list[weakref.ref[QTimer]] = []

    def paint() -> None:
        painter = QTimer()
        held.append(weakref.ref(painter))
        fail()

    reports = reports_of(errors)
    QTimer.singleShot(0, paint)
    qtbot.waitUntil(lambda: len(reports) == 1)
    assert held[0]() is None
