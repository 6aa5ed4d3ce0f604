"""Tool calls as JSON objects with a name and arguments, in the marks of the one or the other template.

Mistral's newer templates write the name before the object: ``[TOOL_CALLS]name[ARGS]{...}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import ClassVar

from engine.messages import Tool, ToolCall
from engine.text.detokenizer import overlap
from engine.text.tool_calls.format import (
    CallPiece,
    CallReader,
    ToolFormat,
    follows,
    list_rules,
    literal_rules,
    one_of,
)

_ARGUMENTS = ("arguments", "parameters")
_KEY = re.compile(r'\s*,?\s*"((?:[^"\\]|\\.)*)"\s*:\s*(?=\S)')
#: A call as Hermes 2 and 3 write it.
_IN_TWO_TEXTS = re.compile(r"""<tool_call>(?:\\n|\n)["'] *-?}}\s*{{-? *["']{""")
_BETWEEN = " \n\r\t,;[]"
_ARGS = "[ARGS]"
_ID = "[CALL_ID]"
_OPENING = "[TOOL_CALLS]"


class JsonValue:
    """Finds the end of one JSON value in a text that comes in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_text = False
        self._escaped = False
        self._begun = False

    def length(self, text: str) -> tuple[int, bool]:
        """Characters of this piece that belong to the value, and whether it ends with them."""
        for at, character in enumerate(text):
            if self._in_text:
                if self._escaped:
                    self._escaped = False
                elif character == "\\":
                    self._escaped = True
                elif character == '"':
                    self._in_text = False
                    if not self._depth:
                        return at + 1, True
            elif character == '"':
                self._in_text = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                if not self._depth:
                    return at, True
                self._depth -= 1
                if not self._depth:
                    return at + 1, True
            elif self._begun and not self._depth and character in ", \n\r\t":
                return at, True
            self._begun = True
        return len(text), False


class JsonCallReader(CallReader):
    """Reads objects, one by one or in a list, until the mark that closes them.

    Args:
        closing: The mark; empty where the reply's end is the end of the calls.
    """

    def __init__(self, closing: str) -> None:
        super().__init__()
        self._closing = closing
        self._place = "between"
        self._value = JsonValue()
        self._key = self._text = ""
        self._named = False
        self._early = ""  # arguments that come before the name
        self._depth = 0

    def _step(self) -> bool:
        return {"between": self._between, "key": self._in_object, "value": self._in_value}[self._place]()

    def _between(self) -> bool:
        self._held = self._held.lstrip(_BETWEEN)
        if self._closing and self._held.startswith(self._closing):
            return self._over(self._held.removeprefix(self._closing))
        if self._held.startswith("{"):
            self._held = self._held[1:]
            self._place, self._named, self._early, self._depth = "key", False, "", 1
            return True
        if self._held and overlap(self._held, self._closing) != len(self._held):
            return self._over(self._held)
        return False

    def _in_object(self) -> bool:
        inner = self._held.lstrip()
        if inner.startswith("}"):
            self._held = inner[1:]
            self._depth -= 1
            if not self._depth:
                self._place = "between"
                if not self._named:
                    return self._over(self._held)
            return True
        found = _KEY.match(self._held)
        if found is None:
            if inner and inner[0] not in '",':
                return self._over(self._held)
            return False
        self._key = found[1]
        self._held = self._held[found.end() :]
        if self._key == "function" and self._held.startswith("{"):  # as OpenAI's clients write it
            self._held = self._held[1:]
            self._depth += 1
            return True
        self._place, self._value, self._text = "value", JsonValue(), ""
        return True

    def _in_value(self) -> bool:
        length, whole = self._value.length(self._held)
        piece, self._held = self._held[:length], self._held[length:]
        self._text += piece
        as_text = self._text.startswith('"')
        if self._key in _ARGUMENTS and not as_text:
            self._argue(piece)
        if not whole:
            return False
        self._place = "key"
        if as_text:
            try:
                self._text = str(json.loads(self._text, strict=False))
            except ValueError:
                return True
            if self._key in _ARGUMENTS:
                self._argue(self._text)
            elif self._key in ("name", "function") and not self._named:
                self._named = True
                self._pieces.append(CallPiece(self._text, self._early))
        return True

    def _argue(self, text: str) -> None:
        if not self._named:
            self._early += text
        elif text:
            self._pieces.append(CallPiece("", text))


class _JsonFormat(ToolFormat):
    """Objects between two marks."""

    closing: ClassVar[str] = ""  # the mark behind them
    space: ClassVar[str] = ""  # what stands between a mark and an object
    arguments: ClassVar[str] = "arguments"  # the key of a call's arguments
    listed: ClassVar[bool] = False  # all calls stand in one list

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        return JsonCallReader(self.closing)

    def written(self, *calls: ToolCall) -> str:
        if not self.listed:
            return super().written(*calls)
        return f"{self.opening}[{', '.join(f'{self._head(one.name)}{one.arguments}}}' for one in calls)}]{self.closing}"

    def _written(self, call: ToolCall) -> str:
        inner = f"{self._head(call.name)}{call.arguments}}}"
        return f"{self.opening}{self.space}{inner}{self.space}{self.closing}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        if self.listed:
            whole, before, after = list_rules(tools, literal, self.closing, several), "", "}"
        else:
            whole, before, after = [one_of(tools)], self.space, f"}}{self.space}{self.closing}"
        return [*whole, *literal_rules(tools, literal, lambda name: before + self._head(name), after)]

    def _head(self, name: str) -> str:
        return f'{{"name": {json.dumps(name, ensure_ascii=False)}, "{self.arguments}": '


class Hermes(_JsonFormat):
    """``<tool_call>{"name": ..., "arguments": ...}</tool_call>``: Hermes, Qwen2.5, Qwen3, Granite 4, SmolLM3."""

    name = "hermes"
    opening = "<tool_call>"
    closing = "</tool_call>"
    space = between = "\n"
    marks = ("<tool_call>", "</tool_call>")

    def is_of(self, source: str) -> bool:
        return follows(source, "<tool_call>", "{") or _IN_TWO_TEXTS.search(source) is not None


class ListBehindMark(_JsonFormat):
    """``<|tool_call|>[{"name": ..., "arguments": ...}]``: Granite 3, and Phi-4 mini, which closes it."""

    name = "list-behind-mark"
    opening = "<|tool_call|>"
    listed = True
    marks = ("<|tool_call|>", "<|/tool_call|>")
    signs = ("<|tool_call|>",)

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        return JsonCallReader("<|/tool_call|>")


class ListInMarks(_JsonFormat):
    """``<tool_calls>[{"name": ..., "arguments": ...}]</tool_calls>``: Apriel, a Mistral."""

    name = "list-in-marks"
    opening = "<tool_calls>"
    closing = "</tool_calls>"
    listed = True
    marks = ("<tool_calls>", "</tool_calls>")
    signs = ("<tool_calls>[",)


class MistralList(_JsonFormat):
    """``[TOOL_CALLS][{"name": ..., "arguments": ...}]``: Mistral up to Nemo."""

    name = "mistral-list"
    opening = "[TOOL_CALLS]"
    listed = True
    marks = ("[TOOL_CALLS]",)

    def is_of(self, source: str) -> bool:
        return "[TOOL_CALLS]" in source and "[ARGS]" not in source


class Llama3(_JsonFormat):
    """``{"name": ..., "parameters": ...}`` and nothing else: Llama 3.1 to 3.3."""

    name = "llama3"
    opening = ""
    arguments = "parameters"
    between = "; "
    marks = ("<|python_tag|>",)
    bare = True
    signs = ("<|start_header_id|>", '"parameters": ')


class Mistral(ToolFormat):
    """Mistral Small 3.2, Ministral 3, Devstral; what stands between ``[CALL_ID]`` and ``[ARGS]`` is a number."""

    name = "mistral"
    opening = _OPENING
    between = ""
    marks = (_OPENING, _ID, _ARGS)
    signs = (_OPENING, _ARGS)

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        return _Reader()

    def _written(self, call: ToolCall) -> str:
        return f"{_OPENING}{call.name}{_ARGS}{call.arguments}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        return [one_of(tools), *literal_rules(tools, literal, lambda name: f"{name}{_ARGS}", "")]


class _Reader(CallReader):
    def __init__(self) -> None:
        super().__init__()
        self._value: JsonValue | None = None  # the arguments, while they come
        self._named = True  # a name comes next

    def _step(self) -> bool:
        if self._value is not None:
            length, whole = self._value.length(self._held)
            if length:
                self._pieces.append(CallPiece("", self._held[:length]))
                self._held = self._held[length:]
            if whole:
                self._value = None
            return whole
        if self._named:
            name, found, behind = self._held.partition(_ARGS)
            if found:
                self._pieces.append(CallPiece(name.partition(_ID)[0].strip()))
                self._held, self._value, self._named = behind.lstrip(), JsonValue(), False
            return bool(found)
        behind = self._held.lstrip()
        if behind.startswith(_OPENING):
            self._held, self._named = behind.removeprefix(_OPENING), True
            return True
        return self._over(behind) if behind and overlap(behind, _OPENING) != len(behind) else False
