from __future__ import annotations

from tests.engine.hub.conftest import _own_keyring, server

__all__ = ["_own_keyring", "server"]
