"""Tool calls of harmony, gpt-oss's format: messages of the commentary channel to ``functions.name``.

A reply's other channels are brought into ``<think>`` and answer before it is looked at for calls
(`engine/text/reasoning.py`).

Source: https://github.com/openai/harmony.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.messages import Tool, ToolCall
from engine.text.detokenizer import overlap
from engine.text.tool_calls.format import CallPiece, CallReader, ToolFormat, literal_rules, one_of

CHANNEL, MESSAGE, START, CALL = "<|channel|>", "<|message|>", "<|start|>", "<|call|>"
MARKS = (CHANNEL, MESSAGE, START, "<|end|>", CALL, "<|return|>", "<|constrain|>")
OPENING = f"{CHANNEL}commentary to=functions."
_JSON = f" <|constrain|>json{MESSAGE}"


class Harmony(ToolFormat):
    """gpt-oss."""

    name = "harmony"
    opening = OPENING
    marks = MARKS
    signs = (CHANNEL, CALL)

    def reader(self, tools: Sequence[Tool]) -> CallReader:
        return _Reader()

    def _written(self, call: ToolCall) -> str:
        return f"{OPENING}{call.name}{_JSON}{call.arguments}{CALL}"

    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        """Rules of a grammar; the mark of a call's end is the reply's."""
        return [one_of(tools), *literal_rules(tools, literal, lambda name: f"{name}{_JSON}", "")]


class _Reader(CallReader):
    def __init__(self) -> None:
        super().__init__()
        self._named = False

    def _step(self) -> bool:
        if not self._named:
            head, found, behind = self._held.partition(MESSAGE)
            if found:
                self._pieces.append(CallPiece(head.split()[0] if head.split() else ""))
                self._held, self._named = behind, True
            return bool(found)
        arguments, closed, behind = self._held.partition(CALL)
        keep = 0 if closed else overlap(arguments, CALL)
        certain = arguments[: len(arguments) - keep]
        if certain:
            self._pieces.append(CallPiece("", certain))
        if closed:
            return self._over(behind)
        self._held = arguments[len(certain) :]
        return False
