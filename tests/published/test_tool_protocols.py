"""Required calls in every protocol, by a random model with a published template and marks that are not special."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken

from tests.support.checkpoints import train_tokenizer, write_checkpoint
from tests.support.llama_cpp_archive import ABSENT, llama_cpp
from tests.support.model_server import Running, serve_command

_FOUND = llama_cpp()
TEMPLATES = {
    "Qwen-Qwen2.5-7B-Instruct": ["<tool_call>", "</tool_call>"],
    "GLM-4.6": ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
}
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 8}, "units": {"enum": ["C", "F"]}},
    "required": ["city", "units"],
    "additionalProperties": False,
}
ASKED: list[Any] = [{"role": "user", "content": "Weather?"}]
TOOLS: list[Any] = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]
NAMED: Any = {"type": "function", "function": {"name": "get_weather"}}

pytestmark = pytest.mark.skipif(_FOUND is None, reason=ABSENT)


@pytest.fixture(scope="module", params=TEMPLATES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`tenon serve` with a random model of the template."""
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("model") / "random", "llama", max_position_embeddings=4096)
    tokenizer = train_tokenizer(chat_template=False)
    tokenizer.add_tokens([AddedToken(text, special=False) for text in TEMPLATES[request.param]])
    tokenizer.chat_template = (_FOUND / f"models/templates/{request.param}.jinja").read_text(encoding="utf-8")
    tokenizer.save_pretrained(folder)
    with serve_command(folder, tmp_path_factory.mktemp("serve")) as (running, _):
        yield running


def check(name: str, arguments: dict[str, Any]) -> None:
    assert name == "get_weather"
    assert set(arguments) == {"city", "units"}
    assert len(arguments["city"]) <= 8
    assert arguments["units"] in ("C", "F")


def test_a_call_is_required_or_named_in_every_protocol(server: Running) -> None:
    for choice in ("required", NAMED):
        answer = server.openai.chat.completions.create(
            model=server.model, messages=ASKED, tools=TOOLS, tool_choice=choice, max_tokens=80,
            parallel_tool_calls=False,
        ).choices[0]  # fmt: skip
        assert answer.finish_reason == "tool_calls"
        (call,) = answer.message.tool_calls or ()
        assert call.type == "function"
        check(call.function.name, json.loads(call.function.arguments))
    tool: Any = {"type": "function", "name": "get_weather", "parameters": PARAMETERS, "strict": True}
    (item,) = server.openai.responses.create(
        model=server.model, input="Weather?", tools=[tool], tool_choice="required", parallel_tool_calls=False
    ).output
    assert item.type == "function_call"
    check(item.name, json.loads(item.arguments))
    block = server.anthropic.messages.create(
        model=server.model, max_tokens=80, messages=ASKED,
        tools=[{"name": "get_weather", "input_schema": PARAMETERS}],
        tool_choice={"type": "any", "disable_parallel_tool_use": True},
    ).content[0]  # fmt: skip
    check(block.name, block.input)
    body = {
        "messages": ASKED,
        "tools": TOOLS,
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "stream": False,
    }
    function = server.http.post("/api/chat", json=body).json()["message"]["tool_calls"][0]["function"]
    check(function["name"], function["arguments"])


def test_a_second_call_follows_in_the_same_reply_and_in_a_later_turn(server: Running) -> None:
    counts = []
    for seed in range(8):
        answer = server.openai.chat.completions.create(
            model=server.model, messages=ASKED, tools=TOOLS, tool_choice="required", max_tokens=120, seed=seed,
            temperature=2.0, parallel_tool_calls=True,
        ).choices[0]  # fmt: skip
        calls = answer.message.tool_calls or []
        counts.append(len(calls))
        for call in calls if answer.finish_reason == "tool_calls" else calls[:-1]:
            assert call.type == "function"
            check(call.function.name, json.loads(call.function.arguments))
    assert max(counts) > 1
    calls = [
        {
            "id": str(at),
            "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
        }
        for at in range(2)
    ]
    results = [{"role": "tool", "tool_call_id": str(at), "content": "fine"} for at in range(2)]
    turns: Any = [*ASKED, {"role": "assistant", "content": None, "tool_calls": calls}, *results, *ASKED]
    later = server.openai.chat.completions.create(
        model=server.model,
        messages=turns,
        tools=TOOLS,
        tool_choice=NAMED,
        max_tokens=80,
        parallel_tool_calls=False,
    ).choices[0]
    (call,) = later.message.tool_calls or ()
    assert call.type == "function"
    check(call.function.name, json.loads(call.function.arguments))
