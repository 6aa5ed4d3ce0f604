"""Tool calls whose arguments are values in a notation of the template's own: Gemma 4's and LFM2's (Python's)."""

from __future__ import annotations

import ast
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from engine.messages import Tool, ToolCall
from engine.text.tool_calls.format import CallPiece, CallReader, ToolFormat, schema, value_rule

_QUOTE = '<|"|>'
_BARE_KEY = re.compile(r'([{,]\s*)([^\s"{},:\[\]]+)\s*:')


class _Marked(ToolFormat):
    """Calls between two marks, which are read once the closing one has come."""

    closing: ClassVar[str]

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        """A reader of calls."""
        return _WholeReader(self.closing, self.calls)

    @staticmethod
    @abstractmethod
    def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
        """Names and arguments of the calls in a text; raises ValueError where it holds none."""


class _WholeReader(CallReader):
    def __init__(self, closing: str, calls: Callable[[str], list[tuple[str, dict[str, Any]]]]) -> None:
        super().__init__()
        self._closing, self._calls = closing, calls

    def _step(self) -> bool:
        inner, closed, behind = self._held.partition(self._closing)
        if not closed:
            return False
        return self._over(behind if self._read(inner) else self._held)

    def _read(self, text: str) -> bool:
        try:
            found = self._calls(text)
        except (ValueError, SyntaxError, RecursionError):
            return False
        self._pieces += [
            CallPiece(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in found
        ]
        return bool(found)


class Gemma4(_Marked):
    """``<|tool_call>call:name{key:<|"|>text<|"|>,number:3}<tool_call|>``."""

    name = "gemma4"
    opening = "<|tool_call>"
    closing = "<tool_call|>"
    marks = ("<|tool_call>", "<tool_call|>", _QUOTE)

    def is_of(self, source: str) -> bool:
        """True for a template of this format."""
        return "<|tool_call>call:" in source

    @staticmethod
    def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
        """The one call between two marks."""
        name, begun, inner = text.strip().partition("{")
        if not begun or not name.startswith("call:"):
            raise ValueError(text)
        pieces = f"{{{inner}".split(_QUOTE)
        # Every second piece is a text; in the others keys stand without quotes.
        notation = "".join(
            json.dumps(piece) if at % 2 else _BARE_KEY.sub(r'\1"\2":', piece)
            for at, piece in enumerate(pieces)
        )
        arguments = json.loads(notation)
        return [(name.removeprefix("call:").strip(), arguments)]

    def written(self, call: ToolCall) -> str:
        """A call in this format."""
        arguments = _gemma_value(json.loads(call.arguments))
        return f"{self.opening}call:{call.name}{arguments}{self.closing}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str]) -> tuple[str | None, list[str]]:
        """Rules of a grammar."""
        quote = literal(_QUOTE)
        made = _Notation(
            literal, f"{quote} /[^<]*/ {quote}", quote, "{key}:", ("{", "}"), ",", ("true", "false")
        )
        return "", made.rules(tools, "call:{name}{", "}" + self.closing)


class Lfm2(_Marked):
    """``<|tool_call_start|>[name(key="text", number=3)]<|tool_call_end|>``: LFM2 and LFM2.5."""

    name = "lfm2"
    opening = "<|tool_call_start|>"
    closing = "<|tool_call_end|>"
    marks = ("<|tool_call_start|>", "<|tool_call_end|>")

    def is_of(self, source: str) -> bool:
        """True for a template of this format; LFM2's own does not write calls."""
        return "<|tool_call_start|>" in source or "List of tools: " in source

    @staticmethod
    def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
        """The calls of a list in Python's notation, or in JSON."""
        try:
            objects = json.loads(text)
        except ValueError:
            objects = None
        if objects is not None:
            objects = objects if isinstance(objects, list) else [objects]
            try:
                return [(str(one["name"]), dict(one["arguments"])) for one in objects]
            except (TypeError, KeyError) as error:
                raise ValueError(text) from error
        body = ast.parse(text.strip(), mode="eval").body
        calls = body.elts if isinstance(body, ast.List) else [body]
        found = []
        for call in calls:
            if not isinstance(call, ast.Call) or call.args:
                raise ValueError(text)
            values = {one.arg: _python_value(one.value) for one in call.keywords if one.arg is not None}
            found.append((ast.unparse(call.func), values))
        return found

    def written(self, call: ToolCall) -> str:
        """A call in this format."""
        values = ", ".join(f"{key}={value!r}" for key, value in json.loads(call.arguments).items())
        return f"{self.opening}[{call.name}({values})]{self.closing}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str]) -> tuple[str | None, list[str]]:
        """Rules of a grammar."""
        text = r'/"([^"\\\n]|\\["\\nt])*"/'
        made = _Notation(literal, text, '"\\""', '"{key}": ', ("{", "}"), ", ", ("True", "False"))
        return None, made.rules(tools, "[{name}(", ")]" + self.closing, "{key}=")


class _Notation:
    """Rules for values by a schema: texts, numbers, truths, lists and objects; of unions the first kind."""

    def __init__(
        self,
        literal: Callable[[str], str],
        text: str,
        quote: str,
        key: str,
        braces: tuple[str, str],
        comma: str,
        truths: tuple[str, str],
    ) -> None:
        self._literal = literal
        self._text, self._quote, self._key = text, quote, key
        self._braces, self._comma, self._truths = braces, comma, truths
        self._rules: list[str] = []

    def rules(self, tools: Sequence[Tool], before: str, after: str, key: str = "") -> list[str]:
        names = " | ".join(f"call_{at}" for at in range(len(tools)))
        self._rules = [f"call: {names}"]
        for at, tool in enumerate(tools):
            inner = self._fields(schema(tool), f"f_{at}", key or self._key)
            begin = self._literal(before.replace("{name}", tool.name))
            self._rules.append(f"call_{at}: {begin} {inner} {self._literal(after)}")
        return self._rules

    def _fields(self, of: dict[str, Any], name: str, key: str) -> str:
        """Required fields in their order, then others or none."""
        properties: dict[str, Any] = of.get("properties") or {}
        required = [one for one in properties if one in (of.get("required") or ())]
        others = [one for one in properties if one not in required]
        parts = {
            one: f"{self._literal(key.replace('{key}', one))} {self._value(properties[one], f'{name}_{at}')}"
            for at, one in enumerate(properties)
        }
        comma = self._literal(self._comma)
        told = f" {comma} ".join(parts[one] for one in required)
        if required:
            return told + "".join(f" ({comma} {parts[one]})?" for one in others)
        # A comma stands before every field but the first, whichever that is.
        tails = [
            f"{parts[one]}" + "".join(f" ({comma} {parts[later]})?" for later in others[at + 1 :])
            for at, one in enumerate(others)
        ]
        return f"({' | '.join(tails)})?" if tails else '""'

    def _value(self, of: object, name: str) -> str:
        kinds = of if isinstance(of, dict) else {}
        for union in ("anyOf", "oneOf"):
            if isinstance(kinds.get(union), list) and kinds[union]:
                return self._value(kinds[union][0], name)
        if isinstance(kinds.get("enum"), list) and kinds["enum"]:
            return f"({' | '.join(self._constant(one) for one in kinds['enum'])})"
        kind = kinds.get("type")
        kind = kind[0] if isinstance(kind, list) and kind else kind
        if kind == "boolean":
            return f"({self._literal(self._truths[0])} | {self._literal(self._truths[1])})"
        if kind in ("integer", "number"):
            self._rules.append(value_rule(name, kinds))
            return name
        if kind == "array":
            item, comma = self._value(kinds.get("items"), f"{name}_i"), self._literal(self._comma)
            return f'"[" ({item} ({comma} {item})*)? "]"'
        if kind == "object":
            inner = self._fields(kinds, name, self._key)
            return f"{self._literal(self._braces[0])} {inner} {self._literal(self._braces[1])}"
        self._rules.append(f"{name}: {self._text}")
        return name

    def _constant(self, value: object) -> str:
        if isinstance(value, str):
            return f"{self._quote} {self._literal(value)} {self._quote}"
        if isinstance(value, bool):
            return self._literal(self._truths[not value])
        return self._literal(json.dumps(value))


def _gemma_value(value: object) -> str:
    if isinstance(value, str):
        return f"{_QUOTE}{value}{_QUOTE}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_gemma_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_gemma_value, value)) + "]"
    return json.dumps(value)


def _python_value(node: ast.expr) -> Any:
    """A value in Python's notation, or with the truths of JSON."""
    if isinstance(node, ast.Name) and node.id in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [_python_value(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        return {
            ast.literal_eval(key): _python_value(one)
            for key, one in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    return ast.literal_eval(node)
