"""The key that clients send: made at the first start, and kept in the system's keyring."""

from __future__ import annotations

import secrets

from engine.errors import InvalidOption
from engine.kept_secret import NoKeyring, find_secret, keep_secret
from engine.sentences import say

_ACCOUNT = "server-key"
_LEAST_CHARACTERS = 8


def own_key() -> tuple[str, bool]:
    """The key, and whether it is the same at the next start: without a keyring each start has its own."""
    found = find_secret(_ACCOUNT)
    if found:
        return found, True
    key = f"tenon-{secrets.token_urlsafe(24)}"
    try:
        keep_secret(_ACCOUNT, key)
    except NoKeyring:
        return key, False
    return key, True


def checked_key(key: str) -> str:
    """A key that a person has chosen.

    Raises:
        InvalidOption: It is too short, or no header can carry it.
    """
    if len(key) < _LEAST_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidOption(
            say(
                "The server's key must be {least} or more letters, digits or signs without spaces: choose another, or "
                "leave it to Tenon to make one.",
                least=_LEAST_CHARACTERS,
            )
        )
    return key
