"""Replies of servers, told in the engine's own events: the texts, and everything that can go wrong."""

from __future__ import annotations

import io
import json
import re
from base64 import b64decode
from collections.abc import Callable
from threading import Event as Flag
from typing import Any

import pytest
from PIL import Image

from engine.documents.pictures import read_picture
from engine.errors import Cancelled
from engine.hub.endpoints import Endpoint, forget_endpoint, keep_endpoint
from engine.messages import (
    Attachment,
    Cancel,
    ChatMessage,
    ContextTrimmed,
    CountTokens,
    Failed,
    Finished,
    Load,
    LoadOptions,
    MakePlan,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    OutputForm,
    Penalties,
    PlanChosen,
    StatisticsUpdated,
    Thinking,
    TokensAdded,
    TokensCounted,
    Tool,
    ToolCall,
    ToolUse,
)
from engine.preparer import SLOW
from engine.remote import remote_model
from engine.text.preparation import SMALL_BYTES
from tests.engine.remote.test_counts import page
from tests.support.engine_client import EngineClient
from tests.support.server_of_others import (
    Handler,
    Others,
    chunk,
    endless,
    models,
    sent,
    silent,
    streamed,
    told,
    words,
)

TALKER = "remote:desk/talker"
CHAT = "POST /v1/chat/completions"


def user(text: str) -> ChatMessage:
    return ChatMessage("user", text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage("assistant", text)


def text_of(client: EngineClient) -> str:
    return "".join(event.text for event in client.seen(TokensAdded))


def test_a_reply_comes_in_pieces_and_is_counted_by_the_server(client: EngineClient, others: Others) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42}}
    others.answers[CHAT] = streamed([*words("It is Paris, of course."), usage])
    reply = client.answer([user("What is the capital of France?")], TALKER)
    assert reply.text == text_of(client) == "It is Paris, of course."
    assert len(client.seen(TokensAdded)) == 5
    assert (reply.stop_reason, reply.mode, reply.model) == ("end", "remote", TALKER)
    assert (reply.prompt_tokens, reply.timings.predicted_n) == (30, 12)
    assert client.seen(ModelLoaded)[0].report.name == "talker"
    assert client.seen(StatisticsUpdated)[-1].context_used == 42
    assert others.address in client.seen(PlanChosen)[0].plan.reason
    body = others.asked(CHAT)[0]
    assert body["messages"] == [{"role": "user", "content": "What is the capital of France?"}]
    assert (body["stream"], body["temperature"]) == (True, 0.0)
    assert not {"top_k", "min_p", "chat_template_kwargs"} & body.keys()  # OpenAI's own server refuses them


def test_a_large_request_is_fitted_and_encoded_in_a_process(
    client: EngineClient, others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    others.answers["GET /v1/models"] = models("vllm", talker=200)
    others.answers[CHAT] = streamed(words("Yes."))
    asked, ask = [], SLOW.ask

    def watched(work: str, *rest: object) -> bytes:
        asked.append(work)
        return ask(work, *rest)

    monkeypatch.setattr(SLOW, "ask", watched)
    talk = [user("One"), assistant("Two"), user("<b>Drei</b> und „vier“")]
    tools = ToolUse((Tool("look", "Look it up", '{"type": "object", "default": "\\ud800"}'),))
    for most in (SMALL_BYTES, 1):
        monkeypatch.setattr(remote_model, "SMALL_BYTES", most)
        client.answer(talk, TALKER, tools=tools, max_tokens=50)
        client.engine.submit(CountTokens("count", client.request(talk, TALKER)))
        client.wait_for(TokensCounted)
        assert asked == ["engine.remote.asking:answer"] * (2 * (most == 1))
    here, there = others.asked(CHAT)
    assert here == there
    assert len({event.tokens for event in client.seen(TokensCounted)}) == 1
    counts = others.asked("POST /v1/messages/count_tokens")
    assert counts[0] == counts[1] == {"model": "talker", "messages": here["messages"]}
    client.answer([user("long " * 200), assistant("Two"), user("Three")], TALKER)
    assert [event.messages_left_out for event in client.seen(ContextTrimmed)] == [2]
    failed = client.failure([user("long " * 20_000)], TALKER)
    assert (failed.error.kind, "about 31," in failed.error.message) == ("PromptTooLong", True)
    assert asked == ["engine.remote.asking:answer"] * 4


def test_others_have_their_turn_while_a_large_request_is_encoded(
    client: EngineClient, others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    others.answers[CHAT] = streamed(words("Yes."))
    came, go = Flag(), Flag()

    def slow(work: str, question: bytes, cancelled: Callable[[], bool], *rest: object) -> bytes:
        came.set()
        while not go.wait(0.01):
            if cancelled():
                go.set()
                raise Cancelled("")
        raise AssertionError

    monkeypatch.setattr(SLOW, "ask", slow)
    large = client.request([user("long " * 10_000)], TALKER)
    client.engine.submit(large)
    assert came.wait(60)
    assert client.answer([user("Hi")], TALKER).text == "Yes."
    client.engine.submit(Cancel(large.request_id))
    ended = client.wait_for(Failed)
    assert isinstance(ended, Failed)
    assert (ended.request_id, ended.error.kind) == (large.request_id, "Cancelled")
    assert go.wait(60)


def test_a_second_reply_loads_nothing(client: EngineClient, others: Others) -> None:
    others.answers[CHAT] = streamed(words("Yes."))
    client.answer([user("One")], TALKER)
    client.answer([user("One"), assistant("Yes."), user("Two")], TALKER)
    assert len(client.seen(ModelLoaded)) == 1
    assert len(others.asked("GET /v1/models")) == 1


def test_a_model_of_this_computer_leaves_memory_for_it_and_comes_back(
    client: EngineClient, others: Others, llama_folder: object
) -> None:
    others.answers[CHAT] = streamed(words("Yes."))
    own = client.answer([user("Hello")], llama_folder, max_tokens=5)
    client.answer([user("Hello")], TALKER)
    assert len(client.seen(ModelUnloaded)) == 1
    assert client.answer([user("Hello")], llama_folder, max_tokens=5).text == own.text


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_come_in_marks(client: EngineClient, others: Others, field: str) -> None:
    others.answers[CHAT] = streamed(
        [
            chunk(role="assistant", content=""),
            chunk(**{field: "Let me"}),
            chunk(**{field: " think.", "content": None}),
            chunk(content="Four."),
            chunk("stop"),
        ]
    )
    reply = client.answer([user("2 + 2?")], TALKER, thinking=Thinking(on=True))
    assert reply.text == "<think>\nLet me think.\n</think>\n\nFour."
    assert reply.timings.thought_n > 0
    client.answer([user("2 + 2?"), assistant(reply.text), user("And 3?")], TALKER)
    assert others.asked(CHAT)[1]["messages"][1] == {"role": "assistant", "content": "Four."}


def test_wishes_are_told_in_the_servers_words(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", talker=4096)
    others.answers[CHAT] = streamed(words("Yes."))
    wished = Thinking(on=False, effort="low")
    client.answer(
        [user("Hi")],
        TALKER,
        thinking=wished,
        temperature=0.7,
        top_k=0,
        repetition_penalty=1.1,
        seed=5,
        stop=("X",),
        penalties=Penalties(presence=0.5, frequency=-0.5, bias=((7, -100.0),)),
    )
    body = others.asked(CHAT)[0]
    assert (body["presence_penalty"], body["frequency_penalty"]) == (0.5, -0.5)
    assert body["logit_bias"] == {"7": -100.0}
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (body["reasoning_effort"], body["top_k"], body["repetition_penalty"]) == ("low", -1, 1.1)
    assert (body["seed"], body["stop"]) == (5, ["X"])


def test_a_reply_is_continued(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", talker=4096)
    others.answers[CHAT] = streamed(words(" upon a time."))
    reply = client.answer([user("A story"), assistant("Once")], TALKER)
    body = others.asked(CHAT)[0]
    assert body["messages"][-1] == {"role": "assistant", "content": "Once"}
    assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)
    assert "upon a time." in reply.text


@pytest.mark.parametrize(
    ("pieces", "added"),
    [
        (["Once", " upon a time."], " upon a time."),
        (["On", "ce upon", " a time."], " upon a time."),
        (["On", " a dark night."], "On a dark night."),
        (["On"], "On"),
    ],
)
def test_a_beginning_that_a_server_says_again_is_left_out(
    client: EngineClient, others: Others, pieces: list[str], added: str
) -> None:
    others.answers[CHAT] = streamed([*(chunk(content=piece) for piece in pieces), chunk("stop")])
    assert client.answer([user("A story"), assistant("Once")], TALKER).text == added


def test_a_text_is_continued(client: EngineClient, others: Others) -> None:
    chunks = [{"choices": [{"index": 0, "text": text}]} for text in ("upon", " a time")]
    end = {"choices": [{"index": 0, "text": "", "finish_reason": "length"}]}
    others.answers["POST /v1/completions"] = streamed([*chunks, end])
    reply = client.answer("Once ", TALKER, max_tokens=2)
    assert (reply.text, reply.stop_reason) == ("upon a time", "length")
    assert others.asked("POST /v1/completions")[0]["prompt"] == "Once "


def test_calls_of_tools_come_in_marks(client: EngineClient, others: Others) -> None:
    def call(**function: str) -> dict[str, Any]:
        return {"index": 0, "id": "call_1", "type": "function", "function": function}

    others.answers[CHAT] = streamed(
        [
            chunk(tool_calls=[call(name="weather", arguments="")]),
            chunk(tool_calls=[call(arguments='{"city": ')]),
            chunk(tool_calls=[call(arguments='"Paris"}')]),
            chunk(tool_calls=[{**call(name="time", arguments="{}"), "index": 1}]),
            chunk("tool_calls"),
        ]
    )
    use = ToolUse((Tool("weather", "", '{"type": "object"}'), Tool("time")))
    reply = client.answer([user("Weather?")], TALKER, tools=use)
    assert reply.text.count("<tool_call>") == 2
    assert '{"name": "weather", "arguments": {"city": "Paris"}}' in reply.text
    assert others.asked(CHAT)[0]["tools"][0]["function"]["name"] == "weather"
    turns = [
        user("Weather?"),
        ChatMessage("assistant", "", calls=(ToolCall("weather", "{}", "call_1"),)),
        ChatMessage("tool", "Sun", answers="call_1"),
    ]
    others.answers[CHAT] = streamed(words("Sunny."))
    client.answer(turns, TALKER, tools=use)
    sent_turns = others.asked(CHAT)[1]["messages"]
    assert sent_turns[1]["tool_calls"][0]["id"] == sent_turns[2]["tool_call_id"] == "call_1"


def test_a_form_is_asked_for_where_servers_know_it(client: EngineClient, others: Others) -> None:
    others.answers[CHAT] = streamed(words("{}"))
    client.answer([user("JSON")], TALKER, form=OutputForm("schema", '{"type": "object"}'))
    assert others.asked(CHAT)[0]["response_format"]["json_schema"]["schema"] == {"type": "object"}
    refused = client.failure([user("JSON")], TALKER, form=OutputForm("regex", "a*"))
    assert "give a JSON schema instead" in refused.error.message
    assert "log-probabilities" in client.failure([user("Hi")], TALKER, logprobs=1).error.message


def test_a_whole_answer_is_one_piece(client: EngineClient, others: Others) -> None:
    message = {"role": "assistant", "reasoning_content": "Hm.", "content": "Yes."}
    others.answers[CHAT] = told({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert client.answer([user("Hi")], TALKER).text == "<think>\nHm.\n</think>\n\nYes."


def test_stop_strings_hold_though_the_server_ignores_them(client: EngineClient, others: Others) -> None:
    others.answers[CHAT] = streamed(words("one two three four"))
    reply = client.answer([user("Count")], TALKER, stop=("three",))
    assert (reply.text, reply.stop_reason, reply.stop_text) == ("one two ", "stop", "three")


def test_a_loop_is_ended(client: EngineClient, others: Others) -> None:
    others.answers[CHAT] = streamed(words("Round and round it goes again. " * 200))
    reply = client.answer([user("Sing")], TALKER, stop_loops=True)
    assert reply.stop_reason == "loop"
    assert reply.new_characters is not None
    assert len(reply.text) < 2_000


def test_a_cancel_hangs_up_and_keeps_the_text(client: EngineClient, others: Others) -> None:
    others.answers[CHAT] = endless(others)
    request = client.request([user("Go")], TALKER)
    client.engine.submit(request)
    client.wait_for(TokensAdded)
    client.engine.submit(Cancel(request.request_id))
    ended = client.wait_for((Finished, Failed))
    assert isinstance(ended, Finished)
    assert ended.reply.stop_reason == "cancelled"
    assert ended.reply.text.startswith("word ")
    assert others.closed.wait(10)


def test_a_server_that_says_nothing_is_waited_for_and_cancelled(client: EngineClient, others: Others) -> None:
    others.answers[CHAT] = silent(others)
    request = client.request([user("Go")], TALKER)
    client.engine.submit(request)
    for _ in range(3):  # signs of life, so that the engine is not taken for one that hangs
        client.wait_for(StatisticsUpdated)
    client.engine.submit(Cancel(request.request_id))
    assert isinstance(client.wait_for((Finished, Failed)), Finished)
    others.answers["GET /v1/models"] = silent(others)
    keep_endpoint(Endpoint("other", others.address.replace("127.0.0.1", "localhost")))
    load = Load("load", LoadOptions(model="remote:other/talker"))
    client.engine.submit(load)
    client.engine.submit(Cancel("load"))
    failed = client.wait_for(Failed)
    assert isinstance(failed, Failed)
    assert failed.error.kind == "Cancelled"


def test_replies_run_side_by_side(client: EngineClient, others: Others) -> None:
    others.answers[CHAT] = endless(others)
    first = client.request([user("Go")], TALKER)
    client.engine.submit(first)
    client.wait_for(TokensAdded)
    others.answers[CHAT] = streamed(words("Yes."))
    second = client.request([user("Hi")], TALKER)
    client.engine.submit(second)
    ended = client.wait_for(Finished)
    assert isinstance(ended, Finished)
    assert ended.request_id == second.request_id
    client.engine.submit(Cancel(first.request_id))
    ended = client.wait_for(Finished)
    assert isinstance(ended, Finished)
    assert ended.request_id == first.request_id


# --- what goes wrong ---------------------------------------------------------------------------------------

BEGUN = 'data: {"choices": [{"index": 0, "delta": {"content": "So far"}}]}\n\n'


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        ("", "RemoteBroken"),
        ('data: {"choices": [{"ind', "RemoteBroken"),
        ("data: {nonsense}\n\n", "RemoteBroken"),
        ("data: 5\n\n", "RemoteBroken"),
        ("<html>504 Gateway Time-out</html>\n\n", "RemoteBroken"),
        ("data: [DONE]\n\n", "RemoteBroken"),
        ('data: {"error": {"message": "worker died", "code": 500}}\n\n', "RemoteError"),
        ('data: {"error": "CUDA out of memory"}\n\n', "RemoteError"),
        ('data: {"error": {"message": "slow down", "code": 429}}\n\n', "RemoteBusy"),
    ],
)
def test_a_stream_that_breaks_off_keeps_its_text(client: EngineClient, others: Others, rest: str, kind: str) -> None:
    others.answers[CHAT] = sent(BEGUN + rest)
    failed = client.failure([user("Hi")], TALKER)
    assert failed.error.kind == kind
    assert "desk" in failed.error.message
    assert "\n" not in failed.error.message
    assert text_of(client) == "So far"
    others.answers[CHAT] = streamed(words("Yes."))
    assert client.answer([user("Hi")], TALKER).text == "Yes."


@pytest.mark.parametrize(
    "odd",
    [
        ": ping\n\n",
        "event: message\nid: 7\n",
        'data: {"choices": []}\n\n',
        'data: {"choices": [{"delta": null}]}\n\n',
        'data: {"choices": [{"delta": {"content": 5, "tool_calls": [7, {"function": 3}]}}]}\n\n',
        'data: {"choices": "none", "usage": 3, "timings": [], "metrics": 7}\n\n',
        "data: {\ndata: }\n\n",
    ],
)
def test_odd_events_are_passed_over(client: EngineClient, others: Others, odd: str) -> None:
    end = 'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
    others.answers[CHAT] = sent(odd + BEGUN.replace("data: ", "data:") + odd + end + "data: [DONE]\n\n")
    assert client.answer([user("Hi")], TALKER).text == "So far"


def test_lines_end_where_the_protocol_ends_them(client: EngineClient, others: Others) -> None:
    """Not where Unicode ends some."""
    said = "one\u2028two\x85three"
    body = json.dumps(chunk(content=said), ensure_ascii=False)
    others.answers[CHAT] = sent(f"data: {body}\r\n\r\ndata: {json.dumps(chunk('stop'))}\r\rdata: [DONE]\n\n")
    assert client.answer([user("Hi")], TALKER).text == said


@pytest.mark.parametrize(
    ("status", "body", "kind", "sentence"),
    [
        (
            404,
            {"error": {"message": "The model `talker` does not exist."}},
            "RemoteError",
            "no model talker any more",
        ),
        (401, {"error": {"message": "no"}}, "RemoteRefused", "wants a key"),
        (503, {"error": {"message": "Loading model", "code": 503}}, "RemoteBusy", "is starting"),
        (500, {"error": {"message": "boom"}}, "RemoteError", r"\(500\): boom"),
        (500, "no JSON", "RemoteError", "failed with the status 500"),
        (400, {"detail": "top_p must be positive"}, "RemoteError", "top_p must be positive"),
    ],
)
def test_refusals_are_sentences(
    client: EngineClient, others: Others, status: int, body: object, kind: str, sentence: str
) -> None:
    others.answers[CHAT] = told(body, status)
    failed = client.failure([user("Hi")], TALKER)
    assert failed.error.kind == kind
    assert re.search(sentence, failed.error.message), failed.error.message


def test_a_reply_without_a_word_is_one_sentence(client: EngineClient, others: Others) -> None:
    for nothing in ("", "data: [DONE]\n\n", ": ping\n\n"):
        others.answers[CHAT] = sent(nothing)
        failed = client.failure([user("Hi")], TALKER)
        assert (failed.error.kind, "first word" in failed.error.message) == ("RemoteBroken", True)


def test_a_model_or_a_server_that_vanished(client: EngineClient, others: Others) -> None:
    assert "no model gone any more" in client.failure([user("Hi")], "remote:desk/gone").error.message
    forget_endpoint("desk")
    failed = client.failure([user("Hi")], TALKER)
    assert (failed.error.kind, "no server 'desk'" in failed.error.message) == ("ModelNotFound", True)


def test_what_needs_the_files_is_refused_in_a_sentence(client: EngineClient, others: Others) -> None:
    client.engine.submit(MakePlan("plan", LoadOptions(model=TALKER)))
    failed = client.wait_for(Failed)
    assert isinstance(failed, Failed)
    assert "runs on the server desk" in failed.error.message


# --- the context -------------------------------------------------------------------------------------------


def chat(turns: int, characters: int = 200) -> list[ChatMessage]:
    found: list[ChatMessage] = [ChatMessage("system", "Be brief.")]
    for number in range(turns):
        found += [user(f"{number} " + "word " * (characters // 5)), assistant("Yes.")]
    return [*found, user("And now?")]


def test_the_oldest_turns_are_left_out_before_the_server_refuses(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", talker=500)
    others.answers[CHAT] = streamed(words("Yes."))
    client.answer(chat(20), TALKER)
    [trimmed] = client.seen(ContextTrimmed)
    messages = others.asked(CHAT)[0]["messages"]
    assert trimmed.messages_left_out == 42 - len(messages)
    assert (messages[0]["role"], messages[-1]["content"]) == ("system", "And now?")
    assert len(messages) > 4


@pytest.mark.parametrize(
    "refusal",
    [
        {
            "message": "This model's maximum context length is 500 tokens. However, your request has 1300 input "
            "tokens.",
            "type": "BadRequestError",
            "code": 400,
        },
        {
            "message": "The input (1300 tokens) is longer than the model's context length (500 tokens).",
            "code": 400,
        },
        {
            "message": "request (1300 tokens) exceeds the available context size (500 tokens), try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 1300,
            "n_ctx": 500,
            "code": 400,
        },
    ],
)
def test_a_context_that_nobody_knew_is_learned_from_the_refusal(
    client: EngineClient, others: Others, refusal: dict[str, object]
) -> None:
    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if sum(len(message["content"]) for message in body["messages"]) > 1_200:
            handler.tell({"error": refusal}, 400)
        else:
            streamed(words("Yes."))(handler, body)

    others.answers[CHAT] = answer
    reply = client.answer(chat(20), TALKER)
    assert reply.text == "Yes."
    assert 2 <= len(others.asked(CHAT)) <= 3
    assert client.seen(ContextTrimmed)
    assert client.seen(StatisticsUpdated)[-1].context_limit == 500


def test_a_message_that_does_not_fit_alone_is_one_sentence(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", talker=500)
    failed = client.failure([user("word " * 2_000)], TALKER)
    assert failed.error.kind == "PromptTooLong"
    assert others.asked(CHAT) == []
    others.answers["GET /v1/models"] = models("somebody", talker=None)
    keep_endpoint(Endpoint("again", others.address))
    message = "This model's maximum context length is 500 tokens, and more was asked."
    others.answers[CHAT] = told({"error": {"message": message}}, 400)
    failed = client.failure([user("word " * 2_000)], "remote:again/talker")
    assert (failed.error.kind, "500" in failed.error.message) == ("PromptTooLong", True)


def test_a_limit_of_tokens_that_leaves_no_room_is_lowered(client: EngineClient, others: Others) -> None:
    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if body["max_tokens"] > 400:
            message = (
                "'max_tokens' is too large: 450. This model's maximum context length is 500 tokens and your request "
                "has 100 input tokens."
            )
            handler.tell({"error": {"message": message}}, 400)
        else:
            streamed(words("Yes."))(handler, body)

    others.answers[CHAT] = answer
    assert client.answer([user("Hi")], TALKER, max_tokens=450).text == "Yes."
    assert [body["max_tokens"] for body in others.asked(CHAT)] == [450, 400]


def test_documents_go_along_whole_or_by_passages(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", talker=2_000)
    others.answers[CHAT] = streamed(words("Yes."))
    short = Attachment("note.txt", 29, "The tower is 330 metres high.")
    client.answer([ChatMessage("user", "How high?", (short,))], TALKER)
    assert short.text in others.asked(CHAT)[0]["messages"][0]["content"]
    filler = "".join(f"Paragraph {number} speaks of weather and cattle.\n\n" for number in range(2_000))
    long = Attachment("book.txt", 9, f"{filler}The tower is 330 metres high.\n\n{filler}")
    client.answer([ChatMessage("user", "How high is the tower?", (long,))], TALKER)
    content = others.asked(CHAT)[1]["messages"][0]["content"]
    assert "The tower is 330 metres high." in content
    assert len(content) < 8_000
    assert any("book.txt" in notice.text for notice in client.seen(Notice))


def test_tokens_are_counted_by_the_server_where_it_can(client: EngineClient, others: Others) -> None:
    others.answers["POST /v1/messages/count_tokens"] = told({"input_tokens": 21})
    client.engine.submit(CountTokens("count", client.request([user("Hello there")], TALKER)))
    counted = client.wait_for(TokensCounted)
    assert isinstance(counted, TokensCounted)
    assert counted.tokens == 21


# --- figures -----------------------------------------------------------------------------------------------


def test_llama_cpps_timings_are_taken(client: EngineClient, others: Others) -> None:
    timings = {"cache_n": 5, "prompt_n": 20, "prompt_ms": 50.0, "predicted_n": 30, "predicted_ms": 300.0}
    timings |= {"draft_n": 40, "draft_n_accepted": 20}
    others.answers[CHAT] = streamed([*words("Yes.")[:-1], {**chunk("stop"), "timings": timings}])
    found = client.answer([user("Hi")], TALKER).timings
    assert (found.predicted_per_second, found.mean_acceptance_length, found.shared) == (100.0, 3.0, False)


def test_vllms_counters_are_the_differences_over_the_reply(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", qwen3=4096)
    pages = iter([page(10, 30, 12, 100), page(30, 90, 42, 150)] * 2)
    others.answers["GET /metrics"] = lambda handler, body: handler.tell(next(pages))
    usage = {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 50}}
    others.answers[CHAT] = streamed([*words("Yes."), usage])
    found = client.answer([user("Hi")], "remote:desk/qwen3").timings
    assert (found.mean_acceptance_length, found.acceptance_rate, found.shared) == (2.5, 0.5, False)
    usage["usage"] = {"prompt_tokens": 30, "completion_tokens": 20}
    others.answers[CHAT] = streamed([*words("Yes."), usage])
    assert client.answer([user("Hi")], "remote:desk/qwen3").timings.shared


def test_vllms_own_count_of_a_request_goes_first(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", talker=4096)
    counts = {"num_spec_steps": 4, "num_draft_tokens": 12, "num_accepted_draft_tokens": 6}
    last = {
        "choices": [],
        "usage": {"prompt_tokens": 3, "completion_tokens": 10},
        "metrics": {"speculative_decoding": counts},
    }
    others.answers[CHAT] = streamed([*words("Yes."), last])
    found = client.answer([user("Hi")], TALKER).timings
    assert (found.mean_acceptance_length, found.draft_n, found.shared) == (2.5, 12, False)


def test_sglangs_mean_is_marked(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("sglang", talker=4096)
    others.answers["GET /server_info"] = told({"internal_states": [{"avg_spec_accept_length": 2.75}]})
    others.answers[CHAT] = streamed(words("Yes."))
    found = client.answer([user("Hi")], TALKER).timings
    assert (found.mean_acceptance_length, found.shared) == (2.75, True)


def test_ollama_loads_its_model_before_its_context_is_known(client: EngineClient, others: Others) -> None:
    others.answers["GET /v1/models"] = models("library", talker=None)
    others.answers["GET /api/version"] = told({"version": "0.20.1"})
    others.answers["POST /api/show"] = told({"parameters": "", "capabilities": ["completion"]})
    loaded: list[dict[str, object]] = []
    others.answers["GET /api/ps"] = lambda handler, body: handler.tell({"models": loaded})

    def generate(handler: Handler, body: dict[str, str]) -> None:
        loaded.append({"name": body["model"], "context_length": 4096})
        handler.tell({"done": True})

    others.answers["POST /api/generate"] = generate
    client.engine.submit(Load("load", LoadOptions(model=TALKER)))
    report = client.wait_for(ModelLoaded)
    assert isinstance(report, ModelLoaded)
    assert report.report.context == 4096


def test_pictures_go_as_files_of_pixels_alone(client: EngineClient, others: Others) -> None:
    photo = Image.new("RGB", (3000, 30), "red")
    exif = photo.getexif()
    exif[0x010F] = "the maker of the camera"
    files = {}
    for kind, more in (("JPEG", {"exif": exif}), ("WEBP", {}), ("PNG", {})):
        data = io.BytesIO()
        photo.save(data, kind, **more)
        files[kind] = read_picture(data.getvalue(), kind, at=6 if kind == "PNG" else 0)
    others.answers[CHAT] = streamed(words("Red."))
    turn = ChatMessage("user", "First second", pictures=(files["JPEG"], files["WEBP"], files["PNG"]))
    assert client.answer([turn], TALKER).text == "Red."
    parts = others.asked(CHAT)[-1]["messages"][0]["content"]
    assert [part.get("text", part["type"]) for part in parts] == [
        "image_url",
        "image_url",
        "First ",
        "image_url",
        "second",
    ]
    urls = [part["image_url"]["url"].partition(";base64,") for part in parts if "image_url" in part]
    assert [kind for kind, _, _ in urls] == ["data:image/jpeg", "data:image/jpeg", "data:image/png"]
    sent_files = [Image.open(io.BytesIO(b64decode(data))) for _, _, data in urls]
    assert [(one.size, dict(one.getexif())) for one in sent_files] == [((2048, 20), {})] * 3
