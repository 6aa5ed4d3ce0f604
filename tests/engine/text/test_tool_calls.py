"""Tool calls in the words of each template, read in pieces of any size, and the text around them."""

from __future__ import annotations

import json
import random

import pytest

from engine.messages import ChatMessage, Tool, ToolCall
from engine.text.chat_template import ChatTemplate
from engine.text.reasoning import template_reasoning
from engine.text.reply_parts import ReplyParts
from engine.text.tool_calls import DESCRIBED, FORMATS, template_format
from engine.text.tool_calls.described import described, one_by_one, paired
from engine.text.tool_calls.unmarked_calls import holds

WEATHER = Tool(
    "get_weather",
    "Weather of a city",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "units": {"enum": ["C", "F"]},
                "hours": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["city"],
        }
    ),
)
CALL = ToolCall("get_weather", '{"city": "Rome {\\"a\\"}", "days": 3, "hours": [1, 2]}')
NOW = ToolCall("now", "{}")
TOOLS = (WEATHER, Tool("now"))


def read(form: str, text: str, seed: int = 0, template: str = "") -> tuple[str, str, list[tuple[str, object]]]:
    """Thought, answer and calls of a reply that comes in pieces."""
    chance = random.Random(seed)
    parts = ReplyParts("", FORMATS[form], TOOLS)
    words = template_reasoning(template).reader("")
    pieces = []
    at = 0
    while at < len(text):
        length = chance.randint(1, 9)
        came = text[at : at + length]
        pieces.append(parts.add(words.add(came) if words is not None else came))
        at += length
    if words is not None:
        pieces.append(parts.add(words.end()))
    pieces.append(parts.end())
    calls: list[list[str]] = []
    for piece in pieces:
        for call in piece.calls:
            if call.index == len(calls):
                calls.append([call.name, ""])
            assert call.index == len(calls) - 1
            calls[-1][1] += call.arguments
    thought = "".join(piece.thought for piece in pieces)
    answer = "".join(piece.answer for piece in pieces)
    return thought, answer, [(name, json.loads(arguments)) for name, arguments in calls]


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("seed", range(6))
def test_a_call_that_was_written_is_read(form: str, seed: int) -> None:
    text = FORMATS[form].written(CALL)
    assert read(form, text, seed) == ("", "", [("get_weather", json.loads(CALL.arguments))])


@pytest.mark.parametrize("form", sorted({*FORMATS} - {"llama3"}))
@pytest.mark.parametrize("seed", range(3))
def test_thought_and_words_come_before_calls(form: str, seed: int) -> None:
    calls = FORMATS[form].written(CALL)
    expected = [("get_weather", json.loads(CALL.arguments))]
    if form != "harmony":
        calls = FORMATS[form].written(CALL, NOW)
        expected.append(("now", {}))
    text = f"<think>\nHm <\n</think>\n\nLet me [see] <it>.\n\n{calls}"
    assert read(form, text, seed) == ("Hm <", "Let me [see] <it>.", expected)


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("text", ["No call at all.\n", "1 < 2 {and} [so on]", "<tool", "[TOOL", "a\n\n  b ", '"{"', ""])
def test_what_is_no_call_stays_as_it_is(form: str, text: str) -> None:
    assert read(form, text) == ("", text, [])


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("hermes", "<tool_call>\nno JSON\n</tool_call>"),
        ("hermes", "<tool_call>"),
        ("hermes", '<tool_call>{"arguments": {}}</tool_call>'),
        ("coder", "<tool_call>\nno function"),
        ("atem", "<atem:function_calls>\nno call</atem:function_calls>"),
        ("glm", "<tool_call>\nno call\n</tool_call>"),
        ("glm", "<tool_call> is what a call begins with."),
        ("glm-lines", "<tool_call>now"),
        ("mistral", "[TOOL_CALLS]get"),
        ("gemma4", "<|tool_call>call:f{"),
        ("gemma4", "<|tool_call>f(x)<tool_call|>"),
        ("lfm2", "<|tool_call_start|>[f(1)]<|tool_call_end|>"),
        ("lfm2", "<|tool_call_start|>[f(a=open('x'))]<|tool_call_end|>"),
        ("llama3", '{"colour": "red"}'),
        ("llama3", '{"name'),
        ("llama3", "{"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_call_that_is_none_is_shown_as_text(form: str, text: str, seed: int) -> None:
    assert read(form, text, seed) == ("", text, [])


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("hermes", '<tool_call>{"name": "now", "arguments": "{}"}</tool_call>'),
        ("hermes", '<tool_call>{"arguments": {}, "name": "now"}</tool_call>'),
        (
            "hermes",
            '<tool_call>[{"type": "function", "function": {"name": "now", "arguments": {}}}]</tool_call>',
        ),
        ("llama3", '{"type": "function", "name": "now", "parameters": {}}'),
        ("llama3", '<|python_tag|>{"name": "now", "parameters": {}}'),
        ("mistral", "[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}"),
        ("lfm2", '<|tool_call_start|>[{"name": "now", "arguments": {}}]<|tool_call_end|>'),
        ("lfm2", "<|tool_call_start|>now()<|tool_call_end|>"),
        ("list-behind-mark", '<|tool_call|>[{"name": "now", "arguments": {}}]<|/tool_call|>'),
        ("coder", "<tool_call>\n<function=now>\n</function>\n</tool_call>"),
        ("glm", "<tool_call>now</tool_call>"),
        ("glm", "<tool_call>now\n</tool_call>"),
        ("list-in-marks", '<tool_calls>[{"name": "now", "arguments": {}, "id": "1"}]</tool_calls>'),
    ],
)
def test_other_spellings_are_read(form: str, text: str) -> None:
    assert read(form, text) == ("", "", [("now", {})])


def test_values_have_the_types_of_the_schema() -> None:
    text = (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n12\n</parameter>\n<parameter=days>\n12\n</parameter>\n"
        "<parameter=hours>\n[1]\n</parameter>\n<parameter=units>\nC\n</parameter>\n</function>\n</tool_call>"
    )
    assert read("coder", text)[2] == [("get_weather", {"city": "12", "days": 12, "hours": [1], "units": "C"})]
    glm = (
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>12\n</arg_value>\n<arg_key>days</arg_key>\n"
        "<arg_value>12</arg_value>\n<arg_key>hours</arg_key>\n<arg_value>[1]</arg_value>\n</tool_call>"
    )
    for form in ("glm", "glm-lines"):
        assert read(form, glm)[2] == [("get_weather", {"city": "12\n", "days": 12, "hours": [1]})]
    gemma = '<|tool_call>call:get_weather{city:<|"|>a:{b}<|"|>,days:2,inner:{deep:true,more:[1,null]}}<tool_call|>'
    assert read("gemma4", gemma)[2] == [
        ("get_weather", {"city": "a:{b}", "days": 2, "inner": {"deep": True, "more": [1, None]}})
    ]
    words = """<|tool_call_start|>[get_weather(from="a, b=c", user-id='d\n=', in=[{"x=": 1}])]<|tool_call_end|>"""
    assert read("lfm2", words)[2] == [("get_weather", {"from": "a, b=c", "user-id": "d\n=", "in": [{"x=": 1}]})]
    python = "<|tool_call_start|>[get_weather(city='it\\'s', days=-2, inner={'a': True, 'b': [null]})]<|tool_call_end|>"
    assert read("lfm2", python)[2] == [("get_weather", {"city": "it's", "days": -2, "inner": {"a": True, "b": [None]}})]


@pytest.mark.parametrize("form", sorted({*FORMATS} - {"gemma4", "harmony"}))
@pytest.mark.parametrize(
    "city",
    [
        "<tool_call>",
        "a</tool_call>b",
        "</parameter>",
        "x </arg_value> y",
        '"{}[]',
        "1,\n2",
        "[TOOL_CALLS]",
        "\U0001f600",
    ],
)
def test_marks_inside_an_argument_are_text(form: str, city: str) -> None:
    for seed in range(3):
        call = ToolCall("get_weather", json.dumps({"city": city, "days": 2}))
        assert read(form, FORMATS[form].written(call, NOW), seed) == (
            "",
            "",
            [("get_weather", {"city": city, "days": 2}), ("now", {})],
        )


UNION = Tool(
    "pick",
    parameters=json.dumps(
        {
            "type": "object",
            "properties": {
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "size": {"type": ["integer", "string"]},
                "colour": {"$ref": "#/$defs/Colour"},
            },
            "$defs": {"Colour": {"enum": ["red", "1"]}},
        }
    ),
)


@pytest.mark.parametrize(
    ("note", "size", "colour", "expected"),
    [
        ("null", "12", "red", {"note": None, "size": 12, "colour": "red"}),
        ("12", "big", "1", {"note": "12", "size": "big", "colour": "1"}),
        ("true", "1.5", "red", {"note": "true", "size": "1.5", "colour": "red"}),
        ('"so"', '"12"', "1", {"note": '"so"', "size": '"12"', "colour": "1"}),
    ],
)
def test_a_text_is_another_value_only_where_the_schema_allows_it(
    note: str, size: str, colour: str, expected: object
) -> None:
    for form in ("coder", "glm", "glm-lines"):
        parts = ReplyParts("", FORMATS[form], [UNION])
        written = FORMATS[form].written(ToolCall("pick", json.dumps({"note": note, "size": size, "colour": colour})))
        said = [parts.add(written), parts.end()]
        assert json.loads("".join(call.arguments for one in said for call in one.calls)) == expected


BARE = '{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}'
ROME = ("get_weather", {"city": "Rome", "days": 3})


@pytest.mark.parametrize(
    ("text", "answer", "calls"),
    [
        (BARE, "", [ROME]),
        (f"```json\n{BARE}\n```", "", [ROME]),
        (f"```\n{BARE}\n```\n", "", [ROME]),
        (f"```json\n{BARE}", "", [ROME]),
        (f"I look.\n\n```json\n{BARE}\n```\nDone.", "I look.\nDone.", [ROME]),
        (f"I look.\n{BARE}\n\nDone.", "I look.\n\nDone.", [ROME]),
        (f"{BARE}\n{BARE}", "", [ROME, ROME]),
        (f"{BARE}; {BARE}", "", [ROME, ROME]),
        (f"```json\n[{BARE},\n {BARE}]\n```", "", [ROME, ROME]),
        (f"```json\n{BARE}\n{BARE}\n```", "", [ROME, ROME]),
        (f"<tools>\n{BARE}\n</tools>", "", [ROME]),
        (f"<think>\n{BARE}\n</think>\n\n{BARE}", "", [ROME]),
        ('{\n  "name": "get_weather",\n  "arguments": {\n    "city": "a\\n```b"\n  }\n}', "",
         [("get_weather", {"city": "a\n```b"})]),
        ('{"arguments": {"days": 3, "city": "Rome"}, "name": "get_weather"}', "", [ROME]),
        ('{"type": "function", "function": {"name": "now", "arguments": "{}"}}', "", [("now", {})]),
        # Of no offered tool, against the schema, with more than a call has, cut, or in the middle of a line.
        ('{"name": "get_rain", "arguments": {"city": "Rome"}}', None, []),
        ('```json\n{"name": "add_numbers", "arguments": {"a": 5}}\n```', None, []),
        ('{"name": "get_weather", "arguments": {"city": 5}}', None, []),
        ('{"name": "get_weather", "arguments": {"days": 5}}', None, []),
        ('{"name": "get_weather", "arguments": {"city": "Rome"}, "age": 3}', None, []),
        ('{"name": "get_weather", "arguments": {"city": "Rome"', None, []),
        ('{"name": "get_weather" is no JSON}\n\nSo it is.', None, []),
        (f"It is `{BARE}`.", None, []),
        (f"```python\ncalls = {BARE}\n```", None, []),
        (f"```json\n{BARE}\nand so on\n```", None, []),
        ('```json\n{"colour": "red"}\n```\nas asked', None, []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["hermes", "llama3", "lfm2", "glm", "coder"])
def test_an_object_that_names_a_tool_and_holds_to_its_schema_is_a_call(
    form: str, text: str, answer: str | None, calls: list[tuple[str, object]]
) -> None:
    for seed in range(4):
        _, said, found = read(form, text, seed)
        assert (said, found) == (text if answer is None else answer, calls)


@pytest.mark.parametrize(
    "text",
    [
        "An answer of some words.\nAnd another line, with {braces} and `code`.",
        "```python\ndef add(a, b):\n    return {'name': a}\n```\n",
        '```json\n{"colour": "red", "sizes": [1, 2]}\n```',
        '{"colour": "red"}',
        '{"name": "Bob", "age": 3}',
        "[1, 2, 3]",
    ],
)
def test_an_ordinary_answer_is_held_back_for_a_few_signs_alone(text: str) -> None:
    parts = ReplyParts("", FORMATS["hermes"], TOOLS)
    said = ""
    for at, sign in enumerate(text, 1):
        said += parts.add(sign).answer
        assert len(text[:at].rstrip()) - len(said) <= 14
    assert said + parts.end().answer == text


def test_values_hold_to_a_schema_in_any_order() -> None:
    of = json.loads(WEATHER.parameters)
    assert holds({"days": 3, "city": "Rome"}, of)
    assert holds({"city": "Rome", "units": "C", "more": [None]}, of)
    assert not holds({"city": "Rome", "units": "K"}, of)
    assert not holds({"city": "Rome", "hours": ["1"]}, of)
    inner = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "null"}}}
    closed = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "additionalProperties": False,
        "$defs": {"A": inner},
    }
    assert holds({"a": {"y": None, "x": 1}}, closed)
    assert not holds({"b": 1}, closed)
    assert not holds({"a": {"x": "1"}}, closed)
    ahead = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?!x)"}}}
    assert holds({"a": "y"}, ahead), "no grammar follows it: the call's maker checks it"
    assert not holds(["y"], ahead)


def test_results_find_their_calls() -> None:
    calls = (ToolCall("f", "{}", "b"), ToolCall("g", "{}", "a"), ToolCall("f", "{}"))
    turns = [
        ChatMessage("assistant", "", calls=calls),
        ChatMessage("tool", "f's second", answers="f"),  # by the name: the first one is answered by its id
        ChatMessage("tool", "g's", answers="a"),
        ChatMessage("tool", "f's first", answers="b"),
        ChatMessage("user", "And?"),
        ChatMessage("assistant", "", calls=calls[:1]),
        ChatMessage("tool", "without a word"),
        ChatMessage("tool", "of none"),
    ]
    found = paired(turns)
    assert [call.id for call in found[0].calls] == ["000000000", "000000001", "000000002"]
    assert [turn.answers for turn in found if turn.role == "tool"] == [
        "000000000",
        "000000001",
        "000000002",
        "000000003",
        "",
    ]
    assert [turn.content for turn in one_by_one(found)[1:6:2]] == ["f's first", "g's", "f's second"]
    assert [len(turn.calls) for turn in one_by_one(found) if turn.role == "assistant"] == [1, 1, 1, 1]


HARMONY = "<|channel|><|message|>"
GEMMA = "<|channel>thought<channel|>"
#: A turn with a thought and a call, as each template's model writes it.
CONVERSATIONS = {
    "harmony": (
        HARMONY,
        "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant<|channel|>commentary<|message|>One moment."
        "<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
        '{"city": "Rome"}<|call|>',
    ),
    # With the recipient where the template writes it, and the end of a call's message cut as an end token is.
    "harmony's template": (
        HARMONY,
        "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant<|channel|>commentary<|message|>One moment."
        "<|end|><|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>"
        '{"city": "Rome"}',
    ),
    "gemma4": (
        GEMMA,
        "<|channel>thought\nThey ask.\n<channel|>One moment.<|tool_call>call:get_weather"
        '{city:<|"|>Rome<|"|>}<tool_call|>',
    ),
    "atem": (
        "to=self<|message|>",
        " to=self<|message|>They ask.<|eom|><|start|>assistant to=user<|message|>One moment.<|eom|><|start|>assistant"
        ' to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n'
        '<atem:parameter name="city">Rome</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>',
    ),
    "lfm2": (
        "",
        "<think>They ask.</think>One moment.<|tool_call_start|>[get_weather(city='Rome')]<|tool_call_end|>",
    ),
    "mistral": (
        "[THINK][/THINK]",
        '[THINK]They ask.[/THINK]One moment.[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}',
    ),
}


@pytest.mark.parametrize("form", CONVERSATIONS)
@pytest.mark.parametrize("seed", range(6))
def test_a_turn_with_thought_words_and_call_is_divided(form: str, seed: int) -> None:
    template, text = CONVERSATIONS[form]
    found = read(form.partition("'")[0], text, seed, template)
    assert found == ("They ask.", "One moment.", [("get_weather", {"city": "Rome"})])


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("{{ '<tool_call>\\n{\"name\": ' }}", "hermes"),
        ("{{ '<tool_call>\\n<function=' }}", "coder"),
        ("<atem:function_calls>\\n<atem:invoke name=", "atem"),
        ("[TOOL_CALLS]{{ name }}[ARGS]", "mistral"),
        ("[TOOL_CALLS][", "mistral-list"),
        ("<|tool_call>call:{{ name }}", "gemma4"),
        ("<|channel|>commentary<|call|>", "harmony"),
        ('<|start_header_id|> {"name": x, "parameters": ', "llama3"),
        ("List of tools: <|tool_list_start|>", "lfm2"),
        ("respond only with <|tool_call|> followed by a JSON list", "list-behind-mark"),
        ("<|im_start|>", None),
    ],
)
def test_a_template_tells_its_format(source: str, form: str | None) -> None:
    found = template_format(source)
    assert (found and found.name) == form


def test_a_template_that_knows_no_tools_gets_them_as_words() -> None:
    turns = [
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "Weather?"),
        ChatMessage("assistant", "", calls=(ToolCall("get_weather", '{"city": "Rome"}', "1"), NOW)),
        ChatMessage("tool", "sunny", answers="1"),
        ChatMessage("tool", "noon", answers="2"),
    ]
    system, _, assistant, person = described(turns, TOOLS, DESCRIBED)
    assert system.content.startswith("Be brief.\n\n# Tools")
    assert '"name": "get_weather"' in system.content
    assert assistant.content == (
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    )
    assert person == ChatMessage(
        "user", "<tool_response>\nsunny\n</tool_response>\n<tool_response>\nnoon\n</tool_response>"
    )


@pytest.mark.parametrize(
    ("writing", "one_call"),
    [
        ("{% for call in message.tool_calls %}{{ call.function.arguments | tojson }}{% endfor %}", False),
        ("{{ message.tool_calls[0].function.arguments | tojson }}", True),
        (
            "{{ raise_exception('one at once') if message.tool_calls | length > 1 else message.tool_calls }}",
            True,
        ),
        ("{{ raise_exception('no calls at all') }}", False),
        ("tool_calls", False),
    ],
)
def test_a_template_that_loses_or_refuses_a_second_call_is_known(writing: str, one_call: bool) -> None:
    source = "{% for message in messages %}{% if message.tool_calls %}" + writing + "{% endif %}{% endfor %}"
    assert ChatTemplate(source, {}).one_call is one_call
