"""Tools of ``tenon ask`` and ``tenon chat``: which ones are offered, and the question before each call."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from engine.cli.subcommand import on_interrupt, path
from engine.errors import Cancelled, InvalidOption
from engine.files import read_text_file
from engine.messages import ChatMessage, ToolCall, ToolUse
from engine.sentences import legible
from engine.text.reply_parts import Spoken
from engine.text.tool_calls import DESCRIBED, FORMATS
from engine.text.tool_calls.format import ToolFormat
from engine.tools.calling import MadeCall, OfferedTool, Outcome, asks_again, call, end_session, list_tools, offered
from engine.tools.servers import ToolServer, read_servers, servers

_ROUNDS = 8


def add_tool_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which tools the model may call."""
    group = parser.add_argument_group("tools that the model may call")
    group.add_argument(
        "--tool",
        metavar="NAME",
        action="append",
        default=[],
        help="folder=PATH to read a folder, page to fetch pages of the web, search to search it, or a server or a tool "
        "that was added in the window; may be repeated",
    )
    group.add_argument(
        "--mcp",
        metavar="FILE",
        type=path,
        action="append",
        default=[],
        help="JSON of mcpServers, whose tools are offered; may be repeated",
    )
    group.add_argument(
        "--allow",
        metavar="NAME",
        action="append",
        default=[],
        help="call this tool without a question, or all of them with the name all; may be repeated",
    )
    group.add_argument(
        "--tool-turns",
        metavar="N",
        type=int,
        default=_ROUNDS,
        help="have the model answer without tools after so many rounds of calls (default: %(default)s)",
    )


class TerminalTools:
    """Tools of a command, what the user allows of them, and the calls."""

    def __init__(self, known: Sequence[ToolServer], allowed: Sequence[str], rounds: int) -> None:
        self._offered = offered(known)
        self._allowed = set(allowed)
        self._servers = {"all", *(one.name for one in known)}  # names that no tool's own can be taken for
        self._always: set[str] = set()  # names of tools that the user has allowed in this run
        self._rounds = rounds
        self._made: list[MadeCall] = []  # in this reply
        self._form: ToolFormat = DESCRIBED

    def __bool__(self) -> bool:
        return bool(self._offered)

    @property
    def use(self) -> ToolUse:
        """The tools as a request has them."""
        return ToolUse(tuple(one.for_model for one in self._offered.values()))

    def take_form(self, name: str) -> None:
        """Take the format of calls of the model that was loaded, by its name."""
        self._form = FORMATS.get(name, DESCRIBED)

    def spoken(self, content: str) -> Spoken:
        """Return what parts the text of the model's next turn from its calls."""
        return Spoken(content, False, self._form, self.use.offered)

    def ended(self, calls: Sequence[ToolCall], turn: int, text: str) -> bool:
        """Return whether the model must answer without tools from here on."""
        if calls and turn >= self._rounds:
            print(
                f"tenon: After {turn} rounds of calls the model had to answer without tools; --tool-turns allows more.",
                file=sys.stderr,
            )
            return True
        if turn == 0:
            self._made.clear()
        return bool(self._made) and asks_again(calls, self._made, text)

    def results(self, calls: Sequence[ToolCall]) -> list[ChatMessage]:
        """Carry out the calls of a turn that the user allows.

        Raises:
            KeyboardInterrupt: The user has given up.
        """
        found, turn = [], self._made[-1].turn + 1 if self._made else 0
        for one in calls:
            text, failed = self._result(one)
            self._made.append(MadeCall(turn, one.name, one.arguments, text, failed))
            found.append(ChatMessage("tool", text, answers=one.id))
        return found

    def _result(self, wish: ToolCall) -> tuple[str, bool]:
        """Return what the model is told, and whether the call failed."""
        one = self._offered.get(wish.name)
        if one is None:
            return "There is no tool of this name.", True
        if not self._may(one, wish):
            print(f"tenon: {legible(one.title)} was not called.", file=sys.stderr)
            return "The user did not allow this call.", False
        pressed: list[bool] = []  # a signal's handler takes no lock
        with on_interrupt(lambda: pressed.append(True)):
            try:
                outcome = call(one, wish, lambda: bool(pressed))
            except Cancelled as error:
                raise KeyboardInterrupt from error
        self._tell(one, outcome)
        return outcome.text, outcome.failed

    def _may(self, one: OfferedTool, wish: ToolCall) -> bool:
        names = {"all", one.title, one.server.name} | ({one.name} - self._servers)
        if one.name in self._always or self._allowed & names:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        # ASCII shows what a terminal would obey, or nobody would see.
        arguments = json.dumps(wish.arguments)[1:-1].replace('\\"', '"')
        print(f"tenon: The model wants to call {legible(one.title)} {arguments}", file=sys.stderr)
        print("tenon: Allow it? y for yes, a for always in this run, n for no: ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip().lower()
        if answer == "a":
            self._always.add(one.name)
        return answer in ("y", "yes", "a")

    @staticmethod
    def _tell(one: OfferedTool, outcome: Outcome) -> None:
        said = f"failed: {outcome.text.splitlines()[0][:200]}" if outcome.failed and outcome.text else "done"
        print(f"[{legible(one.title)}, {outcome.seconds:.1f} s, {legible(said)}]", file=sys.stderr)


@contextmanager
def opened_tools(options: argparse.Namespace) -> Iterator[TerminalTools]:
    """Give the tools that a command line names, and end their servers after use.

    Raises:
        InvalidOption: There is no such tool, or FILE has no servers.
        ToolFailed: A server does not work.
    """
    try:
        found = [_named(name) for name in options.tool]
        for file in options.mcp:
            found += _of_file(file)
        yield TerminalTools(found, options.allow, options.tool_turns)
    finally:
        end_session()


def _named(text: str) -> ToolServer:
    name, _, place = text.partition("=")
    known = servers()
    server = next((one for one in known if one.name == name), None)
    if server is not None:
        tools = server.tools
    else:
        server = next((one for one in known for tool in one.tools if tool.name == name), None)
        tools = () if server is None else tuple(tool for tool in server.tools if tool.name == name)
    if server is None:
        raise InvalidOption(
            "There is no tool {name}: take one of {names}, or add it on the page Tools.",
            name=repr(name),
            names=", ".join(one.name for one in known),
        )
    if place and server.kind == "folder":
        server = replace(server, place=os.path.abspath(place))
    if not server.ready or (server.kind == "folder" and not os.path.isdir(server.place)):
        raise InvalidOption("The tool {name} has no place yet: name a folder that is there, or set it up.", name=name)
    return replace(server, on=True, tools=tuple(replace(tool, on=True) for tool in tools))


def _of_file(file: os.PathLike[str]) -> list[ToolServer]:
    try:
        text = read_text_file(path(os.fspath(file)), "utf-8-sig").lstrip()
        listed = read_servers(text if text.startswith("{") else "{")
    except OSError as error:
        raise InvalidOption("{path} cannot be read: check the path behind --mcp.", path=os.fspath(file)) from error
    except UnicodeDecodeError as error:
        raise InvalidOption("{path} is no text in UTF-8: save it as such.", path=os.fspath(file)) from error
    except InvalidOption as error:
        raise InvalidOption("{path}: {problem}", path=os.fspath(file), problem=error.message) from error
    found = []
    for server, secret in listed:
        told = replace(server, on=True, told=tuple(f"{name}={value}" for name, value in secret.items()))
        found.append(list_tools(told, lambda page: print(f"tenon: Sign in at {page}", file=sys.stderr)))
    return found
