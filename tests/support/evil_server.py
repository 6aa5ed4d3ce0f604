"""A server whose answers never end, or are not what they seem: each kind is a path, a model, and bytes without end."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_MB = 1_000_000


def _head(kind: str = "application/json", status: str = "200 OK", **headers: str) -> bytes:
    fields = {"Content-Type": kind, "Connection": "close"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def event(finish: str | None = None, /, **delta: object) -> bytes:
    """An event of a reply."""
    return b"data: %s\n\n" % json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]}).encode()


def _endless(head: bytes, begun: bytes = b"", more: bytes = b"a" * _MB, pause_s: float = 0.0) -> Iterator[bytes]:
    yield head + begun
    while True:
        time.sleep(pause_s)
        yield more


def _stream(begun: bytes = b"", more: bytes = b"a" * _MB, pause_s: float = 0.0) -> Iterator[bytes]:
    return _endless(_head("text/event-stream"), begun, more, pause_s)


def _packed(head: bytes, bits: int, begun: bytes, more: bytes) -> Iterator[bytes]:
    """A bomb: a kilobyte stands for a megabyte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    yield head + packer.compress(begun)
    while True:
        piece = b"".join(packer.compress(more) for _ in range(8))
        if piece:
            yield piece


def _after_gzip() -> Iterator[bytes]:
    return _endless(_head(Content_Encoding="gzip"), gzip.compress(b"{"), b"x" * _MB)


def _nothing_in_gzip() -> Iterator[bytes]:
    """Stored blocks of no bytes."""
    begun = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    return _endless(_head("text/event-stream", Content_Encoding="gzip"), begun, b"\0\0\0\xff\xff" * 100_000)


def _twice() -> Iterator[bytes]:
    once = gzip.compress(b"a" * 50 * _MB)
    return _endless(_head(Content_Encoding="gzip, gzip"), gzip.compress(once))


def _informational() -> Iterator[bytes]:
    while True:
        yield b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" * 1000


def _extensions() -> Iterator[bytes]:
    chunk = b"1;" + b"e" * 50_000 + b"\r\n \r\n"
    return _endless(_head(Transfer_Encoding="chunked"), b"", chunk)


def _calls_in_one() -> Iterator[bytes]:
    yield _head("text/event-stream") + b'data: {"choices": [{"delta": {"tool_calls": ['
    call = b'{"index":%d,"function":{"name":"f","arguments":"{}"}},'
    numbers = itertools.count()
    while True:
        yield b"".join(call % next(numbers) for _ in range(10_000))


def _calls() -> Iterator[bytes]:
    yield _head("text/event-stream")
    for number in itertools.count():
        yield event(tool_calls=[{"index": number, "function": {"name": "f", "arguments": "{}"}}])


def _arguments() -> Iterator[bytes]:
    begun = event(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": ""}}])
    return _stream(begun, event(tool_calls=[{"index": 0, "function": {"arguments": "[1,"}}]) * 1000)


def _once(*parts: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter(parts)


def _sized(body: bytes) -> bytes:
    return _head(Content_Length=str(len(body))) + body


def _redirect(place: str, body: bytes = b"") -> bytes:
    return _head(status="302 Found", Location=place, Content_Length=str(len(body))) + body


#: Kinds by their names: what is sent.
KINDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "json-endless": lambda: _endless(_head(), b'{"choices":[{"message":{"content":"'),
    "lists": lambda: _endless(_head(), b"[", b"[]," * 100_000),
    "lists-whole": lambda: iter([_sized(b"[%s[]]" % (b"[]," * 2_700_000))]),
    "lists-events": lambda: _stream(b"", b'data: {"a": [%s[]]}\n\n' % (b"[]," * 2_700_000)),
    "deep": lambda: _endless(_head(), b"", b'{"a":[' * 100_000),
    "deep-event": _once(_head("text/event-stream"), b"data: " + b"[" * 4_000_000 + b"\n\n"),
    "line-endless": lambda: _stream(b'data: {"choices":[{"delta":{"content":"'),
    "event-endless": lambda: _stream(b"", b"data: 1\n" * 100_000),
    "event-name-endless": lambda: _stream(b"event: "),
    "comments": lambda: _stream(b"", b": ping\n\n" * 10_000),
    "comment-endless": lambda: _stream(b": "),
    "pings": lambda: _stream(b"", b": ping\n\n", 0.05),
    "roles": lambda: _stream(b"", event(role="assistant") * 1000),
    "usages": lambda: _stream(b"", b'data: {"choices": [], "usage": {"prompt_tokens": 1}}\n\n' * 1000),
    "ignores-max-tokens": lambda: _stream(b"", event(content="word and word ") * 100),
    "letters": lambda: _stream(b"", event(content="a") * 1000),
    "one-piece": lambda: _stream(event(content="wordy " * _MB)),
    "thoughts": lambda: _stream(b"", event(reasoning_content="hm and hm ") * 100),
    "late-thoughts": lambda: _stream(event(content="Yes."), event(reasoning="hm and hm ") * 100),
    "calls": _calls,
    "calls-in-one-event": _calls_in_one,
    "arguments": _arguments,
    "gzip": lambda: _packed(_head(Content_Encoding="gzip"), 31, b'{"a":"', b"a" * _MB),
    "deflate": lambda: _packed(_head(Content_Encoding="deflate"), 15, b'{"a":"', b"a" * _MB),
    "gzip-stream": lambda: _packed(
        _head("text/event-stream", Content_Encoding="gzip"),
        31,
        b'data: {"choices":[{"delta":{"content":"',
        b"a" * _MB,
    ),
    "gzip-comments": lambda: _packed(
        _head("text/event-stream", Content_Encoding="gzip"), 31, b"", b": ping\n\n" * 100_000
    ),
    "gzip-error": lambda: _packed(_head(status="500 No", Content_Encoding="gzip"), 31, b'{"a":"', b"a" * _MB),
    "gzip-twice": _twice,
    "gzip-and-more": _after_gzip,
    "gzip-of-nothing": _nothing_in_gzip,
    "gzip-damaged": _once(_head(Content_Encoding="gzip") + b"\x1f\x8b\x08" + b"x" * 1000),
    "br": lambda: _endless(_head(Content_Encoding="br")),
    "zstd": lambda: _endless(_head(Content_Encoding="zstd")),
    "error-endless": lambda: _endless(_head(status="500 No")),
    "headers": lambda: _endless(b"HTTP/1.1 200 OK\r\n", b"", b"X-A: " + b"a" * 10_000 + b"\r\n"),
    "header-endless": lambda: _endless(b"HTTP/1.1 200 OK\r\nX: "),
    "status-endless": lambda: _endless(b"HTTP/1.1 200 "),
    "headers-drip": lambda: _endless(b"HTTP/1.1 200 OK\r\n", b"", b"X-A: a\r\n", 0.05),
    "informational": _informational,
    "chunk-extension": lambda: _endless(_head(Transfer_Encoding="chunked"), b"5;"),
    "chunk-extensions": _extensions,
    "trailers": lambda: _endless(_head(Transfer_Encoding="chunked"), b"0\r\n", b"X: " + b"a" * 10_000 + b"\r\n"),
    "body-drip": lambda: _endless(_head(), b"{", b" ", 0.05),
    "words-drip": lambda: _stream(b"", event(content="a "), 0.2),
    "shorter": _once(_head(Content_Length="1000") + b'{"data": []}'),
    "silence": lambda: _endless(b"", b"", b"", 0.05),
    "redirect-body": lambda: _endless(_head(status="302 Found", Location="/redirect-body")),
    "redirects": _once(_redirect("/redirects")),
    "redirect-file": _once(_redirect("file:///etc/passwd")),
    "numbers": _once(
        _head("text/event-stream"),
        event(content="Yes."),
        b'data: {"choices": [], "usage": {"prompt_tokens": -5, "completion_tokens": 1%s}, "timings": '
        b'{"predicted_n": 99999999999, "predicted_ms": 1e-320, "prompt_n": 1e999, "prompt_ms": NaN, '
        b'"draft_n": 1, "draft_n_accepted": 77}}\n\n' % (b"0" * 300),
        event("stop"),
    ),
}


class EvilServer:
    """A server of raw sockets: a request's kind is the model of its body, or its path.

    Attributes:
        kind: Of every request that names none.
        address: Its own.
        seen: The heads of the requests so far.
        sent: Bytes of answers so far.
    """

    def __init__(self, kind: str = "") -> None:
        self.kind = kind
        self.seen: list[str] = []
        self.sent = 0
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def serve(self) -> None:
        """Answer until the socket is closed."""
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """End `serve`."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            file = connection.makefile("rb")
            head = b"".join(iter(file.readline, b"\r\n")).decode("latin-1")
            size = next((int(line.split(":")[1]) for line in head.split("\r\n") if "ontent-length" in line.lower()), 0)
            body = json.loads(file.read(size)) if size else {}
            self.seen.append(head)
            kind = body.get("model") or self.kind or head.split()[1].strip("/")
            if kind not in KINDS or (body == {} and not self.kind and kind not in head):
                names = {"data": [{"id": name} for name in KINDS]}
                connection.sendall(_sized(json.dumps(names).encode()))
                return
            for piece in KINDS[kind]():
                connection.sendall(piece)
                self.sent += len(piece)


@contextmanager
def evil_server(kind: str = "") -> Iterator[EvilServer]:
    """A server in threads of this process, all of whose answers are of a kind; empty for those that a request names."""
    server = EvilServer(kind)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(10)
