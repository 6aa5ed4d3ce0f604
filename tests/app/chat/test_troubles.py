from __future__ import annotations

import inspect

import pytest

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
from engine.messages import ErrorReport

KINDS = {
    name
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.TenonError)
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
