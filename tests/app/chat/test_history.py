from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation import Message, MessageState, ReplyDetails
from app.chat.reply import history_for, newest, text_for
from engine.errors import PromptTooLong
from engine.messages import MOST_PARTS, Attachment, ChatMessage, ErrorReport, Role


def _message(number: int, role: Role, content: str, state: MessageState = MessageState.COMPLETE) -> Message:
    return Message(number, 1, role, content, 0.0, state)


def test_all_that_was_said_is_sent_oldest_first() -> None:
    messages = [
        _message(1, "user", "one"),
        _message(2, "assistant", "first"),
        _message(3, "user", "two"),
        _message(4, "assistant", "cut sho", MessageState.STOPPED),
        _message(5, "user", "three"),
        _message(6, "assistant", "", MessageState.WAITING),
    ]
    assert history_for(6, messages, "Be brief.") == (
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "one"),
        ChatMessage("assistant", "first"),
        ChatMessage("user", "two"),
        ChatMessage("assistant", "cut sho"),
        ChatMessage("user", "three"),
    )


def test_a_reply_that_went_round_in_a_circle_goes_as_far_as_it_was_new() -> None:
    story = "A ship sailed out. It sailed on. It sailed on. It sailed on."
    details = ReplyDetails("plain", "", "m", None, "q4", stop_reason="loop", new_characters=33)
    looped = replace(_message(2, "assistant", story), details=details)
    turns = history_for(4, [_message(1, "user", "a story"), looped, _message(3, "user", "and then?")])
    assert turns[1].content == "A ship sailed out. It sailed on. "
    gone_on = replace(looped, kept_characters=len(story), state=MessageState.WAITING)
    assert history_for(2, [_message(1, "user", "a story"), gone_on])[1].content == story
    older = replace(looped, details=replace(details, new_characters=None))
    assert history_for(4, [older, _message(3, "user", "on")])[0].content == story


def test_prompts_around_a_failed_reply_become_one_turn() -> None:
    messages = [
        _message(1, "user", "one"),
        _message(2, "assistant", "half a", MessageState.FAILED),
        _message(3, "user", "two"),
        _message(4, "assistant", "", MessageState.QUEUED),
    ]
    assert history_for(4, messages) == (ChatMessage("user", "one\n\ntwo"),)


def test_a_prompt_that_was_too_long_is_left_out_but_for_its_own_reply() -> None:
    trouble = ErrorReport(PromptTooLong.__name__, "The message is too long.")
    refused = replace(_message(2, "assistant", "", MessageState.FAILED), parent_id=1, trouble=trouble)
    prompts = _message(1, "user", "a book"), replace(_message(3, "user", "three words"), parent_id=2)
    assert history_for(4, [prompts[0], refused, prompts[1]]) == (ChatMessage("user", "three words"),)
    assert history_for(2, [prompts[0], refused]) == (ChatMessage("user", "a book"),)


def test_what_follows_the_reply_is_not_sent() -> None:
    messages = [
        _message(1, "user", "one"),
        _message(2, "assistant", "", MessageState.WAITING),
        _message(3, "user", "later"),
        _message(4, "assistant", "", MessageState.QUEUED),
    ]
    assert history_for(2, messages) == (ChatMessage("user", "one"),)


@given(st.lists(st.tuples(st.sampled_from(list(MessageState)), st.sampled_from(["", " ", "text"]))), st.text())
def test_roles_alternate_and_end_with_the_person(replies: list[tuple[MessageState, str]], system_prompt: str) -> None:
    messages: list[Message] = []
    for state, content in replies:
        messages.append(_message(len(messages) + 1, "user", "prompt"))
        messages.append(_message(len(messages) + 1, "assistant", content, state))
    messages.append(_message(len(messages) + 1, "user", "last"))
    reply_id = len(messages) + 1
    messages.append(_message(reply_id, "assistant", "", MessageState.WAITING))
    roles = [turn.role for turn in history_for(reply_id, messages, system_prompt)]
    if system_prompt.strip():
        assert roles.pop(0) == "system"
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    prompts = sum(turn.content.count("prompt") for turn in history_for(reply_id, messages))
    assert prompts == len(replies)


def test_a_reply_that_goes_on_is_the_last_turn_and_files_go_along() -> None:
    messages = [
        replace(_message(1, "user", "one"), attachments=(Attachment("f.py", 1, "x"),)),
        replace(_message(2, "assistant", "half a reply", MessageState.WAITING), kept_characters=6),
    ]
    assert history_for(2, messages) == (
        ChatMessage("user", "one", (Attachment("f.py", 1, "x"),)),
        ChatMessage("assistant", "half a"),
    )


def test_a_text_to_continue_has_a_paragraph_for_each_part_of_the_persons() -> None:
    messages = [
        _message(1, "user", "Once"),
        _message(2, "assistant", " there was."),
        _message(3, "user", "Then"),
        replace(_message(4, "assistant", " it", MessageState.WAITING), kept_characters=3),
    ]
    assert text_for(2, messages) == "Once"
    assert text_for(4, messages) == "Once there was.\n\nThen it"
    listed = replace(messages[0], attachments=(Attachment("a.txt", 1, "one"),))
    assert text_for(2, [listed]).endswith("Once")
    assert "one" in text_for(2, [listed])


@pytest.mark.parametrize("system", [(), (ChatMessage("system", "Be brief."),)])
@pytest.mark.parametrize("more", [-1, 0, 1, 2, 301])
def test_no_more_turns_are_sent_than_a_request_may_have(system: tuple[ChatMessage, ...], more: int) -> None:
    roles: tuple[Role, ...] = ("user", "assistant")
    turns = [ChatMessage(roles[at % 2], str(at)) for at in range(MOST_PARTS - len(system) + more)]
    sent, left_out = newest((*system, *turns))
    assert sent == (*system, *turns[left_out:])
    assert sent[len(system)].role == "user"
    assert MOST_PARTS - 1 <= len(sent) <= MOST_PARTS if more >= 0 else left_out == 0
