"""Turns with tools as a template takes them: calls one by one, or tools, calls and results as texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from engine.messages import ChatMessage, Tool, ToolCall
from engine.text.tool_calls.format import ToolFormat

_LAST = "~"  # behind all numbers
_DESCRIBED = """# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tools}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""


def as_objects(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Tools as templates want them."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": json.loads(tool.parameters),
            },
        }
        for tool in tools
    ]


def paired(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the turns with their calls numbered anew, and each result with that of its call, in the calls' order.

    Nine digits, as Mistral's templates take no other ids. A result is of the call whose id it names, else of the first
    one without a result of the tool that it names (Ollama's clients send no ids), else of the first one without.
    """
    turns: list[ChatMessage] = []
    calls: list[ToolCall] = []  # of the last turn that has some, with the ids of the client
    first = count = 0  # the number of the first of them, and of all
    for is_result, run in groupby(messages, lambda message: message.role == "tool"):
        if is_result:
            turns += _answering(list(run), {f"{first + at:09}": call for at, call in enumerate(calls)})
            calls = []
            continue
        for message in run:
            if message.calls:
                first, calls = count, list(message.calls)
                count += len(calls)
                own = tuple(replace(call, id=f"{first + at:09}") for at, call in enumerate(calls))
                message = replace(message, calls=own)
            turns.append(message)
    return turns


def _answering(results: Sequence[ChatMessage], calls: dict[str, ToolCall]) -> list[ChatMessage]:
    """Results of these calls, which have the new ids as keys."""
    found: dict[int, str] = {}
    wishes: tuple[Callable[[ToolCall, str], bool], ...] = (
        lambda call, wanted: bool(wanted) and call.id == wanted,
        lambda call, wanted: call.name == wanted,
        lambda call, wanted: True,
    )
    for wish in wishes:
        for at, result in enumerate(results):
            number = next((key for key, call in calls.items() if at not in found and wish(call, result.answers)), None)
            if number is not None:
                found[at] = number
                del calls[number]
    answered = [replace(result, answers=found.get(at, "")) for at, result in enumerate(results)]
    return sorted(answered, key=lambda result: result.answers or _LAST)


def one_by_one(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Paired turns with one call each, and its result behind it, for templates that lose or refuse more than one."""
    turns: list[ChatMessage] = []
    for message in messages:
        if message.role == "tool":
            behind = next((at for at in reversed(range(len(turns))) if message.answers in _ids(turns[at])), None)
            turns.insert(len(turns) if behind is None else behind + 1, message)
        elif len(message.calls) > 1:
            first, *more = message.calls
            turns.append(replace(message, calls=(first,)))
            turns += [ChatMessage("assistant", "", calls=(call,)) for call in more]
        else:
            turns.append(message)
    return turns


def _ids(message: ChatMessage) -> list[str]:
    return [call.id for call in message.calls]


def with_calls_written(messages: Sequence[ChatMessage], form: ToolFormat) -> list[ChatMessage]:
    """Return the turns with earlier calls as part of their texts."""
    return [
        replace(message, content="\n".join(filter(None, [message.content, form.written(*calls)])), calls=())
        if (calls := message.calls)
        else message
        for message in messages
    ]


def described(messages: Sequence[ChatMessage], tools: Sequence[Tool], form: ToolFormat) -> list[ChatMessage]:
    """Return the turns with the tools in the system's text, and results in turns of the user.

    The words are those that Hermes and Qwen2.5 learned, which small models follow best.
    """
    turns: list[ChatMessage] = []
    for message in with_calls_written(messages, form):
        if message.role == "tool":
            text = f"<tool_response>\n{message.content}\n</tool_response>"
            if turns and turns[-1].role == "user" and turns[-1].content.endswith("</tool_response>"):
                turns[-1] = replace(turns[-1], content=f"{turns[-1].content}\n{text}")
                continue
            message = ChatMessage("user", text)
        turns.append(message)
    if not tools:
        return turns
    told = _DESCRIBED.format(tools="\n".join(json.dumps(one, ensure_ascii=False) for one in as_objects(tools)))
    if turns and turns[0].role == "system":
        return [replace(turns[0], content=f"{turns[0].content}\n\n{told}"), *turns[1:]]
    return [ChatMessage("system", told), *turns]
