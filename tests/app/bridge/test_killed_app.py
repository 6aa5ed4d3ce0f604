"""kill -9 of the whole app in the middle of a reply."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

from app.chat.conversation import MessageState
from tests.app.bridge.conftest import Desk

ROOT = Path(__file__).resolve().parents[3]


def test_prompt_and_partial_reply_are_there_at_the_next_start(desk: Desk) -> None:
    data, config = desk.folder / "data", desk.folder / "config"
    command = [sys.executable, "-m", "tests.support.headless_app", str(data), str(config), "slow 500"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        engine = psutil.Process(int(process.stdout.readline()))
        first = process.stdout.readline()
        started = time.monotonic()
        lines = [(started, first)]  # when it was shown, what
        while time.monotonic() < started + 2.0:
            lines.append((time.monotonic(), process.stdout.readline()))
        process.kill()
        killed = time.monotonic()
    a_second_before = "".join(text for shown, text in lines if shown < killed - 1.0)
    gone, alive = psutil.wait_procs([engine], timeout=30.0)
    assert (len(gone), alive) == (1, [])

    workspace = desk.open()
    (conversation,) = workspace.library.conversations()
    prompt, reply = workspace.library.messages(conversation.id)
    assert prompt.content == "slow 500"
    assert reply.state is MessageState.INTERRUPTED
    assert reply.error == "Tenon ended before this reply was complete."
    words = reply.content.split()
    assert words == [f"w{number}" for number in range(len(words))]
    assert a_second_before.split()
    assert len(words) >= len(a_second_before.split())
    workspace.turns.retry(conversation.id)
    desk.wait_for_state(workspace, conversation.id, MessageState.STREAMING)
