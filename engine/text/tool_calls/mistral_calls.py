"""Tool calls of Mistral's newer templates: ``[TOOL_CALLS]name[ARGS]{...}``, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.messages import Tool, ToolCall
from engine.text.stop import overlap
from engine.text.tool_calls.format import CallPiece, CallReader, ToolFormat, literal_rules, one_of
from engine.text.tool_calls.json_calls import JsonValue

_ARGUMENTS = "[ARGS]"
_ID = "[CALL_ID]"
_OPENING = "[TOOL_CALLS]"


class Mistral(ToolFormat):
    """Mistral Small 3.2, Ministral 3, Devstral; what stands between ``[CALL_ID]`` and ``[ARGS]`` is a number."""

    name = "mistral"
    opening = _OPENING
    between = ""
    marks = (_OPENING, _ID, _ARGUMENTS)

    def is_of(self, source: str) -> bool:
        """Return whether a template is of this format."""
        return _OPENING in source and _ARGUMENTS in source

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        """Return a reader of calls."""
        return _Reader()

    def _written(self, call: ToolCall) -> str:
        return f"{_OPENING}{call.name}{_ARGUMENTS}{call.arguments}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        """Rules of a grammar."""
        return [one_of(tools), *literal_rules(tools, literal, lambda name: f"{name}{_ARGUMENTS}", "")]


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
            name, found, behind = self._held.partition(_ARGUMENTS)
            if found:
                self._pieces.append(CallPiece(name.partition(_ID)[0].strip()))
                self._held, self._value, self._named = behind.lstrip(), JsonValue(), False
            return bool(found)
        behind = self._held.lstrip()
        if behind.startswith(_OPENING):
            self._held, self._named = behind.removeprefix(_OPENING), True
            return True
        return self._over(behind) if behind and overlap(behind, _OPENING) != len(behind) else False
