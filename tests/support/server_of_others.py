"""A stand-in for servers of others: it replays the answers that their documentation shows, and every way to fail.

The formats are those of vLLM's docs/features/per_request_metrics.md and docs/design/metrics.md, SGLang's
``/server_info``, llama.cpp's tools/server/README.md, Ollama's docs/api.md and LM Studio's REST API v0.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler", Any], None]


@dataclass
class Others:
    """A server that runs.

    Attributes:
        answers: By method and path; what is not here is not found.
        seen: Requests so far: method and path, headers in lower case, body.
        closed: Set when a client has hung up in the middle of a reply.
    """

    address: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def asked(self, path: str) -> list[Any]:
        """Bodies of the requests for a path."""
        return [body for asked, _, body in self.seen if asked == path]


class Handler(BaseHTTPRequestHandler):
    """Answers one request from the table of its server."""

    protocol_version = "HTTP/1.1"
    others: Others

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._do("GET")

    def do_POST(self) -> None:
        self._do("POST")

    def _do(self, method: str) -> None:
        text = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(text) if text else None
        asked = f"{method} {self.path}"
        self.others.seen.append((asked, {name.lower(): value for name, value in self.headers.items()}, body))
        answer = self.others.answers.get(asked)
        if answer is None:
            self.tell({"error": {"message": "Not Found", "code": 404}}, 404)
        else:
            answer(self, body)

    def tell(self, value: object, status: int = 200, **headers: str) -> None:
        """Answer with JSON, or with a text."""
        text = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(value, str) else "application/json")
        self.send_header("Content-Length", str(len(text)))
        for name, said in headers.items():
            self.send_header(name.replace("_", "-"), said)
        self.end_headers()
        self.wfile.write(text)

    def begin_stream(self) -> None:
        """Begin a stream of events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def send(self, text: str) -> None:
        """Send a part of the stream as it is."""
        self.wfile.write(text.encode())
        self.wfile.flush()

    def send_event(self, value: object) -> None:
        """Send an event."""
        self.send(f"data: {json.dumps(value)}\n\n")


def told(value: object, status: int = 200, **headers: str) -> Answer:
    """The answer that is always the same."""
    return lambda handler, body: handler.tell(value, status, **headers)


def chunk(finish: str | None = None, /, **delta: object) -> dict[str, Any]:
    """A chunk of a reply."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def streamed(chunks: Sequence[Mapping[str, Any]], done: bool = True) -> Answer:
    """A reply in chunks."""

    def answer(handler: Handler, body: object) -> None:
        handler.begin_stream()
        for one in chunks:
            handler.send_event(one)
        if done:
            handler.send("data: [DONE]\n\n")

    return answer


def sent(text: str) -> Answer:
    """A stream of exactly this text, which then ends."""

    def answer(handler: Handler, body: object) -> None:
        handler.begin_stream()
        handler.send(text)

    return answer


def endless(others: Others) -> Answer:
    """A reply without end, until the client hangs up."""

    def answer(handler: Handler, body: object) -> None:
        handler.begin_stream()
        try:
            while not others.ended.is_set():
                handler.send_event(chunk(content="word "))
                time.sleep(0.01)
        except OSError:
            others.closed.set()

    return answer


def silent(others: Others) -> Answer:
    """No answer at all, until the server ends."""
    return lambda handler, body: others.ended.wait(60) and None


def words(text: str, finish: str = "stop") -> list[dict[str, Any]]:
    """A reply's chunks, a word each."""
    parts = text.split(" ")
    pieces = [part if not at else f" {part}" for at, part in enumerate(parts)]
    return [chunk(role="assistant", content=""), *(chunk(content=piece) for piece in pieces), chunk(finish)]


def models(owner: str, **of: int | None) -> Answer:
    """A list of models with their contexts."""
    found = [
        {"id": name.replace("_", "-"), "object": "model", "owned_by": owner, "max_model_len": context}
        for name, context in of.items()
    ]
    return told({"object": "list", "data": found})


@contextmanager
def server_of_others() -> Iterator[Others]:
    """A server in threads of this process."""
    others = Others()
    kind = type("Handler", (Handler,), {"others": others})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    server.handle_error = lambda request, address: None  # type: ignore[method-assign]
    others.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield others
    finally:
        others.ended.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
