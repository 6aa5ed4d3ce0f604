"""The server as Anthropic's own client library sees it."""

from __future__ import annotations

import anthropic
import pytest

from tests.support.model_server import Running

ASKED = [{"role": "user", "content": [{"type": "text", "text": "The quick brown"}]}]

GREEDY = {"extra_body": {"temperature": 0, "repetition_penalty": 1}}


def test_a_message_is_answered_at_once_and_in_a_stream(server: Running) -> None:
    asked = {
        "model": server.model,
        "max_tokens": 20,
        "messages": ASKED,
        "system": "Be brief.",
        **GREEDY,
    }
    whole = server.anthropic.messages.create(**asked)
    assert [block.type for block in whole.content] == ["text"]
    assert (whole.stop_reason, whole.usage.output_tokens) == ("max_tokens", 20)
    with server.anthropic.messages.stream(**asked) as stream:
        assert "".join(stream.text_stream) == whole.content[0].text
        final = stream.get_final_message()
    assert final.content[0].text == whole.content[0].text
    assert (final.stop_reason, final.usage.output_tokens) == ("max_tokens", 20)
    read = whole.usage.input_tokens + whole.usage.cache_read_input_tokens
    assert read == final.usage.input_tokens + final.usage.cache_read_input_tokens
    assert final.usage.cache_read_input_tokens == read - 1
    counted = server.anthropic.messages.count_tokens(
        model=server.model, messages=ASKED, system=[{"type": "text", "text": "Be brief."}]
    )
    assert counted.input_tokens == read


def test_the_string_that_stopped_a_message_is_named(server: Running) -> None:
    asked = {"model": server.model, "max_tokens": 40, "messages": ASKED, **GREEDY}
    text = server.anthropic.messages.create(**asked).content[0].text
    stop = text[8:11]
    message = server.anthropic.messages.create(**asked, stop_sequences=["never said", stop])
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", stop)
    assert message.content[0].text == text[: text.index(stop)]


def test_a_thought_is_closed_before_the_text(scripted: Running) -> None:
    asked = {"model": "scripted", "max_tokens": 50, "messages": [{"role": "user", "content": "think 3"}]}
    whole = scripted.anthropic.messages.create(**asked)
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert (whole.content[0].thinking, whole.content[1].text) == ("t0 t1 t2", "an answer")
    with scripted.anthropic.messages.create(**asked, stream=True) as stream:
        events = list(stream)
    kinds = [event.type for event in events if event.type != "content_block_delta"]
    block = ["content_block_start", "content_block_stop"]
    assert kinds == ["message_start", *block, *block, "message_delta", "message_stop"]
    with scripted.anthropic.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    assert [block.type for block in final.content] == ["thinking", "text"]
    assert (final.content[0].thinking, final.content[1].text) == ("t0 t1 t2", "an answer")


def test_earlier_thoughts_are_left_out(scripted: Running) -> None:
    turns = [
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": ""},
                {"type": "text", "text": "b"},
            ],
        },
        {"role": "user", "content": "echo"},
    ]
    message = scripted.anthropic.messages.create(model="scripted", max_tokens=9, messages=turns)
    assert message.content[0].text == "user:a|assistant:b|user:echo|"


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_use", "id": "1"}]}]},
        {"messages": [{"role": "user", "content": "abc " * 600}]},
        {"extra_body": {"temperature": 1000}},
    ],
)
def test_what_is_not_served_is_refused_with_a_sentence(server: Running, more: dict[str, object]) -> None:
    with pytest.raises(anthropic.BadRequestError) as refused:
        server.anthropic.messages.create(
            **{"model": server.model, "max_tokens": 5, "messages": ASKED, **more}  # type: ignore[arg-type]
        )
    error = refused.value.body["error"]
    assert error["type"] == "invalid_request_error"
    assert error["message"].endswith(".")
