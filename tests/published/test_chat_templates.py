"""Published chat templates: nine conversations are rendered, or refused, as transformers does it for their makers."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from transformers.utils.chat_template_utils import render_jinja_template

from engine.errors import UnsupportedModel
from engine.messages import ChatMessage, Thinking, Tool, ToolCall
from engine.text.chat_template import ChatTemplate, TemplateRefused
from engine.text.tokenizer import _rendered, _turns
from engine.text.tool_calls.described import as_objects
from tests.support.fast_cases import chosen
from tests.support.llama_cpp_archive import ABSENT, llama_cpp

_ROOT = llama_cpp()
_TEMPLATES = sorted((_ROOT / "models" / "templates").glob("*.jinja")) if _ROOT is not None else []
_SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
_CITY = '{"type": "object", "properties": {"city": {"type": "string", "description": "Of where."}}}'
_TOOLS = (Tool("weather", "Tells the weather.", _CITY), Tool("now"))
_CALLS = (ToolCall("weather", '{"city": "Ulm <b>"}', "1"), ToolCall("now", "{}", "2"))


def user(text: str) -> ChatMessage:
    return ChatMessage("user", text)


def assistant(text: str, *calls: ToolCall) -> ChatMessage:
    return ChatMessage("assistant", text, calls=calls)


def system(text: str) -> ChatMessage:
    return ChatMessage("system", text)


def result(text: str, of: str) -> ChatMessage:
    return ChatMessage("tool", text, answers=of)


_CHAT = (system("Be brief."), user("Question one?"), assistant("Answer one."), user(" Question 'two'?\n"))
_LOOKED = (user("Question one?"), assistant("", _CALLS[0]), result('{"sky": "grey"}', "1"))
CONVERSATIONS: dict[str, tuple[tuple[ChatMessage, ...], Thinking, tuple[Tool, ...]]] = {
    "question": ((user("Question one?"),), Thinking(), ()),
    "chat": (_CHAT, Thinking(), ()),
    "without a thought": (_CHAT, Thinking(on=False), ()),
    "tools": (_CHAT, Thinking(), _TOOLS),
    "call": (_LOOKED, Thinking(), _TOOLS),
    "two calls": (
        (user("Question one?"), assistant("", *_CALLS), result("grey", "1"), result("noon", "2")),
        Thinking(),
        _TOOLS,
    ),
    "after a call": ((*_LOOKED, assistant("Answer one."), user("Question two?")), Thinking(on=True), _TOOLS),
    "two of the person's": (
        (system("Be brief."), user("Question one?"), user("Question two?")),
        Thinking(),
        (),
    ),
    "later system": ((*_CHAT, assistant("Answer two."), system("Be kind."), user("So?")), Thinking(), ()),
}


def theirs(source: str, turns: list[dict[str, Any]], thinking: Thinking, tools: list[dict[str, Any]]) -> str | None:
    """The text as transformers makes it; None where the template refuses the conversation."""
    wishes = {} if thinking.on is None else dict.fromkeys(("enable_thinking", "thinking"), thinking.on)
    try:
        texts, _ = render_jinja_template(
            [copy.deepcopy(turns)],
            tools=copy.deepcopy(tools) or None,
            chat_template=source,
            add_generation_prompt=True,
            **_SPECIAL,
            **wishes,
        )
    except Exception:  # a template is a program
        return None
    text: str = texts[0]
    return text


@pytest.mark.skipif(_ROOT is None, reason=ABSENT)
def test_all_of_them_are_here() -> None:
    assert len(_TEMPLATES) == 70


@pytest.mark.skipif(_ROOT is None, reason=ABSENT)
@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: path.stem)
def test_nine_conversations_are_rendered_or_refused_as_in_transformers(path: Any) -> None:
    source = path.read_text(encoding="utf-8")
    template = ChatTemplate(source, _SPECIAL)
    # One wants variables of its own in every chat.
    assert template.trouble == ("unreadable" if path.stem == "fireworks-ai-llama-3-firefunction-v2" else "")
    for name, (messages, thinking, tools) in CONVERSATIONS.items():
        turns, offered = _turns(messages), as_objects(tools)
        expected = theirs(source, turns, thinking, offered)
        try:
            text = template.render(turns, thinking, offered)
        except TemplateRefused:
            text = None
        assert text == expected, name
        said = [turn.content.strip() for turn in messages if turn.role in ("system", "user")]
        try:
            mended = _rendered(template, messages, thinking, offered)
        except UnsupportedModel:
            # Not for the order of turns: the template wants tools in each chat, or another form of their calls.
            assert expected is None, name
            continue
        assert all(words in mended for words in said), name
        if expected is not None and all(words in expected for words in said):
            # A template that loses the second of two calls gets them one after the other.
            apart = name == "two calls" and template.one_call
            assert apart or "tool_responses" in source or mended == expected, name


@pytest.mark.skipif(_ROOT is None, reason=ABSENT)
@pytest.mark.parametrize("name", chosen(["two of the person's", "later system", "chat"], ("later system",)))
def test_the_order_of_turns_is_no_reason_to_refuse_a_conversation(name: str) -> None:
    messages, thinking, _ = CONVERSATIONS[name]
    refused = []
    for path in _TEMPLATES:
        try:
            _rendered(ChatTemplate(path.read_text(encoding="utf-8"), _SPECIAL), messages, thinking, ())
        except UnsupportedModel:
            refused.append(path.stem)
    # Three want tools in each chat, and one its own variables.
    assert refused == [
        "CohereForAI-c4ai-command-r-plus-tool_use",
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
        "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
        "fireworks-ai-llama-3-firefunction-v2",
    ]
