from __future__ import annotations

from dataclasses import replace

import pytest

from app.chat import reply_trace
from app.chat.reply_trace import Origin, ReplyTrace
from engine.messages import Notice, Plan, PlanChosen
from tests.support.inspector_scene import ROUNDS, finished, record, update


def test_tokens_come_from_rounds_with_their_origins() -> None:
    trace = ReplyTrace()
    assert trace.take(update(3, 100.0, ROUNDS[:3]), 0.0)
    assert [(token.text, token.round) for token in trace.tokens[:4]] == [
        ("Yes", 0),
        (".", 1),
        (" Save", 1),
        (" the", 2),
    ]
    origins = {token.text: token.origin for token in trace.tokens}
    assert origins["Yes"] is Origin.PLAIN
    assert origins["."] is Origin.ACCEPTED
    assert origins[" Save"] is Origin.CORRECTED  # another word was guessed after the full stop
    assert origins[" then"] is Origin.PLAIN  # nothing was guessed behind the comma
    assert (trace.first_round, trace.last_round) == (1, 3)
    assert trace.round(2) is ROUNDS[1]
    assert (trace.round(0), trace.round(4)) == (None, None)


def test_a_round_without_a_draft_is_plain() -> None:
    trace = ReplyTrace()
    trace.take(update(1, 100.0, (record("a", [], " b"),)), 0.0)
    assert [token.origin for token in trace.tokens] == [Origin.PLAIN, Origin.PLAIN]


def test_mode_and_figures_follow_the_events() -> None:
    trace = ReplyTrace()
    assert trace.take(PlanChosen("reply-1", Plan("lookup", "because")), 0.0)
    assert trace.mode == "lookup"
    assert not trace.take(Notice("reply-1", "A sentence."), 0.0)
    assert trace.timings is None
    assert not trace.complete
    trace.take(finished(20, 1000.0), 0.0)
    assert (trace.mode, trace.complete) == ("dovetail", True)
    assert trace.timings.predicted_per_second == 20.0


def test_rounds_without_texts_are_left_out() -> None:
    trace = ReplyTrace()
    trace.take(update(3, 100.0, (replace(ROUNDS[0], texts=None),)), 0.0)
    assert (trace.tokens, trace.last_round) == ([], 0)
    assert trace.timings is not None


def test_of_many_rounds_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_trace, "MOST_ROUNDS", 3)
    trace = ReplyTrace()
    trace.take(update(30, 100.0, ROUNDS), 0.0)
    assert (trace.first_round, trace.last_round) == (6, 8)
    assert trace.round(5) is None
    assert trace.round(8) is ROUNDS[7]
    assert trace.tokens[-1].round == 8
    assert trace.tokens[0].text == "Yes"
