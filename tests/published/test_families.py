"""Every family as llama.cpp's own converter writes it, with its own vocabulary and template: asked, ended, called."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.cli import main
from engine.messages import ChatMessage, Tool, ToolCall
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.weights.checkpoint import Checkpoint
from tests.published.checkpoints import Written, written
from tests.published.families import FAMILIES
from tests.published.ollama import LAYOUTS, as_ollama_writes
from tests.published.scripted import Script, server_of
from tests.support.decoders import greedy, load_decoder, load_reference
from tests.support.llama_cpp_archive import ABSENT, llama_cpp

# The first one waits until all checkpoints are written.
pytestmark = pytest.mark.timeout(1800)

TOKENS = 24
PROMPT = torch.randint(3, 8_000, (60,), generator=torch.Generator().manual_seed(3))
TEXTS = (
    "Hello, how are you?",
    "  two  blanks\n\n\tand a tab\r\n",
    "I'll don't WE'RE 1234567 3.14 x_y+=z;",
    "Ärger, œuvre, Привет, 你好世界, こんにちは, 안녕, e\u0301, 🙂👩‍👩‍👧",
    "<|im_end|><|end|></s><end_of_turn><eos>",
)
TOOL = Tool(
    "get_weather",
    "The weather of a city.",
    '{"type": "object", "properties": {"city": {"type": "string", "enum": ["Paris", "Oslo"]}}, "required": ["city"]}',
)
CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}
ASKED = [{"role": "user", "content": "What is the weather like in Paris?"}]


@pytest.fixture(scope="module")
def families(request: pytest.FixtureRequest) -> dict[str, Written]:
    """The families that the tests of this run ask for: the converter writes all of them in one process."""
    archive = llama_cpp()
    if archive is None:
        pytest.skip(ABSENT)
    calls = [getattr(test, "callspec", None) for test in request.session.items if test.path == request.path]
    return written(
        archive,
        {_LONG_THOUGHT, *(call.params["published"][0] for call in calls if call and "published" in call.params)},
    )


@pytest.fixture(scope="module")
def ollama_s(families: dict[str, Written], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes a family's file as Ollama's converter lays it out, once."""
    place = tmp_path_factory.mktemp("ollama")
    return cache(lambda name: as_ollama_writes(name, families[name].gguf, place / f"sha256-{name}"))


def _published(is_fast: Callable[[str, str], bool]) -> list[Any]:
    return [
        pytest.param((name, of), id=f"{name}, {of}", marks=() if is_fast(name, of) else pytest.mark.slow)
        for of, names in {"llama.cpp's": FAMILIES, "Ollama's": LAYOUTS}.items()
        for name in names
    ]


#: One family for each way to call a tool, and one without tools.
_CALLING = (
    *("llama-3", "mistral", "ministral-3", "qwen3", "qwen3-coder", "qwen3.5", "granite", "lfm2.5", "deepseek-v3"),
    *("glm-4.7-flash", "gpt-oss", "muse-glimmer", "gemma-2"),
)
# A family whose template begins the thought.
_LONG_THOUGHT = "glm-4.7-flash"


@pytest.fixture(params=_published(lambda name, of: name in _CALLING))
def published(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A family, and whose converter wrote its GGUF file."""
    found: tuple[str, str] = request.param
    return found


@pytest.fixture
def name(published: tuple[str, str]) -> str:
    return published[0]


@pytest.fixture
def family(published: tuple[str, str], families: dict[str, Written], ollama_s: Callable[[str], Path]) -> Written:
    name, of = published
    if name not in families:
        pytest.skip("the vocabulary of this family is not here")
    return replace(families[name], gguf=ollama_s(name)) if of == "Ollama's" else families[name]


def logits(place: Path) -> tuple[torch.Tensor, list[int]]:
    decoder = load_decoder(place)
    cache = decoder.new_cache(len(PROMPT))
    cache.begin(len(PROMPT))
    found = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
    return found, greedy(decoder, PROMPT, TOKENS)


@pytest.mark.slow
@torch.no_grad()
def test_it_computes_what_transformers_does(published: tuple[str, str], family: Written) -> None:
    model = load_reference(family.folder)
    theirs = model(PROMPT[None]).logits[0]
    generated = model.generate(
        PROMPT[None],
        attention_mask=torch.ones(1, len(PROMPT), dtype=torch.long),
        do_sample=False,
        min_new_tokens=TOKENS,
        max_new_tokens=TOKENS,
        eos_token_id=None,
        pad_token_id=0,
    )[0, len(PROMPT) :].tolist()
    del model
    for place in (family.folder, family.gguf):
        ours, said = logits(place)
        torch.testing.assert_close(ours[:, : theirs.shape[1]], theirs[:, : ours.shape[1]], atol=1e-4, rtol=1e-4)
        assert said == generated
    towers = published[1] == "Ollama's" and any("gemma" in name or "ministral" in name for name in published)
    assert Checkpoint(family.gguf).text_alone == towers


def test_its_tokens_are_those_of_its_folder(name: str, family: Written) -> None:
    folder, gguf = (Tokenizer(place, read_end_ids(place)) for place in (family.folder, family.gguf))
    for text in TEXTS:
        assert folder.encode(text) == gguf.encode(text), text
    texts = gguf.tokens()
    assert {texts[token] for token in gguf.end_ids} >= set(FAMILIES[name].ends)
    assert folder.end_ids == gguf.end_ids
    asked = [ChatMessage("system", "Be brief."), ChatMessage("user", "Hello")]
    assert folder.render(asked) == gguf.render(asked)
    if FAMILIES[name].writes_calls:
        assert folder.render(asked, tools=[TOOL]) == gguf.render(asked, tools=[TOOL])


def prompt_tokens(running: Any, messages: list[dict[str, Any]], **more: Any) -> int:
    found = running.openai.chat.completions.create(model="tiny", messages=messages, max_tokens=1, temperature=0, **more)
    return int(found.usage.prompt_tokens)


def call_ids(tokenizer: Tokenizer, name: str) -> list[int]:
    """A call as the family's template writes it into the assistant's turn, up to the token that ends the turn."""
    if FAMILIES[name].calls:
        return tokenizer._ids(FAMILIES[name].calls)
    asked = [ChatMessage("user", ASKED[0]["content"])]
    call = ToolCall(TOOL.name, json.dumps(CALL["arguments"]), "000000000")
    turns = [
        *asked,
        ChatMessage("assistant", "", calls=(call,)),
        ChatMessage("tool", "Sun", answers=call.id),
    ]
    before, whole = tokenizer.render(asked, tools=[TOOL]), tokenizer.render(turns, tools=[TOOL])
    assert whole[: len(before)] == before, (tokenizer.decode(before, True), tokenizer.decode(whole, True))
    return whole[len(before) :]


@pytest.mark.parametrize(
    "published", _published(lambda name, of: name in _CALLING and of == "llama.cpp's"), indirect=True
)
def test_a_reply_ends_and_a_tool_is_called(
    name: str, family: Written, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = Tokenizer(family.gguf)
    script = Script(monkeypatch)
    after = tokenizer.encode(" and on")[-2:]
    own = FAMILIES[name]
    with server_of(family.gguf) as running:
        count = prompt_tokens(running, ASKED)
        for end in own.ends:
            script.says(count, [*tokenizer._ids(own.says.format("Sunny.") + end), *after])
            chosen = running.openai.chat.completions.create(
                model="tiny", messages=ASKED, max_tokens=60, temperature=0
            ).choices[0]
            assert (chosen.message.content, chosen.finish_reason) == ("Sunny.", "stop"), end
        if own.writes_calls:
            parameters = json.loads(TOOL.parameters)
            function = {"name": TOOL.name, "description": TOOL.description, "parameters": parameters}
            tools: Any = [{"type": "function", "function": function}]
            count = prompt_tokens(running, ASKED, tools=tools)
            script.says(count, call_ids(tokenizer, name))
            chosen = running.openai.chat.completions.create(
                model="tiny", messages=ASKED, tools=tools, max_tokens=200, temperature=0
            ).choices[0]
            assert chosen.finish_reason == "tool_calls", chosen
            [call] = chosen.message.tool_calls
            assert (call.function.name, json.loads(call.function.arguments)) == (
                CALL["name"],
                CALL["arguments"],
            )
            answered = [
                *ASKED,
                {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]},
                {"role": "tool", "tool_call_id": call.id, "content": "Sun, 20 degrees."},
            ]
            count = prompt_tokens(running, answered, tools=tools)
            script.says(count, [*tokenizer._ids(own.says.format("Sunny.") + own.ends[0]), *after])
            chosen = running.openai.chat.completions.create(
                model="tiny", messages=answered, tools=tools, max_tokens=60, temperature=0
            ).choices[0]
            assert (chosen.message.content, chosen.finish_reason) == ("Sunny.", "stop")
            script.says(0, [])
            required = running.openai.chat.completions.create(
                model="tiny",
                messages=ASKED,
                tools=tools,
                tool_choice="required",
                parallel_tool_calls=False,
                max_tokens=300,
                temperature=0,
            ).choices[0]
            assert required.finish_reason == "tool_calls", required
            [call] = required.message.tool_calls
            assert call.function.name == TOOL.name
            assert json.loads(call.function.arguments)["city"] in ("Paris", "Oslo")
    question = [ChatMessage("user", ASKED[0]["content"])]
    script.says(len(tokenizer.render(question)), [*tokenizer._ids(own.says.format("Sunny.") + own.ends[0]), *after])
    options = ["--temperature", "0", "--weights", "fp32", "--mode", "plain", "--max-tokens", "60"]
    assert main(["ask", "--model", str(family.gguf), *options, question[0].content]) == 0
    assert capsys.readouterr().out.endswith("Sunny.\n")


@pytest.mark.parametrize("behind", ["", "\n\n", "It is sunny, I guess."])
def test_a_required_call_comes_after_a_long_thought(
    behind: str, families: dict[str, Written], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call comes, whatever the model would say after its thought."""
    gguf = families[_LONG_THOUGHT].gguf
    tokenizer, script = Tokenizer(gguf), Script(monkeypatch)
    thought = "They ask about the weather; <tool_call> is how I would look. " * 30
    function = {"name": TOOL.name, "description": TOOL.description, "parameters": json.loads(TOOL.parameters)}
    more: dict[str, Any] = {"tools": [{"type": "function", "function": function}], "reasoning_effort": "high"}
    with server_of(gguf) as running:
        count = prompt_tokens(running, ASKED, **more)
        ids = tokenizer._ids(f"{thought}</think>{behind}")
        assert len(ids) > 400
        script.says(count, ids)
        for cut, reason in ((len(ids) + 200, "tool_calls"), (300, "length")):
            chosen = running.openai.chat.completions.create(
                model="tiny",
                messages=ASKED,
                tool_choice="required",
                parallel_tool_calls=False,
                max_tokens=cut,
                temperature=0,
                **more,
            ).choices[0]
            assert chosen.finish_reason == reason, chosen
            calls = chosen.message.tool_calls or []
            assert len(calls) == (reason == "tool_calls")
            assert not (chosen.message.content or "").strip()
            for call in calls:
                assert call.function.name == TOOL.name
                assert json.loads(call.function.arguments)["city"] in ("Paris", "Oslo")
