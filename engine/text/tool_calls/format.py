"""Formats of tool calls: the words in which a chat template lets its model call a tool."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from engine.messages import Tool, ToolCall

#: JSON as templates write it, and keywords of a schema that the library does not know are passed over.
_JSON = {
    "x-guidance": {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "lenient": True,
    }
}


@dataclass(frozen=True)
class CallPiece:
    """A piece of a tool call, as it comes.

    Attributes:
        name: Of the tool, in the call's first piece; else empty.
        arguments: Added to the text of its arguments, which is JSON once all of it has come.
        index: Number of the call in its reply.
    """

    name: str = ""
    arguments: str = ""
    index: int = 0


class CallReader(ABC):
    """Reads calls, from behind the opening of the first one.

    Attributes:
        rest: Text behind the calls; None while they go on.
    """

    def __init__(self) -> None:
        self.rest: str | None = None
        self._held = ""
        self._pieces: list[CallPiece] = []

    def add(self, text: str) -> list[CallPiece]:
        """Take a piece of the text."""
        self._held += text
        while self.rest is None and self._step():
            pass
        taken, self._pieces = self._pieces, []
        return taken

    @abstractmethod
    def _step(self) -> bool:
        """Read on; False until more has come."""

    def _over(self, rest: str) -> bool:
        """The calls are over."""
        self.rest, self._held = rest, ""
        return False


class ToolFormat(ABC):
    """One of the formats.

    Attributes:
        name: For reports.
        opening: Text that a call begins with.
        marks: Special tokens of the format, which other texts are shown without.
        bare: A call has no opening: an answer that begins as one is one.
    """

    name: ClassVar[str]
    opening: ClassVar[str]
    marks: ClassVar[tuple[str, ...]] = ()
    bare: ClassVar[bool] = False

    @abstractmethod
    def is_of(self, source: str) -> bool:
        """True for a chat template that asks its model for calls in this format."""

    @abstractmethod
    def reader(self, tools: Sequence[Tool]) -> CallReader:
        """A reader of calls of these tools."""

    @abstractmethod
    def written(self, call: ToolCall) -> str:
        """A call in this format, for a template that does not write earlier calls itself."""

    @abstractmethod
    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str]) -> tuple[str | None, list[str]]:
        """Rules of a grammar for calls of these tools.

        Args:
            tools: Those that may be called.
            literal: A text with the format's marks in the grammar's words.

        Returns:
            Text between two calls, None where there is one at most; and the rules, of which ``call`` is a call behind
            its opening.
        """


def literal_rules(
    tools: Sequence[Tool], literal: Callable[[str], str], before: Callable[[str], str], after: str
) -> list[str]:
    """Rules of a format that writes a text with the tool's name, the arguments as JSON, and an end."""
    names = " | ".join(f"call_{at}" for at in range(len(tools)))
    rules = [f"call: {names}"]
    for at, tool in enumerate(tools):
        end = f" {literal(after)}" if after else ""
        rules.append(f"call_{at}: {literal(before(tool.name))} arguments_{at}{end}")
        rules.append(f"arguments_{at}: %json {json.dumps(schema(tool) | _JSON)}")
    return rules


def follows(source: str, mark: str, text: str) -> bool:
    """True if a template writes this text on the line behind the mark; its line ends are marked or real."""
    return f"{mark}\\n{text}" in source or f"{mark}\n{text}" in source


def schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments, which are an object in any case."""
    found: dict[str, Any] = json.loads(tool.parameters)
    return {"type": "object", **found}


def value_rule(name: str, of: object) -> str:
    """The rule of one value as JSON."""
    return f"{name}: %json {json.dumps((of if isinstance(of, dict) else {}) | _JSON)}"
