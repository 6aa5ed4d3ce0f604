"""The confidence gate: what it holds, what it lets through, what it offers instead."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine.text.gate import HOLD_CHARACTERS, Gate, Topic
from engine.training.guide import playground
from engine.training.guide.fact import read_facts
from engine.training.guide.topics import topics, write_topics

RENAME = Topic(
    "rename-chat",
    "Rename chat",
    "How do I rename a chat?",
    "Press **F2** to rename a chat.",
    {"rename": 3.0, "chat": 1.0},
)
STOP = Topic(
    "stop-reply",
    "Stop reply",
    "How do I stop a reply?",
    "Press **Escape** to stop a reply.",
    {"stop": 3.0, "reply": 1.0},
)
DELETE = Topic(
    "delete-chat",
    "Delete chat",
    "How do I delete a chat?",
    "Press **Delete** to delete a chat.",
    {"delete": 3.0, "chat": 1.0},
)
REFUSE = Topic("refuse", "Refuse", "?", "I do not know that, for I am small.", {})
GATE = Gate(0.7, (RENAME, STOP, REFUSE))


def stream(text: str, probability: float, question: str = "rename it") -> tuple[str, str, bool]:
    held = GATE.hold(question)
    shown = "".join(held.feed(text[place : place + 3], probability) for place in range(0, len(text), 3))
    verdict = held.finish()
    return shown, verdict.text, verdict.replaced


def test_a_sure_answer_is_shown_whole() -> None:
    assert stream(RENAME.answer, 0.9) == ("", RENAME.answer, False)


def test_an_unsure_answer_becomes_near_topics() -> None:
    shown, text, replaced = stream(STOP.answer, 0.4)
    assert shown == ""
    assert replaced
    assert text.endswith("Did you mean:\n\n- How do I rename a chat?")


@pytest.mark.parametrize(
    "text", ["17 + 4 is 21", "Press any key, said Ada, and wait for the rain.", "| a | b |", "Pr"]
)
def test_other_text_passes_unchanged(text: str) -> None:
    shown, rest, replaced = stream(text, 0.01, question="zzz")
    assert (shown + rest, replaced) == (text, False)


@pytest.mark.parametrize(
    ("question", "reply", "shown"),
    [
        ("what is 7 + 5", "7 + 5 = 12", "7 + 5 = 12"),
        ("what is 7 + 5", "7 + 5 = 13", REFUSE.answer),
        ("what is 8 + 5", "7 + 5 = 12", REFUSE.answer),
        ("6 over 0", "6 / 0 = 0", REFUSE.answer),
    ],
)
def test_sums_are_worked_out_again(question: str, reply: str, shown: str) -> None:
    assert stream(reply, 0.1, question) == ("", shown, shown != reply)


def test_text_that_only_starts_with_a_sum_passes() -> None:
    assert stream("7 + 5 = 12 eggs, and then some flour", 0.9)[0] == "7 + 5 = 12 eggs, and then some flour"


def test_an_unsure_refusal_stays_and_gets_topics() -> None:
    _, text, replaced = stream(REFUSE.answer, 0.4)
    assert text == REFUSE.answer + "\n\nOr did you mean:\n\n- How do I rename a chat?"
    assert not replaced


def test_other_text_is_released_as_soon_as_it_differs() -> None:
    held = GATE.hold("tell me a story")
    assert held.feed("Press", 0.2) == ""
    assert held.feed(" on, said Ada", 0.2) == "Press on, said Ada"
    assert held.feed(" again", 0.2) == " again"


def test_a_stopped_reply_keeps_what_was_written() -> None:
    held = GATE.hold("rename")
    held.feed("Press **F2", 0.1)
    assert held.finish(complete=False).text == "Press **F2"


def test_unknown_words_offer_nothing_and_change_nothing() -> None:
    assert GATE.nearest("zebra") == ()
    assert not GATE.judge("zebra", RENAME.answer, 0.1).replaced


@pytest.mark.parametrize("question", [STOP.question, " how do  I stop a reply", "- HOW DO I STOP A REPLY ?!"])
def test_a_topic_s_own_question_is_answered_however_unsure_the_answer(question: str) -> None:
    assert stream(STOP.answer, 0.1, question) == ("", STOP.answer, False)


def test_a_topic_s_own_question_is_never_offered_again() -> None:
    gate = Gate(0.7, (RENAME, DELETE, REFUSE))
    assert gate.nearest(RENAME.question) == (RENAME, DELETE)
    astray = gate.judge(RENAME.question, DELETE.answer, 0.1)
    assert (astray.replaced, astray.topics) == (True, (DELETE,))
    assert gate.judge(RENAME.question, REFUSE.answer, 0.1).topics == (DELETE,)
    # With nothing else to offer the reply stays as it is.
    assert GATE.judge(RENAME.question, REFUSE.answer, 0.1).text == REFUSE.answer


def test_an_answer_to_a_topic_s_own_question_that_was_cut_short_is_shown() -> None:
    assert GATE.judge(STOP.question, STOP.answer[:12], 0.1).text == STOP.answer[:12]


def test_endings_and_plurals_find_the_topic() -> None:
    assert GATE.nearest("renaming chats")[0] is RENAME


def test_no_file_no_gate(tmp_path: Path) -> None:
    assert Gate.read(tmp_path) is None


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "guide.json").write_text('{"topics": []}')
    with pytest.raises(ValueError, match=r"guide\.json"):
        Gate.read(tmp_path)


def test_shipped_topics_make_a_gate_that_leaves_playground_texts_alone(tmp_path: Path) -> None:
    write_topics(Gate(0.5, topics(*read_facts())), tmp_path)
    gate = Gate.read(tmp_path)
    assert gate is not None
    assert "rename-chat" in [topic.name for topic in gate.nearest("how do i rename a chat")]
    rng = random.Random(1)
    for _ in range(500):
        reply = playground.write(rng).reply
        assert not gate.is_guide_reply(reply[:HOLD_CHARACTERS]), reply


def test_the_gate_needs_no_torch() -> None:
    code = (
        "import sys, engine.text.gate; sys.exit('torch' in sys.modules or 'engine.training' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
