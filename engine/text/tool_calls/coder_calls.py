"""Tool calls of Qwen3-Coder and Qwen3.5: each argument between marks, a text as it is and all else as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from engine.messages import Tool, ToolCall
from engine.text.stop import overlap
from engine.text.tool_calls.format import CallPiece, CallReader, ToolFormat, follows, schema, value_rule

_FUNCTION = re.compile(r"\s*<function=([^>\n]*)>")
_PARAMETER = re.compile(r"\s*<parameter=([^>\n]*)>\n?")
_CLOSE_PARAMETER = "</parameter>"
_CLOSE_FUNCTION = re.compile(r"\s*</function>")
_CLOSE = "</tool_call>"


class Coder(ToolFormat):
    """``<tool_call><function=name><parameter=key>value</parameter></function></tool_call>``."""

    name = "coder"
    opening = "<tool_call>"
    marks = ("<tool_call>", "</tool_call>")

    def is_of(self, source: str) -> bool:
        """True for a template of this format."""
        return follows(source, "<tool_call>", "<function=")

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        """A reader of calls."""
        return _Reader(tools)

    def written(self, call: ToolCall) -> str:
        """A call in this format."""
        values = json.loads(call.arguments)
        texts = {
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for key, value in values.items()
        }
        inner = "".join(f"<parameter={key}>\n{text}\n</parameter>\n" for key, text in texts.items())
        return f"<tool_call>\n<function={call.name}>\n{inner}</function>\n</tool_call>"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str]) -> tuple[str | None, list[str]]:
        """Rules of a grammar; of an argument that has no type a text is expected."""
        names = " | ".join(f"call_{at}" for at in range(len(tools)))
        rules = [f"call: {names}"]
        for at, tool in enumerate(tools):
            of = schema(tool)
            required = of.get("required") or ()
            parts = []
            for number, (key, inner) in enumerate((of.get("properties") or {}).items()):
                name = f"p_{at}_{number}"
                parts.append(name if key in required else f"{name}?")
                opened = literal(f"<parameter={key}>\n")
                if _is_text(inner) and not inner.get("enum"):
                    rules += [
                        f"{name}: {opened} v_{name}",
                        f'v_{name}[suffix="\\n</parameter>\\n"]: /(?s:.*)/',
                    ]
                elif _is_text(inner):
                    choices = " | ".join(literal(str(one)) for one in inner["enum"])
                    rules.append(f"{name}: {opened} ({choices}) {literal(f'{chr(10)}</parameter>{chr(10)}')}")
                else:
                    end = literal("\n</parameter>\n")
                    rules += [f"{name}: {opened} v_{name} {end}", value_rule(f"v_{name}", inner)]
            begin, end = literal(f"\n<function={tool.name}>\n"), literal("</function>\n</tool_call>")
            rules.append(f"call_{at}: {' '.join([begin, *parts, end])}")
        return "\n", rules


class _Reader(CallReader):
    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__()
        self._schemas = {tool.name: schema(tool).get("properties") or {} for tool in tools}
        self._name: str | None = None
        self._key: str | None = None
        self._arguments = 0

    def _step(self) -> bool:
        if self._name is None:
            return self._between()
        if self._key is None:
            return self._in_call()
        value, closed, behind = self._held.partition(_CLOSE_PARAMETER)
        if not closed:
            return False
        begun = ", " if self._arguments else "{"
        self._pieces.append(CallPiece("", f"{begun}{json.dumps(self._key)}: {self._as_json(value)}"))
        self._arguments += 1
        self._held, self._key = behind, None
        return True

    def _between(self) -> bool:
        held = self._held.lstrip()
        if held.startswith(_CLOSE):
            behind = held.removeprefix(_CLOSE)
            return self._over(behind)
        found = _FUNCTION.match(self._held)
        if found is None:
            waits = not held or any(overlap(held, one) == len(held) for one in (_CLOSE, "<function="))
            waits = waits or ("<function=".startswith(held[:10]) and ">" not in held and "\n" not in held)
            return False if waits else self._over(self._held)
        self._name, self._arguments = found[1].strip(), 0
        self._held = self._held[found.end() :]
        self._pieces.append(CallPiece(self._name))
        return True

    def _in_call(self) -> bool:
        found = _PARAMETER.match(self._held)
        # A line end may still come behind the key.
        if found is not None and found.end() < len(self._held):
            self._key, self._held = found[1].strip(), self._held[found.end() :]
            return True
        closed = _CLOSE_FUNCTION.match(self._held)
        if closed is None:
            return False
        self._pieces.append(CallPiece("", "}" if self._arguments else "{}"))
        self._name, self._held = None, self._held[closed.end() :]
        return True

    def _as_json(self, value: str) -> str:
        text = value.removesuffix("\n")
        of = self._schemas.get(self._name or "", {}).get(self._key)
        if not _is_text(of):
            try:
                return json.dumps(json.loads(text), ensure_ascii=False)
            except ValueError:
                pass
        return json.dumps(text, ensure_ascii=False)


def _is_text(of: object) -> bool:
    """True where a schema allows texts alone, or says nothing."""
    if not isinstance(of, dict):
        return True
    kind = of.get("type")
    if kind is None:
        return not any(
            word in of for word in ("anyOf", "oneOf", "allOf", "$ref", "const", "enum", "properties")
        )
    return bool(kind == "string")
