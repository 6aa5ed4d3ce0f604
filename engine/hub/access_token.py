"""The access token for gated and private models, kept in the system's keyring."""

from __future__ import annotations

import os

import keyring
from huggingface_hub import get_token
from keyring.backends import fail
from keyring.errors import KeyringError, PasswordDeleteError

from engine.errors import InvalidOption, TokenNotKept

_SERVICE = "tenon"
_ACCOUNT = "hugging-face-token"


def find_token() -> str | None:
    """The token to send: HF_TOKEN, else the keyring's, else the one that the hub's own client library keeps."""
    return os.environ.get("HF_TOKEN", "").strip() or _kept_token() or get_token()


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
        keyring.set_password(_SERVICE, _ACCOUNT, token)
    except KeyringError as error:
        raise _no_keyring(error) from error


def forget_token() -> bool:
    """Remove the token from the keyring; False where there was none.

    Raises:
        TokenNotKept: there is no keyring.
    """
    try:
        keyring.delete_password(_SERVICE, _ACCOUNT)
    except PasswordDeleteError:
        return False
    except KeyringError as error:
        raise _no_keyring(error) from error
    return True


def _kept_token() -> str | None:
    if isinstance(keyring.get_keyring(), fail.Keyring):
        return None
    try:
        return keyring.get_password(_SERVICE, _ACCOUNT)
    except KeyringError:  # locked, or the session has no way to it: the next place is asked
        return None


def _no_keyring(error: Exception) -> TokenNotKept:
    return TokenNotKept(
        "This system has no keyring that Tenon can keep the token in: put it into the environment variable HF_TOKEN "
        "instead.",
        details=repr(error),
    )
