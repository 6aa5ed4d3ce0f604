"""The rounds of a reply on their way to the disk and back."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.reply_trace import ReplyTrace, from_bytes, to_bytes
from engine.messages import Plan, PlanChosen
from tests.support.inspector_scene import PLACES, ROUNDS, record, update
from tests.support.machine_scene import plan


def test_everything_that_is_shown_comes_back() -> None:
    trace = ReplyTrace()
    for number in range(1, 5):
        trace.take(update(10 * number, 1000.0 * number, ROUNDS if number == 1 else ()), 7.0 + number / 4)
    again = ReplyTrace()
    assert from_bytes(to_bytes(trace), again)
    assert again.tokens == trace.tokens
    assert again.last_round == trace.last_round == len(ROUNDS)
    for number, before in enumerate(ROUNDS, 1):
        after = again.round(number)
        assert (after.texts, after.parents, after.accepted) == (before.texts, before.parents, before.accepted)
        assert after.tested == before.tested
        assert after.scores == pytest.approx(before.scores, abs=0.01)
    begin, end = trace.gauges.samples[0].at_s, trace.gauges.samples[-1].at_s
    assert again.gauges.samples[-1].at_s - again.gauges.samples[0].at_s == pytest.approx(end - begin)
    speeds = [sample.tokens_per_second for sample in trace.gauges.samples]
    assert [sample.tokens_per_second for sample in again.gauges.samples] == pytest.approx(speeds, abs=0.01)


def test_the_plan_comes_back_with_the_places_of_layers() -> None:
    made = plan(gpu=True)
    placed = {"kind": "columns", "device_layers": 4, "buffers": 0}
    made = replace(made, modes=[replace(mode, placement=placed) for mode in made.modes])
    trace, again = ReplyTrace(), ReplyTrace()
    trace.take(PlanChosen("1", Plan("lookup", ""), made, tuple(PLACES)), 0.0)
    trace.take(update(4, 1000.0, ROUNDS), 0.5)
    assert from_bytes(to_bytes(trace), again)
    assert [mode.placement for mode in again.plan.modes] == [placed] * len(made.modes)
    assert again.places == tuple(PLACES)
    assert again.tokens == trace.tokens


def test_probes_come_back_where_nothing_was_guessed_too() -> None:
    asked = (
        replace(record("a", [], " b"), probes=(-1, -1)),
        replace(record(" b", [" c"], " d"), probes=(-1, 0)),
    )
    trace, again = ReplyTrace(), ReplyTrace()
    trace.take(update(4, 1000.0, asked), 0.0)
    assert from_bytes(to_bytes(trace), again)
    kept = [again.round(number) for number in (1, 2)]
    assert [found and found.probes for found in kept] == [(-1, -1), (-1, 0)]


def test_the_weights_that_a_reply_began_with_come_back() -> None:
    rounds = (record("a", [], " b"), record(" b", [" c"], " d"))
    for weights, go_on in (((1.0, 1.0), False), ((1.0, 0.5), True), ((), False)):
        trace, again = ReplyTrace(), ReplyTrace()
        begun = tuple(replace(one, weights=weights) for one in rounds)
        trace.take(update(4, 1000.0, begun), 0.0)
        assert from_bytes(to_bytes(trace), again)
        assert trace.weights_go_on == again.weights_go_on == go_on
        assert again.weights() == trace.weights()


def test_a_round_takes_a_few_bytes() -> None:
    words = (f" word{number * number % 997}" for number in range(2000))
    plain, last = [], " first"
    for word in words:
        plain.append(record(last, [], word))
        last = word
    trace = ReplyTrace()
    trace.take(update(2000, 1000.0, tuple(plain)), 0.0)
    assert len(to_bytes(trace)) < 6 * 2000


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(found: bytes) -> None:
    trace = ReplyTrace()
    assert not from_bytes(found, trace)
    assert (trace.last_round, len(trace.gauges.samples)) == (0, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"drafts": [[0, ["a"], [5], [], [0]]]},
        {"drafts": [[0, ["a"], [-1], [], [3]]]},
        {"drafts": [[0, ["a", "b"], [-1], [], []]]},
        {"drafts": [[0, ["a"], [-1], [], [0], [], [], [1]]]},
        {"samples": [[0.0, 1.0]]},
        {"emitted": None},
    ],
)
def test_a_tree_that_is_none_is_refused(change: dict[str, Any]) -> None:
    sound = {"root": "a", "emitted": [["b"]], "drafts": [], "samples": []}
    assert from_bytes(zlib.compress(json.dumps(sound).encode()), ReplyTrace())
    trace = ReplyTrace()
    assert not from_bytes(zlib.compress(json.dumps({**sound, **change}).encode()), trace)
    assert trace.last_round == 0


def test_half_a_character_comes_back_too() -> None:
    trace = ReplyTrace()
    odd = record("a", [], "\ud83d")
    trace.take(update(1, 1.0, (replace(odd),)), 0.0)
    again = ReplyTrace()
    assert from_bytes(to_bytes(trace), again)
    assert again.tokens == trace.tokens
