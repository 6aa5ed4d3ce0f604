"""A checkpoint's chat template, run in a process of its own with limits of time, memory and output."""

from __future__ import annotations

import atexit
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock
from typing import Any, Literal

import psutil

from engine.errors import UnsupportedModel
from engine.messages import Thinking, ThinkingControl
from engine.sentences import mark
from engine.text.reasoning import Reasoning, template_reasoning
from engine.text.template_program import MEMORY_BYTES, serve
from engine.text.tool_calls import DESCRIBED, template_format
from engine.text.tool_calls.format import ToolFormat

#: What templates call the switch of thinking: Qwen3 and its kin, DeepSeek's and Granite's.
_SWITCHES = ("enable_thinking", "thinking")
_EFFORT = "reasoning_effort"
_UNSAID = Thinking()
#: Of a processor's time for one text, and of the clock's where the process gets no processor.
TIME_S = 5.0
_CLOCK_S = 120.0
_LOOK_S = 0.05
# A text is as long as the messages in it, and the words around them.
_MOST_CHARACTERS = 1 << 20
_LONGER = 4
_BEYOND = mark(
    "The model's chat template takes too much time or memory, so it was ended: use another model, or another file of "
    "this one."
)


#: Words that every template is to hand on, and that none has itself; a conversation with them, and shorter ones for
#: templates that refuse it, of which some want a tool.
_WORDS = ("tenonxqzw", "tenonjvkw")
_ASKED, _AGAIN = ({"role": "user", "content": word} for word in _WORDS)
_SYSTEM = {"role": "system", "content": "tenonqkzx"}
_ANSWERED = {"role": "assistant", "content": "Yes."}
_TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "", "parameters": {"type": "object", "properties": {}}},
}
_PROBES: tuple[tuple[list[dict[str, str]], tuple[dict[str, Any], ...]], ...] = (
    ([_SYSTEM, _ASKED, _ANSWERED, _AGAIN], ()),
    ([_ASKED, _ANSWERED, _AGAIN], ()),
    ([_ASKED], ()),
    ([_ASKED], (_TOOL,)),
)


class TemplateRefused(Exception):
    """Jinja's errors, and those that a template raises itself."""


class TemplateUnreadable(TemplateRefused):
    """It is no template."""


class ChatTemplate:
    """Turns messages into a text.

    Args:
        source: The template.
        special_tokens: Texts of special tokens by the names that templates use, ``bos_token`` and the like.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str]) -> None:
        self.source = source
        self._special_tokens = dict(special_tokens)
        self._ended = False  # it takes too much, and would again
        _PROCESS.start()  # so that it is there when it is wanted

    @property
    def trouble(self) -> Literal["", "unreadable", "silent"]:
        """``unreadable`` if it fails on every chat, ``silent`` if it leaves out what the user said; else empty."""
        return self._reading[0]

    @cached_property
    def _reading(self) -> tuple[Literal["", "unreadable", "silent"], bool]:
        """The trouble, and whether it reads content as a list of parts alone, as some of models with images do."""
        for turns, tools in _PROBES:
            silent = False
            for in_parts in (False, True):
                try:
                    text = self._rendered(turns, _UNSAID, tools, in_parts).lower()
                except TemplateUnreadable:
                    return "unreadable", False
                except TemplateRefused:
                    continue
                except UnsupportedModel:  # which `render` tells of
                    return "", False
                said = all(turn["content"] in text for turn in turns if turn["role"] != "assistant")
                part = _parts(turns[0]["content"])[0]
                if said and str(part) not in text and json.dumps(part) not in text:  # which it only prints
                    return "", in_parts
                silent = True
            if silent and turns[0] is not _SYSTEM:  # which a template may leave out
                return "silent", False
        return "unreadable", False

    @cached_property
    def thinking(self) -> ThinkingControl:
        """Control that it has of thinking: ``switch`` for on or off, ``effort`` for how much; else empty."""
        try:
            asked = frozenset(self._run(None)["asked"])
        except (TemplateRefused, UnsupportedModel):  # which `render` tells of
            return ""
        return "effort" if _EFFORT in asked else "switch" if asked.intersection(_SWITCHES) else ""

    @cached_property
    def reasoning(self) -> Reasoning:
        """Words in which its model thinks."""
        return template_reasoning(self.source)

    @cached_property
    def knows_tools(self) -> bool:
        """It tells its model of tools, and asks for calls in a format that is known here."""
        try:
            return "tools" in self._run(None)["asked"] and template_format(self.source) is not None
        except (TemplateRefused, UnsupportedModel):  # which `render` tells of
            return False

    @property
    def calls(self) -> ToolFormat:
        """The format of tool calls."""
        return (template_format(self.source) if self.knows_tools else None) or DESCRIBED

    @property
    def writes_calls(self) -> bool:
        """It writes the calls of earlier turns."""
        return "tool_calls" in self.source

    @cached_property
    def one_call(self) -> bool:
        """It writes one call of an earlier turn, and loses or refuses more."""
        return self._writes(1) and not self._writes(2)

    def _writes(self, count: int) -> bool:
        """It writes so many calls of one turn."""
        calls = [
            {
                "id": f"{at:09}",
                "type": "function",
                "function": {"name": "look", "arguments": {"at": f"tenon-{at}"}},
            }
            for at in range(count)
        ]
        turns: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
        turns.append({"role": "assistant", "content": "", "tool_calls": calls})
        turns += [
            {"role": "tool", "content": "", "tool_call_id": call["id"], "name": "look"} for call in calls
        ]
        schema = {"type": "object", "properties": {"at": {"type": "string", "description": ""}}}
        tool = {"name": "look", "description": "", "parameters": schema}
        try:
            text = self.render(turns, tools=[{"type": "function", "function": tool}])
        except (TemplateRefused, UnsupportedModel):
            return False
        return all(f"tenon-{at}" in text for at in range(count))

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        thinking: Thinking = _UNSAID,
        tools: Sequence[dict[str, Any]] = (),
    ) -> str:
        """Text of a conversation, with the opening of the assistant's turn.

        Args:
            messages: Each with a ``role`` and a ``content``.
            thinking: Wishes; those that the template does not ask for have no effect.
            tools: Tools, for a template that knows some.

        Raises:
            TemplateRefused: It is no template, or refuses this conversation.
            UnsupportedModel: It takes too long, or too much memory.
        """
        return self._rendered(messages, thinking, tools, self._reading[1])

    def _rendered(
        self,
        messages: Sequence[Mapping[str, Any]],
        thinking: Thinking,
        tools: Sequence[dict[str, Any]],
        in_parts: bool,
    ) -> str:
        turns = [dict(message) for message in messages]
        if in_parts:
            turns = [{**turn, "content": _parts(turn["content"])} for turn in turns]
        variables: dict[str, Any] = {"messages": turns, **_variables(thinking), **self._special_tokens}
        if tools:
            variables["tools"] = list(tools)
        text: str = self._run(variables)["text"]
        return text

    def _run(self, variables: Mapping[str, Any] | None) -> dict[str, Any]:
        if self._ended:
            raise UnsupportedModel(_BEYOND)
        question = {"source": self.source, "variables": variables}
        size = len(json.dumps(variables))
        answer = _PROCESS.ask({**question, "most": _MOST_CHARACTERS + _LONGER * size})
        if "error" in answer:
            raise (TemplateRefused if answer["compiled"] else TemplateUnreadable)(answer["error"])
        self._ended = "beyond" in answer
        if self._ended:
            raise UnsupportedModel(_BEYOND)
        return answer


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _variables(thinking: Thinking) -> dict[str, bool | str]:
    """Only what is wanted: what is not defined is what templates have a default for."""
    found: dict[str, bool | str] = {}
    if thinking.on is not None:
        found |= dict.fromkeys(_SWITCHES, thinking.on)
    if thinking.effort is not None:
        found[_EFFORT] = thinking.effort
    return found


class _Process:
    """The process that templates run in, started with the first one and again after one that had to be ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: tuple[SpawnProcess, Connection] | None = None
        self._is_ready = False
        atexit.register(self.end)

    def start(self) -> None:
        """Start it in good time; who asks starts it in any case."""
        with self._lock, suppress(OSError):
            self._started()

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer; ``beyond`` in it where the process had to be ended.

        Raises:
            UnsupportedModel: The system has no room for another process, or does not let it start.
        """
        with self._lock:
            try:
                process, connection = self._started()
                self._await_start(connection)
            except (EOFError, OSError) as error:
                self._end()
                raise UnsupportedModel(
                    "The model's chat template cannot be run ({reason}): close other programs.",
                    reason=getattr(error, "strerror", None) or type(error).__name__,
                ) from error
            try:
                connection.send_bytes(json.dumps(question).encode())
                if _has_answer(connection, psutil.Process(process.pid)):
                    found: dict[str, Any] = json.loads(
                        connection.recv_bytes(8 * question["most"] + (1 << 16))
                    )
                    return found
            except (
                EOFError,
                OSError,
                ValueError,
                psutil.Error,
            ):  # it died, as one that is short of memory does
                pass
            self._end()
            return {"beyond": True}

    def end(self) -> None:
        """End it, as this process ends."""
        with self._lock:
            self._end()

    def _started(self) -> tuple[SpawnProcess, Connection]:
        if self._running is None or not self._running[0].is_alive():
            self._end()
            context = get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs,), name="tenon-template", daemon=True)
            process.start()
            theirs.close()
            self._running, self._is_ready = (process, ours), False
        return self._running

    def _await_start(self, connection: Connection) -> None:
        """Wait until it has imported what it needs: none of that time is the template's."""
        if not self._is_ready:
            if not connection.poll(_CLOCK_S):
                raise TimeoutError
            connection.recv_bytes()
            self._is_ready = True

    def _end(self) -> None:
        if self._running is not None:
            process, connection = self._running
            process.kill()
            process.join()
            connection.close()
            self._running = None


def _has_answer(connection: Connection, process: psutil.Process) -> bool:
    """Wait for an answer as long as the process stays within its limits."""
    end, before_s = time.monotonic() + _CLOCK_S, _cpu_s(process)
    while not connection.poll(_LOOK_S):
        beyond = _cpu_s(process) - before_s > TIME_S or process.memory_info().rss > MEMORY_BYTES
        if beyond or time.monotonic() > end:
            return False
    return True


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


_PROCESS = _Process()
