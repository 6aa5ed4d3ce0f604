"""Replies that must have a form: the same text with and without drafts, and always of that form."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import psutil
import pytest
from tokenizers import AddedToken

from engine.errors import Cancelled, InvalidOption, RequestTooLarge
from engine.messages import ChatMessage, Failed, OutputForm, Tool, ToolUse
from engine.text.output_form import FORMS, TokenMask, form_grammar
from engine.text.reply_parts import ReplyParts
from engine.text.tokenizer import Tokenizer
from engine.text.tool_calls import FORMATS
from engine.text.tool_calls.harmony import MARKS, OPENING
from engine.text.tool_calls.unmarked_calls import holds
from tests.support.checkpoints import train_tokenizer, write_checkpoint
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import covering

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


@pytest.mark.parametrize(("weights", "temperature"), covering(["fp32", "q8_0"], [0.0, 1.3], together=1))
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


@pytest.mark.parametrize(("required", "temperature"), covering([True, False], [0.0, 1.3], together=1))
def test_drafts_are_checked_by_the_mask_of_tools(
    client: EngineClient, tmp_path: Path, required: bool, temperature: float
) -> None:
    model = write_checkpoint(tmp_path / "model", "llama", max_position_embeddings=2048)
    draft = write_checkpoint(tmp_path / "draft", "llama", num_hidden_layers=1, max_position_embeddings=2048)
    asked = [ChatMessage("user", "Which colours and sizes are there?")]
    tools = ToolUse((Tool("paint", "Paints.", SCHEMA), Tool("stop")), required=required)
    values = {"tools": tools, "max_tokens": 120, "temperature": temperature, "seed": 5, "weights": "fp32"}
    plain = client.answer(asked, model, mode="plain", **values)
    drafted = client.answer(asked, model, mode="dovetail", draft=str(draft), as_published=True, **values)
    looked_up = client.answer(asked, model, mode="lookup", **values)
    assert drafted.timings.draft_n > 0
    assert drafted.token_ids == looked_up.token_ids == plain.token_ids
    if required:
        assert plain.text.startswith("<tool_call>")


@pytest.mark.parametrize("grammar", ['start: "yes" | "no"', 'root ::= "yes" | "no"'])
def test_a_grammar_of_lark_or_llama_cpp_is_kept_to(client: EngineClient, llama_folder: Path, grammar: str) -> None:
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


@pytest.mark.parametrize("parts", [10, 30])
def test_an_ambiguous_grammar_is_bounded_in_each_step(parts: int, client: EngineClient, llama_folder: Path) -> None:
    """A short grammar may be read in thousands of ways, and in more of them with each token."""
    ways = " | ".join(['"x" a', '"x" a a'] * 20)
    form = OutputForm("grammar", f'root ::= {" ".join(["a"] * parts)}\na ::= {ways} | "x"')
    last = client.finish(client.request("a b", llama_folder, form=form, max_tokens=16))
    if isinstance(last, Failed):
        assert "cannot be used" in last.error.message
        assert "Too many items" in last.error.message
    assert client.answer("a b", llama_folder, max_tokens=2).token_ids  # and the next one is answered


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


@pytest.mark.parametrize("text", ["e\u0301", "\u1112\u1161\u11ab", "\u212b", "Tuye\u0302n"])
def test_a_text_that_the_tokenizer_would_compose_is_written_as_the_form_has_it(tmp_path: Path, text: str) -> None:
    folder = write_checkpoint(tmp_path / "composing", "llama")
    whole = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps(whole | {"normalizer": {"type": "NFC"}}), encoding="utf-8")
    tokenizer = Tokenizer(folder)
    form = OutputForm("schema", json.dumps({"const": text}))
    mask = TokenMask(tokenizer, (str(folder), str(tmp_path)), *form_grammar(tokenizer, form))
    reply: list[int] = []
    while len(reply) < 200:
        allowed = mask.allowed()
        assert allowed is not None
        token = int(np.flatnonzero(allowed)[0])
        if token in tokenizer.end_ids:
            break
        reply.append(token)
        mask.take(token)
    assert json.loads(tokenizer.decode(reply)) == text


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
    free = client.answer(asked, harmony, tools=ToolUse(tools.offered), max_tokens=20, temperature=0.0, weights="fp32")
    assert not Tokenizer(harmony).decode(free.token_ids, special=True).startswith(OPENING)


def test_a_form_waits_for_the_channel_of_the_answer(harmony: Path) -> None:
    tokenizer = Tokenizer(harmony)
    mask = TokenMask(
        tokenizer,
        (str(harmony), str(harmony)),
        *form_grammar(tokenizer, REGEX, answer=tokenizer.template.reasoning.answer),
    )
    before = tokenizer.encode("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>")
    for token in before:
        assert mask.allowed() is None
        mask.take(token)
    allowed = mask.allowed()
    assert allowed is not None
    assert {tokenizer.decode([int(at)])[:1] for at in np.flatnonzero(allowed)} == {"a", "b", "c"}


def test_the_token_that_ends_a_call_s_opening_begins_the_call(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "coder", "llama")
    tokenizer = train_tokenizer(chat_template=False)
    tokenizer.add_tokens([AddedToken(">\n", special=False)])
    tokenizer.chat_template = "{{ tools }}{{ messages }}{{ '<tool_call>\\n<function=' }}"
    tokenizer.save_pretrained(folder)
    reader, tool = Tokenizer(folder), Tool("look")
    mask = TokenMask(reader, (str(folder), str(tmp_path)), *form_grammar(reader, None, ToolUse((tool,))))
    for token in reader.encode("So: <tool_call>\n"):
        assert mask.allowed() is None
        mask.take(token)
    allowed = mask.allowed()
    assert allowed is not None
    assert {reader.decode([int(at)])[:1] for at in np.flatnonzero(allowed)} == {"<"}


#: Texts of marks and special tokens where a schema prescribes them, and lengths that keep a random reply short.
NASTY = Tool(
    "look",
    parameters=json.dumps(
        {
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 2, "maxLength": 9},
                "from": {"enum": ["</tool_call>", "<|im_end|>", "<h1>"]},
                "day": {"type": "string", "pattern": "^[0-9]{2}/[0-9]$"},
                "count": {"type": "integer", "minimum": 1, "maximum": 20},
                "some": {
                    "type": "array",
                    "items": {"enum": ["a", 1, None, True]},
                    "minItems": 1,
                    "maxItems": 3,
                },
                "place": {"$ref": "#/$defs/Place"},
                "note": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
            },
            "required": ["text", "from", "day", "count", "some", "place"],
            "additionalProperties": False,
            "$defs": {
                "Place": {
                    "type": "object",
                    "properties": {"inner": {"$ref": "#/$defs/Place"}, "exact": {"type": "boolean"}},
                    "additionalProperties": False,
                }
            },
        }
    ),
)


def written(tokenizer: Tokenizer, mask: TokenMask, then: Callable[[int], object] = lambda at: None) -> str:
    """Write the first text that a mask allows; call a function after each token."""
    reply: list[int] = []
    while (allowed := mask.allowed()) is not None and not {*np.flatnonzero(allowed)} <= tokenizer.end_ids:
        reply.append(int(np.flatnonzero(allowed)[0]))
        mask.take(reply[-1])
        then(len(reply))
    return tokenizer.decode(reply)


def test_a_form_goes_on_after_its_process_has_ended(llama_folder: Path, tmp_path: Path) -> None:
    tokenizer, places = Tokenizer(llama_folder), (str(llama_folder), str(tmp_path))
    grammar = form_grammar(tokenizer, OutputForm("schema", '{"const": "a longer text"}'))
    other = TokenMask(tokenizer, places, *form_grammar(tokenizer, REGEX))
    other.begin()

    def end(at: int) -> None:
        if at == 3:
            FORMS.end()

    assert written(tokenizer, TokenMask(tokenizer, places, *grammar), end) == '"a longer text"'
    assert re.fullmatch(REGEX.text, written(tokenizer, other))


def test_a_form_goes_on_after_its_process_died_while_it_was_asked(llama_folder: Path, tmp_path: Path) -> None:
    tokenizer, places = Tokenizer(llama_folder), (str(llama_folder), str(tmp_path))
    mask = TokenMask(tokenizer, places, *form_grammar(tokenizer, OutputForm("schema", '{"const": "a longer text"}')))

    def die(at: int) -> None:
        if at == 2:
            process = suspended()
            threading.Timer(0.2, process.kill).start()

    assert written(tokenizer, mask, die) == '"a longer text"'


def test_a_process_of_forms_that_stays_away_ends_the_reply(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.text.output_form._AGAIN_S", 0.3)
    tokenizer, places = Tokenizer(llama_folder), (str(llama_folder), str(tmp_path))
    mask = TokenMask(tokenizer, places, *form_grammar(tokenizer, REGEX))
    with pytest.raises(RequestTooLarge, match="holds the reply to its form ended, and was not there again"):
        written(tokenizer, mask, lambda at: suspended() if at == 2 else None)
    assert re.fullmatch(REGEX.text, written(tokenizer, TokenMask(tokenizer, places, *form_grammar(tokenizer, REGEX))))


def suspended() -> psutil.Process:
    """The process of forms, which answers no more."""
    process = psutil.Process(FORMS._running[0].pid)
    process.suspend()
    return process


def test_after_the_form_the_text_ends_however_often_it_is_asked(llama_folder: Path, tmp_path: Path) -> None:
    """A round of drafts may pick more tokens after the end."""
    tokenizer, places = Tokenizer(llama_folder), (str(llama_folder), str(tmp_path))
    mask = TokenMask(tokenizer, places, *form_grammar(tokenizer, OutputForm("schema", '{"const": "a"}')))
    assert written(tokenizer, mask) == '"a"'
    for at in range(3):
        allowed = mask.allowed()
        assert allowed is not None
        ends = np.flatnonzero(allowed).tolist()
        assert {*ends} <= tokenizer.end_ids
        mask.take(ends[0])
        if at == 1:
            FORMS.end()


def test_forms_of_replies_that_have_ended_are_forgotten(llama_folder: Path, tmp_path: Path) -> None:
    tokenizer, places = Tokenizer(llama_folder), (str(llama_folder), str(tmp_path))
    grammar = form_grammar(tokenizer, REGEX)
    mask = TokenMask(tokenizer, places, *grammar)
    mask.begin()
    names = [mask._name]
    del mask
    mask = TokenMask(tokenizer, places, *grammar)
    mask.begin()
    known = [
        FORMS.ask("engine.text.output_form:followed", json.dumps(asked).encode())[:1] != b"?"
        for asked in ({"name": name, "ended": [], "ids": []} for name in (*names, mask._name))
    ]
    assert known == [False, True]


def test_a_form_is_compiled_beside_the_masks_of_others(llama_folder: Path, tmp_path: Path) -> None:
    tokenizer, places = Tokenizer(llama_folder), (str(llama_folder), str(tmp_path))
    mask = TokenMask(tokenizer, places, *form_grammar(tokenizer, REGEX))
    mask.begin()
    words = " | ".join(f'"{at} {at * 7919}"' for at in range(20_000))
    large = {"name": -1, "ended": [], "ids": [], "places": places, "grammar": f"start: {words}"}
    assert FORMS.ask("engine.text.output_form:followed", json.dumps(large).encode()) == b"l"
    assert re.fullmatch(REGEX.text, written(tokenizer, mask))


def test_a_sender_who_leaves_while_a_form_is_compiled_is_heard(llama_folder: Path, tmp_path: Path) -> None:
    tokenizer, places = Tokenizer(llama_folder), (str(llama_folder), str(tmp_path))
    mask = TokenMask(tokenizer, places, *form_grammar(tokenizer, REGEX))
    looks = iter((False, True))
    with pytest.raises(Cancelled):
        mask.begin(lambda: next(looks))
    assert re.fullmatch(REGEX.text, written(tokenizer, mask))


def tokenizer_with(folder: Path, texts: Sequence[str], template: str, special: bool = False) -> Tokenizer:
    """A tokenizer whose vocabulary has these texts as added tokens."""
    tokenizer = train_tokenizer(chat_template=False)
    tokenizer.add_tokens([AddedToken(text, special=special, normalized=False) for text in texts])
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return Tokenizer(folder)


#: The words by which a template's format is known.
TEMPLATES = {
    "coder": "<tool_call>\n<function=",
    "gemma4": "<|tool_call>call:",
    "glm": "<tool_call></arg_key><arg_value>",
    "glm-lines": "<tool_call></arg_key>\n<arg_value>",
    "hermes": '<tool_call>\n{"name"',
    "lfm2": "List of tools: ",
    "list-behind-mark": "<|tool_call|>",
    "list-in-marks": "<tool_calls>[",
    "llama3": '<|start_header_id|>"parameters": ',
    "mistral": "[TOOL_CALLS][ARGS]",
    "mistral-list": "[TOOL_CALLS]",
}


@pytest.mark.parametrize(("form", "kind"), covering(TEMPLATES, ["added", "special", "none"], together=1))
def test_every_way_through_a_forced_call_ends_in_a_right_one(tmp_path: Path, form: str, kind: str) -> None:
    marks = (*FORMATS[form].marks, "<h1>", "[/INST]") if kind != "none" else ()
    source = "{{ messages }}{{ tools }}{# " + TEMPLATES[form] + " #}"
    tokenizer = tokenizer_with(tmp_path, marks, source, kind == "special")
    assert tokenizer.template.calls.name == form
    counts = set()
    for seed in range(6):
        chance = random.Random(seed)
        mask = TokenMask(
            tokenizer,
            (str(tmp_path), str(tmp_path)),
            *form_grammar(tokenizer, None, ToolUse((NASTY, Tool("now")), required=True, only="look")),
        )
        reply: list[int] = []
        while True:
            allowed = mask.allowed()
            assert allowed is not None
            tokens = np.nonzero(allowed)[0].tolist()
            assert tokens, tokenizer.decode(reply, special=True)
            if set(tokens) & tokenizer.end_ids and (seed % 2 == 0 or len(reply) > 400):
                break
            token = chance.choice([one for one in tokens if one not in tokenizer.end_ids] or tokens)
            if token in tokenizer.end_ids:
                break
            mask.take(token)
            reply.append(token)
        parts = ReplyParts("", FORMATS[form], [NASTY])
        said = [parts.add(tokenizer.decode_with(marks)(reply)), parts.end()]
        calls: dict[int, str] = {}
        for call in (call for one in said for call in one.calls):
            calls[call.index] = calls.get(call.index, "") + call.arguments
        assert calls
        counts.add(len(calls))
        for arguments in calls.values():
            assert holds(json.loads(arguments), json.loads(NASTY.parameters)), arguments
    assert max(counts) > 1


@pytest.mark.parametrize("wrong", [{"properties": ["a"]}, {"properties": {"a": {"type": "strin"}}}, {"anyOf": 5}])
def test_a_tool_whose_schema_is_wrong_is_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    tokenizer = tokenizer_with(
        tmp_path, FORMATS["hermes"].marks, "{{ messages }}{{ tools }}{# " + TEMPLATES["hermes"] + " #}", True
    )
    with pytest.raises(InvalidOption, match="cannot be used"):
        form_grammar(tokenizer, None, ToolUse((Tool("odd", parameters=json.dumps(wrong)), NASTY)))


@pytest.mark.parametrize("form", ["hermes", "coder"])
@pytest.mark.parametrize("beside", [{"pattern": "^(?!x)"}, {"type": "string", "minLength": 2, "maxLength": 1}])
def test_a_tool_whose_schema_no_grammar_follows_takes_any_values_and_others_keep_to_theirs(
    tmp_path: Path, form: str, beside: dict[str, object]
) -> None:
    tokenizer = tokenizer_with(
        tmp_path, FORMATS[form].marks, "{{ messages }}{{ tools }}{# " + TEMPLATES[form] + " #}", True
    )
    at = {"type": "string", **beside}
    odd = Tool("odd", parameters=json.dumps({"type": "object", "properties": {"at": at}, "required": ["at"]}))
    for required in (False, True):
        found, _ = form_grammar(tokenizer, None, ToolUse((odd, NASTY), required=required))
        alone, _ = form_grammar(tokenizer, None, ToolUse((NASTY,), required=required))
        kept = [line.partition(": ")[2] for line in alone.splitlines() if "%json" in line]
        assert kept
        assert all(one in found for one in kept)
        assert "(?!x)" not in found
        assert '"at"' in found


@pytest.mark.parametrize(
    "call",
    [
        "[pick(colour='red', note=\"it is\")]",
        "[pick(colour=\"red\", note='it\\'s so\\n')]",
        "[pick(colour='red', note='')]",
    ],
)
def test_texts_in_calls_of_lfm2_stand_in_either_quotes(tmp_path: Path, call: str) -> None:
    form = FORMATS["lfm2"]
    source = "{{ messages }}{{ tools }}{# " + TEMPLATES["lfm2"] + " #}"
    tokenizer = tokenizer_with(tmp_path, form.marks, source, special=True)
    properties = {"colour": {"enum": ["red", "green"]}, "note": {"type": "string", "maxLength": 9}}
    tool = Tool("pick", parameters=json.dumps({"properties": properties, "required": ["colour", "note"]}))
    mask = TokenMask(
        tokenizer,
        (str(tmp_path), str(tmp_path)),
        *form_grammar(tokenizer, None, ToolUse((tool,), required=True)),
    )
    for token in tokenizer.encode(f"{form.marks[0]}{call}{form.marks[1]}"):
        allowed = mask.allowed()
        assert allowed[token]
        mask.take(token)


def test_a_prescribed_text_with_the_words_of_a_token_can_be_written(tmp_path: Path) -> None:
    tokenizer = tokenizer_with(tmp_path, ["<tool_call>", "</tool_call>", "<h1>"], TEMPLATES["hermes"])
    for text in ("<h1>", "<tool_call>", "<|im_end|>"):
        mask = TokenMask(
            tokenizer,
            (str(tmp_path), str(tmp_path)),
            *form_grammar(tokenizer, OutputForm("schema", json.dumps({"const": text}))),
        )
        reply: list[int] = []
        while not {*np.nonzero(mask.allowed())[0].tolist()} <= tokenizer.end_ids:
            reply.append(int(np.nonzero(mask.allowed())[0][0]))
            mask.take(reply[-1])
        assert tokenizer.decode(reply) == json.dumps(text)
    free = TokenMask(
        tokenizer,
        (str(tmp_path), str(tmp_path)),
        *form_grammar(tokenizer, OutputForm("schema", '{"type": "string"}')),
    )
    free.take(tokenizer.encode('"')[0])
    allowed = free.allowed()
    ids = tokenizer.marks(["<h1>", "<tool_call>", "<|im_end|>"])
    assert {text: bool(allowed[token]) for text, token in ids.items()} == {
        "<h1>": True,  # a token like any other, which the model would write
        "<tool_call>": False,
        "<|im_end|>": False,
    }
