from __future__ import annotations

import inspect

import pytest

from app.chat.kept_json import from_json, to_json
from app.chat.troubles import (
    BAD_END,
    CUT_OFF,
    INTERNAL,
    NO_REPLY,
    TROUBLES,
    Remedy,
    remedy_of,
    report_of,
    smaller_context,
    title_of,
)
from engine import errors
from engine.errors import Allowed
from engine.messages import ErrorReport, MemoryShortage

KINDS = {
    name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, errors.TenonError)
}


def test_every_error_has_a_title_and_a_remedy() -> None:
    assert set(TROUBLES) == KINDS | {INTERNAL, CUT_OFF, NO_REPLY, BAD_END}


def test_titles_are_short_labels_of_their_own() -> None:
    titles = [trouble.title for trouble in TROUBLES.values()]
    assert len(set(titles)) == len(titles)
    assert all(len(title) <= 45 and title[0].isupper() and title[-1] != "." for title in titles)


@pytest.mark.parametrize(
    ("context", "remedy"),
    [(8192, Remedy.SMALLER_CONTEXT), (0, Remedy.OTHER_MODEL), (700, Remedy.OTHER_MODEL)],
)
def test_a_smaller_context_is_offered_where_one_is_left(context: int, remedy: Remedy) -> None:
    assert remedy_of(ErrorReport("OutOfMemory", "Too large.", context=context)) is remedy


def test_an_engine_that_was_ended_for_want_of_memory_is_given_a_smaller_context() -> None:
    assert remedy_of(ErrorReport("EngineStopped", "It stopped.")) is Remedy.TRY_AGAIN
    assert remedy_of(ErrorReport("EngineStopped", "It stopped.", context=4096)) is Remedy.SMALLER_CONTEXT


@pytest.mark.parametrize(
    ("option", "remedy"), [("ram_budget_bytes", Remedy.MEMORY_BUDGET), ("context", Remedy.CONTEXT)]
)
def test_what_would_do_comes_before_anything_else(option: str, remedy: Remedy) -> None:
    report = ErrorReport("OutOfMemory", "Too small.", context=8192, allowed=Allowed(option, 1))
    assert remedy_of(report) is remedy


def test_half_of_a_context_or_none() -> None:
    assert [smaller_context(tokens) for tokens in (8192, 1024, 1023, 0)] == [4096, 512, 0, 0]


def test_an_unknown_kind_has_a_title_too() -> None:
    report = ErrorReport("SomethingNew", "It broke.")
    assert title_of(report) == "Something went wrong"
    assert remedy_of(report) is Remedy.TRY_AGAIN


def test_errors_of_this_process_become_reports() -> None:
    report = report_of(errors.StorageError("The disk is full.", "OSError 28"))
    assert report == ErrorReport("StorageError", "The disk is full.", "OSError 28", 1)


@pytest.mark.parametrize(
    "report",
    [
        ErrorReport("OutOfMemory", "Zu groß.", "no room", 3, 4096, MemoryShortage(4, 2, 1, 1)),
        ErrorReport("OutOfMemory", "Too small.", allowed=Allowed("ram_budget_bytes", 500_000_000)),
    ],
)
def test_a_report_survives_json(report: ErrorReport) -> None:
    assert from_json(ErrorReport, to_json(report)) == report


def test_a_path_that_is_no_text_is_stored_with_a_mark() -> None:
    text = to_json(ErrorReport("ModelNotFound", "It is gone.", "/models/\udcff"))
    assert text.encode()
    assert from_json(ErrorReport, text) == ErrorReport("ModelNotFound", "It is gone.", "/models/\ufffd")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"kind": 1, "message": "x"}', '{"kind": "A", "message": "x", "memory": 1}',
             '{"kind": "A", "message": "x", "context": "many"}', "[" * 100_000,
             '{"kind": "A", "message": "x", "allowed": {"option": "context", "value": "many"}}'],
)  # fmt: skip
def test_what_is_no_report_is_none(text: str) -> None:
    assert from_json(ErrorReport, text) is None


def test_a_report_of_another_version_is_read_as_far_as_it_goes() -> None:
    report = from_json(ErrorReport, '{"kind": "Later", "message": "It broke.", "colour": "red"}')
    assert report == ErrorReport("Later", "It broke.")


def test_a_correction_that_this_version_does_not_know_is_not_offered() -> None:
    report = ErrorReport("InvalidOption", "Too large.", allowed=Allowed("colours", 3))
    assert remedy_of(report) is Remedy.SETTINGS
