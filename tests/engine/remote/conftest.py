"""A server that fails and answers as the test wants, and an engine to ask it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.hub.endpoints import Endpoint, keep_endpoint
from tests.engine.hub.conftest import _own_keyring
from tests.support.engine_client import EngineClient, engine_client
from tests.support.server_of_others import Others, models, server_of_others

__all__ = ["_own_keyring"]


@pytest.fixture
def others() -> Iterator[Others]:
    """A server that is added as ``desk``, with one model ``talker``."""
    with server_of_others() as running:
        running.answers["GET /v1/models"] = models("somebody", talker=None)
        keep_endpoint(Endpoint("desk", running.address))
        yield running


@pytest.fixture
def client() -> Iterator[EngineClient]:
    """An engine."""
    with engine_client() as opened:
        yield opened
