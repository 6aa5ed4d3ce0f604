"""The access token for gated and private models, kept in the system's keyring."""

from __future__ import annotations

import os

import keyring
from huggingface_hub import get_token
from keyring.backends import fail
from keyring.errors import PasswordDeleteError

from engine.errors import InvalidOption, TokenNotKept
from engine.sentences import say

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
            say("This is no access token: copy it whole from the hub's settings; it starts with hf_.")
        )
    try:
        keyring.set_password(_SERVICE, _ACCOUNT, token)
    except Exception as error:  # keyring's own errors, and those of the libraries below it
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
    except Exception as error:  # keyring's own errors, and those of the libraries below it
        raise _no_keyring(error) from error
    return True


def _kept_token() -> str | None:
    if isinstance(keyring.get_keyring(), fail.Keyring):
        return None
    try:
        return keyring.get_password(_SERVICE, _ACCOUNT)
    except (
        Exception
    ):  # locked, or no way to it, in whatever words the backend's own library has: ask elsewhere
        return None


def _no_keyring(error: Exception) -> TokenNotKept:
    return TokenNotKept(
        say(
            "This system has no keyring that Tenon can keep the token in: put it into the "
            "environment variable HF_TOKEN instead."
        ),
        details=repr(error),
    )
