"""The tools that need no server: nothing outside the folder, no private address, and what a search answers."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import psutil
import pytest

from engine.messages import ToolCall
from engine.tools import own_tools
from engine.tools.calling import call, end_session, offered
from engine.tools.servers import change_server, keep_server, servers

PAGE = b"<html><title>T</title><script>alert(1)</script><body><h1>Bread</h1><p>Rye &amp; wheat</p></body></html>"


def asked(name: str, place: str = "", key: str = "", **arguments: object) -> tuple[str, bool]:
    question = {"name": name, "arguments": arguments, "place": place, "key": key}
    found = json.loads(own_tools.answer(json.dumps(question).encode()))
    return found["text"], found["failed"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("the secret bread")
    folder = tmp_path / "inside"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "notes.txt").write_text("one\ntwo bread\nthree\n")
    (folder / "bread.bin").write_bytes(b"\0bread")
    (folder / "link").symlink_to(outside)
    (folder / "file-link.txt").symlink_to(outside / "secret.txt")
    (folder / "circle").symlink_to(folder / "circle")
    os.mkfifo(folder / "pipe")
    return folder


def test_a_folder_is_listed_read_and_searched(folder: Path) -> None:
    text, failed = asked("list_folder", str(folder))
    assert not failed
    assert "deep/" in text
    assert "link (link)" in text
    assert asked("read_file", str(folder), path="deep/notes.txt") == ("one\ntwo bread\nthree\n", False)
    text, _ = asked("read_file", str(folder), path="deep/notes.txt", first_line=2)
    assert text.startswith("two bread")
    text, _ = asked("search_files", str(folder), words="BREAD")
    assert text.splitlines() == ["bread.bin", "deep/notes.txt:2: two bread"]
    assert asked("search_files", str(folder), words="cake") == ("Nothing was found.", False)


@pytest.mark.parametrize(
    "path",
    ["../outside/secret.txt", "link/secret.txt", "file-link.txt", "/etc/passwd", "deep/../../outside", "circle", "\0",
     "no such file", "~/.ssh", "a" * 5_000],
)  # fmt: skip
def test_nothing_leads_out_of_a_folder(folder: Path, path: str) -> None:
    for name in ("read_file", "list_folder"):
        text, failed = asked(name, str(folder), path=path)
        assert failed
        assert "secret bread" not in text
    text, _ = asked("search_files", str(folder), words="secret", path=path)
    assert "secret.txt:" not in text


def test_a_pipe_and_a_binary_file_are_refused(folder: Path) -> None:
    assert asked("read_file", str(folder), path="pipe")[1]
    assert asked("read_file", str(folder), path="bread.bin")[1]


def test_a_long_file_is_read_in_parts(folder: Path) -> None:
    (folder / "long.txt").write_text("\n".join(f"line {number} " + "x" * 90 for number in range(2_000)))
    text, _ = asked("read_file", str(folder), path="long.txt")
    assert len(text) < 61_000
    assert "[The file has 2000 lines; line " in text


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1", "::1", "fe80::1",
     "fc00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "::", "fe80::1%eth0",
     "::10.0.0.1", "::ffff:0:10.0.0.1", "fec0::1"],
)  # fmt: skip
def test_private_addresses_are_known(address: str) -> None:
    assert not own_tools.is_public(address)


def test_public_addresses_are_known() -> None:
    assert all(map(own_tools.is_public, ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"]))


def test_no_neighbour_in_this_computers_own_network_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    def address(family: int, text: str, mask: str | None) -> SimpleNamespace:
        return SimpleNamespace(family=family, address=text, netmask=mask)

    here = [
        address(psutil.AF_LINK, "00:11:22:33:44:55", None),
        address(socket.AF_INET6, "fe80::1%eth0", "ffff:ffff:ffff:ffff::"),
        address(socket.AF_INET6, "2600:1:2:3::4", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        address(socket.AF_INET6, "2600:5::1", None),
        address(socket.AF_INET, "93.184.216.1", "255.255.255.0"),
        address(socket.AF_INET, "93.184.217.1", None),
    ]
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: {"eth0": here})
    assert not any(map(own_tools.is_public, ["2600:1:2:3::9", "2600:5::9", "93.184.216.34", "2002:5db8:d809::1"]))
    assert all(map(own_tools.is_public, ["2600:1:2:4::9", "2600:5:0:1::9", "93.184.217.2", "93.184.218.1"]))


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1/", "http://localhost:8366/v1", "http://[::1]/", "http://2130706433/", "http://0x7f.1/",
     "file:///etc/passwd", "ftp://example.org/", "http://user@127.0.0.1/", "http://", "not an address", "http://a:b/"],
)  # fmt: skip
def test_no_page_of_a_private_address_is_fetched(address: str) -> None:
    text, failed = asked("fetch_page", address=address)
    assert failed
    assert text


class Site(BaseHTTPRequestHandler):
    """Pages, redirects and results of a search."""

    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        Site.asked.append((self.headers["Host"], self.path))
        kind, body, status = "text/html", PAGE, 200
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        if self.path == "/picture":
            kind, body = "image/png", b"png"
        elif self.path == "/large":
            body = b"x" * (6 << 20)
        elif self.path == "/gone":
            status = 404
        elif self.path == "/latin":
            kind, body = "text/html; charset=latin-1", "<p>Bröt".encode("latin-1")
        elif self.path.startswith("/search"):
            kind = "application/json"
            body = json.dumps({"results": [{"title": "T", "url": "http://t", "content": "C"}]}).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A site on this computer, at the address of good.test, which alone counts as public; bad.test is private."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    names = {"good.test": "127.0.0.1", "xn--bcher-kva.test": "127.0.0.1", "bad.test": "10.0.0.1"}

    def find(host: str, port: int, *kinds: object, **more: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (names.get(host, host), port))]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    monkeypatch.setattr(own_tools, "is_public", lambda address: address == "127.0.0.1")
    Site.asked.clear()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_a_page_is_its_text_by_a_connection_to_the_address_that_was_checked(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, failed = asked("fetch_page", address=f"http://good.test:{port}/a")
    assert (text, failed) == (f"http://good.test:{port}/a\n\nBread\n\nRye & wheat", False)
    assert Site.asked == [(f"good.test:{port}", "/a")]
    assert "Bröt" in asked("fetch_page", address=f"http://good.test:{port}/latin")[0]
    assert not asked("fetch_page", address=f"http://bücher.test:{port}/ä")[1]
    assert Site.asked[-1] == (f"xn--bcher-kva.test:{port}", "/%C3%A4")


def test_redirects_are_checked_one_by_one(port: int) -> None:
    text, failed = asked("fetch_page", address=f"http://good.test:{port}/to//b")
    assert not failed
    assert text.startswith(f"http://good.test:{port}/b")
    text, failed = asked("fetch_page", address=f"http://good.test:{port}/to/http://bad.test/")
    assert failed
    assert "private network" in text
    for bad in ("file:///etc/passwd", "http://[x"):
        text, failed = asked("fetch_page", address=f"http://good.test:{port}/to/{bad}")
        assert failed
        assert "is no address of a page" in text
    text, failed = asked("fetch_page", address=f"http://good.test:{port}/{'to//' * 10}")
    assert failed


@pytest.mark.parametrize("path", ["picture", "large", "gone"])
def test_what_is_no_page_is_a_sentence(port: int, path: str) -> None:
    text, failed = asked("fetch_page", address=f"http://good.test:{port}/{path}")
    assert failed
    assert len(text) < 300


def test_a_search_by_the_users_own_server(port: int) -> None:
    assert asked("search_web", f"http://127.0.0.1:{port}", words="bread") == ("T\nhttp://t\nC", False)
    assert asked("search_web", f"http://127.0.0.1:{port}/a", words="bread")[1]  # a page, no results
    assert asked("search_web", "http://127.0.0.1:1", words="bread")[1]


SERVICES = {
    "brave": {"type": "search", "query": {"original": "bread"}, "web": {"type": "search", "results": [
        {"title": "T", "url": "http://t", "description": "C", "age": "1 day", "extra_snippets": ["D"]}]}},
    "tavily": {"query": "bread", "answer": None, "images": [], "response_time": "1.2", "results": [
        {"title": "T", "url": "http://t", "content": "C", "score": 0.8, "raw_content": None}]},
}  # fmt: skip


class Service(BaseHTTPRequestHandler):
    """Answers as a service that searches, for the key `right`."""

    nothing = False  # is found
    asked: ClassVar[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        self.asked.append(dict(parse_qsl(urlsplit(self.path).query)))
        self._answer(200 if self.headers["X-Subscription-Token"] == "right" else 422, "brave")

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer(200 if self.headers["Authorization"] == "Bearer right" else 401, "tavily")

    def _answer(self, status: int, place: str) -> None:
        empty = {"brave": {"type": "search"}, "tavily": {"query": "bread", "results": []}}[place]
        body = json.dumps(empty if self.nothing else SERVICES[place]).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize("place", ["brave", "tavily"])
def test_a_search_by_a_service_and_its_key(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setitem(own_tools._SERVICES, place, f"http://127.0.0.1:{server.server_address[1]}/search")
    try:
        assert asked("search_web", place, key="right", words="bread & rye") == ("T\nhttp://t\nC", False)
        wish = Service.asked[-1]
        assert wish["q" if place == "brave" else "query"] == "bread & rye"
        text, failed = asked("search_web", place, key="wrong", words="bread")
        assert failed
        assert "refuses the key" in text
        monkeypatch.setattr(Service, "nothing", True)
        assert asked("search_web", place, key="right", words="bread") == ("Nothing was found.", False)
    finally:
        server.shutdown()
        server.server_close()


def test_own_tools_are_off_until_switched_on_and_run_in_a_process(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path / "data"))
    from dataclasses import replace

    assert [one.name for one in servers()] == ["folder", "page", "search"]
    assert offered(servers()) == {}
    keep_server(replace(servers()[0], place=str(folder)), {})
    change_server("folder", lambda one: replace(one, on=True))
    one = offered(servers())["read_file"]
    try:
        assert call(one, ToolCall("read_file", '{"path": "deep/notes.txt"}')).text == "one\ntwo bread\nthree\n"
        wrong = call(one, ToolCall("read_file", "[]"))
        assert wrong.failed
        assert "do not fit" in wrong.text
        assert "do not fit" in call(one, ToolCall("read_file", '{"path": 1}')).text
    finally:
        end_session()
