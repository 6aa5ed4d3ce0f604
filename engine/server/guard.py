"""Guard: only programs of this computer that have the key get in, and an error gets out as one sentence.

The key is made at the first start, and kept in the system's keyring.
"""

from __future__ import annotations

import hmac
import logging
import os
import re
import secrets
import traceback
from pathlib import Path
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.errors import InvalidOption
from engine.kept_secret import NoKeyring, find_secret, keep_secret
from engine.server.refusal import Refused, error_body

_log = logging.getLogger(__name__)

_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
#: Paths that answer without the key: they tell nothing but that the server runs.
_OPEN = frozenset({"/", "/health"})
_FOREIGN_HOST = "This server answers to 127.0.0.1 and localhost, and not to another name."
_FOREIGN_PAGE = "This server does not answer to web pages: a request with an Origin is refused."
_NO_LEAVE = (
    "This server gives no leave by OPTIONS, because it does not answer to web pages: send the request itself, from a "
    "program of this computer."
)
_NO_KEY = (
    "The key is missing or wrong: send the one that the page Other programs or `tenon serve` shows as "
    "`Authorization: Bearer KEY`."
)
_ACCOUNT = "server-key"
_LEAST_CHARACTERS = 8


class Guard:
    """Guard around the application.

    Args:
        key: Key that each request has to bring; None lets everybody on this computer in.
    """

    def __init__(self, app: ASGIApp, key: str | None) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        try:
            self._check(scope, Headers(scope=scope))
        except Refused as refused:
            body = error_body(scope["path"], refused)
            await JSONResponse(body, refused.status, refused.headers)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # which the application has told the client
            # The error's own text may quote the request, so only its place is told.
            frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
            _log.error("%s%s", frames, type(error).__name__)

    def _check(self, scope: Scope, headers: Headers) -> None:
        # A page of the web that has a name for this address sends that name as the host.
        if _HOST.fullmatch(headers.get("host", "")) is None:
            raise Refused(403, _FOREIGN_HOST)
        if scope["method"] == "OPTIONS":
            raise Refused(403, _NO_LEAVE)
        if "origin" in headers:
            raise Refused(403, _FOREIGN_PAGE)
        if self._key is None or scope["path"] in _OPEN:
            return
        if not hmac.compare_digest(sent_key(headers).encode("latin-1", "replace"), self._key.encode()):
            raise Refused(401, _NO_KEY, code="invalid_api_key")


def sent_key(headers: Headers) -> str:
    """Return the key that a request brings; empty for none."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")


class OwnKey(NamedTuple):
    """The server's key."""

    text: str
    kept: bool  # True if it is the same at the next start
    new: bool  # True if it was made just now


def own_key(another: bool = False) -> OwnKey:
    """Return the key that is kept, or make one; without a keyring each start has its own.

    Args:
        another: Make a new key in any case; the old one is valid no more.
    """
    found = None if another else find_secret(_ACCOUNT)
    if found:
        return OwnKey(found, kept=True, new=False)
    key = _made_key()
    try:
        keep_secret(_ACCOUNT, key)
    except NoKeyring:
        return OwnKey(key, kept=False, new=True)
    return OwnKey(key, kept=True, new=True)


def key_in_file(path: Path) -> OwnKey:
    """Return the key in a file, which is made, for its user alone, unless it is there: for systems without a keyring.

    Raises:
        InvalidOption: The file cannot be written or read, or there is no key in it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"{_made_key()}\n")
    except FileExistsError:
        new = False
    except OSError as error:
        raise InvalidOption("{file} cannot be written for the server's key.", file=path) from error
    else:
        new = True
    try:
        key = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeError) as error:
        raise InvalidOption("{file} cannot be read for the server's key.", file=path) from error
    if not key:
        raise InvalidOption("{file} is empty: delete it, and Tenon makes a key in it.", file=path)
    return OwnKey(checked_key(key), kept=True, new=new)


def _made_key() -> str:
    return f"tenon-{secrets.token_urlsafe(24)}"


def checked_key(key: str) -> str:
    """Return a key that a user has chosen.

    Raises:
        InvalidOption: The key is too short, or no header can carry it.
    """
    if len(key) < _LEAST_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidOption(
            "The server's key must be {least} or more letters, digits or signs without spaces: choose another, or "
            "leave it to Tenon to make one.",
            least=_LEAST_CHARACTERS,
        )
    return key
