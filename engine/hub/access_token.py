"""The access token for gated and private models, kept in the system's keyring."""

from __future__ import annotations

import os

from huggingface_hub import get_token

from engine.errors import InvalidOption, TokenNotKept
from engine.kept_secret import NoKeyring, find_secret, forget_secret, keep_secret

_ACCOUNT = "hugging-face-token"


def find_token() -> str | None:
    """The token to send: HF_TOKEN, else the keyring's, else the one that the hub's own client library keeps."""
    return os.environ.get("HF_TOKEN", "").strip() or find_secret(_ACCOUNT) or get_token()


def keep_token(token: str) -> None:
    """Keep a token in the system's keyring.

    Raises:
        InvalidOption: it cannot be a token.
        TokenNotKept: there is no keyring.
    """
    token = token.strip()
    if not token or not token.isascii() or any(character.isspace() for character in token):
        raise InvalidOption(
            "This is no access token: copy it whole from the hub's settings; it starts with hf_."
        )
    try:
        keep_secret(_ACCOUNT, token)
    except NoKeyring as error:
        raise _no_keyring(error) from error


def forget_token() -> bool:
    """Remove the token from the keyring; False where there was none.

    Raises:
        TokenNotKept: there is no keyring.
    """
    try:
        return forget_secret(_ACCOUNT)
    except NoKeyring as error:
        raise _no_keyring(error) from error


def _no_keyring(error: NoKeyring) -> TokenNotKept:
    return TokenNotKept(
        "This system has no keyring that Tenon can keep the token in: put it into the "
        "environment variable HF_TOKEN instead.",
        details=str(error),
    )
