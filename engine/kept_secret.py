"""Secrets in the system's keyring, each by the name of its account.

The library is imported where one is wanted: it takes a twentieth of a start, and most starts need no secret.
"""

from __future__ import annotations

_SERVICE = "tenon"


class NoKeyring(Exception):
    """The system has no keyring, or none that works: with the words of the library below."""


def find_secret(account: str) -> str | None:
    """Return the secret that is kept, or None without one or behind a locked keyring."""
    import keyring
    from keyring.backends import fail

    if isinstance(keyring.get_keyring(), fail.Keyring):
        return None
    try:
        return keyring.get_password(_SERVICE, account)
    except Exception:  # locked, or no way to it, in whatever words the backend's own library has
        return None


def keep_secret(account: str, secret: str) -> None:
    """Keep a secret in the place of an older one. Raises NoKeyring."""
    import keyring

    try:
        keyring.set_password(_SERVICE, account, secret)
    except Exception as error:  # keyring's own errors, and those of the libraries below it
        raise NoKeyring(repr(error)) from error


def forget_secret(account: str) -> bool:
    """Remove a secret; False where there was none. Raises NoKeyring."""
    import keyring
    from keyring.errors import PasswordDeleteError

    try:
        keyring.delete_password(_SERVICE, account)
    except PasswordDeleteError:
        return False
    except Exception as error:
        raise NoKeyring(repr(error)) from error
    return True
