from __future__ import annotations

from dataclasses import replace

import pytest

from app.chat.conversation import Message, MessageState, ReplyStatistics
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.kept_json import from_json, to_json
from app.chat.reply import reply_after
from app.ui import figures
from app.ui.transcript.status_strip import reply_status, speed_figures
from engine.messages import Memory, StatisticsUpdated, Timings
from tests.support.scripted_workspace import statistics

ENGINE = EngineState(EnginePhase.READY, "smollm2", "Guide")


@pytest.mark.parametrize(
    ("tokens_per_second", "words"),
    [
        (14.23, "14.2 tok/s"),
        (1.0, "1.0 tok/s"),
        (0.4, "2.5 s/token"),
        (0.002, "500 s/token"),
        (0.0, "0.0 tok/s"),
    ],
)
def test_slow_replies_say_how_long_a_token_takes(tokens_per_second: float, words: str) -> None:
    assert figures.speed(tokens_per_second) == words


def test_rates() -> None:
    assert figures.rate(412_300_000.0) == "412 MB/s"
    assert figures.rate(1.24e9) == "1.2 GB/s"


def _reply(figures: ReplyStatistics) -> Message:
    return Message(1, 1, "assistant", "x", 0.0, MessageState.STREAMING, statistics=figures)


def test_what_is_read_from_the_disk_is_shown_and_explained() -> None:
    resident = reply_status(_reply(statistics()), ENGINE, None)
    assert "disk" not in resident.text
    assert resident.explanation == resident.text
    streamed = reply_status(_reply(statistics(disk_bytes_per_second=4.1e8)), ENGINE, None)
    assert "14.2 tok/s, disk 410 MB/s, first token" in streamed.text
    assert "not in memory are read from the disk" in streamed.explanation
    finished = reply_status(
        replace(_reply(statistics(disk_bytes_per_second=4.1e8)), state=MessageState.COMPLETE), ENGINE, None
    )
    assert finished.text == "14.2 tok/s, first token 940 ms, Lookup"
    assert "not in memory are read from the disk" in finished.explanation


def test_no_digit_before_the_point_is_lost() -> None:
    assert [figures.digits(value, 2) for value in (100.0, 99.6, 99.4, 14.2, 0.053)] == [
        *("100", "100", "99", "14", "0.053"),
    ]


@pytest.mark.parametrize(
    ("mode", "tokens", "plain", "said"),
    [
        ("lookup", 120, 10.0, "Lookup 1.4 times the usual speed"),
        ("lookup", 120, 14.0, "Lookup at the usual speed"),
        ("lookup", 120, 20.0, "Lookup 0.7 times the usual speed"),
        ("lookup", 120, None, "Lookup"),
        ("lookup", 8, 10.0, "Lookup"),  # too short to say anything
        ("plain", 120, 10.0, "Plain"),
    ],
)
def test_three_figures_tell_of_a_reply_and_the_mode_has_its_gain(
    mode: str, tokens: int, plain: float | None, said: str
) -> None:
    figures = statistics(tokens, mode=mode, plain_per_second=plain)
    shown = reply_status(replace(_reply(figures), state=MessageState.COMPLETE), ENGINE, None).figures
    assert [figure.text for figure in shown] == ["14.2 tok/s", "first token 940 ms", said]


def test_the_disks_speed_is_counted_over_the_time_that_the_model_worked() -> None:
    timings = Timings(prompt_ms=500.0, predicted_ms=1500.0, predicted_n=3)
    event = StatisticsUpdated("r", "llmcad", timings, Memory(disk_read_bytes=800_000_000), 3, 10)
    shown = reply_after(_reply(statistics()), event).statistics
    assert shown.disk_bytes_per_second == 400_000_000.0
    nothing = replace(event, timings=Timings())
    shown = reply_after(_reply(statistics()), nothing).statistics
    assert shown.disk_bytes_per_second == 0.0


def test_figures_of_older_replies_are_read() -> None:
    now = statistics(disk_bytes_per_second=5.0)
    assert from_json(ReplyStatistics, to_json(now)) == now
    older = to_json(now).replace(', "disk_bytes_per_second": 5.0', "")
    assert "disk" not in older
    assert from_json(ReplyStatistics, older) == replace(now, disk_bytes_per_second=0.0)
    assert from_json(ReplyStatistics, '{"mode": "plain"}') is None


def test_tokens_of_thoughts_are_a_figure_of_their_own() -> None:
    shown = speed_figures(statistics(300, thought_tokens=120), live=False)
    assert "thought 120 tokens" in [figure.text for figure in shown]
    assert not any("thought" in figure.text for figure in speed_figures(statistics(300), live=False))
