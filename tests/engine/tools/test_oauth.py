"""Signing in at a server of tools by OAuth: a real server of the package, and a browser that the test plays."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import keyring
import pytest
from mcp.client.auth import OAuthClientProvider

from engine.errors import ToolFailed
from engine.tools import mcp_session
from engine.tools.calling import end_session, list_tools, offered
from engine.tools.servers import ToolServer, forget_server, keep_server
from tests.engine.tools.test_mcp import _free_port, _until_open, called
from tests.support.file_keyring import FileKeyring

PROGRAM = str(Path(__file__).with_name("oauth_servers.py"))


class Browser:
    """Opens what it is told to; ``changes`` are made to the address that it comes back to."""

    def __init__(self, changes: Callable[[str], str] = lambda address: address) -> None:
        self.opened: list[str] = []
        self.said = ""
        self._changes = changes

    def __call__(self, address: str) -> None:
        self.opened.append(address)
        with httpx2.Client(trust_env=False) as client:
            back = client.get(address).headers["location"]
            with suppress(httpx2.HTTPError):  # nobody listens any more to a browser that comes twice
                self.said = client.get(self._changes(back)).text


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[ToolServer]:
    """A server whose tokens end after a time."""
    monkeypatch.setenv("TENON_TEST_KEYRING", str(tmp_path / "keyring"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.support.file_keyring.FileKeyring")
    before = keyring.get_keyring()
    keyring.set_keyring(FileKeyring())  # type: ignore[no-untyped-call]
    ports = _free_port(), _free_port()
    command = [sys.executable, PROGRAM, *map(str, ports), str(getattr(request, "param", 600))]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        for port in ports:
            _until_open(port)
        yield keep_server(ToolServer("far", "address", f"http://127.0.0.1:{ports[0]}/mcp", on=True), {})
    finally:
        end_session()
        process.kill()
        process.wait()
        keyring.set_keyring(before)


def test_a_sign_in_is_done_once_and_goes_with_its_server(far: ToolServer, tmp_path: Path) -> None:
    browser = Browser()
    (add,) = offered([list_tools(far, browser)]).values()
    assert "go back to Tenon" in browser.said
    asked = parse_qs(urlsplit(browser.opened[0]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert called(add, a=2, b=3).text == "5"
    end_session()  # as after a restart
    assert called(add, a=2, b=4).text == "6"
    assert list_tools(far, browser).tools
    assert len(browser.opened) == 1
    assert "access_token" in (tmp_path / "keyring").read_text()
    forget_server(far)
    assert json.loads((tmp_path / "keyring").read_text()) == {}
    end_session()
    assert "wants you to sign in" in called(add, a=2, b=4).text


@pytest.mark.slow
def test_a_wrong_state_signs_nobody_in(far: ToolServer, tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="State parameter mismatch"):
        list_tools(far, Browser(lambda back: back.replace("state=", "state=x")))
    assert "access_token" not in (tmp_path / "keyring").read_text()
    assert list_tools(far, Browser()).tools  # and the next try is a new one


def test_a_refusal_is_a_sentence_and_can_be_thought_over(far: ToolServer, tmp_path: Path) -> None:
    (tmp_path / "refuse").touch()
    browser = Browser()
    with pytest.raises(ToolFailed, match=r"Signing in at far .*access_denied"):
        list_tools(far, browser)
    assert "go back to Tenon" in browser.said
    (tmp_path / "refuse").unlink()
    assert list_tools(far, Browser()).tools


@pytest.mark.parametrize("far", [1], indirect=True)
def test_a_token_that_has_ended_is_renewed_and_the_user_asked_where_it_cannot_be(
    far: ToolServer, tmp_path: Path
) -> None:
    browser = Browser()
    (add,) = offered([list_tools(far, browser)]).values()
    refreshed = tmp_path / "refreshed"
    kept = [json.loads(one) for one in json.loads((tmp_path / "keyring").read_text()).values()]
    (port,) = (urlsplit(one["client"]["redirect_uris"][0]).port for one in kept if "client" in one)
    for restart in (False, True):
        before = len(refreshed.read_text()) if refreshed.exists() else 0
        with closing(socket()) as taken:  # the browser's port, which renewing needs not
            if restart:
                end_session()
                taken.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
                taken.bind(("127.0.0.1", port or 0))
                taken.listen()
            time.sleep(1.1)
            assert called(add, a=1, b=1).text == "2"
        assert len(refreshed.read_text()) > before
    (tmp_path / "no-refresh").touch()
    time.sleep(1.1)
    assert "far wants you to sign in: connect it on the page Tools." in called(add, a=1, b=1).text
    assert len(browser.opened) == 1
    assert list_tools(far, browser).tools
    assert len(browser.opened) > 1


@pytest.mark.slow
def test_another_port_for_the_browser_is_registered_where_the_first_is_taken(far: ToolServer, tmp_path: Path) -> None:
    (add,) = offered([list_tools(far, Browser())]).values()
    end_session()
    file = tmp_path / "keyring"
    kept = {name: json.loads(value) for name, value in json.loads(file.read_text()).items()}
    (values,) = kept.values()
    port = urlsplit(values["client"]["redirect_uris"][0]).port
    values["tokens"]["access_token"] = values["tokens"]["refresh_token"] = "ended"
    file.write_text(json.dumps({name: json.dumps(value) for name, value in kept.items()}))
    with closing(socket()) as taken:
        taken.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port or 0))
        taken.listen()
        assert list_tools(replace(far, tools=()), Browser()).tools
    assert called(add, a=1, b=1).text == "2"


def test_a_key_in_the_address_is_not_told_to_whoever_signs_users_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package names the server to them by all of its address where the server itself does not."""
    made: list[str] = []

    class Noted(OAuthClientProvider):
        def __init__(self, *options: Any) -> None:
            super().__init__(*options)
            made.append(self.context.get_resource_url())

    async def begin() -> None:
        session = object.__new__(mcp_session._Session)  # without its threads
        session.server = {"kind": "address", "place": "http://127.0.0.1:9/mcp?key=abc123", "secret": {}}
        session._may_sign_in = False
        async with AsyncExitStack() as stack:
            await session._transport(stack)

    monkeypatch.setattr(mcp_session, "OAuthClientProvider", Noted)
    asyncio.run(begin())
    assert made == ["http://127.0.0.1:9/mcp"]
