"""Tool calls that write each argument between marks, a text as it is and all else as JSON.

Qwen3-Coder, Qwen3.5, GLM and Muse-Glimmer write them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import ClassVar

from engine.messages import Tool, ToolCall
from engine.text.tool_calls.format import (
    CallPiece,
    CallReader,
    ToolFormat,
    fields,
    follows,
    kind_of,
    kinds,
    one_of,
    schema,
    text_rule,
    value_rule,
)
from engine.text.tool_calls.harmony import MESSAGE, START

_CLOSE = "</tool_call>"
ATEM_MARKS = (START, MESSAGE, "<|eom|>", "<|eot|>")


class _ArgumentFormat(ToolFormat):
    """A call with its arguments one after the other."""

    opening = "<tool_call>"
    close = _CLOSE  # what stands behind the calls
    head: ClassVar[str]  # what stands between the opening and the arguments, with ``{name}``
    key: ClassVar[str]  # what stands before a value, with ``{key}``
    end: ClassVar[str]  # what stands behind a value
    tail: ClassVar[str]  # what stands behind the arguments
    name_pattern: ClassVar[re.Pattern[str]]  # finds the name of the tool
    begun_pattern: ClassVar[re.Pattern[str]]  # matches what a name may come of
    key_pattern: ClassVar[re.Pattern[str]]  # finds the key of an argument, as far as its value
    # Finds the end of a value, with as much behind it as tells it from the same words in the value
    end_pattern: ClassVar[re.Pattern[str]]
    tail_pattern: ClassVar[re.Pattern[str]]  # finds the end of the arguments

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        return _Reader(self, tools)

    def _written(self, call: ToolCall) -> str:
        inner = ""
        for key, value in json.loads(call.arguments).items():
            inner += self.key.replace("{key}", key) + _as_text(value) + self.end
        return f"{self.opening}{self.head.replace('{name}', call.name)}{inner}{self.tail}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        """Rules of a grammar; of an argument that has no type a text is expected."""
        rules = [one_of(tools)]
        before, behind = map(literal, self.key.split("{key}"))
        end = literal(self.end)
        for at, tool in enumerate(tools):
            of = schema(tool)
            required = of.get("required") or ()
            parts = []
            for number, (key, inner) in enumerate(fields(of, of).items()):
                name = f"p_{at}_{number}"
                parts.append(name if key in required else f"{name}?")
                begun = f"{name}: {before} {json.dumps(key)} {behind}"
                if isinstance(inner.get("enum"), list) and inner["enum"]:
                    choices = " | ".join(json.dumps(_as_text(one)) for one in inner["enum"])
                    rules.append(f"{begun} ({choices}) {end}")
                elif "string" in kinds(inner):
                    text, found = text_rule(f"v_{name}", inner, self.end, end)
                    rules += [f"{begun} {text}", *found]
                else:
                    rules += [f"{begun} v_{name} {end}", value_rule(f"v_{name}", inner, of)]
            begin = literal(self.head.replace("{name}", tool.name))
            rules.append(f"call_{at}: {' '.join([begin, *parts, literal(self.tail)])}")
        return rules


class Coder(_ArgumentFormat):
    """``<tool_call><function=name><parameter=key>value</parameter></function></tool_call>``: Qwen3-Coder, Qwen3.5."""

    name = "coder"
    marks = ("<tool_call>", _CLOSE)
    head = "\n<function={name}>\n"
    key = "<parameter={key}>\n"
    end = "\n</parameter>\n"
    tail = f"</function>\n{_CLOSE}"
    between = "\n"
    name_pattern = re.compile(r"\s*<function=([^>\n]*)>")
    begun_pattern = re.compile(r"<?|<[a-z]*|<function=[^>\n]*")
    key_pattern = re.compile(r"\s*<parameter=([^>\n]*)>\n?")
    end_pattern = re.compile(r"\n?</parameter>(?=\s*<(?:parameter=|/function>))")
    tail_pattern = re.compile(r"\s*</function>")

    def is_of(self, source: str) -> bool:
        return follows(source, "<tool_call>", "<function=")


class Glm(_ArgumentFormat):
    """``<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>``: GLM-4.7."""

    name = "glm"
    marks = ("<tool_call>", _CLOSE, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
    head = "{name}"
    key = "<arg_key>{key}</arg_key><arg_value>"
    end = "</arg_value>"
    tail = _CLOSE
    between = ""
    name_pattern = re.compile(r"\s*([\w.:-]+)\s*(?=<arg_key>|</tool_call>)")
    begun_pattern = re.compile(r"[\w.:-]*\s*(</?[a-z_]*)?")
    key_pattern = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>")
    end_pattern = re.compile(r"</arg_value>(?=\s*<(?:arg_key>|/tool_call>))")
    tail_pattern = re.compile(r"\s*(?=</tool_call>)")
    signs = ("<tool_call>", "</arg_key><arg_value>")


class GlmLines(Glm):
    """The same with each part on a line of its own: GLM-4.5 and 4.6."""

    name = "glm-lines"
    head = "{name}\n"
    key = "<arg_key>{key}</arg_key>\n<arg_value>"
    end = "</arg_value>\n"
    between = "\n"

    def is_of(self, source: str) -> bool:
        return "<tool_call>" in source and follows(source, "</arg_key>", "<arg_value>")


class Atem(_ArgumentFormat):
    """``<atem:function_calls><atem:invoke name="name"><atem:parameter name="key">value...``: Muse-Glimmer.

    Each call is a separate message, whose receiver is the tool.
    """

    name = "atem"
    opening = "<atem:function_calls>"
    marks = ATEM_MARKS
    signs = ("<atem:invoke",)
    close = "</atem:function_calls>"
    head = '\n<atem:invoke name="{name}">\n'
    key = '<atem:parameter name="{key}">'
    end = "</atem:parameter>\n"
    tail = f"</atem:invoke>\n{close}"
    between = "\n"
    name_pattern = re.compile(r'\s*<atem:invoke name="([^"\n]*)">')
    begun_pattern = re.compile(r'<?|<[a-z:]*|<atem:invoke n?a?m?e?=?"?|<atem:invoke name="[^"\n]*"?')
    key_pattern = re.compile(r'\s*<atem:parameter name="([^"\n]*)">(?!$)')
    end_pattern = re.compile(r"</atem:parameter>(?=\s*<(?:atem:parameter|/atem:invoke>))")
    tail_pattern = re.compile(r"\s*</atem:invoke>")

    def lead(self, literal: Callable[[str], str], again: bool) -> str:
        """Return the head of the call's message, in the words of a grammar."""
        begun = f"<|eom|>{START}assistant to=" if again else " to="
        return f"{literal(begun)} receiver {literal(MESSAGE)}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        """Return the rules of a grammar for calls of these tools, with one for the receiver."""
        names = " | ".join(json.dumps(tool.name) for tool in tools)
        return [*super().rules(tools, literal, several), f"receiver: {names}"]


class _Reader(CallReader):
    def __init__(self, form: _ArgumentFormat, tools: Sequence[Tool]) -> None:
        super().__init__()
        self._form = form
        self._fields = {tool.name: fields(of := schema(tool), of) for tool in tools}
        self._name: str | None = None
        self._key: str | None = None
        self._arguments = 0

    def _step(self) -> bool:
        if self._name is None:
            return self._between()
        if self._key is None:
            return self._in_call()
        closed = self._form.end_pattern.search(self._held)
        if closed is None:
            return False
        begun = ", " if self._arguments else "{"
        value = self._as_json(self._held[: closed.start()])
        self._pieces.append(CallPiece("", f"{begun}{json.dumps(self._key, ensure_ascii=False)}: {value}"))
        self._arguments += 1
        self._held, self._key = self._held[closed.end() :], None
        return True

    def _between(self) -> bool:
        held = self._held.lstrip()
        if held.startswith(self._form.close):
            return self._over(held.removeprefix(self._form.close))
        found = self._form.name_pattern.match(self._held)
        if found is None:
            return False if self._may_be_name(held) else self._over(self._held)
        self._name, self._arguments = found[1].strip(), 0
        self._held = self._held[found.end() :]
        self._pieces.append(CallPiece(self._name))
        return True

    def _may_be_name(self, held: str) -> bool:
        """Return whether a name, or the end of the calls, may still come of this."""
        return self._form.close.startswith(held) or self._form.begun_pattern.fullmatch(held) is not None

    def _in_call(self) -> bool:
        found = self._form.key_pattern.match(self._held)
        # A line end may still come behind the key.
        if found is not None and found.end() < len(self._held):
            self._key, self._held = found[1].strip(), self._held[found.end() :]
            return True
        closed = self._form.tail_pattern.match(self._held)
        if closed is None:
            return False
        self._pieces.append(CallPiece("", "}" if self._arguments else "{}"))
        self._name, self._held = None, self._held[closed.end() :]
        return True

    def _as_json(self, text: str) -> str:
        allowed = kinds(self._fields.get(self._name or "", {}).get(self._key or ""))
        if allowed != {"string"}:
            try:
                value = json.loads(text)
            except ValueError:
                return json.dumps(text, ensure_ascii=False)
            kind = kind_of(value)
            fits = {kind, "number" if kind == "integer" else kind} & allowed - {"string"}
            if fits or "string" not in allowed:
                return json.dumps(value, ensure_ascii=False)
        return json.dumps(text, ensure_ascii=False)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
