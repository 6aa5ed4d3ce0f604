from __future__ import annotations

from dataclasses import replace

import pytest

from app.chat.conversation import Message, MessageState, ReplyStatistics, Stretches
from app.chat.kept_json import from_json, to_json
from app.chat.reply import reply_after, trimmed_sentence, trouble_of
from app.chat.troubles import title_of
from engine.messages import (
    ContextTrimmed,
    ErrorReport,
    Failed,
    Finished,
    Memory,
    Notice,
    Plan,
    Reply,
    StatisticsUpdated,
    StopReason,
    Timings,
)

REPLY = Message(2, 1, "assistant", "so f", 0.0, MessageState.STREAMING)


def _finished(reason: StopReason) -> Finished:
    timings = Timings(predicted_n=3, predicted_per_second=20.0, time_to_first_token_ms=5.0, acceptance_rate=0.25)
    return Finished(
        "r",
        Reply("so far", (1, 2), (3, 4, 5), "lookup", "smollm2", (), "fp32", {}, reason, Plan("lookup", ""), timings,
              Memory(resident_bytes=7), drafted_text=((0, 2),)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("end", MessageState.COMPLETE),
        ("length", MessageState.COMPLETE),
        ("stop", MessageState.COMPLETE),
        ("cancelled", MessageState.STOPPED),
    ],
)
def test_the_finished_text_is_the_truth(reason: StopReason, state: MessageState) -> None:
    changed = reply_after(REPLY, _finished(reason), context_limit=100)
    assert (changed.content, changed.state, list(changed.drafted)) == ("so far", state, [(0, 2)])
    assert changed.statistics == ReplyStatistics("lookup", 3, 20.0, 5.0, 0.25, None, 7, 5, 100)


def test_live_statistics() -> None:
    event = StatisticsUpdated("r", "plain", Timings(predicted_n=2), Memory(resident_bytes=9), 40, 100)
    changed = reply_after(REPLY, event)
    assert changed.statistics == ReplyStatistics("plain", 2, None, None, None, None, 9, 40, 100)
    assert replace(changed, statistics=None) == REPLY


def test_notices_come_once() -> None:
    changed = reply_after(reply_after(REPLY, Notice("r", "Slow disk.")), ContextTrimmed("r", 2))
    assert changed.notices == ("Slow disk.", trimmed_sentence(2))
    assert reply_after(changed, Notice("r", "Slow disk.")) is changed


def test_a_failure_keeps_the_text() -> None:
    changed = reply_after(REPLY, Failed("r", ErrorReport("InternalError", "A mistake.")))
    assert (changed.content, changed.state, changed.error) == ("so f", MessageState.FAILED, "A mistake.")


def test_a_failure_after_the_person_stopped_is_no_failure() -> None:
    stopped = replace(REPLY, state=MessageState.STOPPED)
    for kind in ("Cancelled", "InternalError"):
        changed = reply_after(stopped, Failed("r", ErrorReport(kind, "x")))
        assert (changed.state, changed.error) == (MessageState.STOPPED, "")


def test_statistics_survive_json() -> None:
    statistics = ReplyStatistics("auto", 1, None, 2.5, 0.5, 1.5, 10, 20, 30)
    assert from_json(ReplyStatistics, to_json(statistics)) == statistics
    for text in ("", "[]", "{}", '{"mode": 1}', "null"):
        assert from_json(ReplyStatistics, text) is None


def test_a_continued_reply_keeps_what_was_there() -> None:
    reply = replace(REPLY, content="Well, so f", kept_characters=6, drafted=Stretches.of([(0, 3), (4, 9)]))
    changed = reply_after(reply, _finished("end"))
    assert (changed.content, list(changed.drafted)) == ("Well, so far", [(0, 3), (6, 8)])
    assert (changed.details.mode, changed.details.timings.predicted_n) == ("lookup", 3)


def test_a_reply_of_which_the_sentence_is_known_was_cut_off_only_where_it_had_begun() -> None:
    failed = replace(REPLY, state=MessageState.FAILED, error="The model is not there.")
    for content, title in (("", "There is no reply"), ("Some words", "The reply was cut off")):
        trouble = trouble_of(replace(failed, content=content))
        assert trouble is not None
        assert title_of(trouble) == title
