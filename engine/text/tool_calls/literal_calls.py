"""Tool calls whose arguments are values in a notation of the template's own: Gemma 4's and LFM2's (Python's)."""

from __future__ import annotations

import ast
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from engine.messages import Tool, ToolCall
from engine.text.tool_calls.format import (
    CallPiece,
    CallReader,
    ToolFormat,
    branches,
    fields,
    kinds,
    list_rules,
    one_of,
    resolved,
    schema,
    text_rule,
    value_rule,
)

_QUOTE = '<|"|>'
_DEEPEST = 4  # of objects within each other: a schema may refer to itself
_TEXT_OR_KEY = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<before>[(,]\s*)(?P<key>[^\s=(),\[\]{}'":]+)\s*=(?!=)""",
    re.DOTALL,
)
_BARE_KEY = re.compile(r'([{,]\s*)([^\s"{},:\[\]]+)\s*:')


class _Marked(ToolFormat):
    """Calls between two marks, which are read once the closing one has come."""

    closing: ClassVar[str]

    def reader(self, tools: Sequence[Tool]) -> CallReader:
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
        self._pieces += [CallPiece(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in found]
        return bool(found)


class Gemma4(_Marked):
    """``<|tool_call>call:name{key:<|"|>text<|"|>,number:3}<tool_call|>``."""

    name = "gemma4"
    opening = "<|tool_call>"
    closing = "<tool_call|>"
    between = ""
    marks = ("<|tool_call>", "<tool_call|>", _QUOTE)
    signs = ("<|tool_call>call:",)

    @staticmethod
    def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the one call between two marks."""
        name, begun, inner = text.strip().partition("{")
        if not begun or not name.startswith("call:"):
            raise ValueError(text)
        pieces = f"{{{inner}".split(_QUOTE)
        # Every second piece is a text; in the others keys stand without quotes.
        notation = "".join(
            json.dumps(piece) if at % 2 else _BARE_KEY.sub(r'\1"\2":', piece) for at, piece in enumerate(pieces)
        )
        arguments = json.loads(notation)
        return [(name.removeprefix("call:").strip(), arguments)]

    def _written(self, call: ToolCall) -> str:
        arguments = _gemma_value(json.loads(call.arguments))
        return f"{self.opening}call:{call.name}{arguments}{self.closing}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        quote = literal(_QUOTE)
        rules = [one_of(tools)]
        for at, tool in enumerate(tools):
            of = schema(tool)
            inner = _GemmaRules(rules, quote, of).whole(of, f"f_{at}")
            rules.append(f"call_{at}: {json.dumps(f'call:{tool.name}')} {inner} {literal(self.closing)}")
        return rules


class Lfm2(_Marked):
    """``<|tool_call_start|>[name(key="text", number=3)]<|tool_call_end|>``: LFM2 and LFM2.5."""

    name = "lfm2"
    opening = "<|tool_call_start|>"
    closing = "<|tool_call_end|>"
    marks = ("<|tool_call_start|>", "<|tool_call_end|>")

    def is_of(self, source: str) -> bool:
        """Return whether a template is of this format; LFM2's own does not write calls."""
        return "<|tool_call_start|>" in source or "List of tools: " in source

    @staticmethod
    def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls of a list in Python's notation, or in JSON."""
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
        keys: list[str] = []
        body = ast.parse(_as_python(text.strip(), keys), mode="eval").body
        calls = body.elts if isinstance(body, ast.List) else [body]
        found = []
        for call in calls:
            if not isinstance(call, ast.Call) or call.args:
                raise ValueError(text)
            if any(one.arg is None for one in call.keywords):
                raise ValueError(text)
            values = {keys[int(str(one.arg)[1:])]: _python_value(one.value) for one in call.keywords}
            found.append((ast.unparse(call.func), values))
        return found

    def written(self, *calls: ToolCall) -> str:
        return f"{self.opening}[{', '.join(map(self._written, calls))}]{self.closing}"

    def _written(self, call: ToolCall) -> str:
        values = ", ".join(f"{key}={value!r}" for key, value in json.loads(call.arguments).items())
        return f"{call.name}({values})"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        """Rules of a grammar: Python's notation as far as it is JSON's, too."""
        rules = list_rules(tools, literal, self.closing, several)
        for at, tool in enumerate(tools):
            of, parts = schema(tool), {}
            for number, (key, inner) in enumerate(fields(of, of).items()):
                name = f"v_{at}_{number}"
                truth = kinds(inner) == {"boolean"} and not {"const", "enum"} & {*inner}
                rules.append(f'{name}: "True" | "False"' if truth else value_rule(name, inner, of))
                if text := _quoted_text(inner):  # as LFM2.5's template writes texts of earlier calls
                    rules[-1] = rules[-1].replace(f"{name}:", f"{name}_json:", 1)
                    rules.append(f"{name}: {name}_json | {text}")
                parts[key] = f"{json.dumps(f'{key}=')} {name}"
            inside = _joined(parts, of.get("required") or (), '", "')
            rules.append(f"call_{at}: {json.dumps(f'{tool.name}(')} {inside} {json.dumps(')')}")
        return rules


def _quoted_text(of: dict[str, Any]) -> str:
    """Return the rule of a text in single quotes; empty if the schema says more of it than its length."""
    if kinds(of) != {"string"} or {"pattern", "format", "anyOf", "oneOf"} & {*of}:
        return ""
    constants = [of["const"]] if "const" in of else of.get("enum")
    if isinstance(constants, list) and constants:
        return " | ".join(json.dumps(repr(one)) for one in constants if isinstance(one, str))
    least, most = of.get("minLength", 0), of.get("maxLength", "")
    return rf"""/'([^'\\\n\r]|\\['"\\nrt]){{{least},{most}}}'/"""


class _GemmaRules:
    """Rules for values in Gemma 4's notation.

    Args:
        rules: Takes those that have names.
        quote: The mark around texts in the grammar's words.
        root: The whole schema.
    """

    def __init__(self, rules: list[str], quote: str, root: dict[str, Any]) -> None:
        self._rules, self._quote, self._root = rules, quote, root

    def whole(self, of: dict[str, Any], name: str, depth: int = 0) -> str:
        """Return the rule of an object with the fields of its schema."""
        parts = {
            key: f"{json.dumps(f'{key}:')} {self._value(inner, f'{name}_{at}', depth)}"
            for at, (key, inner) in enumerate(fields(of, self._root).items())
        }
        return f'"{{" {_joined(parts, of.get("required") or (), chr(34) + "," + chr(34))} "}}"'

    def _value(self, of: object, name: str, depth: int) -> str:
        choices = [
            self._one({**one, "type": kind}, kind, f"{name}_{at}_{kind}", depth + 1)
            for at, one in enumerate(branches(resolved(of, self._root)))
            for kind in sorted(kinds(one))
        ]
        return f"({' | '.join(choices)})"

    def _one(self, of: dict[str, Any], kind: str, name: str, depth: int) -> str:
        constants = [of["const"]] if "const" in of else of.get("enum")
        if isinstance(constants, list) and constants:
            return " | ".join(self._constant(one) for one in constants)
        if kind == "boolean":
            return '"true" | "false"'
        if kind == "null":
            return '"null"'
        if kind in ("integer", "number"):
            self._rules.append(value_rule(name, of, self._root))
            return name
        if kind == "array" and depth < _DEEPEST:
            item = self._value(of.get("items"), f"{name}_i", depth)
            least, most = of.get("minItems", 0), of.get("maxItems")
            more = f"{{{max(least - 1, 0)},{'' if most is None else max(most - 1, 0)}}}"
            some = f'{item} ("," {item}){more}'
            return f'"[" {f"({some})" if least else f"({some})?"} "]"' if most != 0 else '"[" "]"'
        if kind == "object" and depth < _DEEPEST:
            return self.whole(of, name, depth)
        if kind in ("array", "object"):
            return '"[" "]"' if kind == "array" else '"{" "}"'
        text, found = text_rule(name, of, _QUOTE, self._quote)
        self._rules += found
        return f"{self._quote} {text}"

    def _constant(self, value: object) -> str:
        return (
            f"{self._quote} {json.dumps(value)} {self._quote}"
            if isinstance(value, str)
            else json.dumps(json.dumps(value))
        )


def _joined(parts: dict[str, str], required: Sequence[str], comma: str) -> str:
    """Fields in their order, of which those that are not required may be left out."""
    told = [key for key in parts if key in required]
    if told:
        # A field before the first required one ends with a comma, and one after it begins with a comma.
        first = list(parts).index(told[0])
        found = [
            parts[key] if key == told[0] else f"{parts[key]} {comma}" if at < first else f"{comma} {parts[key]}"
            for at, key in enumerate(parts)
        ]
        return " ".join(part if key in told else f"({part})?" for key, part in zip(parts, found, strict=True))
    tails = [
        part + "".join(f" ({comma} {later})?" for later in list(parts.values())[at + 1 :])
        for at, part in enumerate(parts.values())
    ]
    return f"({' | '.join(tails)})?" if tails else '""'


def _gemma_value(value: object) -> str:
    if isinstance(value, str):
        return f"{_QUOTE}{value}{_QUOTE}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_gemma_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_gemma_value, value)) + "]"
    return json.dumps(value)


def _as_python(text: str, keys: list[str]) -> str:
    """Write calls as Python takes them: numbers for the keys, which may be words of Python's, and texts on one line."""

    def replaced(found: re.Match[str]) -> str:
        if found["text"]:
            return found["text"].replace("\n", "\\n")
        keys.append(found["key"])
        return f"{found['before']}k{len(keys) - 1}="

    return _TEXT_OR_KEY.sub(replaced, text)


def _python_value(node: ast.expr) -> Any:
    """Return a value in Python's notation, or in JSON's."""
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
    value = ast.literal_eval(node)
    if isinstance(value, str):  # JSON writes some characters in two halves
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value
