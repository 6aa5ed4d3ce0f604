"""Out to JSON and back in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation import (
    Conversation,
    ConversationOptions,
    Message,
    MessageState,
    ReplyDetails,
    ReplyStatistics,
)
from app.chat.exchange.chat_files import ConversationRecord, to_json
from app.chat.exchange.reading import conversations_in, records_of
from engine.errors import ImportInvalid
from engine.messages import Attachment, SamplingOptions, Section, Timings

DETAILS = ReplyDetails("lookup", "Why.", "smollm2", "small", "q4_k_m", {"target": "cpu", "draft": None}, "length",
                       Timings(draft_n=3, acceptance_by_position=(0.5,)), 7)  # fmt: skip
STATISTICS = ReplyStatistics("lookup", 5, 30.5, None, 0.5, 1.8, 1 << 33, 50, 4096)
FILES = (
    Attachment("a.py", 3, "x\ny"),
    Attachment("b.epub", 9, "x", "chapter", (Section("One", 0),), "Much."),
)
OPTIONS = ConversationOptions("Be brief.", 9, SamplingOptions(seed=1))
RECORD = ConversationRecord(
    Conversation(5, "Grüße", 10.0, 20.0, 8, True, True, "Work", "smollm2", OPTIONS),
    (
        Message(6, 5, "user", "Hi \0 👋", 11.0, attachments=FILES),
        Message(7, 5, "assistant", "one", 12.0, MessageState.STOPPED, STATISTICS, ("A.", "B."), "Why.",
                parent_id=6, model="smollm2", details=DETAILS),
        Message(8, 5, "assistant", "two", 13.0, parent_id=6, model="/folder"),
        Message(9, 5, "user", "on", 14.0, parent_id=7),
    ),
)  # fmt: skip


def read_conversations(content: str) -> list[ConversationRecord]:
    return records_of(conversations_in(content))


def test_everything_comes_back() -> None:
    (back,) = read_conversations(to_json([RECORD]))
    assert back.renumbered(5) == RECORD
    assert [message.content for message in back.shown()] == ["Hi \0 👋", "two"]


def test_deleted_messages_stay_behind_and_replies_in_the_making_are_cut_off() -> None:
    first, second, *rest = RECORD.messages
    messages = (replace(first, deleted=True), replace(second, state=MessageState.STREAMING), *rest)
    (back,) = read_conversations(to_json([replace(RECORD, messages=messages)]))
    assert [message.content for message in back.messages] == ["one", "two", "on"]
    assert [message.parent_id for message in back.messages] == [None, None, 1]
    assert back.messages[0].state is MessageState.INTERRUPTED


MESSAGES = st.lists(
    st.builds(
        Message,
        id=st.just(0),
        conversation_id=st.just(1),
        role=st.sampled_from(["user", "assistant"]),
        content=st.text(),
        created_at=st.floats(0, 1e10),
        state=st.sampled_from([state for state in MessageState if not state.unfinished]),
        notices=st.lists(st.text()).map(tuple),
        error=st.text(),
        parent_id=st.none() | st.integers(1, 8),
        model=st.text(),
        attachments=st.lists(st.builds(Attachment, st.just("a.txt"), st.integers(0, 9), st.text())).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


@given(MESSAGES, st.integers(1, 8))
def test_any_tree_comes_back(messages: list[Message], leaf: int) -> None:
    numbered = tuple(
        replace(
            message,
            id=number + 1,
            parent_id=message.parent_id + 1 if message.parent_id and message.parent_id < number else None,
        )
        for number, message in enumerate(messages, 1)
    )
    leaf_id = min(leaf, len(messages)) + 1
    record = ConversationRecord(Conversation(1, "Title", 1.0, 2.0, leaf_id), numbered)
    (back,) = read_conversations(to_json([record]))
    assert back.renumbered(1) == record.settled().renumbered(1)
    assert [message.content for message in back.shown()] == [message.content for message in record.shown()]


def test_what_is_not_known_is_left_out_and_what_is_missing_has_a_default() -> None:
    values = {
        "format": "tenon-conversations",
        "version": 1,
        "later": 1,
        "conversations": [
            {"messages": [{"id": "a", "role": "user", "content": "x", "later": 2},
                          {"id": "b", "role": "assistant", "content": "y", "follows": "a", "state": "later",
                           "created_at": "noon", "statistics": {"mode": 3}, "details": [1], "notices": [4, "n"]}]},
            {"title": "empty"},
        ],
    }  # fmt: skip
    (record,) = read_conversations(json.dumps(values))
    prompt, reply = record.messages
    assert record.conversation.title == "New chat"
    assert (reply.parent_id, reply.state, reply.statistics, reply.details, reply.notices) == (
        prompt.id, MessageState.COMPLETE, None, None, ("n",)
    )  # fmt: skip


def _with(**changes: Any) -> str:
    values = json.loads(to_json([RECORD]))
    values["conversations"][0]["messages"][0].update(changes)
    return json.dumps(values)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "Only files exported"),
        ("{}", "Only files exported"),
        ('[{"title": "x"}]', "Only files exported"),
        ('{"format": "tenon-conversations", "version": 2}', "newer Tenon"),
        ('{"format": "tenon-conversations", "version": 1}', "no message"),
        ('{"format": "tenon-conversations", "version": 1, "conversations": 4}', "no list"),
        (_with(role="system"), "no author"),
        (_with(content=4), "no text"),
        (_with(id=7), "there twice"),
        (_with(id=None), "missing"),
        (_with(attachments=["x"]), "no list"),
    ],
)
def test_what_is_damaged_is_refused_in_one_sentence(content: str, sentence: str) -> None:
    with pytest.raises(ImportInvalid, match=sentence):
        read_conversations(content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_a_file_with_anything_in_it_is_read_or_refused(data: st.DataObject) -> None:
    values = json.loads(to_json([RECORD]))
    place: Any = values["conversations"][0]
    if data.draw(st.booleans()):
        place = data.draw(st.sampled_from(place["messages"]))
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(JSON)
    refused = False
    try:
        records = read_conversations(json.dumps(values))
    except ImportInvalid:
        records, refused = [], True
    again = read_conversations(to_json(records)) if records else []
    assert [record.renumbered(1) for record in again] == [record.renumbered(1) for record in records]
    assert refused == (not records)


@pytest.mark.parametrize("number", [10**400, -1, float("nan"), float("inf"), True, "3"])
def test_numbers_that_are_none_are_left_out(number: object) -> None:
    values = json.loads(to_json([RECORD]))
    values["conversations"][0]["options"]["sampling"] = {"seed": number, "temperature": number}
    values["conversations"][0]["messages"][0]["attachments"][0]["size_bytes"] = number
    (back,) = read_conversations(json.dumps(values))
    assert back.conversation.options.sampling == SamplingOptions()
    assert back.messages[0].attachments[0].size_bytes == len(FILES[0].text)
