"""kill -9 of the real window while the real engine writes: ``pytest -m slow -s`` prints what was lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.storage.database import open_database
from tests.support.databases import close

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("TENON_KILLS", "20"))
# The toy writes for half a second.
LATEST_S = 0.5
MOST_S = 0.2
MOST_KEY_S = 0.1
LONG = "Write a long story about a lighthouse keeper."


def events(window: subprocess.Popen[bytes]) -> Iterator[tuple[float, str, str]]:
    """What the window has seen and when, until it is gone."""
    assert window.stdout is not None
    for line in window.stdout:
        if line.endswith(b"\n"):
            at, kind, text = json.loads(line)
            yield at, kind, text


def killed(folder: Path, after_s: float) -> tuple[float, list[tuple[float, str, str]]]:
    """Kill a window so long after the first text of its reply; returns when, and what it had seen by then."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "TENON_DATA_DIR": str(folder / "data"),
        "TENON_CONFIG_DIR": str(folder / "config"),
    }
    command = [sys.executable, "-m", "tests.support.killed_window", LONG]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as window:
        seen = []
        for event in events(window):
            seen.append(event)
            if event[1] == "reply" and event[2]:
                break
        time.sleep(after_s)
        at = time.monotonic()
        window.kill()
        seen += [event for event in events(window) if event[0] <= at]
    return at, seen


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_kill_costs_at_most_200_ms_of_a_reply_and_no_more_than_a_key(tmp_path: Path) -> None:
    chance = random.Random(17)
    oldest_s, oldest_key_s, most_characters, whole_replies, letters = [], 0.0, 0, 0, 0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        at, seen = killed(folder, chance.uniform(0.0, LATEST_S))
        database = open_database(folder / "data")
        (conversation,) = database.reader.conversations()
        prompt, reply = database.reader.messages(conversation.id)
        unsent = database.reader.unsent(conversation.id).text
        close(database)
        assert prompt.content == LONG
        said = "".join(text for _, kind, text in seen if kind == "reply")
        assert said.startswith(reply.content)
        length, lost_at = 0, at
        for when, kind, text in seen:
            if kind == "reply":
                length += len(text)
                if length > len(reply.content):
                    lost_at = when
                    break
        typed = [text for _, kind, text in seen if kind == "typed"]
        missing = len(typed[-1]) - len(unsent) if typed else 0
        keys = [when for when, kind, text in seen if kind == "typed" and len(text) > len(unsent)]
        oldest_key_s = max(oldest_key_s, at - min(keys, default=at))
        oldest_s.append(at - lost_at)
        most_characters = max(most_characters, len(said) - len(reply.content))
        whole_replies += not reply.content
        letters += missing
        print(
            f"{number}: {len(reply.content)} of {len(said)} characters, the first one lost {1000 * oldest_s[-1]:.0f} ms"
            f" old; {missing} of {len(typed)} letters lost",
            flush=True,
        )
    print(
        f"{KILLS} kills: at most {1000 * max(oldest_s):.0f} ms and {most_characters} characters of a reply lost,"
        f" {whole_replies} whole replies, {letters} letters in the composer,"
        f" the oldest {1000 * oldest_key_s:.0f} ms old"
    )
    assert max(oldest_s) <= MOST_S
    assert oldest_key_s <= MOST_KEY_S  # a key that was on its way to the disk
