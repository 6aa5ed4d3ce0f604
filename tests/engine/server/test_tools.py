"""Tools as each protocol's own client library has them, with the bundled model: forced calls keep to their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support.fast_cases import covering
from tests.support.model_server import Running, serve_command
from tests.support.real_models import ABSENT, real_model

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
        "units": {"enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city", "days", "units"],
    "additionalProperties": False,
}
WEATHER = {"name": "get_weather", "description": "The weather of a city."}
NOW = {"name": "now", "description": "The time."}
TOOLS: list[Any] = [
    {"type": "function", "function": {**WEATHER, "parameters": PARAMETERS}},
    {"type": "function", "function": NOW},
]
ASKED: list[Any] = [{"role": "user", "content": "What will the weather be in Rome for 3 days, in celsius?"}]
NAMED: Any = {"type": "function", "function": {"name": "get_weather"}}
SEEDED: dict[str, Any] = {"seed": 3, "max_tokens": 200}


pytestmark = pytest.mark.skipif(real_model() is None, reason=ABSENT)


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`tenon serve` with the model that ships with Tenon, whose template knows no tools."""
    model = real_model()
    assert model is not None
    with serve_command(model, tmp_path_factory.mktemp("serve")) as (running, _):
        yield running


def check(arguments: str) -> None:
    """The arguments keep to the schema."""
    found = json.loads(arguments)
    assert set(found) == {"city", "days", "units"}
    assert 1 <= found["days"] <= 9
    assert found["units"] in ("celsius", "fahrenheit")


@pytest.mark.parametrize(("choice", "temperature"), covering(["required", NAMED], [0, 1.3], together=1))
def test_a_call_that_is_forced_keeps_to_its_schema(bundled: Running, choice: Any, temperature: float) -> None:
    asked: dict[str, Any] = {
        "model": bundled.model, "messages": ASKED, "tools": TOOLS, "tool_choice": choice,
        "temperature": temperature, "parallel_tool_calls": False, **SEEDED,
    }  # fmt: skip
    (choice_,) = bundled.openai.chat.completions.create(**asked).choices
    assert (choice_.finish_reason, choice_.message.content) == ("tool_calls", None)
    (call,) = choice_.message.tool_calls or ()
    assert call.type == "function"
    assert call.id
    if call.function.name == "get_weather":
        check(call.function.arguments)
    else:
        assert (choice, json.loads(call.function.arguments)) == ("required", {})
    with bundled.openai.chat.completions.stream(**asked) as stream:
        events = [event for event in stream if event.type == "tool_calls.function.arguments.delta"]
        final = stream.get_final_completion().choices[0]
    (streamed,) = final.message.tool_calls or ()
    assert (streamed.function.name, streamed.function.arguments) == (
        call.function.name,
        call.function.arguments,
    )
    assert "".join(event.arguments_delta for event in events) == call.function.arguments
    assert len(events) > 1
    assert final.finish_reason == "tool_calls"


@pytest.mark.parametrize("choice", ["required", NAMED])
def test_a_required_call_is_one_call_unless_more_are_asked_for(bundled: Running, choice: Any) -> None:
    """A small model would repeat it up to the limit."""
    answer = bundled.openai.chat.completions.create(
        model=bundled.model, messages=ASKED, tools=TOOLS, tool_choice=choice, temperature=0, **SEEDED
    ).choices[0]
    assert answer.finish_reason == "tool_calls"
    assert len(answer.message.tool_calls or ()) == 1
    cut = bundled.openai.chat.completions.create(
        model=bundled.model, messages=ASKED, tools=TOOLS, tool_choice=choice, max_tokens=4
    ).choices[0]
    assert (cut.finish_reason, cut.message.content or "") == ("length", "")


def test_of_the_tools_some_may_be_allowed(bundled: Running) -> None:
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [NAMED]}
    for choice in (allowed, {"type": "allowed_tools", "allowed_tools": allowed}):
        asked: Any = {"model": bundled.model, "messages": ASKED, "tools": TOOLS, "tool_choice": choice}
        answer = bundled.openai.chat.completions.create(**asked, temperature=1.5, **SEEDED).choices[0]
        assert [call.function.name for call in answer.message.tool_calls or ()] == [NAMED["function"]["name"]]


def test_results_are_read_and_answered(bundled: Running) -> None:
    called = {"name": "get_weather", "arguments": '{"city": "Rome", "days": 1, "units": "celsius"}'}
    turns = [
        *ASKED,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": called}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "21 degrees and sunny"},
    ]
    answer = bundled.openai.chat.completions.create(
        model=bundled.model, messages=turns, tools=TOOLS, tool_choice="none", temperature=0, max_tokens=40
    )
    assert (answer.choices[0].message.content or "").strip()
    items: list[Any] = [
        {"role": "user", "content": ASKED[0]["content"]},
        {"type": "function_call", "call_id": "call_1", **called},
        {"type": "function_call_output", "call_id": "call_1", "output": "21 degrees and sunny"},
    ]
    response = bundled.openai.responses.create(
        model=bundled.model, input=items, tools=[], temperature=0, max_output_tokens=40
    )
    assert response.output_text == answer.choices[0].message.content
    blocks: list[Any] = [
        ASKED[0],
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "1",
                    "name": "get_weather",
                    "input": json.loads(called["arguments"]),
                }
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": "21 degrees and sunny"}],
        },
    ]
    message = bundled.anthropic.messages.create(
        model=bundled.model, max_tokens=40, messages=blocks, extra_body={"temperature": 0}
    )
    assert message.content[0].text == answer.choices[0].message.content


def test_responses_bring_calls_as_items(bundled: Running) -> None:
    tools: list[Any] = [{"type": "function", **WEATHER, "parameters": PARAMETERS, "strict": True}]
    asked: dict[str, Any] = {
        "model": bundled.model, "input": ASKED[0]["content"], "tools": tools, "temperature": 0,
        "tool_choice": {"type": "function", "name": "get_weather"}, "parallel_tool_calls": False,
    }  # fmt: skip
    (item,) = bundled.openai.responses.create(**asked).output
    assert (item.type, item.name) == ("function_call", "get_weather")
    check(item.arguments)
    with bundled.openai.responses.stream(**asked) as stream:
        events = list(stream)
    deltas = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
    assert "".join(deltas) == item.arguments
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].response.output[0].arguments == item.arguments


def test_messages_bring_calls_as_blocks(bundled: Running) -> None:
    asked: dict[str, Any] = {
        "model": bundled.model, "max_tokens": 200, "messages": ASKED,
        "tools": [{**WEATHER, "input_schema": PARAMETERS}, {**NOW, "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True},
        "extra_body": {"temperature": 0},
    }  # fmt: skip
    whole = bundled.anthropic.messages.create(**asked)
    (block,) = whole.content
    assert (whole.stop_reason, block.type, block.name) == ("tool_use", "tool_use", "get_weather")
    check(json.dumps(block.input))
    with bundled.anthropic.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    assert (final.stop_reason, final.content[0].input) == ("tool_use", block.input)
    counted = bundled.anthropic.messages.count_tokens(model=bundled.model, messages=ASKED, tools=asked["tools"])
    bare = bundled.anthropic.messages.count_tokens(model=bundled.model, messages=ASKED)
    assert counted.input_tokens == whole.usage.input_tokens + whole.usage.cache_read_input_tokens
    assert counted.input_tokens > bare.input_tokens + 50


def test_ollama_s_clients_get_arguments_as_an_object(bundled: Running) -> None:
    asked = {"messages": ASKED, "tools": TOOLS, "tool_choice": NAMED, "options": {"temperature": 0}}
    whole = bundled.http.post("/api/chat", json={**asked, "stream": False}).json()
    function = whole["message"]["tool_calls"][0]["function"]
    assert function["name"] == "get_weather"
    check(json.dumps(function["arguments"]))
    lines = [json.loads(line) for line in bundled.http.post("/api/chat", json=asked).text.splitlines()]
    called = [line["message"]["tool_calls"] for line in lines if "tool_calls" in line["message"]]
    assert called == [whole["message"]["tool_calls"]]
    turns = [
        *ASKED,
        {"role": "assistant", "content": "", "tool_calls": whole["message"]["tool_calls"]},
        {"role": "tool", "tool_name": "get_weather", "content": "sunny"},
    ]
    answer = bundled.http.post(
        "/api/chat", json={**asked, "messages": turns, "tools": [], "tool_choice": None, "stream": False}
    )
    assert answer.status_code == 200, answer.text


def test_a_call_that_begins_by_itself_keeps_to_its_schema_too(bundled: Running) -> None:
    arguments = '{"city": "Paris", "days": 2, "units": "celsius"}'
    begun = f'<tool_call>\n{{"name": "get_weather", "arguments": {arguments}}}\n</tool_call>'
    turns = [
        {"role": "user", "content": "Weather in Paris for 2 days in celsius?"},
        {"role": "assistant", "content": begun},
        {"role": "user", "content": ASKED[0]["content"] + " Answer with a tool_call again."},
    ]
    answer = bundled.openai.chat.completions.create(
        model=bundled.model, messages=turns, tools=TOOLS, temperature=0, max_tokens=200
    ).choices[0]
    assert answer.finish_reason == "tool_calls"
    for call in answer.message.tool_calls or ():
        check(call.function.arguments)


def test_an_answer_of_a_schema_or_a_call(bundled: Running) -> None:
    schema = {"type": "object", "properties": {"colour": {"enum": ["red"]}}, "required": ["colour"],
              "additionalProperties": False}  # fmt: skip
    form: Any = {"type": "json_schema", "json_schema": {"name": "thing", "schema": schema}}
    message = (
        bundled.openai.chat.completions.create(
            model=bundled.model, messages=ASKED, tools=TOOLS, response_format=form, **SEEDED
        )
        .choices[0]
        .message
    )
    if message.tool_calls:
        assert {call.function.name for call in message.tool_calls} <= {"get_weather", "now"}
    else:
        assert json.loads(message.content or "") == {"colour": "red"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tool_choice": "required"}, "the field tools is empty"),
        ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "f"}}}, "no tool 'f'"),
        ({"tools": TOOLS, "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": [{"type": "web_search"}]}, "type function alone"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "name"),
        ({"tools": TOOLS, "extra_body": {"grammar": 'root ::= "a"'}}, "no room for tools"),
        ({"functions": [NOW]}, "field tools"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}]},
         "JSON object"),
        ({"tools": [{"type": "function", "function": {**NOW, "parameters": {"type": "colour"}}}],
          "tool_choice": "required"}, "form of the reply"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_one_sentence(bundled: Running, more: dict[str, Any], words: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        bundled.openai.chat.completions.create(**{"model": bundled.model, "messages": ASKED, **more})
    body = refused.value.body
    assert isinstance(body, dict)
    assert words in body["message"]
    assert body["message"].endswith(".")
