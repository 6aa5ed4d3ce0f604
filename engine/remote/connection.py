"""The way to a server: HTTP with its key, limits, and a sentence for whatever goes wrong.

Redirects are not followed, so the key and the texts go to no other address. httpx2 takes certificates from the
system's own store, and proxies from the environment except on the way to a program of this computer.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, TypeVar

import httpx2

from engine.bounded_http import AnswerTooLong, Bound, BoundedAsyncClient, untrusted
from engine.errors import (
    PromptTooLong,
    RemoteBroken,
    RemoteBusy,
    RemoteError,
    RemoteRefused,
    RemoteUnreachable,
    TenonError,
)
from engine.hub.endpoints import Endpoint
from engine.json_text import read_json
from engine.sentences import figure, readable, say

_CODES = ("context_length_exceeded", "exceed_context_size_error")
# vLLM, SGLang, llama.cpp and llama-cpp-python say both numbers, in words of their own.
_CONTEXTS = (
    re.compile(r"maximum context length (?:is|of) ([\d,]+)"),
    re.compile(r"model's context length \(([\d,]+) tokens\)"),
    re.compile(r"available context size \(([\d,]+) tokens\)"),
    re.compile(r"context holds ([\d,]+)"),
    re.compile(r"exceed context window of ([\d,]+)"),
)
_PROMPTS = (
    re.compile(r"\(([\d,]+) in the messages"),
    re.compile(r"request has ([\d,]+) input tokens"),
    re.compile(r"prompt contains (?:at least )?([\d,]+) (?:input )?tokens"),
    re.compile(r"input \(([\d,]+) tokens\)"),
    re.compile(r"request \(([\d,]+) tokens\)"),
    re.compile(r"message is ([\d,]+) tokens long"),
    re.compile(r"Requested tokens \(([\d,]+)\)"),
    re.compile(r"([\d,]+) tokens from the input messages"),
    re.compile(r"requested (?:a total of )?([\d,]+) tokens"),
)
_LONGEST_QUOTE = 200
#: No context holds more.
MOST_TOKENS = 16 << 20
Result = TypeVar("Result")

_CONNECT_S = 10.0
#: Limits of an answer that takes no computing, and of silence before a reply, whose prompt may take minutes to read.
ASKING_S, READING_S = 10.0, 600.0


class ContextTooSmall(PromptTooLong):
    """Error for a prompt that the server calls too long."""

    def __init__(self, message: str, context: int | None = None, prompt: int | None = None) -> None:
        super().__init__(message)
        self.context = context  # tokens of context at the server; None if it did not say
        self.prompt = prompt  # tokens of the prompt by the server's count; None if it did not say


def refusal(
    server: Endpoint, status: int, body: object, headers: Mapping[str, str], has_key: bool, model: str = ""
) -> TenonError:
    """Return the error for an answer whose status is no success, or for an error within a stream.

    Args:
        status: Status of HTTP; 0 within a stream, whose error itself may have one.
        body: Answer as JSON, or None.
        has_key: True if a key was sent.
        model: Model that was asked for; empty for none.
    """
    error = body.get("error", body) if isinstance(body, dict) else None
    fields = error if isinstance(error, dict) else {}
    told = fields.get("message") or fields.get("detail") or (error if isinstance(error, str) else "")
    words = _quoted(told)
    code = fields.get("code")
    status = status or (code if isinstance(code, int) and 400 <= code <= 599 else 500)
    if status in (301, 302, 303, 307, 308):
        return RemoteUnreachable(
            "{server} redirects every request to {place}, and Tenon sends neither your words nor the key "
            "there: add that address if it is the right one.",
            server=server.name,
            place=headers.get("location", "?")[:200],
        )
    context = _context_error(fields, words, status)
    if context is not None:
        return context
    if status in (401, 403):
        sentence = (
            say(
                "{server} does not accept the key: add the server again with the right one.",
                server=server.name,
            )
            if has_key
            else say("{server} wants a key: add the server again with one.", server=server.name)
        )
        return RemoteRefused(sentence)
    if status == 429:
        return RemoteBusy(_come_back(server, headers))
    if status in (502, 503, 504) or "loading model" in words.lower():
        wait = _retry_after(headers)
        if wait is not None:
            return RemoteBusy(_come_back(server, headers))
        return RemoteBusy(
            "{server} is starting, or has no room for another request ({status}): try again in a minute.",
            server=server.name,
            status=status,
        )
    if model and (status == 404 or (status == 400 and "model" in words and "not found" in words)):
        return RemoteError(
            "{server} has no model {model} any more: choose another one of its models.",
            server=server.name,
            model=model,
        )
    if status == 404:
        return no_server(server)
    if words:
        return RemoteError(
            "{server} refused the request ({status}): {words}", server=server.name, status=status, words=words
        )
    return RemoteError("{server} failed with the status {status}: try again.", server=server.name, status=status)


def no_server(server: Endpoint) -> RemoteUnreachable:
    """Return the error for an address at which something else answers."""
    return RemoteUnreachable(
        "No model server that speaks OpenAI's protocol answers at {address}: check the address and the "
        "port, and whether a sign-in page or a proxy is in between.",
        address=server.address,
    )


def unreachable(server: Endpoint, error: Exception) -> RemoteError:
    """Return the error for a request that got no answer."""
    details = repr(error)
    if isinstance(error, AnswerTooLong):
        return RemoteBroken(
            "{server} sent more than {size} at once, which is no part of a reply: check the address, and what stands "
            "between it and this computer.",
            server=server.name,
            size=readable(error.most_bytes),
            details=details,
        )
    if isinstance(error, httpx2.DecodingError):
        return unreadable(server, details)
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return RemoteUnreachable(untrusted(error), server=server.name, details=details)
    if isinstance(error, httpx2.ProxyError):
        return RemoteUnreachable(
            "The proxy refuses the connection to {server}: check the proxy, and the addresses that go without it.",
            server=server.name,
            details=details,
        )
    if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError | httpx2.UnsupportedProtocol):
        return RemoteUnreachable(
            "{server} cannot be reached at {address}: check the address and the network, and whether it runs.",
            server=server.name,
            address=server.address,
            details=details,
        )
    if isinstance(error, httpx2.TimeoutException):
        return RemoteUnreachable(
            "{server} did not answer in time: try again when it has less to do.",
            server=server.name,
            details=details,
        )
    return broken_off(server, details)


def broken_off(server: Endpoint, details: str = "") -> RemoteBroken:
    """Return the error for a connection that ended before the reply did."""
    return RemoteBroken(
        "The connection to {server} broke off before the reply was complete: try again.",
        server=server.name,
        details=details,
    )


def endless(server: Endpoint, limit_s: float) -> RemoteBroken:
    """Return the error for a reply that makes no progress, or does not end."""
    return RemoteBroken(
        "{server} did not go on with the reply for {minutes} minutes, so it was ended here: try again "
        "when the server has less to do.",
        server=server.name,
        minutes=figure(limit_s / 60, ".3g"),
    )


def empty(server: Endpoint) -> RemoteBroken:
    """Return the error for a reply that ended before it began."""
    return RemoteBroken(
        "{server} ended the reply before its first word: shorten the message, which may be longer than the model's "
        "context there, or look into the server's log.",
        server=server.name,
    )


def unreadable(server: Endpoint, details: str = "") -> RemoteBroken:
    """Return the error for an answer that is not the protocol's."""
    return RemoteBroken(
        "{server} sent something that is no part of a reply: try again, or check what stands between it and this "
        "computer.",
        server=server.name,
        details=details,
    )


def _context_error(fields: Mapping[str, object], words: str, status: int) -> ContextTooSmall | None:
    """Return the error for a prompt that does not fit, with the server's numbers, or None."""
    named = any(code in (fields.get("code"), fields.get("type")) for code in _CODES)
    context, prompt = positive(fields.get("n_ctx")), positive(fields.get("n_prompt_tokens"))
    context = context or _number(_CONTEXTS, words)
    prompt = prompt or _number(_PROMPTS, words)
    if not named and (context is None or status not in (400, 413, 422, 500)):
        return None
    if context is None or prompt is None:
        sentence = say("The message does not fit the context of the model on the server: shorten it.")
    else:
        sentence = say(
            "The message is {prompt} tokens long, but the model's context on the server holds {context}: shorten it.",
            prompt=figure(prompt, ","),
            context=figure(context, ","),
        )
    return ContextTooSmall(sentence, context, prompt)


def _number(patterns: tuple[re.Pattern[str], ...], words: str) -> int | None:
    found = next((match for pattern in patterns if (match := pattern.search(words))), None)
    return None if found is None else positive(int(found[1][:20].replace(",", "") or 0))


def positive(value: object) -> int | None:
    """Return a number of tokens that a server tells, or None if it is no such number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS else None


def _come_back(server: Endpoint, headers: Mapping[str, str]) -> str:
    wait = _retry_after(headers)
    if wait is None:
        return say("{server} has too much to do: try again in a minute.", server=server.name)
    return say("{server} has too much to do: try again in {seconds} s.", server=server.name, seconds=wait)


def _retry_after(headers: Mapping[str, str]) -> int | None:
    """Return the seconds to wait by the header (RFC 9110, section 10.2.3), which has a number or a date."""
    said = headers.get("retry-after", "").strip()
    try:
        seconds = float(said) if said[:1].isdigit() else parsedate_to_datetime(said).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return ceil(min(max(seconds, 1.0), 86_400.0))


def _quoted(told: object) -> str:
    """Return the beginning of the server's own words, on one line."""
    words = " ".join(str(told).split()) if isinstance(told, str) else ""
    return words if len(words) <= _LONGEST_QUOTE else f"{words[: _LONGEST_QUOTE - 1]}…"


class Connection:
    """Connections to one server, for one event loop.

    Args:
        key: Key to send; None for the one that is kept.
    """

    def __init__(self, server: Endpoint, key: str | None = None) -> None:
        self.server = server
        key = key or server.key()
        self.has_key = bool(key)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx2.Timeout(connect=_CONNECT_S, read=READING_S, write=30.0, pool=_CONNECT_S)
        try:
            self._http = BoundedAsyncClient(
                headers=headers, timeout=limits, follow_redirects=False, trust_env=not server.is_here
            )
        except (ImportError, ValueError, OSError, httpx2.InvalidURL) as error:  # of the environment's proxy
            raise unreachable(server, error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, path: str, body: object = None, model: str = "", limit_s: float = ASKING_S) -> Any:
        """Return the JSON that the server answers to GET, or to POST with a body.

        Raises:
            RemoteError: The server fails in some way.
        """
        text = await self.text(path, body, model, limit_s)
        try:
            return read_json(text)
        except ValueError as error:
            raise no_server(self.server) from error

    async def text(self, path: str, body: object = None, model: str = "", limit_s: float = ASKING_S) -> str:
        """Return the server's answer as text."""

        async def read() -> bytes:
            async with self.stream(path, body, model, Bound(most_s=limit_s)) as response:
                return await response.aread()

        return (await self.within(limit_s, read())).decode("utf-8", "replace")

    async def within(self, limit_s: float, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of some work with the server.

        Raises:
            RemoteError: The work takes too long.
        """
        try:
            return await asyncio.wait_for(work, limit_s)
        except asyncio.TimeoutError as error:
            raise unreachable(self.server, httpx2.ReadTimeout(f"{limit_s} s")) from error

    @asynccontextmanager
    async def stream(self, path: str, body: object, model: str, bound: Bound) -> AsyncIterator[httpx2.Response]:
        """Open an answer that is read as it comes; failures are raised as Tenon's errors.

        Args:
            path: Path of the protocol.
            body: JSON in bytes, or an object for it; None for no body.
            model: Name of the model at the server.

        Raises:
            TenonError: The server fails in one of the ways of `failures`.
        """
        url = f"{self.server.address}{path}"
        method = "GET" if body is None else "POST"
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"}
        try:
            async with self._http.stream(
                method, url, content=content, headers=kind, extensions={"bound": bound}
            ) as response:
                if response.status_code != 200:
                    raise await self._refused(response, model)
                yield response
        except httpx2.HTTPError as error:
            raise unreachable(self.server, error) from error
        except (ValueError, httpx2.InvalidURL) as error:  # headers or a coding that nobody can read
            raise unreadable(self.server, repr(error)) from error

    async def _refused(self, response: httpx2.Response, model: str) -> TenonError:
        try:
            body = read_json(await response.aread())
        except ValueError:
            body = None
        return refusal(self.server, response.status_code, body, response.headers, self.has_key, model)
