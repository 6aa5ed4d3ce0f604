"""Tools of a request, and the calls of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial

from engine.json_text import read_json
from engine.messages import Tool, ToolCall, ToolUse
from engine.server.fields import Fields
from engine.server.refusal import Refused

_MOST_TOOLS = 128
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def openai_tools(fields: Fields) -> ToolUse:
    """Read the tools from OpenAI's fields: a function beside its type, or in an object ``function``."""
    if fields.value("tool_choice") == "none":
        return ToolUse()
    offered = []
    for tool in fields.objects("tools"):
        of = tool.text("type") or "function"
        if of != "function":
            sentence = f"Tenon's server serves tools of the type function alone, and not {of[:40]}: leave it out."
            raise Refused(400, sentence, tool.name("type"), "not_supported")
        offered.append(_tool(tool if tool.value("function") is None else tool.inner("function"), "parameters"))
    choice = fields.value("tool_choice")
    required, only = False, ""
    if isinstance(choice, dict):
        wanted = fields.inner("tool_choice")
        kind = wanted.text("type")
        if kind == "allowed_tools":
            within = wanted if wanted.value(kind) is None else wanted.inner(kind)
            required = within.one_of("mode", ("auto", "required")) == "required"
            allowed = {_named(tool) for tool in within.objects("tools")}
            offered = [tool for tool in offered if tool.name in allowed]
        elif kind == "function":
            required, only = True, _named(wanted)
        else:
            raise fields.wrong("tool_choice", "none, auto, required or the name of a function")
    else:
        required = fields.one_of("tool_choice", ("none", "auto", "required", "any")) in ("required", "any")
    return _use(fields, offered, required, only, fields.switch("parallel_tool_calls", not required))


def anthropic_tools(fields: Fields) -> ToolUse:
    """Read the tools from Anthropic's fields."""
    choice = fields.inner("tool_choice")
    kind = choice.one_of("type", ("auto", "any", "tool", "none"))
    if kind == "none":
        return ToolUse()
    offered = []
    for tool in fields.objects("tools"):
        of = tool.text("type") or "custom"
        if of != "custom":
            sentence = f"Tenon's server has no tools of its own such as {of[:40]}: leave it out."
            raise Refused(400, sentence, tool.name("type"), "not_supported")
        offered.append(_tool(tool, "input_schema"))
    only = (choice.text("name") or "") if kind == "tool" else ""
    required = kind in ("any", "tool")
    return _use(fields, offered, required, only, not choice.switch("disable_parallel_tool_use", required))


def openai_call(call: ToolCall) -> dict[str, object]:
    """Return a call as OpenAI's clients get it."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def arguments_of(call: ToolCall) -> object:
    """Return arguments as an object, for protocols that send them so; empty if they were cut short."""
    try:
        return json.loads(call.arguments or "{}", strict=False)
    except ValueError:
        return {}


def _named(choice: Fields) -> str:
    """Return the name of a function that a choice names, beside its type or in an object."""
    return (choice if choice.value("function") is None else choice.inner("function")).text("name") or ""


def _tool(fields: Fields, schema: str) -> Tool:
    name = fields.text("name")
    if name is None or _NAME.fullmatch(name) is None:
        raise fields.wrong("name", "1 to 128 letters, digits or signs of _ . : -")
    of = fields.inner(schema).names()
    parameters = {one: fields.inner(schema).value(one) for one in of}
    if fields.value(schema) is None:
        parameters = {"type": "object", "properties": {}, "additionalProperties": False}
    return Tool(name, fields.text("description") or "", json.dumps(parameters))


def _use(fields: Fields, offered: Sequence[Tool], required: bool, only: str, parallel: bool) -> ToolUse:
    if len(offered) > _MOST_TOOLS:
        raise fields.wrong("tools", f"a list of {_MOST_TOOLS} tools at most")
    if required and not offered:
        raise Refused(400, "tool_choice requires a tool, but the field tools is empty: send it.", "tools")
    if only and only not in [tool.name for tool in offered]:
        raise Refused(400, f"There is no tool {only[:60]!r} in the field tools.", "tool_choice")
    # A required call is one call unless more are asked for: a small model would repeat it up to its limit.
    return ToolUse(tuple(offered), required, only, parallel and not only)


def earlier_call(fields: Fields, field: str, call_id: str | None) -> ToolCall:
    """Read a call of an earlier turn; its arguments are JSON or, of Anthropic's and Ollama's clients, an object."""
    wrong = partial(fields.wrong, field, "a JSON object")
    name, arguments = fields.text("name"), fields.value(field)
    if not name:
        raise fields.wrong("name", "the name of a tool")
    if isinstance(arguments, str):
        try:
            arguments = read_json(arguments.encode("utf-8", "replace")) if arguments.strip() else {}
        except ValueError as error:
            raise wrong() from error
    if arguments is not None and not isinstance(arguments, dict):
        raise wrong()
    return ToolCall(name, json.dumps(arguments or {}, ensure_ascii=False), call_id or "")
