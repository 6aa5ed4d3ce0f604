"""Tool calls in published chat templates: what a template writes of an earlier turn is read back as the same calls."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from engine.errors import UnsupportedModel
from engine.messages import ChatMessage, Tool, ToolCall, ToolUse
from engine.text.chat_template import ChatTemplate
from engine.text.output_form import TokenMask, form_grammar
from engine.text.reply_parts import ReplyParts
from engine.text.tokenizer import Tokenizer
from engine.text.tool_calls import FORMATS
from engine.text.tool_calls.unmarked_calls import holds
from tests.support.checkpoints import START, train_tokenizer
from tests.support.llama_cpp_archive import ABSENT, llama_cpp

_FOUND = llama_cpp()
_TEMPLATES = [] if _FOUND is None else sorted((_FOUND / "models/templates").glob("*.jinja"))
_VOCABULARIES = [] if _FOUND is None else sorted((_FOUND / "models").glob("ggml-vocab-*.gguf"))
#: Templates of families that Tenon runs, whose model was taught to call tools.
FORMS = {
    "Apriel-1.6-15b-Thinker-fixed": "list-in-marks",
    "Bielik-11B-v3.0-Instruct": "hermes",
    "GLM-4.6": "glm-lines",
    "GLM-4.7-Flash": "glm",
    "LFM2-8B-A1B": "lfm2",
    "LFM2.5-8B-A1B": "lfm2",
    "LFM2.5-Instruct": "lfm2",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": "hermes",
    "Qwen-QwQ-32B": "hermes",
    "Qwen-Qwen2.5-7B-Instruct": "hermes",
    "Qwen-Qwen3-0.6B": "hermes",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "coder",
    "Qwen3-Coder": "coder",
    "Qwen3.5-4B": "coder",
    "google-gemma-4-31B-it": "gemma4",
    "google-gemma-4-31B-it-interleaved": "gemma4",
    "ibm-granite-granite-3.3-2B-Instruct": "list-behind-mark",
    "ibm-granite-granite-4.0": "hermes",
    "ibm-granite-granite-4.1": "hermes",
    "meta-llama-Llama-3.1-8B-Instruct": "llama3",
    "meta-llama-Llama-3.2-3B-Instruct": "llama3",
    "meta-llama-Llama-3.3-70B-Instruct": "llama3",
    "mistralai-Ministral-3-14B-Reasoning-2512": "mistral",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral-list",
    "muse-glimmer": "atem",
    "openai-gpt-oss-120b": "harmony",
    "unsloth-Apriel-1.5": "list-in-marks",
    "unsloth-mistral-Devstral-Small-2507": "mistral",
}
#: Templates of other families, which Tenon does not run.
REFUSING = {
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "fireworks-ai-llama-3-firefunction-v2",
}
_FIELDS = {
    "city": {"type": "string", "description": "The city."},
    "days": {"type": "integer", "description": "How many."},
    "exact": {"type": "boolean", "description": "To the minute."},
    "hours": {"type": "array", "items": {"type": "integer"}, "description": "Which."},
    "place": {"type": "object", "properties": {"street": {"type": "string"}}, "description": "Where."},
}
TOOLS = (
    Tool("get_weather", "The weather.", json.dumps({"type": "object", "properties": _FIELDS, "required": ["city"]})),
    Tool("now", "The time.", '{"type": "object", "properties": {"zone": {"type": "string", "description": "Its."}}}'),
)  # fmt: skip
CALLS = (
    ToolCall("get_weather", '{"city": "Rome: {a} [b]", "days": 3, "hours": [1, 2], "place": {"street": "Via"}}', "x"),
    ToolCall("now", '{"zone": "UTC"}', "y"),
    ToolCall("get_weather", '{"city": "Oslo", "days": 12}', "z"),
)  # fmt: skip

pytestmark = pytest.mark.skipif(_FOUND is None, reason=ABSENT)


@pytest.fixture(scope="module")
def bare_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small tokenizer without a chat template."""
    folder = tmp_path_factory.mktemp("tokenizer")
    tokenizer = train_tokenizer(chat_template=False)
    tokenizer.bos_token = START
    tokenizer.save_pretrained(folder)
    return folder


def with_template(bare: Path, folder: Path, path: Path) -> Tokenizer:
    shutil.copytree(bare, folder, dirs_exist_ok=True)
    shutil.copyfile(path, folder / "chat_template.jinja")
    return Tokenizer(folder)


def turns(calls: tuple[ToolCall, ...]) -> list[ChatMessage]:
    """A conversation whose results come in another order than the calls."""
    results = [ChatMessage("tool", f"It is {call.id}-ish.", answers=call.id) for call in calls]
    return [
        ChatMessage("user", "Weather, please?"),
        ChatMessage("assistant", "", calls=calls),
        *reversed(results),
        ChatMessage("assistant", "It is fine."),
        ChatMessage("user", "And later?"),
    ]


def read(template: ChatTemplate, text: str) -> list[tuple[str, object]]:
    """The calls in a text that a template wrote."""
    reader = template.reasoning.reader("")
    parts = ReplyParts("", template.calls, TOOLS)
    said = [parts.add(text if reader is None else reader.add(text) + reader.end()), parts.end()]
    found: list[list[str]] = []
    for piece in (piece for one in said for piece in one.calls):
        if piece.index == len(found):
            found.append([piece.name, ""])
        found[piece.index][1] += piece.arguments
    return [(name, json.loads(arguments)) for name, arguments in found]


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: path.stem)
def test_calls_of_an_earlier_turn_are_read_back(bare_folder: Path, tmp_path: Path, path: Path) -> None:
    tokenizer = with_template(bare_folder, tmp_path, path)
    template = tokenizer.template
    assert template.calls.name == FORMS.get(path.stem, template.calls.name)
    assert template.knows_tools or path.stem not in FORMS
    for count in (1, 2, 3):
        calls = CALLS[:count]
        try:
            whole = tokenizer.decode(tokenizer.render(turns(calls), tools=TOOLS), special=True)
        except UnsupportedModel:
            if path.stem in REFUSING:
                pytest.skip("the template cannot do without what its maker's own program gives it")
            raise
        asked, answered = whole.index("Weather, please?"), whole.index("It is fine.")
        written = whole[asked + len("Weather, please?") : answered]
        results = [written.index(f"It is {call.id}-ish.") for call in calls]
        assert results == sorted(results)
        texts = [written]
        if template.knows_tools and template.one_call:  # results stand between the calls
            texts = [written[begin:end] for begin, end in zip([0, *results], results, strict=False)]
        found = [call for text in texts for call in read(template, text)]
        assert found == [(call.name, json.loads(call.arguments)) for call in calls]


@pytest.mark.slow
@pytest.mark.parametrize("path", _VOCABULARIES, ids=lambda path: path.stem)
def test_a_required_call_can_be_written_with_every_vocabulary(path: Path, tmp_path: Path) -> None:
    places = str(path), str(tmp_path)
    try:
        tokenizer = Tokenizer(path)
        TokenMask(tokenizer, places, 'start: "a"').begin()
    except UnsupportedModel:
        pytest.skip("a tokenizer of another kind, or without an end")
    parameters = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 9},
            "mark": {"enum": ["<tool_call>", "<h1>", "\n"]},
        },
        "required": ["mark"],
    }
    tool = Tool("look", parameters=json.dumps(parameters))
    for seed in range(3):
        chance = random.Random(seed)
        mask = TokenMask(
            tokenizer, places, *form_grammar(tokenizer, None, ToolUse((tool,), required=True, parallel=False))
        )
        reply: list[int] = []
        while True:
            allowed = mask.allowed()
            assert allowed is not None
            tokens = np.nonzero(allowed)[0]
            assert len(tokens)
            if len(tokens) <= len(tokenizer.end_ids) and {*tokens.tolist()} <= tokenizer.end_ids:
                break
            reply.append(int(tokens[chance.randrange(len(tokens))]))
            mask.take(reply[-1])
        parts = ReplyParts("", FORMATS["hermes"], [tool])
        said = [parts.add(tokenizer.decode(reply, special=True)), parts.end()]
        arguments = "".join(call.arguments for one in said for call in one.calls)
        assert holds(json.loads(arguments), parameters)
