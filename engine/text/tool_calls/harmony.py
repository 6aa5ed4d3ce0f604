"""Harmony, gpt-oss's format: messages in channels, of which one is the thought, one the answer, and others are calls.

Source: https://github.com/openai/harmony.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from engine.messages import Tool, ToolCall
from engine.text.stop import overlap
from engine.text.tool_calls.format import CallPiece, CallReader, ToolFormat, literal_rules

_CHANNEL, _MESSAGE, _START = "<|channel|>", "<|message|>", "<|start|>"
_ENDS = ("<|end|>", "<|call|>", "<|return|>", _START, _CHANNEL)
_TO = re.compile(r"to=functions\.([^\s<]+)")


class Harmony(ToolFormat):
    """gpt-oss. Calls are messages of the commentary channel to ``functions.name``."""

    name = "harmony"
    opening = ""
    marks = (_CHANNEL, _MESSAGE, _START, "<|end|>", "<|call|>", "<|return|>", "<|constrain|>")

    def is_of(self, source: str) -> bool:
        """True for a template of this format."""
        return _CHANNEL in source and "<|call|>" in source

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        """None: `HarmonyReply` reads the whole of a reply."""
        raise NotImplementedError

    def written(self, call: ToolCall) -> str:
        """A call in this format."""
        head = f"{_CHANNEL}commentary to=functions.{call.name} <|constrain|>json{_MESSAGE}"
        return f"{head}{call.arguments}<|call|>"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str]) -> tuple[str | None, list[str]]:
        """Rules of a grammar; the mark of a call's end is the reply's."""

        def head(name: str) -> str:
            return f"{_CHANNEL}commentary to=functions.{name} <|constrain|>json{_MESSAGE}"

        return None, literal_rules(tools, literal, head, "")


class HarmonyReply:
    """Divides a reply, as it comes, into thought, answer and calls; see `ReplyParts`."""

    def __init__(self) -> None:
        self._held = ""
        self._head = True  # what comes is a message's head
        self._kind = "answer"

    def add(self, text: str) -> tuple[str, str, list[CallPiece]]:
        """Take a piece of the reply."""
        self._held += text
        thought, answer, calls = "", "", list[CallPiece]()
        while True:
            if self._head:
                head, found, behind = self._held.partition(_MESSAGE)
                if not found:
                    return thought, answer, calls
                called = _TO.search(head)
                self._kind = "call" if called else "thought" if "analysis" in head else "answer"
                if called:
                    calls.append(CallPiece(called[1]))
                self._head, self._held = False, behind
            at, mark = min(
                ((place, one) for one in _ENDS if (place := self._held.find(one)) >= 0), default=(-1, "")
            )
            keep = max(overlap(self._held, one) for one in _ENDS)
            said = self._held[:at] if at >= 0 else self._held[: len(self._held) - keep]
            self._held = self._held[len(said) :].removeprefix(mark) if at >= 0 else self._held[len(said) :]
            if self._kind == "thought":
                thought += said
            elif self._kind == "answer":
                answer += said
            elif said:
                calls.append(CallPiece("", said))
            if at < 0:
                return thought, answer, calls
            self._head = True

    def end(self) -> tuple[str, str, list[CallPiece]]:
        """The text that was held back, once nothing more comes; a head without a message says nothing."""
        held, self._held = self._held, ""
        if self._head:
            return "", "", []
        return (held, "", []) if self._kind == "thought" else ("", held if self._kind == "answer" else "", [])
