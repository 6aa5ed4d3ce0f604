"""Hours of use in minutes: hundreds of replies with stops, switches and resizes leave nothing behind."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterator
from statistics import median

import psutil
import pytest
from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from pytestqt.qtbot import QtBot

from app.bridge.workspace import Workspace
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from engine.freed_memory import give_back_memory

REPLIES = 500
# Caches, pools and imports are filled by then. From there on memory is looked at every so often: a single look differs
# by several megabytes with what is in view, and the middle of several looks does not.
SETTLED = 150
LOOK_EVERY, LOOKS = 15, 7
GROWTH = 1.05
PROMPTS = (
    "How do I start a new chat?",
    "What is a token?",
    "Write a short story about a lighthouse keeper.",
    "Write a Python function.",
    "Make a table of animals.",
    "12 + 30",
)
DRAFTS = ("", "off", "lookup", "smollm2-draft")
SIZES = ((1280, 820), (700, 600), (380, 560), (1000, 900))


@pytest.fixture
def qt_warnings() -> Iterator[list[str]]:
    said: list[str] = []

    def keep(kind: QtMsgType, context: object, text: str) -> None:
        if kind is not QtMsgType.QtDebugMsg and "plugin does not support" not in text:
            said.append(text)

    before = qInstallMessageHandler(keep)
    yield said
    qInstallMessageHandler(before)


def _resident_bytes(workspace: Workspace) -> tuple[int, int]:
    """Of the window and of the engine."""
    gc.collect()
    give_back_memory()  # the window does both once a minute
    process_id = workspace._client.process_id
    assert process_id is not None
    return psutil.Process().memory_info().rss, psutil.Process(process_id).memory_info().rss


def _children() -> list[str]:
    """The command lines of child processes, without Python's own that keeps track of shared memory."""
    lines = [" ".join(child.cmdline()) for child in psutil.Process().children(recursive=True)]
    return [line for line in lines if "resource_tracker" not in line]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_hundreds_of_replies_leave_nothing_behind(qtbot: QtBot, qt_warnings: list[str]) -> None:
    draw = random.Random(7)
    theme = Theme(dark=False)
    theme.apply()
    workspace = Workspace()
    window = MainWindow(theme, workspace)
    window.show()
    workspace.start()
    page = window.page
    chats: list[int] = []
    looks: list[tuple[int, int]] = []
    threads = children = 0
    for number in range(REPLIES):
        if len(chats) < 20 and draw.random() < 0.1:
            window.shelf.new_chat()
        elif chats and draw.random() < 0.3:
            window.sidebar.list.chosen.emit(draw.choice(chats))
        if draw.random() < 0.1:
            workspace.choose_draft(draw.choice(DRAFTS))
        if draw.random() < 0.1:
            window.resize(*draw.choice(SIZES))
        if draw.random() < 0.05:
            window.commands["inspector"].trigger()
        if draw.random() < 0.05:
            theme.set_dark(draw.random() < 0.5)
        page.composer.set_text(draw.choice(PROMPTS))
        page.composer.send_button.click()
        chat = page.current
        assert chat is not None
        if chat not in chats:
            chats.append(chat)
        if draw.random() < 0.2:
            qtbot.wait(draw.randrange(60))
            page.stop()

        def done(chat: int = chat) -> bool:
            return not workspace.library.messages(chat)[-1].state.unfinished

        qtbot.waitUntil(done)
        if number == SETTLED:
            threads, children = threading.active_count(), len(_children())
        if number >= SETTLED and number % LOOK_EVERY == 0:
            looks.append(_resident_bytes(workspace))
    for process in zip(*looks, strict=True):
        settled, now = median(process[:LOOKS]), median(process[-LOOKS:])
        assert now < GROWTH * settled, looks
    assert threading.active_count() <= threads
    assert len(_children()) <= children
    window.close()
    assert _children() == []
    assert qt_warnings == []
