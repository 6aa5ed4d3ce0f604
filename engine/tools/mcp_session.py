"""A session with a server of the Model Context Protocol, in a process of its own; nothing else imports the package.

Questions and answers are JSON. A server's process ends with this one, and this one if the server keeps it busy while
nobody asks.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import queue
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import jsonschema  # type: ignore[import-untyped]
import psutil
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client import Transport
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, TokenStorage
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from referencing.exceptions import Unresolvable

from engine.child_process import LAST_ACTS
from engine.kept_secret import NoKeyring, find_secret, keep_secret
from engine.sentences import say
from engine.tools.servers import sign_in_account

MOST_TOOLS = 128
_MOST_SCHEMA = 32_000
_SIGN_IN_S = 300.0
_BUSY_SHARE, _BUSY_S = 0.5, 10.0  # of a processor, while nobody asks
_LAST_LINES = 5
_QUERY = re.compile(r"\?[^\s'\"]+")  # of an address, which may hold a key
#: A reference to a schema that stands elsewhere: the library would fetch it, from any address or file.
_ELSEWHERE = re.compile(r'"\$(?:ref|dynamicRef|recursiveRef)": "(?!#)')


logging.getLogger("mcp").addHandler(logging.NullHandler())  # what it logs is told in a sentence


class _SignIn(Exception):
    """The server wants the user to sign in, and this is not the time to ask for it."""


class _Session:
    """Connection with one server; requests come one after the other."""

    def __init__(self, server: dict[str, Any]) -> None:
        self.server = server
        self.over = False
        self.asked = False  # a question is being answered
        self._errors: deque[str] = deque(maxlen=_LAST_LINES)  # last lines that its program has said to a user
        self._says: Callable[[dict[str, Any]], None] = lambda message: None
        self._may_sign_in = self._called = False
        self._loop = asyncio.new_event_loop()
        self._waiting: asyncio.Queue[tuple[dict[str, Any], queue.SimpleQueue[dict[str, Any]]]] = asyncio.Queue()
        threading.Thread(target=self._loop.run_until_complete, args=(self._run(),), daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()

    def ask(self, asked: dict[str, Any], answers: queue.SimpleQueue[dict[str, Any]]) -> None:
        """Have a question answered."""
        self.asked = True
        self._loop.call_soon_threadsafe(self._waiting.put_nowait, (asked, answers))

    async def _run(self) -> None:
        asked, answers = await self._waiting.get()
        begun = False
        try:
            async with AsyncExitStack() as stack:
                limit = stack.enter_context(anyio.fail_after(None))
                while True:
                    self._says, self._may_sign_in, self._called = answers.put, asked["do"] == "list", False
                    limit.deadline = anyio.current_time() + (
                        _SIGN_IN_S if self._may_sign_in and self.server["kind"] == "address" else asked["time_s"]
                    )
                    if not begun:
                        transport = await self._transport(stack)
                        client = await stack.enter_async_context(Client(transport))
                        begun = True
                    answer = await self._answer(client, asked)
                    limit.deadline = math.inf
                    self.asked = False
                    answers.put(answer)
                    asked, answers = await self._waiting.get()
        except BaseException as error:
            self.over = True
            answers.put({"problem": self._problem(error, begun, asked), "called": self._called})

    async def _transport(self, stack: AsyncExitStack) -> Transport:
        server = self.server
        if server["kind"] == "command":
            reading, writing = os.pipe()
            threading.Thread(target=_keep_lines, args=(reading, self._errors), daemon=True).start()
            log = stack.enter_context(os.fdopen(writing, "w"))
            program = StdioServerParameters(
                command=server["place"],
                args=server["arguments"],
                env=server["secret"],
                encoding_error_handler="replace",
            )
            return stdio_client(program, log)
        address = server["place"].partition("?")[0]  # servers that sign users in are not sent the query
        storage = _Kept(address)
        callback = stack.enter_context(_Callback(storage.port))
        if self._may_sign_in and callback.port != storage.port:
            storage.forget_client()  # it was registered with a port that another program has now
        metadata = OAuthClientMetadata(
            client_name="Tenon",
            redirect_uris=[f"http://127.0.0.1:{callback.port}/callback"],  # type: ignore[list-item]
            token_endpoint_auth_method="none",
        )
        auth = OAuthClientProvider(address, metadata, storage, self._sign_in, callback.result)
        storage.context = auth.context
        has_key = any(name.lower() == "authorization" for name in server["secret"])
        client = create_mcp_http_client(server["secret"], auth=None if has_key else auth)
        return streamable_http_client(server["place"], http_client=await stack.enter_async_context(client))

    async def _answer(self, client: Client, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer a question; the tools are listed each time, because a server may have changed them."""
        tools = await _listed(client)
        if asked["do"] == "list":
            return {"tools": tools}
        tool = next((one for one in tools if one["name"] == asked["name"]), None)
        if tool is None or tool != asked["expected"]:
            return {"changed": tools}
        try:
            jsonschema.validate(asked["arguments"], json.loads(tool["parameters"]))
        except (jsonschema.ValidationError, Unresolvable) as error:
            reason = getattr(error, "message", str(error))[:500]
            return {"text": f"The arguments do not fit the tool's schema: {reason}", "failed": True}
        self._called = True
        try:
            result = await client.call_tool(asked["name"], asked["arguments"])
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise
            return {"text": str(error)[:2000], "failed": True}
        except RuntimeError as error:  # the result does not fit the schema that the server gave for it
            return {"text": str(error)[:500], "failed": True}
        return {"text": _text(result), "failed": bool(result.is_error)}

    async def _sign_in(self, address: str) -> None:
        if not self._may_sign_in:
            raise _SignIn
        self._says({"open": address})

    def _problem(self, error: BaseException, begun: bool, asked: dict[str, Any]) -> str:
        """Return a sentence for a connection that ended."""
        while inner := getattr(error, "exceptions", ()):  # of a group
            error = inner[0]
        name = self.server["name"]
        if isinstance(error, _SignIn):
            return say("{name} wants you to sign in: connect it on the page Tools.", name=name)
        if isinstance(error, OAuthFlowError):
            return say(
                "Signing in at {name} did not succeed ({reason}): connect it again on the page Tools.",
                name=name,
                reason=_QUERY.sub("?...", str(error))[:300],
            )
        if isinstance(error, TimeoutError):
            return say("{name} did not answer within {seconds} s.", name=name, seconds=round(asked["time_s"]))
        if isinstance(error, FileNotFoundError | PermissionError):
            return say("{name} cannot be started: there is no program {path}.", name=name, path=self.server["place"])
        said = " ".join(self._errors).strip() if self.server["kind"] == "command" else ""
        reason = (said or _QUERY.sub("?...", str(error)))[-300:].strip() or type(error).__name__
        if begun:
            return say("{name} has ended, and starts again with the next call ({reason}).", name=name, reason=reason)
        return say("{name} is no server of tools, or does not work ({reason}).", name=name, reason=reason)

    def _watch(self) -> None:
        """End this process if the server keeps it busy while nobody asks."""
        while not self.over:
            before = time.process_time()
            quiet = not self.asked
            time.sleep(_BUSY_S)
            if quiet and not self.asked and time.process_time() - before > _BUSY_SHARE * _BUSY_S:
                end_programs()
                os._exit(1)


class _Kept(TokenStorage):
    """Tokens of an address in the system's keyring, or in memory alone without one.

    The package forgets with each process when a token ends and where another one is to be had, so both are kept.
    """

    context: OAuthContext

    def __init__(self, address: str) -> None:
        self._account = sign_in_account(address)
        kept = find_secret(self._account)
        self._values: dict[str, Any] = {} if kept is None else json.loads(kept)

    @property
    def port(self) -> int:
        """Port of the address that this program was registered with; 0 for any."""
        addresses = self._values.get("client", {}).get("redirect_uris") or [""]
        return urlsplit(addresses[0]).port or 0

    def forget_client(self) -> None:
        """Have this program registered again."""
        self._values.pop("client", None)

    async def get_tokens(self) -> OAuthToken | None:
        if "metadata" in self._values:
            self.context.oauth_metadata = OAuthMetadata.model_validate(self._values["metadata"])
        if "tokens" not in self._values:
            return None
        tokens = OAuthToken.model_validate(self._values["tokens"])
        if tokens.refresh_token and time.time() > self._values.get("until", math.inf):
            tokens.access_token = ""  # so that the package asks for another one, and not the user
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._values["until"] = time.time() + tokens.expires_in if tokens.expires_in else math.inf
        if self.context.oauth_metadata is not None:
            self._values["metadata"] = self.context.oauth_metadata.model_dump(mode="json", exclude_none=True)
        self._keep("tokens", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        known = self._values.get("client")
        return None if known is None else OAuthClientInformationFull.model_validate(known)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._keep("client", client_info)

    def _keep(self, name: str, value: OAuthToken | OAuthClientInformationFull) -> None:
        self._values[name] = value.model_dump(mode="json", exclude_none=True)
        with suppress(NoKeyring):
            keep_secret(self._account, json.dumps(self._values))


class _Callback:
    """Listens on this computer for the browser that comes back from signing in."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError:
            self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> _Callback:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    async def result(self) -> AuthorizationCodeResult:
        """Wait for the browser."""
        came: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            line = (await reader.readline()).decode("latin-1").split(" ")
            found = parse_qs(urlsplit(line[1] if len(line) > 1 else "").query)
            said = say("You can close this page and go back to Tenon.") if {"code", "error"} & {*found} else "?"
            body = f"<!doctype html><meta charset=utf-8><p>{said}</p>".encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            writer.close()
            if not came.done() and "code" in found:
                first = {name: values[0] for name, values in found.items()}
                result = AuthorizationCodeResult(code=first["code"], state=first.get("state"), iss=first.get("iss"))
                came.set_result(result)
            elif not came.done() and "error" in found:
                came.set_exception(OAuthFlowError(found["error"][0]))

        async with await asyncio.start_server(serve, sock=self._socket.dup()):
            return await came


def _keep_lines(reading: int, lines: deque[str]) -> None:
    """Keep the last lines of what a program says, each cut to a bearable length."""
    with suppress(OSError, ValueError), os.fdopen(reading, "r", errors="replace") as file:
        while line := file.readline(1000):
            if line.strip():
                lines.append(line.strip())


async def _listed(client: Client) -> list[dict[str, Any]]:
    """Return the tools as `KnownTool` has them."""
    found: dict[str, dict[str, Any]] = {}
    cursor: str | None = None
    while len(found) < MOST_TOOLS:
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        before = len(found)
        for tool in page.tools[: MOST_TOOLS - before]:
            parameters = json.dumps(tool.input_schema)
            hints = tool.annotations
            found[tool.name] = {
                "name": tool.name,
                "description": tool.description or tool.title or "",
                "parameters": parameters if len(parameters) <= _MOST_SCHEMA else "{}",
                "reads_only": bool(hints and hints.read_only_hint),
                "problem": _schema_problem(tool, parameters),
            }
        cursor = page.next_cursor
        if cursor is None or len(found) == before:  # a server may go on for ever
            break
    return list(found.values())


def _schema_problem(tool: types.Tool, text: str) -> str:
    schema = tool.input_schema
    if len(text) > _MOST_SCHEMA:
        return say("The schema of its arguments is too long.")
    if _ELSEWHERE.search(text) or _ELSEWHERE.search(json.dumps(tool.output_schema)):
        return say("Its schema refers to another place.")
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError:
        return say("The schema of its arguments is none.")
    return "" if schema.get("type") == "object" else say("Its arguments are no object.")


def _text(result: types.CallToolResult) -> str:
    """Return a result as text, cut where it is too long."""
    parts = []
    for part in result.content:
        if isinstance(part, types.TextContent):
            parts.append(part.text)
        elif isinstance(part, types.EmbeddedResource) and isinstance(part.resource, types.TextResourceContents):
            parts.append(part.resource.text)
        elif isinstance(part, types.ResourceLink):
            parts.append(str(part.uri))
        else:
            parts.append(f"[{getattr(part, 'mime_type', None) or part.type}]")
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n".join(parts)


def end_programs() -> None:
    """End the programs that this process has started."""
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            one.kill()


_session: _Session | None = None
LAST_ACTS.append(end_programs)


def answer(question: bytes) -> Iterator[bytes]:
    """Answer a question: the tools of a server, or a call of one; pages to open come before that.

    A server that has ended since the last question is started again, as nothing was asked of it yet.
    """
    global _session
    asked = json.loads(question)
    for _ in range(2):
        fresh = _session is None or _session.over or _session.server != asked["server"]
        if fresh:
            end_programs()
            _session = _Session(asked["server"])
        assert _session is not None
        answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        _session.ask(asked, answers)
        while "open" in (found := answers.get()):
            yield json.dumps(found).encode()
        if fresh or "problem" not in found or found.get("called"):
            break
    yield json.dumps(found).encode()
