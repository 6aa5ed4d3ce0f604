"""Processes of engines as copies of one that has imported the scripted engine: others import for as long as a test."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from multiprocessing import forkserver, get_all_start_methods
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

import pytest

from engine import engine_process


class _Forking(ForkServerContext):
    def Process(self, target: Callable[..., None], args: tuple[Any, ...], name: str) -> ForkServerProcess:  # type: ignore[override]
        return ForkServerProcess(target=_in_surroundings, args=(dict(os.environ), target, *args), name=name)


def _in_surroundings(environment: Mapping[str, str], target: Callable[..., None], *args: Any) -> None:
    os.environ.clear()
    os.environ.update(environment)
    target(*args)


def fork_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `EngineProcess` fork where the system can; the engine's own tests start whole processes, as the app does."""
    if "forkserver" in get_all_start_methods():
        context = _Forking()
        context.set_forkserver_preload(["pytest", "tests.support.fake_engine", "app.bridge.engine_child"])
        monkeypatch.setattr(engine_process, "spawning", lambda: context)


def server_process_id() -> int | None:
    """Return the process that all of them are copies of; None before the first one."""
    return getattr(forkserver._forkserver, "_forkserver_pid", None)
