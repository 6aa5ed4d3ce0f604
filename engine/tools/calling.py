"""Calls of tools: which ones a model is offered under which names, and what comes of a call."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import Cancelled, ToolFailed
from engine.json_text import from_plain, read_json, whole_characters
from engine.messages import Tool, ToolCall, cut_to
from engine.preparer import Beyond, Preparer, TookTooLong, TookTooMuch
from engine.sentences import mark, say
from engine.tools.acts import Act, note_act
from engine.tools.servers import QUERY, KnownTool, ToolServer, change_server, with_tools

#: Time for a call; the process itself has longer, for a user who signs in.
CALL_S = 60.0
_WORK_S, _CLOCK_S = 20.0, 330.0
MOST_CHARACTERS = 100_000
_IDLE_S = 300.0
_SAID = ("name", "description", "parameters", "reads_only", "problem")  # by a server of a tool
_FLOODED = mark("{name} sent more than it may, so it was ended; the next call starts it again.")
_HUNG = mark("{name} took too long, so it was ended; the next call starts it again.")
_GONE = mark("{name} has ended; the next call starts it again.")

_OWN = Preparer("tenon-tools", 20.0, 512 << 20, 256 << 20, idle_s=_IDLE_S, clock_s=CALL_S, answer_bytes=16 << 20)
_sessions: dict[str, Preparer] = {}


@dataclass(frozen=True)
class OfferedTool:
    """A tool as a model knows it."""

    name: str  # name for the model, which no other tool has
    server: ToolServer
    tool: KnownTool

    @property
    def title(self) -> str:
        """Name for the user: the server's before the tool's, but of Tenon's own tools."""
        return self.tool.name if self.server.own else f"{self.server.name}: {self.tool.name}"

    @property
    def for_model(self) -> Tool:
        """The tool as a request has it."""
        return Tool(self.name, whole_characters(self.tool.description), self.tool.parameters)


@dataclass(frozen=True)
class Outcome:
    """The result of a call, or the reason why there is none."""

    text: str  # result for the model, or a sentence that says why there is none
    failed: bool = False
    changed: bool = False  # nothing was called: the tool is another one than was offered
    seconds: float = 0.0  # time that it took


def offered(known: Iterable[ToolServer]) -> dict[str, OfferedTool]:
    """Return the tools that are switched on, by their names for the model.

    A name that two tools have, or that has signs which some models' makers refuse, has its server's name before it.
    """
    found = [
        (server, tool)
        for server in known
        if server.on and server.ready
        for tool in server.tools
        if tool.on and not tool.problem
    ]
    times = Counter(_plain(tool.name) for _, tool in found)
    named: dict[str, OfferedTool] = {}
    for server, tool in found:
        name = _plain(tool.name)
        if times[name] > 1:
            name = _plain(f"{server.name}__{tool.name}")
        number = 1
        while name in named:
            number += 1
            name = f"{name[:60]}_{number}"
        named[name] = OfferedTool(name, server, tool)
    return named


@dataclass(frozen=True)
class MadeCall:
    """A call of an earlier turn of a reply, and what the model was told."""

    turn: int
    name: str
    arguments: str
    result: str
    failed: bool  # it was neither carried out nor refused


def asks_again(calls: Sequence[ToolCall], made: Sequence[MadeCall], text: str) -> bool:
    """Return whether a turn after calls brings nothing new: the calls of the turn before it, or no word at all.

    Small models ask for what they have just been told (Qwen2.5-Coder 1.5B reads the same file three times, then says
    nothing); in a turn without tools they answer from it. A call that failed once may be tried again, and one of an
    older turn too: tests are run once more after a change.

    Args:
        made: Calls of all turns before it, at least one.
        text: What the turn says beside its calls.
    """
    if not calls:
        return not text.strip()
    last = max(one.turn for one in made)
    failed = {replace(one, turn=0) for one in made if one.failed and one.turn < last}
    told = {
        (one.name, one.arguments)
        for one in made
        if one.turn == last and (not one.failed or replace(one, turn=0) in failed)
    }
    return all((one.name, one.arguments) in told for one in calls)


def call(
    one: OfferedTool, wish: ToolCall, cancelled: Callable[[], bool] = lambda: False, time_s: float = CALL_S
) -> Outcome:
    """Carry out a call that the user has allowed, and note it in the record. Takes up to ``time_s``.

    Raises:
        Cancelled: Nobody waits any more.
    """
    begun = time.monotonic()

    def note(problem: str) -> None:
        seconds = time.monotonic() - begun
        note_act(Act(one.server.name, one.tool.name, wish.arguments, seconds=seconds, problem=problem))

    try:
        arguments = read_json(wish.arguments or "{}")
        outcome = _called(one, arguments, cancelled, time_s)
    except ValueError:
        outcome = Outcome(say("The arguments are no JSON."), failed=True)
    except ToolFailed as error:
        outcome = Outcome(error.message, failed=True)
    except Cancelled:  # it may have done what it was called for
        note(say("It was stopped before it ended."))
        raise
    seconds = time.monotonic() - begun
    if not outcome.changed:
        note(outcome.text[:500] if outcome.failed else "")
    return replace(outcome, text=whole_characters(cut_to(outcome.text, MOST_CHARACTERS)), seconds=seconds)


def list_tools(
    server: ToolServer, opened: Callable[[str], None], cancelled: Callable[[], bool] = lambda: False
) -> ToolServer:
    """Return a server with its tools as it has them now. Takes up to a minute, or five where the user signs in.

    Args:
        server: One that was added.
        opened: Called with the address of a page where the user signs in.
        cancelled: True once nobody waits any more.

    Raises:
        ToolFailed: It is no server of tools, or does not work.
        Cancelled: Nobody waits any more.
    """
    return with_tools(server, _tools(_asked(server, {"do": "list", "time_s": CALL_S}, cancelled, opened)["tools"]))


def end_session(name: str = "") -> None:
    """End the process of a server, or of all, with what it has started."""
    for one in [name] if name else list(_sessions):
        if (session := _sessions.pop(one, None)) is not None:
            session.end()
    if not name:
        _OWN.end()


def _called(one: OfferedTool, arguments: object, cancelled: Callable[[], bool], time_s: float) -> Outcome:
    server, tool = one.server, one.tool
    if server.own:
        key = server.secret().get("key", "")
        question = {"name": tool.name, "arguments": arguments, "place": server.place, "key": key}
        found = _from(_OWN, "engine.tools.own_tools:answer", question, one.title, cancelled, lambda address: None)
    else:
        expected = {name: getattr(tool, name) for name in _SAID}
        question = {
            "do": "call", "name": tool.name, "arguments": arguments, "expected": expected, "time_s": time_s,
        }  # fmt: skip
        found = _asked(server, question, cancelled, lambda address: None)
    if "changed" in found:
        # One of the command line may have the name of another one that was added.
        tools = _tools(found["changed"])
        change_server(server.name, lambda now: with_tools(now, tools) if now.is_as(server) else now)
        return Outcome(
            say("{name} is not the tool any more that it was: look at it again.", name=one.title), True, True
        )
    return Outcome(str(found["text"]), bool(found["failed"]))


def _asked(
    server: ToolServer, question: dict[str, Any], cancelled: Callable[[], bool], opened: Callable[[str], None]
) -> dict[str, Any]:
    title = f"tenon-tools-{re.sub('[^a-zA-Z0-9]', '-', server.name)[:20]}"
    fresh = Preparer(
        title,
        _WORK_S,
        256 << 20,
        256 << 20,
        idle_s=_IDLE_S,
        clock_s=_CLOCK_S,
        answer_bytes=16 << 20,
        starts_others=True,
    )
    session = _sessions.setdefault(server.name, fresh)  # in one step: two chats may ask at once
    secret = server.secret()
    place = "?".join(filter(None, (server.place, secret.pop(QUERY, ""))))
    told = {"name": server.name, "kind": server.kind, "place": place, "arguments": list(server.arguments)}
    question = {"server": {**told, "secret": secret}, **question}
    found = _from(session, "engine.tools.mcp_session:answer", question, server.name, cancelled, opened)
    if "problem" in found:
        raise ToolFailed(str(found["problem"]))
    return found


def _from(
    process: Preparer,
    work: str,
    question: dict[str, Any],
    name: str,
    cancelled: Callable[[], bool],
    opened: Callable[[str], None],
) -> dict[str, Any]:
    """Return the last answer of a process to a question; the ones before it name pages to open."""
    found: dict[str, Any] = {}
    try:
        for answer in process.answers(work, json.dumps(question).encode(), cancelled):
            found = read_json(answer)
            if "open" in found:
                opened(str(found["open"]))
    except TookTooMuch as error:
        raise ToolFailed(_FLOODED, name=name) from error
    except TookTooLong as error:
        raise ToolFailed(_HUNG, name=name) from error
    except (Beyond, RuntimeError, ValueError) as error:
        raise ToolFailed(_GONE, name=name, details=repr(error)) from error
    return found


def _tools(found: list[dict[str, Any]]) -> list[KnownTool]:
    return [from_plain(KnownTool, one) for one in found]


def _plain(name: str) -> str:
    """Return a name of the signs that every protocol takes."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "tool"
