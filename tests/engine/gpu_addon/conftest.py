"""A package index on this machine, and the torch that Tenon is said to run on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.gpu_addon.addon import Addon
from engine.gpu_addon.bundled_torch import BundledTorch
from engine.hub.transfer import Patience
from tests.support.wheel_server import TORCH, WheelServer

#: Attempts follow each other at once.
IMPATIENT = Patience(attempts=3, first_pause_s=0.0, longest_pause_s=5.0)
BUNDLED = BundledTorch(TORCH, None, frozenset({"filelock", "sympy"}))
ADDON = Addon("cuda-13.0", "CUDA 13.0", "nvidia", ("Linux", "Windows", "Darwin"), "cu130", 580, 7.5)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WheelServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with WheelServer().running() as running:
        yield running
