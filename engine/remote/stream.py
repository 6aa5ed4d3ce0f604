"""A server's reply as it comes: server-sent events, and the pieces that they bring.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an event stream".
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from engine.json_text import read_json
from engine.messages import ToolCall
from engine.remote.connection import Connection
from engine.remote.failures import broken_off, empty, refusal, unreadable
from engine.text.thoughts import CLOSE, OPEN
from engine.text.tool_calls import DESCRIBED

_MOST_EVENT_BYTES = 8 << 20
_DONE = "[DONE]"


@dataclass
class Told:
    """Facts that a server tells of a reply beside its text.

    Attributes:
        finish: The reason of its end, in the protocol's word; empty while there is none.
        stop: The string that ended it, where the server says so.
        timings: llama.cpp's.
        usage: Counts of tokens.
        metrics: vLLM's.
    """

    finish: str = ""
    stop: str = ""
    timings: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    metrics: object = None


async def pieces(
    connection: Connection, path: str, body: Mapping[str, Any], begun: str, told: Told
) -> AsyncIterator[str]:
    """Ask for a reply; yields its text in pieces, thoughts and calls in Tenon's own marks.

    Args:
        connection: To the server.
        path: Of the protocol.
        body: The request.
        begun: The beginning of the reply that is continued; empty for none.
        told: Filled in as the server tells it.

    Raises:
        TenonError: What is wrong; the pieces so far stay good.
    """
    written = _Written(begun)
    server, model = connection.server, str(body["model"])
    came = False
    async with connection.stream(path, body, model) as response:
        async for data in _events(connection, response):
            if not isinstance(data, dict):
                raise unreadable(server)
            came = True
            if data.get("error") is not None:
                raise refusal(server, 0, data, {}, connection.has_key, model)
            for text in written.take(data, told):
                yield text
    for text in written.end():
        yield text
    if not came:
        raise empty(server)
    if not told.finish:
        raise broken_off(server)


async def _events(connection: Connection, response: httpx2.Response) -> AsyncIterator[object]:
    """The values of an answer's events; of an answer that is no stream, its one value."""
    server = connection.server
    if "json" in response.headers.get("content-type", ""):
        yield _value(connection, (await response.aread()).decode("utf-8", "replace"))
        return
    lines: list[str] = []
    size = 0
    async for line in response.aiter_lines():
        size += len(line)
        if size > _MOST_EVENT_BYTES:
            raise unreadable(server)
        name, _, value = line.partition(":")
        if name == "data":
            lines.append(value.removeprefix(" "))
        elif line and name not in ("", "event", "id", "retry"):
            raise unreadable(server)
        if line or not lines:
            size = size if lines else 0
            continue
        data, lines, size = "\n".join(lines), [], 0
        if data.strip() == _DONE:
            return
        yield _value(connection, data)
    if lines and "\n".join(lines).strip() != _DONE:
        raise broken_off(server)


def _value(connection: Connection, text: str) -> object:
    try:
        return read_json(text)
    except ValueError as error:
        raise unreadable(connection.server) from error


class _Written:
    """The reply's text with marks around its thought, and its calls in words."""

    def __init__(self, begun: str) -> None:
        self._thinks = begun.lstrip().startswith(OPEN) and CLOSE not in begun
        self._answers = False
        self._echo = begun  # some servers say the beginning again
        self._held = ""
        self._calls: list[ToolCall] = []
        self._index: object = None  # of the last call, by the server's count

    def take(self, data: Mapping[str, Any], told: Told) -> list[str]:
        """The text that a chunk adds; what else it says goes to ``told``."""
        for name in ("timings", "usage"):
            if isinstance(data.get(name), dict):
                setattr(told, name, data[name])
        told.metrics = data.get("metrics") or told.metrics
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            return []
        if isinstance(choice.get("finish_reason"), str):
            told.finish = choice["finish_reason"]
        if isinstance(choice.get("stop_reason"), str):
            told.stop = choice["stop_reason"]
        said = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
        if not isinstance(said, dict):
            return []
        thought = _text(said.get("reasoning_content")) or _text(said.get("reasoning"))
        texts = [self._thought(thought), self._answer(_text(said.get("content")))]
        return [text for text in (*texts, *self._called(said.get("tool_calls"))) if text]

    def end(self) -> list[str]:
        """The text that the end adds."""
        calls, self._calls = self._calls, []
        held, self._held, self._echo = self._held, "", ""
        closed = f"\n{CLOSE}\n\n" if self._thinks else ""
        self._thinks = False
        return [text for text in (held, closed, *map(DESCRIBED.written, calls)) if text]

    def _thought(self, text: str) -> str:
        if not text or self._answers:  # a thought behind the answer has no place
            return ""
        if self._thinks:
            return text
        self._thinks = True
        return f"{OPEN}\n{text}"

    def _answer(self, text: str) -> str:
        text = self._without_echo(text)
        if not text:
            return ""
        closed = f"\n{CLOSE}\n\n" if self._thinks else ""
        self._thinks, self._answers = False, True
        return closed + text

    def _without_echo(self, text: str) -> str:
        """Text that goes on behind the beginning; none as long as it may be the beginning itself."""
        if not self._echo:
            return text
        self._held += text
        if len(self._held) < len(self._echo) and self._echo.startswith(self._held):
            return ""
        fresh, self._held = self._held.removeprefix(self._echo), ""
        self._echo = ""
        return fresh

    def _called(self, calls: object) -> list[str]:
        """Calls that are complete because another one begins."""
        done: list[str] = []
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                continue
            name, arguments = _text(function.get("name")), _text(function.get("arguments"))
            at = call.get("index", len(self._calls))
            if name and (not self._calls or at != self._index):
                done += self.end()
                self._index = at
                self._calls.append(ToolCall(name, arguments, _text(call.get("id"))))
            elif self._calls:
                last = self._calls[-1]
                self._calls[-1] = ToolCall(last.name, last.arguments + arguments, last.id)
        return done


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
