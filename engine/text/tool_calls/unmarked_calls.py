"""Tool calls without marks: JSON objects, bare or fenced, as Qwen2.5-Coder and other small models write them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from engine.messages import Tool
from engine.text.tool_calls.format import CallPiece, fields, resolved, schema, value_rule
from engine.text.tool_calls.json_calls import JsonValue

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

_CODE = "```"
_TAG = "<|python_tag|>"  # Llama 3's
_FENCE = re.compile(rf"[ \t]*(?:(```)[ \t]*(?:json|tool_call)?[ \t]*\n|(<tools>)|{re.escape(_TAG)})?\s*")
_BEGUN_FENCES = ("```json", "```tool_call", "<tools>", _TAG)
_BEGUN = re.compile(r"[ \t]*[`{\[<]")
_CLOSINGS = (_CODE, "</tools>")
_CLOSED = re.compile(r"\s*(?:```|</tools>)")
_CLOSED_EARLY = re.compile(r"\n[ \t]*(?:```|</tools>)")
#: Text between two calls.
SEPARATORS = " \t\r\n,;"
_KEYS = {"name", "arguments", "parameters", "type", "id", "function"}
_DECODER = json.JSONDecoder(strict=False)
#: No call, one that may come, or its length and what it says.
_Read: TypeAlias = Literal["no", "open"] | tuple[int, list[CallPiece]]


class UnmarkedCalls:
    """Finds calls in an answer: objects at the beginning of a line that name a tool and hold to its schema.

    Args:
        tools: Those that may be called.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._schemas = {tool.name: schema(tool) for tool in tools}
        names = [f'{{"name":{json.dumps(tool.name)}' for tool in tools]
        later = ['{"type":"function"', '{"id":"', '{"function":{"name":']
        early = ['{"arguments":{', '{"parameters":{']
        objects = [*names, *later, *early]
        self._heads = [*objects, *(f"[{head}" for head in objects)]
        self._longest = max(map(len, self._heads))
        self._in_code = False  # a block of it that is no call

    def find(self, text: str, whole: bool, at_line: bool, end: int) -> tuple[int, int, list[CallPiece]]:
        """Look for the first call.

        Args:
            whole: Nothing more comes.
            at_line: The text begins a line.
            end: A call that begins there or behind is not looked for; one before may go on there.

        Returns:
            Where a call begins, or what may become one; where it ends, the same place while that is open; and the call.
            The text's length twice where there is none.
        """
        start = 0 if at_line else text.find("\n") + 1 or len(text)
        while start < end:
            begun = _BEGUN.match(text, start)
            if begun is not None:
                code = text.startswith(_CODE, begun.end() - 1)
                found: _Read = "no"
                if not self._in_code:
                    found = self._read(text[start:], whole)
                elif not whole and not code and _CODE.startswith(text[begun.end() - 1 :]):
                    found = "open"
                if found == "open":
                    return start, start, []
                if found != "no":
                    length, calls = found
                    return start, start + length, calls
                self._in_code ^= code
            start = text.find("\n", start) + 1 or len(text)
        return len(text), len(text), []

    def _read(self, text: str, whole: bool) -> _Read:
        """Return the calls that a text begins with, and its length as far as they go."""
        line = text.strip(" \t")
        if not whole and any(one.startswith(line) for one in _BEGUN_FENCES):
            return "open"
        fence = _FENCE.match(text)
        assert fence is not None  # it matches the empty text, too
        at, fenced = fence.end(), bool(fence[1] or fence[2])
        begun = "".join(text[at : at + 4 * self._longest].split())[: self._longest]
        if not begun:
            return "open" if fence[0].strip() and not whole else "no"
        if not any(head.startswith(begun) or begun.startswith(head) for head in self._heads):
            return "no"
        calls: list[CallPiece] = []
        while text[at : at + 1] in ("{", "["):
            try:
                value, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                over = whole or (fenced and _CLOSED_EARLY.search(text, at))
                if not over and text.rstrip().endswith(("}", "]")):
                    over = JsonValue().length(text[at:])[1]
                return "no" if over else "open"
            for one in value if isinstance(value, list) else [value]:
                call = self._call(one)
                if call is None:
                    return "no"
                calls.append(call)
            if not fenced:
                return at, calls
            at += len(text[at:]) - len(text[at:].lstrip(SEPARATORS))
        closed = _CLOSED.match(text, at)
        if closed is not None:
            return closed.end(), calls
        rest = text[at:].strip()
        if whole and not rest:
            return len(text), calls
        return "open" if not whole and any(one.startswith(rest) for one in _CLOSINGS) else "no"

    def _call(self, value: object) -> CallPiece | None:
        """Return the call that a value is, or None if it is none."""
        if not isinstance(value, dict) or not {*value} <= _KEYS:
            return None
        if isinstance(value.get("function"), dict):
            return self._call(value["function"])
        name, arguments = value.get("name"), value.get("arguments", value.get("parameters"))
        if isinstance(arguments, str):
            try:
                arguments = _DECODER.decode(arguments)
            except ValueError:
                return None
        of = self._schemas.get(name) if isinstance(name, str) else None
        if of is None or not isinstance(arguments, dict) or not holds(arguments, of):
            return None
        return CallPiece(str(name), json.dumps(arguments, ensure_ascii=False))


def holds(value: object, of: Mapping[str, Any]) -> bool:
    """Return whether a value holds to a schema; every object does, if no grammar can follow the schema."""
    matcher = _matcher(json.dumps(of)).deep_copy()
    if matcher.is_error():
        return isinstance(value, dict)
    text = json.dumps(_ordered(value, of, of), ensure_ascii=False).replace("\x7f", "\\u007f")
    tokens = [*text.encode("utf-8", "replace")]
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def _ordered(value: object, of: Mapping[str, Any], root: Mapping[str, Any]) -> object:
    """Return a value with the keys of its objects in the schema's order, the only one that llguidance follows."""
    of = resolved(of, root)
    if isinstance(value, list):
        return [_ordered(one, of.get("items") or {}, root) for one in value]
    if not isinstance(value, dict):
        return value
    known = fields(of, root)
    keys = [*(key for key in known if key in value), *(key for key in value if key not in known)]
    return {key: _ordered(value[key], known.get(key, {}), root) for key in keys}


@cache
def _bytes() -> LLTokenizer:
    from llguidance import LLTokenizer

    return LLTokenizer("byte")


@lru_cache(maxsize=256)
def _matcher(of: str) -> LLMatcher:
    from llguidance import LLMatcher

    rule = value_rule("start", json.loads(of), {})
    return LLMatcher(_bytes(), LLMatcher.grammar_from_lark(rule), log_level=0)
