"""The key that clients send: made at the first start, and kept in the system's keyring."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from engine.errors import InvalidOption
from engine.kept_secret import NoKeyring, find_secret, keep_secret

_ACCOUNT = "server-key"
_LEAST_CHARACTERS = 8


class OwnKey(NamedTuple):
    """The server's key.

    Attributes:
        text: Of the key.
        kept: It is the same at the next start.
        new: It was made just now.
    """

    text: str
    kept: bool
    new: bool


def own_key(another: bool = False) -> OwnKey:
    """The key that is kept, or where there is none a new one; without a keyring each start has its own.

    Args:
        another: Make a new one in any case: the key before opens nothing any more.
    """
    found = None if another else find_secret(_ACCOUNT)
    if found:
        return OwnKey(found, kept=True, new=False)
    key = f"tenon-{secrets.token_urlsafe(24)}"
    try:
        keep_secret(_ACCOUNT, key)
    except NoKeyring:
        return OwnKey(key, kept=False, new=True)
    return OwnKey(key, kept=True, new=True)


def checked_key(key: str) -> str:
    """A key that a person has chosen.

    Raises:
        InvalidOption: It is too short, or no header can carry it.
    """
    if len(key) < _LEAST_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidOption(
            "The server's key must be {least} or more letters, digits or signs without spaces: choose another, or "
            "leave it to Tenon to make one.",
            least=_LEAST_CHARACTERS,
        )
    return key
