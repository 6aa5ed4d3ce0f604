"""A checkpoint's chat template, run in a process of its own with limits of time, memory and output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal

from engine.errors import RequestTooLarge, UnsupportedModel
from engine.messages import Thinking, ThinkingControl
from engine.preparer import QUICK, Beyond
from engine.sentences import mark
from engine.text.reasoning import Reasoning, template_reasoning
from engine.text.tool_calls import DESCRIBED, template_format
from engine.text.tool_calls.format import ToolFormat

#: Names of the switch of thinking in templates: Qwen3 and its kin, DeepSeek's and Granite's.
_SWITCHES = ("enable_thinking", "thinking")
#: Their names for the amount of thinking: gpt-oss's and Muse-Glimmer's.
_EFFORTS = ("reasoning_effort", "reasoning_strength")
_UNSAID = Thinking()
# A text is as long as the messages in it, and the words around them.
_MOST_CHARACTERS = 1 << 20
_LONGER = 4
_ENDLESS = mark(
    "The model's chat template takes too much time or memory, so it was ended: use another model, or another file of "
    "this one."
)
_BEYOND = mark(
    "This conversation takes the model's chat template more than {seconds} s or {size} MiB, so it is not answered: "
    "shorten it, or send fewer and smaller tools."
)


#: Words that every template is to hand on, and that none has itself; a conversation with them, and shorter ones for
#: templates that refuse it, of which some want a tool.
_WORDS = ("tenonxqzw", "tenonjvkw")
_ASKED, _AGAIN = ({"role": "user", "content": word} for word in _WORDS)
_SYSTEM = {"role": "system", "content": "tenonqkzx"}
_ANSWERED = {"role": "assistant", "content": "Yes."}
_TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "", "parameters": {"type": "object", "properties": {}}},
}
_PROBES: tuple[tuple[list[dict[str, str]], tuple[dict[str, Any], ...]], ...] = (
    ([_SYSTEM, _ASKED, _ANSWERED, _AGAIN], ()),
    ([_ASKED, _ANSWERED, _AGAIN], ()),
    ([_ASKED], ()),
    ([_ASKED], (_TOOL,)),
)


class TemplateRefused(Exception):
    """Jinja's errors, and those that a template raises itself."""


class TemplateUnreadable(TemplateRefused):
    """It is no template."""


class ChatTemplate:
    """Turns messages into a text.

    Args:
        special_tokens: Texts of special tokens by the names that templates use, ``bos_token`` and the like.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str]) -> None:
        self.source = source
        self._special_tokens = dict(special_tokens)
        QUICK.start()  # so that it is there when it is wanted

    @property
    def trouble(self) -> Literal["", "unreadable", "silent", "endless"]:
        """The reason why no chat can be given to it; else empty.

        ``unreadable`` if it fails on every chat, ``silent`` if it leaves out what the user said, ``endless`` if a few
        words take it too much time or memory.
        """
        return self._reading[0]

    @cached_property
    def _reading(self) -> tuple[Literal["", "unreadable", "silent", "endless"], bool]:
        """The trouble, and whether it reads content as a list of parts alone, as some of models with images do."""
        for turns, tools in _PROBES:
            silent = False
            for in_parts in (False, True):
                try:
                    text = self._text(turns, _UNSAID, tools, in_parts).lower()
                except TemplateUnreadable:
                    return "unreadable", False
                except TemplateRefused:
                    continue
                except RequestTooLarge:
                    return "endless", False
                except UnsupportedModel:  # there is no process to run it; `render` tells of it
                    return "", False
                said = all(turn["content"] in text for turn in turns if turn["role"] != "assistant")
                part = _parts(turns[0]["content"])[0]
                if said and str(part) not in text and json.dumps(part) not in text:  # which it only prints
                    return "", in_parts
                silent = True
            if silent and turns[0] is not _SYSTEM:  # which a template may leave out
                return "silent", False
        return "unreadable", False

    @cached_property
    def thinking(self) -> ThinkingControl:
        """Control that it has of thinking: ``switch`` for on or off, ``effort`` for how much; else empty."""
        try:
            asked = frozenset(self._run(None)["asked"])
        except (TemplateRefused, RequestTooLarge, UnsupportedModel):  # which `render` tells of
            return ""
        return "effort" if asked.intersection(_EFFORTS) else "switch" if asked.intersection(_SWITCHES) else ""

    @cached_property
    def reasoning(self) -> Reasoning:
        """Words in which its model thinks."""
        return template_reasoning(self.source)

    @cached_property
    def knows_tools(self) -> bool:
        """True if it tells its model of tools, and asks for calls in a format that is known here."""
        try:
            return "tools" in self._run(None)["asked"] and template_format(self.source) is not None
        except (TemplateRefused, RequestTooLarge, UnsupportedModel):  # which `render` tells of
            return False

    @property
    def calls(self) -> ToolFormat:
        """The format of tool calls."""
        return (template_format(self.source) if self.knows_tools else None) or DESCRIBED

    @property
    def writes_calls(self) -> bool:
        """True if it writes the calls of earlier turns."""
        return "tool_calls" in self.source

    @cached_property
    def one_call(self) -> bool:
        """True if it writes one call of an earlier turn, and loses or refuses more."""
        return self._writes(1) and not self._writes(2)

    def _writes(self, count: int) -> bool:
        """Return whether it writes so many calls of one turn."""
        calls = [
            {
                "id": f"{at:09}",
                "type": "function",
                "function": {"name": "look", "arguments": {"at": f"tenon-{at}"}},
            }
            for at in range(count)
        ]
        turns: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
        turns.append({"role": "assistant", "content": "", "tool_calls": calls})
        turns += [{"role": "tool", "content": "", "tool_call_id": call["id"], "name": "look"} for call in calls]
        schema = {"type": "object", "properties": {"at": {"type": "string", "description": ""}}}
        tool = {"name": "look", "description": "", "parameters": schema}
        try:
            text = self.render(turns, tools=[{"type": "function", "function": tool}])
        except (TemplateRefused, RequestTooLarge, UnsupportedModel):
            return False
        return all(f"tenon-{at}" in text for at in range(count))

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        thinking: Thinking = _UNSAID,
        tools: Sequence[dict[str, Any]] = (),
    ) -> str:
        """Text of a conversation, with the opening of the assistant's turn.

        Args:
            messages: Each with a ``role`` and a ``content``.
            thinking: Wishes; those that the template does not ask for have no effect.
            tools: Tools, for a template that knows some.

        Raises:
            TemplateRefused: It is no template, or refuses this conversation.
            RequestTooLarge: This conversation takes it too much time or memory.
            UnsupportedModel: Every conversation does.
        """
        if self.trouble == "endless":
            raise UnsupportedModel(_ENDLESS)
        return self._text(messages, thinking, tools, self._reading[1])

    def _text(
        self,
        messages: Sequence[Mapping[str, Any]],
        thinking: Thinking,
        tools: Sequence[dict[str, Any]],
        in_parts: bool,
    ) -> str:
        turns = [dict(message) for message in messages]
        if in_parts:
            turns = [
                {**turn, "content": _parts(turn["content"])} if isinstance(turn["content"], str) else turn
                for turn in turns
            ]
        variables: dict[str, Any] = {"messages": turns, **_variables(thinking), **self._special_tokens}
        if tools:
            variables["tools"] = list(tools)
        text: str = self._run(variables)["text"]
        return text

    def _run(self, variables: Mapping[str, Any] | None) -> dict[str, Any]:
        question: dict[str, Any] = {"source": self.source, "variables": variables}
        size = len(json.dumps(variables))
        question["most"] = _MOST_CHARACTERS + _LONGER * size
        found = {"beyond": True}
        with suppress(Beyond):
            found = json.loads(QUICK.ask("engine.text.template_program:answer", json.dumps(question).encode()))
        if "error" in found:
            raise (TemplateRefused if found["compiled"] else TemplateUnreadable)(found["error"])
        if "beyond" in found:
            raise RequestTooLarge(_BEYOND, seconds=round(QUICK.time_s), size=QUICK.memory_bytes >> 20)
        return found


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _variables(thinking: Thinking) -> dict[str, bool | str]:
    """Return the variables that are wanted: templates have defaults for those that are not defined."""
    found: dict[str, bool | str] = {}
    if thinking.on is not None:
        found |= dict.fromkeys(_SWITCHES, thinking.on)
    if thinking.effort is not None:
        found |= dict.fromkeys(_EFFORTS, thinking.effort)
    return found
