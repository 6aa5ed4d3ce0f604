"""Guard: only programs of this computer that have the key get in, and an error gets out as one sentence."""

from __future__ import annotations

import hmac
import logging
import re
import traceback

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

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


class Guard:
    """Wraps the application.

    Args:
        app: The application.
        key: To be sent with each request; None lets everybody on this computer in.
    """

    def __init__(self, app: ASGIApp, key: str | None) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        try:
            self._check(scope["method"], scope["path"], Headers(scope=scope))
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

    def _check(self, method: str, path: str, headers: Headers) -> None:
        # A page of the web that has a name for this address sends that name as the host.
        if _HOST.fullmatch(headers.get("host", "")) is None:
            raise Refused(403, _FOREIGN_HOST)
        if method == "OPTIONS":
            raise Refused(403, _NO_LEAVE)
        if "origin" in headers:
            raise Refused(403, _FOREIGN_PAGE)
        if self._key is None or path in _OPEN:
            return
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        sent = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        if not hmac.compare_digest(sent.encode("latin-1", "replace"), self._key.encode()):
            raise Refused(401, _NO_KEY, code="invalid_api_key")
