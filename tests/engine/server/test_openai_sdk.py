"""The server as OpenAI's own client library sees it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import openai
import pytest
from anthropic.types.message_create_params import MessageCreateParamsBase as MessageFields
from openai.types.chat.completion_create_params import CompletionCreateParamsBase as ChatFields
from openai.types.completion_create_params import CompletionCreateParamsBase as TextFields
from openai.types.responses.response_create_params import ResponseCreateParamsBase as ResponseFields

from engine.messages import ChatMessage, Penalties
from tests.support.engine_client import EngineClient, engine_client
from tests.support.model_server import Running

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "The quick brown"}]
TURNS = [ChatMessage("system", "Be brief."), ChatMessage("user", "The quick brown")]
PART = "\ufffd"  # a token of a random model may be part of a character
GREEDY = {"temperature": 0, "extra_body": {"repetition_penalty": 1}}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineClient]:
    with engine_client() as client:
        yield client


def test_the_model_is_listed(server: Running) -> None:
    (model,) = server.openai.models.list().data
    assert model.id == server.model
    assert server.openai.models.retrieve(server.model).id == server.model
    with pytest.raises(openai.NotFoundError, match="no model"):
        server.openai.models.retrieve("another")


def test_a_chat_is_answered_as_the_engine_answers_it(server: Running, engine: EngineClient, llama_folder: Path) -> None:
    expected = engine.answer(TURNS, llama_folder, weights="fp32", max_tokens=24)
    whole = server.openai.chat.completions.create(model=server.model, messages=ASKED, max_tokens=24, **GREEDY)
    assert whole.choices[0].message.content == expected.text
    assert whole.choices[0].finish_reason == "length"
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (len(expected.prompt_ids), 24)
    timings = whole.model_extra["timings"]
    assert timings["predicted_n"] == 24
    assert timings["cache_n"] + timings["prompt_n"] == len(expected.prompt_ids)
    assert {"prompt_ms", "predicted_ms", "draft_n", "draft_n_accepted"} <= set(timings)
    again = server.openai.chat.completions.create(model=server.model, messages=ASKED, max_tokens=24, **GREEDY)
    assert again.model_extra["timings"]["cache_n"] == len(expected.prompt_ids) - 1


def test_a_stream_brings_the_same_text_then_the_usage(server: Running) -> None:
    whole = server.openai.chat.completions.create(model=server.model, messages=ASKED, max_tokens=20, **GREEDY)
    chunks = list(
        server.openai.chat.completions.create(
            model=server.model,
            messages=ASKED,
            max_tokens=20,
            stream=True,
            stream_options={"include_usage": True},
            **GREEDY,
        )
    )
    assert chunks[0].choices[0].delta.role == "assistant"
    said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(said) == whole.choices[0].message.content
    assert chunks[-2].choices[0].finish_reason == "length"
    assert (chunks[-1].choices, chunks[-1].usage.completion_tokens) == ([], 20)
    assert len({chunk.id for chunk in chunks}) == 1


def test_the_library_s_own_stream_puts_a_reply_together(scripted: Running) -> None:
    asked = [{"role": "user", "content": "say 4"}]
    with scripted.openai.chat.completions.stream(model="scripted", messages=asked) as stream:
        final = stream.get_final_completion().choices[0]
    assert (final.message.content, final.finish_reason) == ("w0 w1 w2 w3 ", "stop")


def test_choices_have_seeds_of_their_own_and_a_seed_repeats_itself(server: Running) -> None:
    def ask(**more: object) -> list[str | None]:
        answer = server.openai.chat.completions.create(
            model=server.model, messages=ASKED, max_tokens=16, temperature=1.5, seed=7, **more
        )
        assert [choice.index for choice in answer.choices] == list(range(len(answer.choices)))
        return [choice.message.content for choice in answer.choices]

    three = ask(n=3)
    assert len(set(three)) == 3
    assert ask() == three[:1]
    chunks = server.openai.chat.completions.create(
        model=server.model, messages=ASKED, max_tokens=16, temperature=1.5, seed=7, n=3, stream=True
    )
    streamed = ["", "", ""]
    for chunk in chunks:
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content or ""
    assert streamed == three


def test_a_text_goes_on_and_stops_where_it_is_told_to(
    server: Running, engine: EngineClient, llama_folder: Path
) -> None:
    expected = engine.answer("The quick", llama_folder, weights="fp32", max_tokens=24).text
    create = server.openai.completions.create
    whole = create(model=server.model, prompt="The quick", max_tokens=24, **GREEDY)
    assert whole.choices[0].text == expected
    both = create(model=server.model, prompt=["The quick", "The"], max_tokens=5, **GREEDY)
    assert [choice.index for choice in both.choices] == [0, 1]
    stop = expected[10:13]
    stream = create(model=server.model, prompt="The quick", max_tokens=24, stop=[stop], stream=True, **GREEDY)
    chunks = list(stream)
    assert "".join(chunk.choices[0].text for chunk in chunks) == expected[: expected.index(stop)]
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_a_response_is_the_same_text(server: Running) -> None:
    asked = {
        "model": server.model,
        "instructions": "Be brief.",
        "input": "The quick brown",
        "max_output_tokens": 20,
    }
    whole = server.openai.chat.completions.create(model=server.model, messages=ASKED, max_tokens=20, **GREEDY)
    response = server.openai.responses.create(**asked, **GREEDY)
    assert response.output_text == whole.choices[0].message.content
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    with server.openai.responses.stream(**asked, **GREEDY) as stream:
        events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert (
        "".join(event.delta for event in events if event.type == "response.output_text.delta") == response.output_text
    )
    assert events[-1].type == "response.incomplete"
    assert events[-1].response.output_text == response.output_text


def test_a_response_repeats_what_was_asked_and_says_what_holds(server: Running) -> None:
    tool = {"type": "function", "name": "look", "parameters": {"type": "object"}}
    asked = {"model": server.model, "input": "The quick", "max_output_tokens": 3}
    answer = server.openai.responses.create(
        **asked, tools=[tool], metadata={"of": "a test"}, reasoning={"effort": "low"}, prompt_cache_key="k"
    )
    told = answer.to_dict()
    assert told["tools"] == [{**tool, "description": None, "strict": None}]
    assert (told["metadata"], told["prompt_cache_key"]) == ({"of": "a test"}, "k")
    assert told["reasoning"] == {"effort": "low", "summary": None}
    assert (told["temperature"], told["top_p"]) == (0.8, 0.95)  # as a model without advice is sampled
    told = server.openai.responses.create(**asked, temperature=0).to_dict()  # which draws no end
    assert (told["status"], told["completed_at"], told["background"]) == ("incomplete", None, False)


def test_a_number_that_json_does_not_know_is_refused_and_not_repeated(server: Running) -> None:
    body = b'{"input": "a", "max_output_tokens": 2, "metadata": {"a": NaN}}'
    answer = server.http.post("/v1/responses", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "The field metadata.a must be a finite number."


def test_a_conversation_of_items_is_answered(scripted: Running) -> None:
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes?"}]},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "Hello"}, {"type": "input_text", "text": "echo"}],
        },
    ]
    response = scripted.openai.responses.create(model="scripted", input=items)
    assert response.output_text == "system:Be brief.|assistant:Yes?|user:Hello\necho|"


def test_a_thought_comes_apart_from_the_answer(scripted: Running) -> None:
    asked = [{"role": "user", "content": "think 3"}]
    whole = scripted.openai.chat.completions.create(model="scripted", messages=asked)
    message = whole.choices[0].message
    assert (message.reasoning_content, message.content) == ("t0 t1 t2", "an answer")
    chunks = list(scripted.openai.chat.completions.create(model="scripted", messages=asked, stream=True))
    deltas = [chunk.choices[0].delta for chunk in chunks]
    thoughts = [getattr(delta, "reasoning_content", "") for delta in deltas]
    assert ("".join(thoughts), "".join(delta.content or "" for delta in deltas)) == ("t0 t1 t2", "an answer")
    with scripted.openai.responses.stream(model="scripted", input="think 3") as stream:
        response = stream.get_final_response()
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert (response.output[0].content[0].text, response.output_text) == ("t0 t1 t2", "an answer")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (
            "response_format",
            {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "colour"}}},
        ),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "a"}}),
        ("response_format", {"type": "xml"}),
        ("top_logprobs", 3),
        ("logit_bias", {"1": 101}),
        ("logit_bias", {"a": 2}),
        ("logit_bias", {"100000": 2}),
        ("logit_bias", {"1": "2"}),
        ("extra_body", {"logit_bias": [1]}),
        ("presence_penalty", 2.5),
        ("frequency_penalty", -3),
        ("extra_body", {"repeat_last_n": -2}),
        ("modalities", ["text", "audio"]),
        ("n", 100),
        ("reasoning_effort", "enormous"),
        ("extra_body", {"chat_template_kwargs": {"colour": 1}}),
        ("extra_body", {"grammar": "root := a"}),
        ("messages", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]),
        ("messages", [{"role": "function", "name": "f", "content": "x"}]),
        ("messages", []),
        ("max_tokens", 0),
        ("temperature", -1),
        ("messages", [{"role": "user", "content": "abc " * 600}]),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_is_not_served_is_refused_with_a_sentence(
    server: Running, field: str, value: object, stream: bool
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        server.openai.chat.completions.create(
            **{"model": server.model, "messages": ASKED, "stream": stream, field: value}
        )
    body = refused.value.body
    assert isinstance(body, dict)
    assert body["message"][0].isupper()
    assert body["message"].endswith(".")
    assert "\n" not in body["message"]


def test_penalties_are_taken_in_every_protocol(server: Running, engine: EngineClient, llama_folder: Path) -> None:
    own = Penalties(presence=0.9, frequency=0.6, bias=((40, 3.0), (41, -100.0)))
    asked: dict[str, Any] = {
        "weights": "fp32",
        "max_tokens": 20,
        "temperature": 0.0,
        "repetition_penalty": 1.0,
    }
    expected = engine.answer(TURNS, llama_folder, penalties=own, **asked).text
    assert expected != engine.answer(TURNS, llama_folder, **asked).text
    fields = {"presence_penalty": 0.9, "frequency_penalty": 0.6, "logit_bias": {"40": 3, "41": -100}}
    create = server.openai.chat.completions.create
    chat = create(model=server.model, messages=ASKED, max_tokens=20, **fields, **GREEDY)
    assert chat.choices[0].message.content == expected
    pairs = {**fields, "logit_bias": [[40, 3], [41, False]], "repetition_penalty": 1}
    chat = create(model=server.model, messages=ASKED, max_tokens=20, temperature=0, extra_body=pairs)
    assert chat.choices[0].message.content == expected
    body = {**fields, "repetition_penalty": 1}
    response = server.openai.responses.create(
        model=server.model, instructions="Be brief.", input="The quick brown", max_output_tokens=20,
        temperature=0, extra_body=body,
    )  # fmt: skip
    assert response.output_text == expected
    assert (response.presence_penalty, response.frequency_penalty) == (0.9, 0.6)
    options = {**fields, "temperature": 0, "num_predict": 20, "repeat_penalty": 1.5, "repeat_last_n": 0}
    told = server.http.post("/api/chat", json={"messages": ASKED, "options": options, "stream": False}).json()
    assert told["message"]["content"] == expected
    text = engine.answer("The quick", llama_folder, penalties=own, **asked).text
    going_on = server.openai.completions.create(
        model=server.model, prompt="The quick", max_tokens=20, **fields, **GREEDY
    )
    assert going_on.choices[0].text == text


def test_the_window_of_the_repetition_penalty_is_chosen(
    server: Running, engine: EngineClient, llama_folder: Path
) -> None:
    asked: dict[str, Any] = {
        "weights": "fp32",
        "max_tokens": 20,
        "temperature": 0.0,
        "repetition_penalty": 1.5,
    }
    prompt = "one two three four five six seven eight " * 4
    for window, wanted in ((4, 4), (-1, 1 << 31), (None, Penalties.window)):
        expected = engine.answer(prompt, llama_folder, penalties=Penalties(window=wanted), **asked).text
        options = {"temperature": 0, "num_predict": 20, "repeat_penalty": 1.5, "repeat_last_n": window}
        body = {"prompt": prompt, "raw": True, "stream": False, "options": options}
        assert server.http.post("/api/generate", json=body).json()["response"] == expected


def test_a_prompt_may_be_tokens(server: Running, engine: EngineClient, llama_folder: Path) -> None:
    texts = ["The quick", "Hello there"]
    ids = [list(engine.answer(text, llama_folder, weights="fp32", max_tokens=1).prompt_ids) for text in texts]
    create = server.openai.completions.create
    expected = create(model=server.model, prompt=texts, max_tokens=12, **GREEDY)
    one = create(model=server.model, prompt=ids[0], max_tokens=12, **GREEDY)
    assert one.choices[0].text == expected.choices[0].text
    assert one.usage.prompt_tokens == len(ids[0])
    both = create(model=server.model, prompt=ids, max_tokens=12, **GREEDY)
    assert [choice.text for choice in both.choices] == [choice.text for choice in expected.choices]
    assert both.usage.prompt_tokens == sum(map(len, ids))
    begun = create(model=server.model, prompt=["", " "], max_tokens=2, **GREEDY)
    assert len(begun.choices) == 2
    for wrong in ([], [[]], [1, "a"], [[1, "a"]], [True], [1.5], [-1], [100_000], 5):
        with pytest.raises(openai.BadRequestError, match=r"prompt must be|no token"):
            create(model=server.model, prompt=wrong, max_tokens=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "known", "base"),
    [
        ("/v1/chat/completions", ChatFields, {"messages": ASKED}),
        ("/v1/completions", TextFields, {"prompt": "say 2"}),
        ("/v1/responses", ResponseFields, {"input": "say 2"}),
        ("/v1/messages", MessageFields, {"messages": ASKED[1:], "max_tokens": 5}),
        ("/api/chat", Mapping, {"messages": ASKED, "stream": False}),
        ("/api/generate", Mapping, {"prompt": "say 2", "stream": False}),
    ],
)
def test_a_field_that_is_null_is_as_one_that_is_not_there(
    scripted: Running, path: str, known: type, base: dict[str, Any]
) -> None:
    more = [
        "top_k",
        "min_p",
        "repetition_penalty",
        "repeat_penalty",
        "repeat_last_n",
        "grammar",
        "json_schema",
        "chat_template_kwargs",
        "stream",
        "format",
        "options",
        "think",
        "raw",
        "system",
        "template",
        "keep_alive",
        "images",
        "suffix",
        "context",
        "tools",
    ]
    names = {*getattr(known, "__annotations__", ()), *more} - set(base)
    assert scripted.http.post(path, json={**base, **dict.fromkeys(names)}).status_code == 200
    options = dict.fromkeys(
        ["num_predict", "seed", "temperature", "top_k", "top_p", "stop", "repeat_last_n", "logit_bias"]
    )
    assert scripted.http.post(path, json={**base, "options": options}).status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("top_k", -1), ("top_k", 0), ("top_p", 0), ("seed", -1), ("max_tokens", -1), ("stop", ""), ("n", 1),
        ("response_format", {"type": "text"}), ("logit_bias", {}), ("presence_penalty", 0), ("user", "a"),
        ("store", True), ("metadata", {"a": "b"}), ("stream_options", {}), ("tools", []), ("tool_choice", "none"),
        ("modalities", ["text"]), ("service_tier", "auto"), ("repeat_last_n", 0), ("keep_alive", "5m"),
    ],
)  # fmt: skip
def test_usual_values_are_taken(server: Running, field: str, value: object) -> None:
    body = {"messages": ASKED, "max_tokens": 2, field: value, "model": server.model}
    assert server.http.post("/v1/chat/completions", json={**body, "max_completion_tokens": 2}).status_code == 200


def test_an_answer_has_the_form_that_each_protocol_asks_for(server: Running) -> None:
    properties = {
        "colour": {"enum": ["red", "green"]},
        "size": {"type": "integer", "minimum": 10, "maximum": 99},
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    named = {"type": "json_schema", "json_schema": {"name": "thing", "strict": True, "schema": schema}}
    asked = {"model": server.model, "messages": ASKED, "temperature": 1.2, "seed": 5}
    answers = [
        server.openai.chat.completions.create(**asked, response_format=named).choices[0].message.content,
        server.openai.chat.completions.create(**asked, extra_body={"json_schema": schema}).choices[0].message.content,
        server.openai.responses.create(
            model=server.model,
            input="A thing",
            text={"format": {"type": "json_schema", "name": "t", "schema": schema}},
        ).output_text,
        server.anthropic.messages.create(
            model=server.model,
            max_tokens=100,
            messages=ASKED[1:],
            output_config={"format": {"type": "json_schema", "schema": schema}},
        )
        .content[0]
        .text,
        server.http.post("/api/chat", json={"messages": ASKED, "format": schema, "stream": False}).json()["message"][
            "content"
        ],
        server.openai.completions.create(model=server.model, prompt="A", extra_body={"json_schema": schema})
        .choices[0]
        .text,
    ]
    for answer in answers:
        assert set(json.loads(answer)) == {"colour", "size"}
    assert answers[0] == answers[1]
    stream = server.openai.chat.completions.create(**asked, response_format=named, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == answers[0]
    told = server.openai.chat.completions.create(**asked, extra_body={"grammar": 'root ::= "yes" | "no"'})
    assert told.choices[0].message.content in ("yes", "no")


def test_log_probabilities_are_the_model_s_own(server: Running) -> None:
    asked = {"model": server.model, "messages": ASKED, "max_tokens": 12, "logprobs": True, **GREEDY}
    (choice,) = server.openai.chat.completions.create(**asked, top_logprobs=4).choices
    tokens = choice.logprobs.content
    said = "".join(token.token for token in tokens).replace(PART, "")
    assert said == choice.message.content.replace(PART, "")
    for token in tokens:
        values = [one.logprob for one in token.top_logprobs]
        assert (token.top_logprobs[0].token, values[0]) == (token.token, token.logprob)  # greedy
        assert values == sorted(values, reverse=True)
        assert sum(map(math.exp, values)) <= 1 + 1e-9
        assert bytes(token.bytes).decode(errors="replace") == token.token
    streamed = [
        token
        for chunk in server.openai.chat.completions.create(**asked, top_logprobs=4, stream=True)
        for token in (chunk.choices[0].logprobs.content if chunk.choices[0].logprobs else ())
    ]
    # The prompt is in the cache now, so that its last row is read alone: float32 differs in the last bits.
    assert [token.token for token in streamed] == [token.token for token in tokens]
    logprobs = [token.logprob for token in tokens]
    assert [token.logprob for token in streamed] == pytest.approx(logprobs, abs=1e-4)
    bare = server.openai.chat.completions.create(**asked).choices[0].logprobs.content
    assert [token.logprob for token in bare] == pytest.approx(logprobs, abs=1e-4)
    assert bare[0].top_logprobs == []
    text = server.openai.completions.create(
        model=server.model, prompt="The quick", max_tokens=6, logprobs=2, **GREEDY
    ).choices[0]
    assert "".join(text.logprobs.tokens).replace(PART, "") == text.text.replace(PART, "")
    assert [len(top) for top in text.logprobs.top_logprobs] == [2] * 6
    assert text.logprobs.text_offset[1] == len(text.logprobs.tokens[0])


def test_bytes_of_log_probabilities_join_to_the_text(server: Running) -> None:
    word = "𓀀🇮🇹 é"
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"const": word}}}
    (choice,) = server.openai.chat.completions.create(
        model=server.model, messages=ASKED, logprobs=True, top_logprobs=2, response_format=schema, **GREEDY
    ).choices
    tokens = choice.logprobs.content
    assert b"".join(bytes(token.bytes) for token in tokens).decode() == choice.message.content == f'"{word}"'
    assert any(token.token == PART for token in tokens)
    text = server.openai.completions.create(
        model=server.model, prompt="A", logprobs=3, temperature=0, extra_body={"json_schema": {"const": word}}
    ).choices[0]
    places = zip(text.logprobs.tokens, text.logprobs.text_offset, strict=True)
    assert all(token == PART or text.text.startswith(token, at) for token, at in places)
    assert text.logprobs.text_offset[-1] == len(text.text) - 1


def test_another_model_and_another_key_are_refused(server: Running) -> None:
    with pytest.raises(openai.NotFoundError, match="serves llama"):
        server.openai.chat.completions.create(model="gpt-9", messages=ASKED)
    with pytest.raises(openai.AuthenticationError, match="key is missing or wrong"):
        server.openai.with_options(api_key="wrong").models.list()
    with pytest.raises(openai.BadRequestError, match="embeddings"):
        server.openai.embeddings.create(model=server.model, input="a")
