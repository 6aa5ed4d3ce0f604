from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.hub.conftest import _own_keyring, server
from tests.support.gguf_files import write_small_gguf
from tests.support.hub_server import HubServer

__all__ = ["_own_keyring", "server"]

REPO = "Qwen/Qwen3-0.6B-GGUF"
FILE = "Qwen3-0.6B-Q8_0.gguf"
NAME = "Qwen3-0.6B-Q8_0"
TITLE = "Qwen3 0.6B"


@pytest.fixture
def weights(server: HubServer, tmp_path: Path) -> bytes:
    """Of the catalogue's smallest Qwen3, which the hub has."""
    path = tmp_path / "made.gguf"
    write_small_gguf(path, values=32_768)
    content = path.read_bytes()
    server.add(REPO, {FILE: content, "README.md": b""}, tags=("text-generation", "gguf", "license:apache-2.0"))
    return content
