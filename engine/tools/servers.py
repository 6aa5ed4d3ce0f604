"""Servers of tools that a user has added, the three that Tenon has itself, and what is known and allowed of each tool.

What a server needs to be told in secret (variables of its environment, headers of its requests, the query of its
address) is in the system's keyring. A tool that was allowed always is allowed as it was then: by a digest of all that
its server says of it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from engine.errors import FileRefused, InvalidOption, KeyNotKept
from engine.hub.endpoints import read_address
from engine.hub.kept_list import change_list, read_list
from engine.hub.model_folders import data_folder
from engine.json_text import read_json
from engine.kept_secret import NoKeyring, find_secret, forget_secret, keep_secret
from engine.sentences import mark

FILE_NAME = "tools.json"
Kind = Literal["command", "address", "folder", "page", "search"]
#: Services that search, by the name that stands in the place of an address.
SEARCHES = {"brave": "Brave", "tavily": "Tavily"}
_NAME = re.compile(r"[\w .-]{1,40}")
#: Name that the query of an address has among its secrets; no header can have it.
QUERY = "?"
_FROM_OUTSIDE = re.compile(r"\$\{(\w+)\}")
_NO_KEYRING = mark(
    "This system has no keyring that Tenon can keep variables, headers and keys in: write ${NAME} in their place, "
    "and set the variable NAME before Tenon starts."
)


@dataclass(frozen=True)
class KnownTool:
    """A tool as its server described it last."""

    name: str  # the server's name for it
    description: str = ""
    parameters: str = "{}"  # JSON schema of its arguments, as text
    reads_only: bool = False  # its server says that it changes nothing
    problem: str = ""  # reason why no model is offered it; empty for none
    on: bool = True  # models are offered it
    allowed: str = ""  # digest of the tool that is called without a question; empty for none

    @property
    def digest(self) -> str:
        """Digest of all that its server says of it."""
        said = [self.name, self.description, self.parameters, self.reads_only]
        return sha256(json.dumps(said).encode("utf-8", "replace")).hexdigest()

    @property
    def is_allowed(self) -> bool:
        """True if it is called without a question."""
        return self.allowed == self.digest


@dataclass(frozen=True)
class ToolServer:
    """A server of tools."""

    name: str
    kind: Kind
    # Command, address or folder; of a search its address or a name of `SEARCHES`
    place: str = ""
    arguments: tuple[str, ...] = ()  # arguments of the command
    on: bool = False
    secrets: bool = False  # variables or headers, or a key, are in the keyring
    told: tuple[str, ...] = ()  # those of which Tenon's environment has the value, as ``NAME=${VARIABLE}``
    tools: tuple[KnownTool, ...] = ()

    @property
    def own(self) -> bool:
        """True if it is a part of Tenon."""
        return self.kind not in ("command", "address")

    @property
    def ready(self) -> bool:
        """True if it has all that its tools need."""
        return self.kind == "page" or bool(self.place)

    def is_as(self, other: ToolServer) -> bool:
        """Return whether another one is the same program, address or place."""
        return (self.kind, self.place, self.arguments) == (other.kind, other.place, other.arguments)

    @property
    def account(self) -> str:
        """Account of its secrets: of an address by the address, so that no other one is ever sent them."""
        place = {"address": f"{self.place} {self.name}", "search": self.place}.get(self.kind, self.name)
        return f"tools-of-{self.kind}-{place}"

    def secret(self) -> dict[str, str]:
        """Return its variables, headers and query, or key, with those of Tenon's environment in their places."""
        kept = find_secret(self.account) if self.secrets else None
        values = dict(one.split("=", 1) for one in self.told) | ({} if kept is None else read_json(kept))
        return {
            name: _FROM_OUTSIDE.sub(lambda found: os.environ.get(found[1], ""), str(value))
            for name, value in values.items()
        }


@dataclass(frozen=True)
class _Servers:
    """Content of the file."""

    servers: tuple[ToolServer, ...] = ()


def servers() -> tuple[ToolServer, ...]:
    """Return Tenon's own servers, then those that were added."""
    return _with_own(read_list(data_folder() / FILE_NAME, _Servers))


def _with_own(kept: _Servers) -> tuple[ToolServer, ...]:
    from engine.tools.own_tools import OWN_TOOLS

    known = {one.name: one for one in kept.servers}
    own: list[ToolServer] = []
    for kind, tools in OWN_TOOLS.items():
        one = known.pop(kind, ToolServer(kind, kind))
        own.append(with_tools(replace(one, kind=kind, arguments=()), tools))
    return (*own, *(one for one in known.values() if not one.own))


def with_tools(server: ToolServer, tools: Iterable[KnownTool]) -> ToolServer:
    """Return a server with its tools as they are now and the user's choices; one that came later is off."""
    before = {tool.name: tool for tool in server.tools}
    new = KnownTool("", on=not before)
    known = [(tool, before.get(tool.name, new)) for tool in tools]
    return replace(server, tools=tuple(replace(tool, on=was.on, allowed=was.allowed) for tool, was in known))


def change_server(name: str, change: Callable[[ToolServer], ToolServer | None]) -> None:
    """Change a server that is there still; None forgets it.

    Raises:
        FileRefused: The list cannot be written.
    """
    _put(name, lambda found: None if found is None else change(found))


def keep_server(server: ToolServer, secret: Mapping[str, str]) -> ToolServer:
    """Keep a server, in the place of the one of its name, and its secrets.

    Raises:
        InvalidOption: It cannot have this command or address.
        KeyNotKept: There is no keyring for the secrets.
        FileRefused: The list cannot be written.
    """
    if server.kind == "address" or (server.kind == "search" and server.place and server.place not in SEARCHES):
        place = read_address(server.place)
        server = replace(server, place=place if server.kind == "search" else server.place.strip())  # with its own path
    if any("\0" in part or not part.isprintable() for part in (server.place, *server.arguments)):
        raise InvalidOption("The command holds characters that no command has: write it on one line.")
    told = {name: value for name, value in secret.items() if _is_told(name, value)}
    own = {name: value for name, value in secret.items() if name not in told}
    if secret:
        server = replace(server, told=tuple(f"{name}={value}" for name, value in told.items()), secrets=bool(own))
    if own:
        try:
            keep_secret(server.account, json.dumps(own))
        except NoKeyring as error:
            raise KeyNotKept(_NO_KEYRING, details=str(error)) from error
    _put(server.name, lambda _: server)
    return server


def _is_told(name: str, value: str) -> bool:
    """Return whether all of a value is in Tenon's environment, so that none of it may be a secret."""
    values = [part.partition("=")[2] for part in value.split("&")] if name == QUERY else [value.removeprefix("Bearer ")]
    return all(map(_FROM_OUTSIDE.fullmatch, values))


def forget_server(server: ToolServer) -> None:
    """Forget a server and its secrets.

    Raises:
        FileRefused: The list cannot be written.
    """
    _put(server.name, lambda _: None)
    for account in (server.account, sign_in_account(server.place)):
        with suppress(NoKeyring):  # then it has none either
            forget_secret(account)


def sign_in_account(address: str) -> str:
    """Return the account of the tokens that an address has given by OAuth."""
    return f"sign-in-of-{address}"


def read_servers(text: str) -> list[tuple[ToolServer, dict[str, str]]]:
    """Read servers with their secrets from what a user has pasted: the usual JSON, an address, or a command.

    Raises:
        InvalidOption: It is none of them, or a server cannot have its name.
    """
    text = text.strip()
    found = _from_json(text) if text.startswith("{") else _from_line(text)
    for server, _ in found:
        if not _NAME.fullmatch(server.name) or server.name in ("folder", "page", "search"):
            raise InvalidOption(
                "{name} cannot be the server's name: take another one, of 40 letters, digits, spaces, points and "
                "hyphens at most.",
                name=repr(server.name[:60]),
            )
    return found


def _from_line(text: str) -> list[tuple[ToolServer, dict[str, str]]]:
    if re.match(r"https?://\S+$", text):
        place, secret = _without_query(text)
        host = re.sub(r"[^\w.-]", "-", place.split("/")[2].partition(":")[0])[:40]
        return [(ToolServer(host, "address", place), secret)]
    try:
        command, *arguments = shlex.split(text, posix=os.name != "nt")
    except ValueError as error:
        raise InvalidOption("This is no command, no address and no JSON of mcpServers: check its quotes.") from error
    named = next((part for part in reversed(arguments) if not part.startswith("-")), command)
    name = re.sub(r"[^\w.-]", "-", re.split(r"[\\/]", named)[-1])[:40]
    return [(ToolServer(name, "command", command, tuple(arguments)), {})]


def _from_json(text: str) -> list[tuple[ToolServer, dict[str, str]]]:
    wrong = InvalidOption(
        "This is no JSON of mcpServers: it looks like {example}, or has a url in the place of the command.",
        example='{"mcpServers": {"name": {"command": "...", "args": []}}}',
    )
    try:
        values: Any = read_json(text)
    except ValueError as error:
        raise wrong from error
    listed = values.get("mcpServers", values.get("servers", values))
    if not isinstance(listed, dict) or not listed:
        raise wrong
    found = []
    for name, one in listed.items():
        if not isinstance(one, dict):
            raise wrong
        address, command = one.get("url", one.get("serverUrl")), one.get("command")
        arguments, secret = one.get("args") or [], one.get("headers" if address else "env") or {}
        place = address or command
        if not isinstance(place, str) or not isinstance(arguments, list) or not isinstance(secret, dict):
            raise wrong
        kind: Kind = "address" if address else "command"
        place, query = _without_query(place) if address else (place, {})
        server = ToolServer(name, kind, place, () if address else tuple(map(_text, arguments)))
        found.append((server, {key: _text(value) for key, value in secret.items()} | query))
    return found


def _text(value: object) -> str:
    """Return a text or a number of JSON as text; a program would read "None" or "True" in another one's place."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidOption(
            "A server's JSON has {value} in the place of a text: write a text in quotes, or leave it out.",
            value=json.dumps(value)[:40],
        )
    return str(value)


def _without_query(address: str) -> tuple[str, dict[str, str]]:
    """Return an address without its query, which may hold a key, and that as a secret."""
    place, _, query = address.strip().partition("?")
    return place, {QUERY: query} if query else {}


def _put(name: str, change: Callable[[ToolServer | None], ToolServer | None]) -> None:
    def put(known: _Servers) -> _Servers:
        others = {one.name: one for one in known.servers}
        server = change(next((one for one in _with_own(known) if one.name == name), None))
        others.pop(name, None) if server is None else others.update({name: server})
        return _Servers(tuple(others.values()))

    try:
        change_list(data_folder() / FILE_NAME, _Servers, put)
    except OSError as error:
        raise FileRefused("The list of tools cannot be written ({reason}).", reason=error.strerror or error) from error
