"""A workspace with the scripted engine in a real child process, watched by a recorder."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QObject, Slot
from pytestqt.qtbot import QtBot

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EnginePhase, EngineState
from engine.messages import ErrorReport
from tests.support.fake_engine import SERVE
from tests.support.forked_engines import server_process_id


class Recorder(QObject):
    """Everything that a workspace said."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        self.changes: list[Message] = []
        self.notices: list[str] = []
        self.troubles: list[ErrorReport] = []
        self.states: list[EngineState] = []
        self.prefill: list[float] = []
        self.guesses: list[str] = []
        workspace.replies.text_changed.connect(self._text)
        workspace.replies.message_changed.connect(self._change)
        workspace.notice.connect(self._notice)
        workspace.settings_unsaved.connect(self._notice)
        workspace.trouble.connect(self._trouble)
        workspace.model.changed.connect(self._state)
        workspace.replies.prefill_progress.connect(self._prefill)
        workspace.replies.unconfirmed_changed.connect(self._guess)

    @Slot(object)
    def _text(self, reply: Message) -> None:
        self.texts.append((reply.id, reply.content))

    @Slot(object)
    def _change(self, message: Message) -> None:
        self.changes.append(message)

    @Slot(str)
    def _notice(self, sentence: str) -> None:
        self.notices.append(sentence)

    @Slot(object)
    def _trouble(self, report: ErrorReport) -> None:
        self.troubles.append(report)
        self.notices.append(report.message)

    @Slot(object)
    def _state(self, state: EngineState) -> None:
        self.states.append(state)

    @Slot(int, int, str)
    def _guess(self, _conversation_id: int, _message_id: int, text: str) -> None:
        self.guesses.append(text)

    @Slot(int, int, float)
    def _prefill(self, _conversation_id: int, _message_id: int, fraction: float) -> None:
        self.prefill.append(fraction)


class Desk:
    """Opens workspaces on one folder and asks about them."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self._of_others = Counter(_alive())
        self.qtbot = qtbot
        self.folder = folder
        self._open: list[Workspace] = []
        self.recorder: Recorder
        self.client: EngineClient

    def open(self, client: EngineClient | None = None, folder: Path | None = None, start: bool = True) -> Workspace:
        self.client = client or EngineClient(SERVE)
        workspace = Workspace(folder or self.folder / "data", self.folder / "config", self.client)
        self.client.setParent(workspace)
        self._open.append(workspace)
        self.recorder = Recorder(workspace)
        if start:
            workspace.start()
        return workspace

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition)

    def wait_for_state(self, workspace: Workspace, conversation_id: int, state: MessageState) -> Message:
        self.wait(lambda: workspace.library.messages(conversation_id)[-1].state is state)
        return workspace.library.messages(conversation_id)[-1]

    def wait_for_phase(self, workspace: Workspace, phase: EnginePhase) -> None:
        self.wait(lambda: workspace.model.state.phase is phase)

    def answer(self, workspace: Workspace, text: str, conversation_id: int | None = None) -> int:
        """Send a message and wait for the whole reply."""
        conversation_id = workspace.turns.send(conversation_id, text)
        self.wait_for_state(workspace, conversation_id, MessageState.COMPLETE)
        return conversation_id

    def close(self) -> None:
        for workspace in self._open:
            workspace.close()

    def left_behind(self) -> list[str]:
        """Threads and processes of the app that still live, but for those of a server that other tests share."""
        return list((Counter(_alive()) - self._of_others).elements())


def _alive() -> list[str]:
    if (preparers := sys.modules.get("engine.preparer")) is not None:
        preparers.QUICK.end()  # of an engine which ran in this process, and which end with this one
        preparers.SLOW.end()
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("tenon")]
    children = [
        " ".join(child.cmdline())
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in " ".join(child.cmdline())
        if child.pid != server_process_id()
    ]
    return threads + children


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, tmp_path)
    yield desk
    desk.close()
    assert desk.left_behind() == []
