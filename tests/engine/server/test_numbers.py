"""Numbers of requests: what is none, or none that a computer holds, is refused with the field's name."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.server.fields import Fields
from engine.server.refusal import Refused
from tests.engine.server.test_guard import sentence
from tests.support.fast_cases import examples
from tests.support.model_server import Running

CHAT, TEXT, RESPONSES = "/v1/chat/completions", "/v1/completions", "/v1/responses"
MESSAGES, COUNT, OLLAMA, GENERATE, SHOW = (
    "/v1/messages", "/v1/messages/count_tokens", "/api/chat", "/api/generate", "/api/show",
)  # fmt: skip
SAMPLING = ("temperature", "top_k", "top_p", "min_p", "seed", "repetition_penalty", "repeat_penalty")
OPENAI = (*SAMPLING, "presence_penalty", "frequency_penalty", "repeat_last_n", "logit_bias.5")
SCHEMA = tuple(
    f"response_format.schema.{name}"
    for name in (
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "multipleOf",
        "const",
    )
)
#: Fields that each path reads a number from.
READ = {
    CHAT: (*OPENAI, "max_tokens", "max_completion_tokens", "n", "top_logprobs"),
    TEXT: (*OPENAI, "max_tokens", "n", "best_of", "logprobs"),
    RESPONSES: (*OPENAI, "max_output_tokens", "max_tool_calls"),
    MESSAGES: (*SAMPLING, "max_tokens"),
    COUNT: SAMPLING,
    OLLAMA: tuple(f"options.{name}" for name in (*OPENAI, "num_predict")),
    GENERATE: tuple(f"options.{name}" for name in (*OPENAI, "num_predict")),
    SHOW: (),
}
OTHERS = (
    "metadata.a",
    "options.num_ctx",
    "tools.a",
    "unknown",
    "keep_alive",
    "thinking.budget_tokens",
    *SCHEMA,
)
HUGE = st.builds(lambda digits, sign: sign * int("9" * digits), st.integers(20, 400), st.sampled_from((1, -1)))
NOT_FINITE = st.sampled_from((float("nan"), float("inf"), float("-inf")))
OTHER_KINDS = st.sampled_from((True, "1", "", [1], {"a": 1}))
NUMBERS = st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(allow_nan=False, allow_infinity=False)
SHARED = [HealthCheck.function_scoped_fixture]


def body(path: str, field: str, value: object) -> bytes:
    """A short request with a value in this field."""
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 1, "stream": False}
    if path in (TEXT, GENERATE):
        asked = {"prompt": "a", "max_tokens": 1, "stream": False}
    elif path == RESPONSES:
        asked = {"input": "a", "max_output_tokens": 1}
    elif path == SHOW:
        asked = {"model": ""}
    if path in (OLLAMA, GENERATE):
        asked["options"] = {"num_predict": 1}
    if "top_logprobs" in field:
        asked["logprobs"] = True
    if field.startswith("response_format"):
        asked["response_format"] = {"type": "json_schema", "schema": {"type": ["string", "array", "number"]}}
    holder = asked
    *places, last = field.split(".")
    for place in places:
        holder = holder.setdefault(place, {})
    holder[last] = value
    return json.dumps(asked).encode()


def answered(server: Running, path: str, field: str, value: object) -> tuple[int, str]:
    answer = server.http.post(path, content=body(path, field, value))
    return answer.status_code, "" if answer.status_code == 200 else sentence(path, answer.json())


FIELDS_READ = st.sampled_from([(path, field) for path, fields in READ.items() for field in fields])
ANY_FIELD = st.sampled_from([(path, field) for path in READ for field in (*READ[path], *OTHERS)])


@settings(max_examples=examples(150), suppress_health_check=SHARED)
@given(FIELDS_READ, HUGE | NOT_FINITE | OTHER_KINDS)
@example((CHAT, "top_k"), 10**400)
@example((OLLAMA, "options.top_k"), 10**400)
@example((TEXT, "seed"), -(10**400))
def test_what_is_no_number_is_refused_with_its_field(server: Running, read: tuple[str, str], value: object) -> None:
    path, field = read
    if isinstance(value, int) and any(word in field for word in ("temperature", "_p", "penalty", "bias")):
        value *= 10**310  # a smaller one is a number, and out of its range
    if value in ([1], {"a": 1}, True) and field == "logprobs" and path == TEXT:
        return  # false and true are words of llama.cpp's for it
    status, told = answered(server, path, field, value)
    assert status == 400, told
    assert field.removesuffix(".5") in told


RANGES = {
    "temperature": (-0.1, 100.5), "top_p": (-0.5, 1.5), "min_p": (-0.5, 1.5), "repetition_penalty": (0, 101),
    "repeat_penalty": (0, 101), "presence_penalty": (-2.5, 2.5), "frequency_penalty": (-2.5, 2.5),
    "repeat_last_n": (-2,), "logit_bias.5": (-101, 101), "max_tokens": (0, -2), "max_completion_tokens": (0, -2),
    "max_output_tokens": (0, -2), "n": (0, 9), "top_logprobs": (-1, 21), "logprobs": (-1, 21), "best_of": (2,),
}  # fmt: skip


@pytest.mark.parametrize(("path", "field"), [(path, one) for path in READ for one in READ[path]])
def test_a_number_out_of_its_range_is_refused_with_its_field(server: Running, path: str, field: str) -> None:
    for value in RANGES.get(field.removeprefix("options."), ()):
        answer = server.http.post(path, content=body(path, field, value))
        assert answer.status_code == 400, (value, answer.text)
        named = field.removesuffix(".5")
        assert f"field {named} " in sentence(path, answer.json())
        if path in (CHAT, TEXT, RESPONSES):
            assert answer.json()["error"]["param"] == named


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_of_more_digits_than_python_reads_is_refused_with_its_field(
    server: Running, path: str, sign: str
) -> None:
    for field in (*READ[path], "metadata.a"):
        content = body(path, field, "huge").replace(b'"huge"', sign.encode() + b"9" * 5000)
        answer = server.http.post(path, content=content)
        assert answer.status_code == 400
        assert sentence(path, answer.json()) == f"The field {field} must be a finite number."


@pytest.mark.parametrize(
    ("path", "sent", "field", "why"),
    [
        (CHAT, {}, "messages", "is missing"),
        (TEXT, {}, "prompt", "is missing"),
        (RESPONSES, {}, "input", "is missing"),
        (MESSAGES, {}, "max_tokens", "is missing"),
        (MESSAGES, {"max_tokens": 1}, "messages", "is missing"),
        (COUNT, {}, "messages", "is missing"),
        (CHAT, {"messages": []}, "messages", "asks for nothing"),
        (CHAT, {"messages": [{"role": "user"}]}, "messages", "asks for nothing"),
        (COUNT, {"messages": []}, "messages", "asks for nothing"),
        (MESSAGES, {"max_tokens": 1, "messages": []}, "messages", "asks for nothing"),
        (RESPONSES, {"input": " "}, "input", "asks for nothing"),
        (OLLAMA, {"messages": [{"role": "user", "content": " "}]}, "messages", "asks for nothing"),
        (GENERATE, {"prompt": " "}, "prompt", "asks for nothing"),
    ],
)
def test_a_request_without_what_it_needs_is_told_the_field(
    server: Running, path: str, sent: dict[str, object], field: str, why: str
) -> None:
    answer = server.http.post(path, json=sent)
    assert answer.status_code == 400
    assert sentence(path, answer.json()).startswith(f"The field {field} {why}")
    if path in (CHAT, TEXT, RESPONSES):
        assert answer.json()["error"]["param"] == field


BAD = {"type": "colour"}
HI = {"messages": [{"role": "user", "content": "Hi"}]}
BAD_TOOL = {
    "tools": [{"type": "function", "function": {"name": "f", "parameters": BAD}}], "tool_choice": "required",
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "sent", "field"),
    [
        (CHAT, HI | {"grammar": "root ::= ("}, "grammar"),
        (CHAT, HI | {"json_schema": BAD}, "json_schema"),
        (
            CHAT,
            HI | {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": BAD}}},
            "response_format",
        ),
        (CHAT, HI | BAD_TOOL, "tools"),
        (CHAT, HI | {"logit_bias": {"999999": 1}}, "logit_bias"),
        (CHAT, {"messages": [{"role": "user", "content": "a b " * 9000}]}, "messages"),
        (TEXT, {"prompt": "Hi", "grammar": "root ::= ("}, "grammar"),
        (TEXT, {"prompt": [999999]}, "prompt"),
        (TEXT, {"prompt": "Hi", "logit_bias": [[999999, False]]}, "logit_bias"),
        (
            RESPONSES,
            {"input": "Hi", "text": {"format": {"type": "json_schema", "schema": BAD}}},
            "text.format",
        ),
        (
            MESSAGES,
            HI | {"max_tokens": 1, "output_config": {"format": {"type": "json_schema", "schema": BAD}}},
            "output_config.format",
        ),
        (OLLAMA, HI | {"format": BAD}, "format"),
        (OLLAMA, HI | {"options": {"logit_bias": {"999999": 1}}}, "options.logit_bias"),
        (GENERATE, {"prompt": "Hi", "format": BAD}, "format"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_the_engine_refuses_is_told_with_its_field(
    server: Running, path: str, sent: dict[str, object], field: str, stream: bool
) -> None:
    answer = server.http.post(path, content=json.dumps(sent | {"stream": stream}))
    assert answer.status_code == 400, answer.text
    assert sentence(path, answer.json()).endswith(".")
    if path in (CHAT, TEXT, RESPONSES):
        assert answer.json()["error"]["param"] == field
    else:
        assert field in sentence(path, answer.json())


@settings(max_examples=examples(100), suppress_health_check=SHARED)
@given(ANY_FIELD, NOT_FINITE)
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(
    server: Running, read: tuple[str, str], value: object
) -> None:
    path, field = read
    assert answered(server, path, field, value) == (400, f"The field {field} must be a finite number.")


@settings(max_examples=examples(150), suppress_health_check=SHARED)
@given(ANY_FIELD, NUMBERS | HUGE | OTHER_KINDS)
def test_no_number_is_a_mistake_of_the_server(server: Running, read: tuple[str, str], value: object) -> None:
    status, told = answered(server, *read, value)
    assert status in (200, 400), told
    assert status == 200 or (told.endswith(".") and "mistake" not in told)


@pytest.mark.parametrize("ids", [[10**400], [-1], [1 << 63], [1, 10**30]])
def test_tokens_of_a_prompt_are_tokens(server: Running, ids: list[int]) -> None:
    answer = server.http.post(TEXT, json={"prompt": ids, "max_tokens": 1})
    assert answer.status_code == 400
    assert "token" in answer.json()["error"]["message"]


@pytest.mark.parametrize("text", ['{"a": "NaN and 1e999"}', '{"a": 1e99}', '{"a": [1e-999]}', f'{{"a": {10**300}}}'])
def test_numbers_and_texts_that_only_look_so_are_read(text: str) -> None:
    assert Fields.of_body(text.encode()).values == json.loads(text)


def test_a_number_that_is_not_finite_is_found_deep_inside() -> None:
    text = json.dumps({"tools": [{"b": 1}, {"c": [0, [1.0, {"d": float("-inf")}]]}]})
    with pytest.raises(Refused) as refused:
        Fields.of_body(text.encode())
    assert refused.value.field == "tools[1].c[1][1].d"
    mantissa = "1" + "".join(random.choices("0123456789", k=250))
    with pytest.raises(Refused, match="The field a must be"):
        Fields.of_body(f'{{"a": {mantissa}e60}}'.encode())
