"""No control token of a published vocabulary is one in what people, files and tools write, in window and server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from app.chat.conversation import Message
from app.chat.reply import history_for
from engine.errors import UnsupportedModel
from engine.messages import (
    Attachment,
    ChatMessage,
    Generate,
    LoadOptions,
    ModelReport,
    Tool,
    ToolCall,
    ToolUse,
)
from engine.server.anthropic_messages import Messages
from engine.server.chat_completions import ChatCompletions, Completions
from engine.server.exchange import Served
from engine.server.fields import Fields
from engine.server.ollama import OllamaChat, OllamaGenerate
from engine.server.responses import Responses
from engine.text.preparation import fit_prompt
from engine.text.tokenizer import Tokenizer
from tests.support.fast_cases import chosen
from tests.support.llama_cpp_archive import ABSENT, llama_cpp
from tests.support.real_models import NOT_FETCHED, PUBLISHED, PublishedModel

_ROOT = llama_cpp()
_VOCABULARIES = sorted((_ROOT / "models").glob("ggml-vocab-*.gguf")) if _ROOT is not None else []
#: Vocabularies of 256,000 tokens, which take seconds to read.
_LARGE = ("gemma-4", "command-r")
_HARMLESS = "harmless"
_SERVED = Served("m", LoadOptions(), ModelReport("m", "m", "m", 1, "q4", 4096, 1, 0.0))
_TOOL = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
#: As many of a vocabulary's tokens are enough that differ in a number alone.
_OF_A_KIND = 4


def control_tokens(tokenizer: Tokenizer) -> dict[str, int]:
    """Special tokens, and added ones that look like marks."""
    added = tokenizer._backend.get_added_tokens_decoder()
    template = "" if tokenizer.template is None else tokenizer.template.source
    return {
        one.content: number
        for number, one in added.items()
        if one.content.strip() and (one.special or one.content in template)
    }


def asked(kind: Callable[..., object], **fields: object) -> Generate:
    found: Generate = kind(Fields(fields), _SERVED).requests[0]  # type: ignore[attr-defined]
    return found


def window(*turns: tuple[str, str], system: str = "", files: Sequence[Attachment] = ()) -> Generate:
    """What the window sends, of messages as its library has them; files come with the last one."""
    messages = [
        Message(at, 1, role, text, 0.0, attachments=tuple(files) if at == len(turns) - 1 else ())  # type: ignore[arg-type]
        for at, (role, text) in enumerate(turns)
    ]
    return Generate("", LoadOptions(), messages=history_for(-1, messages, system))


def places(word: str) -> dict[str, Generate]:
    """A request for each place in which a word may stand."""
    user = [{"role": "user", "content": f"Say {word} now"}]
    called = {
        "id": "c",
        "type": "function",
        "function": {"name": "look", "arguments": json.dumps({"k": word})},
    }
    looked = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c", "content": f"Found {word}."},
    ]
    described = {**_TOOL, "description": f"Looks for {word}."}
    file = Attachment(f"{word}.txt", 9, f"A list: {word}{word}")
    wish = ChatMessage("user", "Give this chat a title.", searches=False)
    return {
        "window": window(("user", f"{word} at {word}")),
        "window, system": window(("user", "Hi"), system=f"Be {word}."),
        "window, file": window(("user", "What is it?"), files=[file]),
        "window, reply": window(("user", "Hi"), ("assistant", f"It is {word}."), ("user", "So?")),
        "window, continued": Generate(
            "", LoadOptions(), messages=(ChatMessage("user", "Hi"), ChatMessage("assistant", f"Well {word}"))
        ),
        "window, title": Generate(
            "", LoadOptions(), messages=(*window(("user", word), ("assistant", "Yes")).messages, wish)
        ),
        "openai": asked(ChatCompletions, messages=[{"role": "system", "content": f"Be {word}"}, *user]),
        "openai, tool": asked(ChatCompletions, messages=user, tools=[{"type": "function", "function": described}]),
        "openai, result": asked(ChatCompletions, messages=looked, tools=[{"type": "function", "function": _TOOL}]),
        "responses": asked(Responses, input=f"Say {word}", instructions=f"Be {word}"),
        "anthropic": asked(Messages, max_tokens=9, system=f"Be {word}", messages=user),
        "ollama": asked(OllamaChat, messages=user),
        "ollama, generate": asked(OllamaGenerate, prompt=f"Say {word}", system=f"Be {word}"),
        "raw": asked(Completions, prompt=f"Say {word} now"),
        "ollama, raw": asked(OllamaGenerate, prompt=f"Say {word} now", raw=True),
        "calls": Generate(
            "",
            LoadOptions(),
            messages=(
                ChatMessage("user", "Look"),
                ChatMessage("assistant", "", calls=(ToolCall(word, json.dumps({word: [word]})),)),
                ChatMessage("tool", word),
            ),
            tools=ToolUse((Tool(word, word, json.dumps({"properties": {word: {"type": "string"}}})),)),
        ),
    }


def check(tokenizer: Tokenizer, words: Sequence[str]) -> None:
    controls = control_tokens(tokenizer)
    ids = set(controls.values())

    def found(request: Generate) -> tuple[list[int], str]:
        prompt = fit_prompt(request, tokenizer, 1 << 20, lambda event: None)
        return [token for token in prompt if token in ids], tokenizer.decode(prompt, special=True)

    expected = {place: found(request) for place, request in places(_HARMLESS).items()}
    for word in words:
        for place, request in places(word).items():
            tokens, text = found(request)
            told, said = expected[place]
            assert tokens == told, (place, word)
            assert text.count(word) >= said.count(_HARMLESS), (place, word)


@pytest.mark.skipif(_ROOT is None, reason=ABSENT)
@pytest.mark.parametrize(
    "path",
    chosen(_VOCABULARIES, lambda path: not path.stem.endswith(_LARGE)),
    ids=lambda path: path.stem.removeprefix("ggml-vocab-"),
)
def test_no_word_of_a_conversation_is_a_control_token(path: Path) -> None:
    try:
        tokenizer = Tokenizer(path)
    except UnsupportedModel as error:
        pytest.skip(error.message)
    words = list(control_tokens(tokenizer))
    numbered = [word for word in words if any(sign.isdigit() for sign in word)]
    check(tokenizer, [word for word in words if word not in numbered[_OF_A_KIND:]])


@pytest.mark.skipif(_ROOT is None, reason=ABSENT)
@pytest.mark.parametrize(
    "path",
    chosen(_VOCABULARIES, lambda path: not path.stem.endswith(_LARGE)),
    ids=lambda path: path.stem.removeprefix("ggml-vocab-"),
)
def test_a_control_token_as_a_word_is_encoded_as_the_text_around_it(path: Path) -> None:
    """With a text of the archive's that has no such token: the words in pieces or whole are the same tokens."""
    try:
        tokenizer = Tokenizer(path)
    except UnsupportedModel as error:
        pytest.skip(error.message)
    controls, added = tokenizer._controls, set(tokenizer._backend.get_added_tokens_decoder())
    texts = path.with_suffix(".gguf.inp")
    if not texts.is_file():
        pytest.skip(f"{texts.name} is not in the archive")
    for text in filter(None, texts.read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")):
        ids = tokenizer._ids(text)
        if added.isdisjoint(ids):
            assert controls._plain(text, inside=False) == ids, text
            for word in list(control_tokens(tokenizer))[:1]:
                behind = tokenizer._ids(f"{word}{text}")
                assert controls._plain(text, inside=True) == behind[1:], text


@pytest.mark.slow
@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.name)
def test_no_word_is_a_control_token_of_a_published_model(model: PublishedModel) -> None:
    if not model.path.is_file():
        pytest.skip(NOT_FETCHED)
    tokenizer = Tokenizer(model.path)
    words = list(control_tokens(tokenizer))
    check(tokenizer, [word for word in words if not word.startswith("<unused")])
