"""One server with a random tiny model, and one with the scripted engine, for all tests that do not end them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.forked_engines import fork_engines
from tests.support.model_server import Running, scripted_server, serve_command


@pytest.fixture(scope="session")
def server(checkpoint_of: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`tenon serve` with a random Llama of 512 tokens of context."""
    with serve_command(checkpoint_of("llama"), tmp_path_factory.mktemp("serve"), "--weights", "fp32") as (
        running,
        _,
    ):
        yield running


@pytest.fixture(autouse=True)
def _forked_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_engines(monkeypatch)


@pytest.fixture(scope="session")
def scripted() -> Iterator[Running]:
    """The application in front of an engine that does what the last message says."""
    with scripted_server() as running:
        yield running
