"""Servers that a user has added: the facts kept about each, and the place of its key.

Their models are listed beside the installed ones, as ``remote:SERVER/MODEL``. Keys are in the system's keyring,
each under the address that it is for, so that no other address is ever sent it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from engine.errors import FileRefused, InvalidOption, KeyNotKept, ModelNotFound
from engine.hub.kept_list import change_list, mend_list, read_list
from engine.hub.model_folders import data_folder
from engine.kept_secret import NoKeyring, find_secret, forget_secret, keep_secret
from engine.messages import ServerKind, ThinkingControl

FILE_NAME = "servers.json"
_PREFIX = "remote:"
_PATHS = ("/chat/completions", "/v1")

#: Kinds by their usual names; from any other server only OpenAI's protocol is expected.
KIND_TITLES: dict[ServerKind, str] = {
    "": "OpenAI",
    "tenon": "Tenon",
    "llama.cpp": "llama.cpp",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
}


@dataclass(frozen=True)
class ServedModel:
    """A model of a server."""

    name: str  # name by which the server knows it
    context: int | None = None  # tokens of prompt and reply together, or None if the server does not say
    thinking: ThinkingControl = ""  # way in which a request controls its thoughts


@dataclass(frozen=True)
class Endpoint:
    """A server."""

    name: str  # the user's name for it
    address: str  # address without the ``/v1`` of OpenAI's protocol
    kind: ServerKind = ""  # program that answers there
    models: tuple[ServedModel, ...] = ()  # models that it had when it was last asked

    @property
    def encrypted(self) -> bool:
        """True if requests to it cannot be read on the way."""
        return self.address.startswith("https:")

    @property
    def is_here(self) -> bool:
        """True if it is a program of this computer, which requests to it do not leave as far as the address shows."""
        host = urlsplit(self.address).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def key_variable(self) -> str:
        """Environment variable of its key if there is no keyring; of servers with similar names the first has it."""
        letters = (letter if letter.isascii() else f"U{ord(letter):X}_" for letter in self.name.upper())
        return f"TENON_KEY_{re.sub(r'[^A-Z0-9]', '_', ''.join(letters))}"

    def reference(self, model: str) -> str:
        """Return the text by which one of its models is chosen."""
        return f"{_PREFIX}{self.name}/{model}"

    def key(self) -> str | None:
        """Return the key to send, or None if there is none or its variable is another server's."""
        owner = next((one for one in endpoints() if one.key_variable == self.key_variable), self)
        mine = (owner.name, owner.address) == (self.name, self.address)
        return (mine and os.environ.get(self.key_variable, "").strip()) or find_secret(self._account)

    def keep_key(self, key: str) -> None:
        """Keep a key in the system's keyring.

        Raises:
            InvalidOption: The text cannot be a key.
            KeyNotKept: There is no keyring.
        """
        key = key.strip()
        if not key.isascii() or not key.isprintable() or " " in key or not key:
            raise InvalidOption("This is not a key: copy it whole from the server that gave it.")
        try:
            keep_secret(self._account, key)
        except NoKeyring as error:
            raise KeyNotKept(
                "This system has no keyring that Tenon can keep the key in: put it into the environment variable "
                "{variable} before Tenon starts, and add the server without it.",
                variable=self.key_variable,
                details=str(error),
            ) from error

    @property
    def _account(self) -> str:
        return f"key-of-{self.address}"


def is_remote(reference: str) -> bool:
    """Return whether a reference names a server's model."""
    return reference.startswith(_PREFIX)


def remote_name(reference: str) -> str:
    """Return the name of a server's model for users: the last part of the server's own name for it."""
    return reference.removeprefix(_PREFIX).rpartition("/")[2]


def endpoints() -> tuple[Endpoint, ...]:
    """Return the servers in the order in which they were added."""
    return read_list(data_folder() / FILE_NAME, _Servers).servers


def mend_endpoints() -> None:
    """Set a damaged list of servers aside and say so; the readable part of it stays in use."""
    mend_list(data_folder() / FILE_NAME, _Servers)


def server_of(reference: str) -> Endpoint | None:
    """Return the server of a remote model's reference, or None if it was removed or the reference is another one."""
    name = reference.removeprefix(_PREFIX).partition("/")[0]
    known = endpoints() if is_remote(reference) else ()
    return next((server for server in known if server.name == name), None)


def find_remote(reference: str) -> tuple[Endpoint, str]:
    """Return the server of a remote model, and the server's name for the model.

    Raises:
        ModelNotFound: There is no such server any more.
    """
    name, _, model = reference.removeprefix(_PREFIX).partition("/")
    server = server_of(reference)
    if server is None or not model:
        raise ModelNotFound(
            "There is no server {name}: choose another model, or add the server on the page Models.",
            name=repr(name),
        )
    return server, model


def read_address(text: str) -> str:
    """Return a server's address as it is kept, from the text that a user has typed or pasted.

    Raises:
        InvalidOption: The text is no address.
    """
    address = text.strip()
    address = address if "://" in address else f"http://{address}"
    try:
        split = urlsplit(address)
        usable = (
            split.scheme in ("http", "https")
            and bool(split.hostname)
            and split.port != 0
            and address.isprintable()
            and not set(address) & set(" \\%<>\"'")
        )
    except ValueError:
        usable = False
    if not usable or split.query or split.fragment:
        raise InvalidOption(
            "{address} is no address of a server: write it like http://desk:8000 or https://models.example.org.",
            address=repr(text.strip()[:100]),
        )
    if split.username is not None or split.password is not None:
        raise InvalidOption("The address holds a name or a key: leave it out, and give the key by itself.")
    path = split.path.rstrip("/")
    for ending in _PATHS:
        path = path.removesuffix(ending)
    return f"{split.scheme}://{split.netloc.lower()}{path}"


def free_name(address: str, wanted: str = "") -> str:
    """Return a name for a server that no other one has: the wanted one, or its host's.

    Raises:
        InvalidOption: The wanted name cannot be one, or another server has it.
    """
    others = [server for server in endpoints() if server.address != address]
    taken = {server.key_variable: server.name for server in others}
    name = wanted.strip()
    if name:
        other = taken.get(Endpoint(name, address).key_variable, name)
        if other != name:
            raise InvalidOption(
                "{name} cannot be the server's name, because the key of {other} is kept by the same variable: take "
                "another one.",
                name=repr(name[:60]),
                other=repr(other),
            )
        if "/" in name or not name.isprintable() or len(name) > 40 or name in taken.values():
            raise _unusable(name)
        return name
    known = next((server.name for server in endpoints() if server.address == address), "")
    host = (urlsplit(address).netloc.rpartition("@")[2] or address)[:40]
    names = (host, *(f"{host[:34]} ({number})" for number in range(2, 1000)))
    return known or next(name for name in names if Endpoint(name, address).key_variable not in taken)


def keep_endpoint(server: Endpoint) -> None:
    """Keep a server, in the place of the one with its address.

    Raises:
        InvalidOption: Another server got its name meanwhile.
        FileRefused: The list cannot be written.
    """

    def kept(known: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
        if any(one.name == server.name and one.address != server.address for one in known):
            raise _unusable(server.name)
        others = {one.address: one for one in known}
        return tuple((others | {server.address: server}).values())

    _change(kept)


def renew_endpoint(before: Endpoint, now: Endpoint) -> bool:
    """Replace a server by its renewed state, unless it was forgotten or changed; return whether it was replaced.

    Raises:
        FileRefused: The list cannot be written.
    """
    there = False

    def renewed(known: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
        nonlocal there
        there = before in known
        return tuple(now if one == before else one for one in known)

    _change(renewed)
    return there


def forget_endpoint(name: str) -> None:
    """Forget a server and its key.

    Raises:
        ModelNotFound: There is no server of this name.
        FileRefused: The list cannot be written.
    """
    server = next((one for one in endpoints() if one.name == name), None)
    if server is None:
        raise ModelNotFound("There is no server {name}: choose one of those that were added.", name=repr(name))
    _change(lambda known: tuple(one for one in known if one.name != name))
    try:
        forget_secret(server._account)
    except NoKeyring:
        return  # then it has no key either


@dataclass(frozen=True)
class _Servers:
    """Content of the file."""

    servers: tuple[Endpoint, ...] = ()


def _unusable(name: str) -> InvalidOption:
    return InvalidOption(
        "{name} cannot be the server's name: take another one, of 40 characters at most and without a slash.",
        name=repr(name[:60]),
    )


def _change(change: Callable[[tuple[Endpoint, ...]], tuple[Endpoint, ...]]) -> None:
    try:
        change_list(data_folder() / FILE_NAME, _Servers, lambda known: _Servers(change(known.servers)))
    except OSError as error:
        raise FileRefused(
            "The list of servers cannot be written ({reason}).", reason=error.strerror or error
        ) from error
