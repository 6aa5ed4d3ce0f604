"""A small hub on 127.0.0.1 with faults to order: metadata, ranges, ETags, and large files behind a redirect."""

from __future__ import annotations

import hashlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

#: Files from this size on are "large": known by SHA-256 and served from the storage behind a redirect.
LARGE_BYTES = 4096


@dataclass
class Repo:
    """A repository: files by name, and what the hub says about it."""

    files: dict[str, bytes]
    commit: str = "1" * 40
    branches: tuple[str, ...] = ("main",)
    gated: bool = False
    tags: tuple[str, ...] = ("license:apache-2.0",)
    more: dict[str, Any] = field(default_factory=dict)


def tower_head(kind: str) -> bytes:
    """The beginning of a GGUF file with a picture encoder of a kind, as far as the hub's client looks at it."""
    key = b"clip.projector_type" + (8).to_bytes(4, "little")
    return b"GGUF\3" + key + len(kind).to_bytes(8, "little") + kind.encode()


Fault = Callable[["Handler", str, bytes], bool]
Server = TypeVar("Server", bound="HubServer")


class HubServer:
    """The hub.

    Attributes:
        repos: Its repositories, by name.
        faults: Asked in order for each request of a file's bytes; the first that returns True has answered it.
        requests: Method, path and Range header of every request.
        tokens: That open gated repositories.
        storage: Address of large files, behind a redirect: this server under another name, unless a test sets it.

    Args:
        handler: Of requests.
        certificate: A PEM file with certificate and key, where it is to speak TLS.
    """

    def __init__(self, handler: type[BaseHTTPRequestHandler] | None = None, certificate: Path | None = None) -> None:
        self.repos: dict[str, Repo] = {}
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str, str | None]] = []
        self.tokens: set[str] = set()
        self.api_status = 200
        self.api_storage: str | None = None  # who answers about repositories, behind a redirect; None for this server
        self.authorizations: list[tuple[str, str | None]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler or Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._server.hub = self  # type: ignore[attr-defined]
        self._scheme = "http" if certificate is None else "https"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.storage = f"{self._scheme}://localhost:{self._server.server_port}"
        self.released = threading.Event()

    @property
    def address(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self: Server) -> Iterator[Server]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def add(self, name: str, files: dict[str, bytes], **more: Any) -> Repo:
        self.repos[name] = Repo(files, **more)
        return self.repos[name]

    def once(self, fault: Fault, times: int = 1) -> None:
        """A fault that happens so many times and then never again."""
        left = [times]

        def limited(handler: Handler, name: str, content: bytes) -> bool:
            if left[0] <= 0:
                return False
            left[0] -= 1  # before it happens: a stall lasts while the next request comes
            happened = fault(handler, name, content)
            left[0] += not happened
            return happened

        self.faults.append(limited)

    def downloads(self) -> list[str | None]:
        """The Range headers of the requests for large files' bytes."""
        return [range_ for _, path, range_ in self.requests if path.startswith("/storage/")]


class Handler(BaseHTTPRequestHandler):
    """One connection to the hub."""

    protocol_version = "HTTP/1.1"

    @property
    def hub(self) -> HubServer:
        found: HubServer = self.server.hub  # type: ignore[attr-defined]
        return found

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        path = unquote(url.path)
        self.hub.requests.append((self.command, path, self.headers.get("Range")))
        self.hub.authorizations.append((path, self.headers.get("Authorization")))
        with suppress(ConnectionError):
            if path == "/api/models":
                self._search(parse_qs(url.query))
            elif path.startswith("/api/models/") and self.hub.api_storage is not None:
                self.refuse(302, Location=self.hub.api_storage + path.replace("/api/models/", "/elsewhere/"))
            elif path.startswith(("/api/models/", "/elsewhere/")):
                self._info(path.removeprefix("/api/models/").removeprefix("/elsewhere/"))
            elif path.startswith("/storage/"):
                self._storage(path.removeprefix("/storage/"))
            elif "/resolve/" in path:
                self._resolve(path)
            else:
                self.refuse(404, "RepoNotFound")

    # --- metadata -------------------------------------------------------------------------------------------------

    def _search(self, query: dict[str, list[str]]) -> None:
        if self.hub.api_status != 200:
            return self.refuse(self.hub.api_status)
        wanted = query.get("search", [""])[0].lower()
        tags = query.get("filter", [])
        found = [
            {"id": name, "tags": list(repo.tags), "gated": repo.gated, "sha": repo.commit, **repo.more}
            for name, repo in self.hub.repos.items()
            if wanted in name.lower() and all(tag in repo.tags for tag in tags)
        ]
        self.send_json(found[: int(query.get("limit", ["100"])[0])])

    def _info(self, path: str) -> None:
        if self.hub.api_status != 200:
            return self.refuse(self.hub.api_status)
        name, _, revision = path.partition("/revision/")
        repo = self.hub.repos.get(name)
        if repo is None:
            return self.refuse(401, "RepoNotFound")
        if revision and revision not in (*repo.branches, repo.commit):
            return self.refuse(404, "RevisionNotFound")
        self.send_json(
            {
                "id": name,
                "sha": repo.commit,
                "gated": "manual" if repo.gated else False,
                "tags": list(repo.tags),
                "siblings": [_sibling(file, content) for file, content in repo.files.items()],
                **repo.more,
            }
        )
        return None

    # --- files ----------------------------------------------------------------------------------------------------

    def _resolve(self, path: str) -> None:
        name, _, rest = path.removeprefix("/").partition("/resolve/")
        revision, _, file = rest.partition("/")
        repo = self.hub.repos.get(name)
        if repo is None:
            return self.refuse(404, "RepoNotFound")
        if revision not in (*repo.branches, repo.commit):
            return self.refuse(404, "RevisionNotFound")
        if repo.gated and self.headers.get("Authorization", "").removeprefix("Bearer ") not in self.hub.tokens:
            return self.refuse(403 if "Authorization" in self.headers else 401, "GatedRepo")
        if file not in repo.files:
            return self.refuse(404, "EntryNotFound")
        content = repo.files[file]
        if len(content) < LARGE_BYTES:
            return self._bytes(file, content)
        self.send_response(302)
        self.send_header("Location", f"{self.hub.storage}/storage/{name}/{file}")
        self.send_header("X-Repo-Commit", repo.commit)
        self.send_header("X-Linked-Size", str(len(content)))
        self.send_header("X-Linked-Etag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    def _storage(self, path: str) -> None:
        for name, repo in self.hub.repos.items():
            file = path.removeprefix(f"{name}/")
            if path.startswith(f"{name}/") and file in repo.files:
                return self._bytes(file, repo.files[file])
        return self.refuse(404)

    def _bytes(self, name: str, content: bytes) -> None:
        if any(fault(self, name, content) for fault in self.hub.faults):
            return
        self.send_bytes(content)

    def send_bytes(self, content: bytes, length: int | None = None, ranges: bool = True) -> int:
        """Headers for a file, honouring its Range, and its bytes unless this was HEAD; where they started."""
        start = self.start_of_range() if ranges else 0
        if start and start >= len(content):
            self.refuse(416)
            return start
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start if length is None else length))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[start:] if length is None else content[start : start + length])
        return start

    def start_of_range(self) -> int:
        found = self.headers.get("Range", "").removeprefix("bytes=").partition("-")[0]
        return int(found) if found else 0

    def send_json(self, value: Any) -> None:
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def refuse(self, status: int, code: str | None = None, **headers: str) -> None:
        self.send_response(status)
        if code is not None:
            self.send_header("X-Error-Code", code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _sibling(name: str, content: bytes) -> dict[str, Any]:
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
    found: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": blob}
    if len(content) >= LARGE_BYTES:
        found["lfs"] = {
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "pointerSize": 130,
        }
    return found
