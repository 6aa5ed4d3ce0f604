"""A keyring in a file, for tests with several processes: the variable TENON_TEST_KEYRING names the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class FileKeyring(KeyringBackend):
    """Keeps passwords as they are."""

    priority = 1.0

    @property
    def _file(self) -> Path:
        return Path(os.environ["TENON_TEST_KEYRING"])

    def _kept(self) -> dict[str, str]:
        return json.loads(self._file.read_text()) if self._file.exists() else {}

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._file.write_text(json.dumps(self._kept() | {f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError(username)
        self._file.write_text(json.dumps(kept))
