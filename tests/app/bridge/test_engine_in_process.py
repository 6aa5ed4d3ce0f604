"""The engine in the window's own process, on request. No torch here: a stand-in takes the engine's place."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import ModuleType

import pytest

from app.bridge.engine_client import EngineClient
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from engine.messages import Cancel, Command, EngineReady, Event
from tests.app.bridge.conftest import Desk
from tests.support.fake_engine import FakeEngine


class ThreadlessEngine:
    """`engine.engine.Engine`'s face on the scripted engine."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self._cancelled: set[str] = set()
        self._threads: list[threading.Thread] = []
        self._fake = FakeEngine(on_event, self._cancelled.__contains__)
        on_event(EngineReady(0, "fake"))

    def submit(self, command: Command) -> None:
        if isinstance(command, Cancel):
            self._cancelled.add(command.request_id)
            return
        for thread in self._threads:
            thread.join()
        self._threads.append(threading.Thread(target=self._fake.answer, args=(command,)))
        self._threads[-1].start()

    def close(self) -> None:
        for thread in self._threads:
            thread.join()


def test_a_reply_without_a_process(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("engine.engine")
    module.Engine = ThreadlessEngine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "engine.engine", module)
    monkeypatch.setenv("TENON_ENGINE", "thread")
    workspace = desk.open(EngineClient())
    assert desk.client.process_id is None
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.replies.stop(chat)
    desk.answer(workspace, "say 2", chat)
    workspace.close()


def test_an_engine_that_cannot_be_imported_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.engine", None)
    workspace = desk.open(EngineClient(in_process=True))
    desk.wait_for_phase(workspace, EnginePhase.STOPPED)
    assert "(exit code 1)" in workspace.model.state.sentence
