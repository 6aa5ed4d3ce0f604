"""What every test starts from: no screen, no network, and never the person's own data."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what the tests share until the end.

    All modules and all tests together are half a million objects, and the engine collects garbage whenever it lets go
    of a model: more than half of the time of its tests was spent looking through them.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TENON_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "cache"))
