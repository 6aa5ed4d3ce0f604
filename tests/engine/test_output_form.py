"""Replies that must have a form: the same text with and without drafts, and always of that form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.messages import ChatMessage, OutputForm, Tool, ToolUse
from engine.text.output_form import FormCompiler
from engine.text.reply_parts import ReplyParts
from engine.text.tokenizer import Tokenizer
from engine.text.tool_calls import FORMATS
from engine.text.tool_calls.harmony import MARKS, OPENING
from tests.support.checkpoints import train_tokenizer, write_checkpoint
from tests.support.engine_client import EngineClient, engine_client

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "colour": {"enum": ["red", "green"]},
            "sizes": {
                "type": "array",
                "items": {"type": "integer", "maximum": 999},
                "minItems": 2,
                "maxItems": 3,
            },
        },
        "required": ["colour", "sizes"],
        "additionalProperties": False,
    }
)
REGEX = OutputForm("regex", "[a-c]{5,9}[0-9]{3}")


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


@pytest.mark.parametrize("weights", ["fp32", "q8_0"])
@pytest.mark.parametrize("temperature", [0.0, 1.3])
def test_a_random_model_writes_json_of_a_schema(
    client: EngineClient, llama_folder: Path, weights: str, temperature: float
) -> None:
    form = OutputForm("schema", SCHEMA)
    asked = [ChatMessage("user", "The colours and sizes")]
    replies = [
        client.answer(
            asked,
            llama_folder,
            mode=mode,
            weights=weights,
            form=form,
            max_tokens=200,
            temperature=temperature,
            seed=3,
        )
        for mode in ("plain", "lookup")
    ]
    found = json.loads(replies[0].text)
    assert found["colour"] in ("red", "green")
    assert 2 <= len(found["sizes"]) <= 3
    assert replies[0].stop_reason == "end"
    assert replies[1].token_ids == replies[0].token_ids


def test_drafts_are_checked_by_the_same_mask(client: EngineClient, llama_folder: Path, draft: Path) -> None:
    values = {"form": REGEX, "max_tokens": 60, "temperature": 1.0, "seed": 11, "weights": "fp32"}
    plain = client.answer("abc abc", llama_folder, mode="plain", **values)
    drafted = client.answer("abc abc", llama_folder, mode="dovetail", draft=str(draft), **values)
    assert re.fullmatch(REGEX.text, plain.text)
    assert (drafted.text, drafted.token_ids) == (plain.text, plain.token_ids)


@pytest.mark.parametrize("temperature", [0.0, 1.3])
@pytest.mark.parametrize("required", [True, False])
def test_drafts_are_checked_by_the_mask_of_tools(
    client: EngineClient, tmp_path: Path, required: bool, temperature: float
) -> None:
    model = write_checkpoint(tmp_path / "model", "llama", max_position_embeddings=2048)
    draft = write_checkpoint(tmp_path / "draft", "llama", num_hidden_layers=1, max_position_embeddings=2048)
    asked = [ChatMessage("user", "Which colours and sizes are there?")]
    tools = ToolUse((Tool("paint", "Paints.", SCHEMA), Tool("stop")), required=required)
    values = {"tools": tools, "max_tokens": 120, "temperature": temperature, "seed": 5, "weights": "fp32"}
    plain = client.answer(asked, model, mode="plain", **values)
    drafted = client.answer(asked, model, mode="dovetail", draft=str(draft), length=4, **values)
    looked_up = client.answer(asked, model, mode="lookup", **values)
    assert drafted.timings.draft_n > 0
    assert drafted.token_ids == looked_up.token_ids == plain.token_ids
    if required:
        assert plain.text.startswith("<tool_call>")


@pytest.mark.parametrize("grammar", ['start: "yes" | "no"', 'root ::= "yes" | "no"'])
def test_a_grammar_of_lark_or_llama_cpp_is_kept_to(
    client: EngineClient, llama_folder: Path, grammar: str
) -> None:
    reply = client.answer("abc", llama_folder, mode="plain", form=OutputForm("grammar", grammar))
    assert reply.text in ("yes", "no")


@pytest.mark.parametrize(
    "form",
    [
        OutputForm("schema", '{"type": "colour"}'),
        OutputForm("schema", "{no json"),
        OutputForm("regex", "[a"),
        OutputForm("grammar", "start: nothing"),
    ],
)
def test_a_form_that_is_none_is_refused(client: EngineClient, llama_folder: Path, form: OutputForm) -> None:
    error = client.failure("abc", llama_folder, mode="plain", form=form).error
    assert error.kind == "InvalidOption"
    assert "form of the reply" in error.message
    assert "\n" not in error.message


def test_another_rule_of_verification_is_refused(client: EngineClient, llama_folder: Path) -> None:
    error = client.failure("abc", llama_folder, mode="plain", form=REGEX, verify="typical").error
    assert "sample-and-match" in error.message


#: With the marks and the shape of gpt-oss's.
HARMONY = """
{%- if tools %}{{- 'namespace functions ' + tools | tojson }}{%- endif %}
{%- for message in messages %}
    {{- '<|start|>' + message.role + '<|message|>' + message.content + '<|end|>' }}
    {%- if message.tool_calls %}{{- '<|call|>' }}{%- endif %}
{%- endfor %}
{{- '<|start|>assistant' }}{#- <|channel|> #}
"""


@pytest.fixture
def harmony(tmp_path: Path) -> Path:
    """A model whose replies have channels."""
    folder = write_checkpoint(tmp_path / "harmony", "llama", max_position_embeddings=2048)
    tokenizer = train_tokenizer(chat_template=False)
    tokenizer.add_special_tokens({"additional_special_tokens": list(MARKS)})
    tokenizer.chat_template = HARMONY
    tokenizer.save_pretrained(folder)
    return folder


def test_a_call_of_harmony_is_told_as_every_call_is(client: EngineClient, harmony: Path) -> None:
    tools = ToolUse((Tool("paint", "Paints.", SCHEMA),), required=True)
    asked = [ChatMessage("user", "Which colours and sizes are there?")]
    reply = client.answer(asked, harmony, tools=tools, max_tokens=200, temperature=0.0, weights="fp32")
    parts = ReplyParts("", FORMATS["harmony"], tools.offered)
    said = [parts.add(reply.text), parts.end()]
    assert "".join(one.thought + one.answer for one in said) == ""
    (name, *more) = [piece for one in said for piece in one.calls]
    assert name.name == "paint"
    assert json.loads("".join(piece.arguments for piece in more))["colour"] in ("red", "green")
    # A model that may answer is not made to call.
    free = client.answer(
        asked, harmony, tools=ToolUse(tools.offered), max_tokens=20, temperature=0.0, weights="fp32"
    )
    assert not Tokenizer(harmony).decode(free.token_ids, special=True).startswith(OPENING)


def test_a_form_waits_for_the_channel_of_the_answer(harmony: Path) -> None:
    tokenizer = Tokenizer(harmony)
    assert tokenizer.template is not None
    mask = FormCompiler(tokenizer).mask(REGEX, answer=tokenizer.template.reasoning.answer)
    assert mask is not None
    before = tokenizer.encode(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>"
    )
    for token in before:
        assert mask.allowed() is None
        mask.take(token)
    allowed = mask.allowed()
    assert allowed is not None
    assert {tokenizer.decode([int(at)])[:1] for at in np.flatnonzero(allowed)} == {"a", "b", "c"}
