from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.errors import PromptTooLong
from engine.messages import ChatMessage, ToolCall
from engine.text.context_window import check_length, fit_conversation


def render(messages: Sequence[ChatMessage]) -> list[int]:
    return [0] * sum(len(message.content) for message in messages)


def conversation(turns: int, length: int) -> list[ChatMessage]:
    text = "x" * length
    pairs = [message for _ in range(turns) for message in (ChatMessage("user", text), ChatMessage("assistant", text))]
    return [ChatMessage("system", "s" * 5), *pairs, ChatMessage("user", "y" * length)]


def test_what_fits_is_left_alone() -> None:
    fitted = fit_conversation(conversation(2, 10), render, 100)
    assert (len(fitted.prompt), fitted.messages_left_out) == (55, 0)


def test_oldest_turns_go_in_pairs_and_the_system_prompt_stays() -> None:
    seen: list[Sequence[ChatMessage]] = []

    def watch(messages: Sequence[ChatMessage]) -> list[int]:
        seen.append(messages)
        return render(messages)

    fitted = fit_conversation(conversation(10, 10), watch, 100)
    assert fitted.messages_left_out == 14
    assert len(fitted.prompt) == 5 + 7 * 10
    kept = seen[-1]
    assert [kept[0].role, kept[1].role, kept[-1].content] == ["system", "user", "y" * 10]


@pytest.mark.parametrize("context", range(30, 160, 5))
def test_whatever_the_room_a_question_leaves_together_with_its_answer(context: int) -> None:
    seen: list[Sequence[ChatMessage]] = []
    fitted = fit_conversation(conversation(10, 10), lambda messages: seen.append(messages) or render(messages), context)
    assert [seen[-1][0].role, seen[-1][1].role] == ["system", "user"]
    assert fitted.messages_left_out % 2 == 0


def test_no_more_is_left_out_than_needed() -> None:
    for turns in range(1, 12):
        fitted = fit_conversation(conversation(turns, 10), render, 100)
        assert len(fitted.prompt) <= 75
        if fitted.messages_left_out:
            assert len(fitted.prompt) + 20 > 75


def test_a_message_that_does_not_fit_alone_is_refused_with_both_numbers() -> None:
    with pytest.raises(PromptTooLong, match=r"105 tokens.*100"):
        fit_conversation(conversation(3, 100), render, 100)
    with pytest.raises(PromptTooLong):
        check_length(10, 10)
    check_length(9, 10)


def test_results_of_tools_are_cut_where_leaving_turns_out_does_not_suffice() -> None:
    call = ToolCall("look", "{}", "1")
    asked = [ChatMessage("user", "y" * 100), ChatMessage("assistant", "", calls=(call,))]
    turns = [*conversation(3, 100), *asked, ChatMessage("tool", "z" * 5_000, answers="1")]
    fitted = fit_conversation(turns, render, 1_000)
    assert 740 <= len(fitted.prompt) <= 750  # with room for a reply
    assert fitted.messages_left_out == 7
    assert fitted.cut
    assert not fit_conversation(turns, render, 10_000).cut
    with pytest.raises(PromptTooLong):
        fit_conversation(turns, render, 300)
