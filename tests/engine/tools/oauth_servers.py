"""A server of tools that wants a sign-in, and the one that signs in: ``oauth_servers.py PORT PORT_OF_SIGN_IN SECONDS``.

Tokens are said to end after so many seconds. A file ``refuse`` in the current folder makes the user refuse, one
``no-refresh`` lets no token be had for an older one, and ``refreshed`` has a line for each that was.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette


class Provider:
    """Signs in whoever comes."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """Return a program that was registered."""
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Register a program."""
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Send the browser back with a code."""
        if Path("refuse").exists():
            raise AuthorizeError("access_denied", "The user did not allow it.")
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or [], expires_at=time.time() + 60, client_id=client.client_id or "",
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
        )  # fmt: skip
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> AuthorizationCode | None:
        """Return a code that was given."""
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: AuthorizationCode) -> OAuthToken:
        """Give tokens for a code, once."""
        del self.codes[authorization_code.code]
        return self._tokens(client.client_id)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        """Return a token for others."""
        return None if Path("no-refresh").exists() else self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client: Any, refresh_token: RefreshToken, scopes: list[str]) -> OAuthToken:
        """Give tokens for one that has ended."""
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        with open("refreshed", "a") as file:
            file.write("once\n")
        return self._tokens(client.client_id)

    async def load_access_token(self, token: str) -> AccessToken | None:
        """Return a token that was given."""
        return self.access.get(token)

    verify_token = load_access_token

    async def revoke_token(self, token: Any) -> None:
        """Nothing: nobody asks for it."""

    def _tokens(self, client_id: str) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(), secrets.token_urlsafe()
        self.access[access] = AccessToken(token=access, client_id=client_id, scopes=[])
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=[])
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.seconds)


def main() -> None:
    """Serve."""
    port, sign_in, seconds = map(int, sys.argv[1:])
    provider, issuer = Provider(seconds), AnyHttpUrl(f"http://127.0.0.1:{sign_in}")
    routes = create_auth_routes(provider, issuer, client_registration_options=ClientRegistrationOptions(enabled=True))  # type: ignore[arg-type]
    there = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=sign_in, log_level="error"))
    threading.Thread(target=there.run, daemon=True).start()
    resource = AnyHttpUrl(f"http://127.0.0.1:{port}/mcp")
    settings = AuthSettings(issuer_url=issuer, resource_server_url=resource, validate_token_resource=False)
    tools = MCPServer("far", auth=settings, token_verifier=provider)

    @tools.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    tools.run("streamable-http", port=port)


if __name__ == "__main__":
    main()
