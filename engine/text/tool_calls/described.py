"""Conversations with tools for templates that know none: tools, calls and results as texts of the turns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.messages import ChatMessage, Tool
from engine.text.tool_calls.format import ToolFormat

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


def with_calls_written(messages: Sequence[ChatMessage], form: ToolFormat) -> list[ChatMessage]:
    """The turns with earlier calls as part of their texts."""
    return [
        replace(
            message,
            content="\n".join(filter(None, [message.content, *map(form.written, message.calls)])),
            calls=(),
        )
        for message in messages
    ]


def described(messages: Sequence[ChatMessage], tools: Sequence[Tool], form: ToolFormat) -> list[ChatMessage]:
    """The turns with the tools in the system's text, and results in turns of the person.

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
    told = _DESCRIBED.format(
        tools="\n".join(json.dumps(one, ensure_ascii=False) for one in as_objects(tools))
    )
    if turns and turns[0].role == "system":
        return [replace(turns[0], content=f"{turns[0].content}\n\n{told}"), *turns[1:]]
    return [ChatMessage("system", told), *turns]
