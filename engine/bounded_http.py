"""HTTP clients that bound every answer by its bytes and by its time.

The bound stands between the connection and what reads an answer, so no body, line, event or page of a redirect is
larger. It counts the bytes that come over the net, and the bytes after decompression.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx2

from engine.sentences import mark

#: Bytes of an answer, or of what comes of a stream until its reader has got on.
MOST_BYTES = 8 << 20
#: Time for an answer to begin, and for one to end.
MOST_S = 120.0
_PIECE_BYTES = 1 << 20


class AnswerTooLong(httpx2.RequestError):
    """Error for an answer with more bytes than any honest one has."""

    def __init__(self, most_bytes: float) -> None:
        super().__init__(f"more than {most_bytes} bytes")
        self.most_bytes = most_bytes  # bound of the answer


class Bound:
    """Bound of a successful answer, given as ``extensions={"bound": ...}``; other answers have the default bound.

    Args:
        most_bytes: Most bytes before decompression, and as many after it.
        most_s: Most seconds from now on; None for `MOST_S`.
    """

    def __init__(self, most_bytes: float = MOST_BYTES, most_s: float | None = None) -> None:
        self._most_bytes = most_bytes
        self._until = time.monotonic() + (MOST_S if most_s is None else most_s)
        self.restart()

    def restart(self) -> None:
        """Count bytes from 0 again, because the reader has made progress."""
        self._came = self._unpacked = 0

    def check_time(self) -> None:
        """Raise ReadTimeout if the answer has taken too long."""
        if time.monotonic() > self._until:
            raise httpx2.ReadTimeout("the answer does not end")

    def unpack(self, piece: bytes, packed: zlib._Decompress | None) -> Iterator[bytes]:
        """Yield the bytes that a piece of an answer stands for.

        Args:
            packed: Decompressor; None for an answer that is not compressed.

        Raises:
            AnswerTooLong: There are too many bytes.
            ReadTimeout: The answer has taken too long.
            DecodingError: The piece cannot be decompressed.
        """
        self.check_time()
        self._came += len(piece)
        self._check(self._came)
        while piece and not (packed and packed.eof):
            try:
                plain = piece if packed is None else packed.decompress(piece, _PIECE_BYTES)
            except zlib.error as error:
                raise httpx2.DecodingError(str(error)) from error
            self._unpacked += len(plain)
            self._check(self._unpacked)
            if plain:
                yield plain
            piece = b"" if packed is None else packed.unconsumed_tail

    def _check(self, size_bytes: int) -> None:
        if size_bytes > self._most_bytes:
            raise AnswerTooLong(self._most_bytes)


class _Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """Decompressed body of an answer, within its bound."""

    def __init__(self, body: Any, bound: Bound, packed: zlib._Decompress | None) -> None:
        self._body, self._bound, self._packed = body, bound, packed

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._body:
            yield from self._bound.unpack(piece, self._packed)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(aiter(self._body)) as pieces:
            async for piece in pieces:
                for plain in self._bound.unpack(piece, self._packed):
                    yield plain

    def close(self) -> None:
        """Close the connection."""
        self._body.close()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._body.aclose()


def _bind(response: httpx2.Response) -> None:
    """Put a bound before an answer.

    Raises:
        DecodingError: The answer is compressed in a way that was not asked for.
        ReadTimeout: The answer took too long to begin.
    """
    coding = response.headers.pop("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", "deflate"):
        raise httpx2.DecodingError(f"the coding {coding[:100]!r}")
    # 32 takes the header of gzip and that of zlib.
    packed = None if coding == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
    bound = (response.is_success and response.request.extensions.get("bound")) or Bound()
    bound.check_time()
    response.stream = _Body(response.stream, bound, packed)


def _options(options: dict[str, Any], bind: Callable[[httpx2.Response], Any]) -> dict[str, Any]:
    headers = {"User-Agent": "tenon", "Accept-Encoding": "gzip", **options.get("headers", {})}
    hooks = {**options.get("event_hooks", {}), "response": [bind]}
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    return {**options, "headers": headers, "event_hooks": hooks, "cookies": no_cookies}


class BoundedAsyncClient(httpx2.AsyncClient):
    """Client whose answers are no larger than their bounds; its callers limit the time until one begins."""

    def __init__(self, **options: Any) -> None:
        async def bind(response: httpx2.Response) -> None:
            _bind(response)

        super().__init__(**_options(options, bind))


class BoundedClient(httpx2.Client):
    """Client whose answers are no larger than their bounds, and begin within `MOST_S`.

    Each request has a connection of its own, so that a slow one can be cut without touching another.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**_options(options, _bind), limits=httpx2.Limits(max_keepalive_connections=0))

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request in a thread: the library's limits hold for each read, and headers may come byte by byte.

        Raises:
            ReadTimeout: The answer did not begin in time.
        """
        came: queue.SimpleQueue[httpx2.Response | BaseException] = queue.SimpleQueue()
        sockets: list[socket.socket] = []
        late = threading.Event()

        def note(event: str, facts: dict[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                sockets.append(facts["return_value"].get_extra_info("socket"))

        def ask() -> None:
            try:
                response = httpx2.Client.send(self, request, **options)
            except BaseException as error:
                came.put(error)
                return
            came.put(response)
            if late.is_set():
                response.close()

        request.extensions = {**request.extensions, "trace": note}
        threading.Thread(target=ask, name="tenon-http", daemon=True).start()
        try:
            answer = came.get(timeout=MOST_S)
        except queue.Empty as error:
            late.set()
            for one in sockets:
                # The base class's shutdown: a TLS socket's own would take the session away under a read.
                with suppress(OSError):
                    socket.socket.shutdown(one, socket.SHUT_RDWR)
            raise httpx2.ReadTimeout("no answer began in time", request=request) from error
        if isinstance(answer, BaseException):
            raise answer
        return answer


def untrusted(error: Exception) -> str:
    """Return the sentence, marked, for a server whose certificate the system does not take."""
    if "not yet valid" in str(error):
        return mark(
            "The clock of this computer is behind, so that the certificate of {server} seems to be of a later day: set "
            "the clock, then try again."
        )
    return mark(
        "The certificate of {server} is not trusted by this system: add your company's certificate to the "
        "system's store."
    )
