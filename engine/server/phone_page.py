"""The page for phones: one file without any outside reference, its words, and who may ask for what.

It is served over HTTP, where whoever is in the network can read along and change what is sent; a VPN closes that.
"""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.errors import TenonError
from engine.sentences import language, mark, say, translated
from engine.server.guard import Guard, sent_key
from engine.server.phones import Guesses, Phones, is_local
from engine.server.refusal import Refused

Endpoint = Callable[[Request], Awaitable[Response]]

PAGE = Path(__file__).resolve().parents[2] / "assets" / "page.html"
_ENTER = "/enter"
_PHONE = "tenon.phone"  # the place in a request's scope of the phone that sent it
_RETRY_AFTER_S = 10
#: The words of the page: those of an error stand under its code.
WORDS = {
    "about": mark("About this page"),
    "about_keeping": mark(
        "The chat is kept in this browser alone, until a new chat takes its place or you erase it. The model runs on "
        "your computer, which keeps nothing of this chat."
    ),
    "about_network": mark(
        "What you write and read here goes through your network unencrypted: whoever controls the network can read "
        "it, and use this phone's key."
    ),
    "again": mark("Send again"),
    "broken": mark("The connection broke off. What has come is kept."),
    "context_length_exceeded": mark("The chat is longer than the model can read: begin a new one."),
    "copied": mark("Copied."),
    "copy": mark("Copy"),
    "engine_stopped": mark("The engine on the computer stopped: send it again, and it starts anew."),
    "entered": mark("This phone is connected."),
    "erase": mark("Erase all from this phone"),
    "erase_sure": mark("Erase the chat and this phone's key? To come in again, scan a new code."),
    "full": mark("This browser has no more room: what follows is lost when the page is closed. Begin a new chat."),
    "gone": mark(
        "The computer does not answer. Is it awake, is Tenon open there, and is this phone in the same network? Your "
        "text is kept."
    ),
    "invalid_api_key": mark(
        "This phone is not let in, or no more: scan the code that Tenon shows on the computer. Your text is kept."
    ),
    "length": mark("The reply ends here, because the model can read no more: begin a new chat."),
    "link": mark("Open this address?"),
    "message": mark("Message"),
    "new": mark("New chat"),
    "new_sure": mark("Begin a new chat? This one is erased from the phone."),
    "picture": mark("Take a picture"),
    "picture_taken": mark("Your picture"),
    "picture_remove": mark("Remove the picture"),
    "picture_wrong": mark("This picture cannot be read: take another."),
    "reading": mark("The model reads."),
    "send": mark("Send"),
    "stop": mark("Stop"),
    "thoughts": mark("Thoughts"),
    "welcome": mark("Ask something. The model answers on your computer."),
    "writing": mark("The model writes."),
    "you": mark("You"),
}
_FROM_OUTSIDE = mark("Phones of the local network are answered, and nobody beyond it.")
_OTHER_PAGE = mark("Another page may not ask here: open the address that Tenon shows.")
_TIRED = mark("Too many wrong keys came from this address: wait a minute, then send it again.")


class PhoneGuard(Guard):
    """Guard around the page's application: the page is open, all else needs a phone's key."""

    def __init__(self, app: ASGIApp, phones: Phones) -> None:
        super().__init__(app, None)
        self._phones = phones
        self._guesses = Guesses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it; an answer ends when its phone is removed."""

        async def checked(message: Message) -> None:
            if scope.get(_PHONE) in self._phones.removed:
                raise asyncio.CancelledError
            await send(message)

        with suppress(asyncio.CancelledError):
            await super().__call__(scope, receive, checked)

    def _check(self, scope: Scope, headers: Headers) -> None:
        address, host = scope["client"][0], headers.get("host", "")
        if not is_local(address):
            raise Refused(403, say(_FROM_OUTSIDE))
        # A name may be any page's on the web; an address is this computer's own.
        if not _is_address(host) or scope["method"] == "OPTIONS" or headers.get("origin", f"http://{host}") != (
            f"http://{host}"
        ):  # fmt: skip
            raise Refused(403, say(_OTHER_PAGE))
        if scope["path"] == "/":
            return
        if not self._guesses.admits(address) and address not in {one.address for one in self._phones.listed()}:
            raise Refused(429, say(_TIRED), retry_after_s=_RETRY_AFTER_S)
        key = sent_key(headers)
        if scope["path"] == _ENTER:
            right = self._phones.opens(key)
        else:
            phone = self._phones.find(key)
            right = phone is not None
            if phone is not None:
                scope[_PHONE] = phone.digest
                asyncio.get_running_loop().run_in_executor(None, self._phones.see, phone, address)
        if not right:
            if key:
                self._guesses.count(address)
            raise Refused(401, say(WORDS["invalid_api_key"]), code="invalid_api_key")


def page_routes(phones: Phones) -> list[tuple[str, str, Endpoint]]:
    """Return method, path and endpoint of the page, and of coming in and leaving."""

    async def page(request: Request) -> Response:
        text, policy = _page(language())
        headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
                   "X-Content-Type-Options": "nosniff"}  # fmt: skip
        return HTMLResponse(text, headers=headers)

    async def enter(request: Request) -> Response:
        agent, address = request.headers.get("user-agent", ""), request.scope["client"][0]
        try:
            key = await asyncio.to_thread(phones.enter, sent_key(request.headers), agent, address)
        except TenonError as error:
            raise Refused(503, error.message) from error
        return JSONResponse({"key": key})

    async def leave(request: Request) -> Response:
        with suppress(TenonError):  # its key is gone from the phone all the same
            await asyncio.to_thread(phones.remove, request.scope.pop(_PHONE))  # it hears the answer
        return Response(status_code=204)

    return [("GET", "/", page), ("POST", _ENTER, enter), ("POST", "/leave", leave)]


@lru_cache
def _page(language: str) -> tuple[str, str]:
    """Return the page in a language, and the policy that lets nothing in but its own script and style."""
    words = {name: translated(text) for name, text in WORDS.items()}
    told = json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")
    text = PAGE.read_text(encoding="utf-8").replace("{words}", told).replace("{language}", language)
    script, style = (_digest(text, part) for part in ("script", "style"))
    return text, (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'self'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    )


def _digest(text: str, part: str) -> str:
    found = re.search(rf"<{part}>(.*?)</{part}>", text, re.DOTALL)
    assert found is not None
    return f"sha256-{b64encode(sha256(found[1].encode()).digest()).decode()}"


def _is_address(host: str) -> bool:
    """Return whether a request's host is an address with or without a port, and not a name."""
    name = re.sub(r":[0-9]{1,5}$", "", host)
    with suppress(ValueError):
        return name == "localhost" or bool(ip_address(name))
    return False
