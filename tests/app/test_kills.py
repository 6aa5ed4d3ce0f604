"""kill -9 of the real window, and of the engine, at random moments: ``pytest -m slow -s`` prints what was lost.

TENON_KILLS says how many (200 of each), TENON_KILLS_SEED with which seed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
import torch
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EnginePhase
from app.storage import seals
from app.storage.database import FILE_NAME
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from tests.support.checkpoints import write_checkpoint
from tests.support.kill_verdict import Shown, Tally
from tests.support.killed_window import HELLO, LONG, SHORT, STORY
from tests.support.toy import TOY

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("TENON_KILLS", "200"))
SEED = int(os.environ.get("TENON_KILLS_SEED", "17"))
PATIENCE_S = 300.0
_PAUSE_S = 0.01
ORPHANS = 200  # looks for them, a tenth of a second apart
# Each with the longest time until the kill, in seconds. The process itself takes two to show its window.
PHASES = {
    "starting": 4.0,
    "typing": 2.0,
    "sending": 2.0,
    "reading": 1.5,
    "streaming": 2.5,
    "renaming": 0.8,
    "deleting": 0.8,
    "importing": 0.6,
    "setting": 1.0,
    "closing": 0.5,
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal"),
]


def wait(holds: Callable[[], object], what: str, pause: Callable[[], None]) -> None:
    """Wait until something holds. Pauses are counted, for the machine may stand still for minutes."""
    for _ in range(int(PATIENCE_S / _PAUSE_S)):
        if holds():
            return
        pause()
    raise TimeoutError(f"not in {PATIENCE_S:.0f} s: {what}")


class Window:
    """A process with the real window, in which somebody does one thing.

    Args:
        folder: Of its data, settings and logs.
        phase: The work that is cut.
        seed: Of all that is left to chance.
    """

    def __init__(self, folder: Path, phase: str, seed: int) -> None:
        self._mark = uuid.uuid4().hex
        places = {f"TENON_{name}_DIR": str(folder / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "LOG")}
        environment = {**os.environ, **places, "TENON_KILLED": self._mark}
        environment["TENON_KILLED_IMPORT"] = str(folder / "chats.json")
        command = [sys.executable, "-m", "tests.support.killed_window", phase, str(seed)]
        self.lines: list[tuple[float, str, Any]] = []
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_for(self, kind: str) -> Any:
        """The value of the first line of a kind."""

        def found() -> bool:
            assert self.process.poll() is None, f"the window ended by itself: {self.process.returncode}"
            return any(line[1] == kind for line in self.lines)

        wait(found, f"{kind!r} after {self.lines[-3:]!r:.500}", lambda: time.sleep(_PAUSE_S))
        return next(value for _, which, value in self.lines if which == kind)

    def kill(self) -> float:
        """Kill it; returns when, in seconds."""
        at = time.monotonic()
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()
        return at

    def orphans(self) -> list[str]:
        """Processes that it started and left behind, after a while."""
        for _ in range(ORPHANS):
            if not self._children():
                break
            time.sleep(0.1)
        return self._children()

    def _children(self) -> list[str]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("TENON_KILLED") == self._mark:
                    found.append(" ".join(process.cmdline()))
            except psutil.Error:
                continue
        return found

    def _read(self) -> None:
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                at, kind, value = json.loads(line)
                self.lines.append((at, kind, value))


def slept(seconds: float) -> bool:
    """Sleep; returns whether the machine stood still meanwhile."""
    end, disturbed = time.monotonic() + seconds, False
    while (now := time.monotonic()) < end:
        time.sleep(min(0.01, end - now))
        disturbed |= time.monotonic() - now > 0.5
    return disturbed


def damage(folder: Path, scratch: Path) -> list[str]:
    """Faults of a database, as the kill has left it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for file in (folder / "data").glob(f"{FILE_NAME}*"):
        shutil.copy(file, scratch)
    if not (scratch / FILE_NAME).exists():
        return []
    with closing(sqlite3.connect(scratch / FILE_NAME)) as copy:
        seals.install(copy)
        said = [row[0] for row in copy.execute("PRAGMA integrity_check") if row[0] != "ok"]
        tables = copy.execute("SELECT name FROM sqlite_master WHERE name = 'reply_parts'").fetchall()
        return said + ([f"damaged: {seals.damaged_rows(copy)}"] if tables and seals.damaged_rows(copy) else [])


def write_chats(path: Path, count: int = 10) -> None:
    """A file of ChatGPT's, to be imported."""
    chats = []
    for number in range(count):
        turns = [("user", f"Question {number}"), ("assistant", "An answer. " * 40)]
        mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
        for place, (role, text) in enumerate(turns):
            parent = "root" if place == 0 else str(place - 1)
            content = {"content_type": "text", "parts": [text]}
            message = {"id": str(place), "author": {"role": role}, "create_time": 1.7e9, "content": content}
            mapping[str(place)] = {"id": str(place), "message": message, "parent": parent, "children": []}
            mapping[parent]["children"] = [str(place)]
        times = {"create_time": 1.7e9, "update_time": 1.7e9}
        chats.append({"title": f"Chat {number}", **times, "mapping": mapping, "current_node": "1"})
    path.write_text(json.dumps(chats), encoding="utf-8")


# Work of the engine when it is killed, with the longest time until then, in seconds.
ENGINE_PHASES = {
    "starting": 2.0, "loading": 1.0, "converting": 3.0, "reading": 1.0, "streaming": 2.0, "idle": 0.5, "stopping": 0.3,
}  # fmt: skip


class Desk:
    """The real window in this process, and the engine in its own.

    Args:
        qtbot: Runs the event loop.
        large: A checkpoint that takes a while to convert.
        small: The model that answers.
    """

    def __init__(self, qtbot: QtBot, small: Path, large: Path) -> None:
        self._qtbot, self._small, self._large = qtbot, str(small), str(large)
        theme = Theme(dark=False)
        theme.apply()
        self.workspace = Workspace()
        self.window = MainWindow(theme, self.workspace)
        self.window.show()
        self.workspace.settings.choose_for(self._large, "weights", "q8_0")
        self.workspace.choose_model(self._small)
        self.workspace.start()

    @property
    def pid(self) -> int | None:
        """The engine's process."""
        return self.workspace._client.process_id

    def wait(self, holds: Callable[[], object]) -> None:
        """Let the window run until something holds."""
        wait(holds, "in the window", lambda: self._qtbot.wait(int(1000 * _PAUSE_S)))

    def last(self) -> Message:
        """The last message of the chat that is shown."""
        chat = self.window.page.current
        assert chat is not None
        return self.workspace.library.messages(chat)[-1]

    def ask(self, text: str, tokens: int) -> None:
        """Send a prompt in a chat of its own."""
        self.workspace.settings.max_tokens = tokens
        self.window.shelf.new_chat()
        self.window.page.composer.set_text(text)
        self._qtbot.keyClick(self.window.page.composer.prompt, Qt.Key.Key_Return)
        self.wait(lambda: self.window.page.current is not None)

    def hello(self) -> Message:
        """The next prompt, answered."""
        if self.workspace.settings.model != self._small:
            self.workspace.choose_model(self._small)
        self.ask(HELLO, SHORT)
        self.wait(lambda: not self.last().state.unfinished)
        return self.last()

    def ready(self) -> bool:
        """True if the chosen model is in memory."""
        return self.workspace.model.state.phase is EnginePhase.READY

    def begin(self, phase: str) -> None:
        """Have the engine do something."""
        if phase == "starting":
            before = self.pid
            assert before is not None
            os.kill(before, signal.SIGKILL)
            self.wait(lambda: self.pid != before)
            self.ask(HELLO, SHORT)
            self.wait(lambda: self.pid)
        elif phase == "loading":
            self.workspace.choose_model(str(TOY))
        elif phase == "converting":
            for converted in self.converted():
                converted.unlink()
            self.workspace.choose_model(self._large)
        elif phase == "reading":
            self.ask("Which word comes twice? " + " ".join(f"word{number}" for number in range(600)), SHORT)
        elif phase in ("streaming", "stopping"):
            self.ask(STORY, LONG)
            self.wait(lambda: self.last().content)
        if phase == "stopping":
            self._qtbot.keyClick(self.window, Qt.Key.Key_Escape)

    def converted(self) -> list[Path]:
        """Files of conversions that were kept, and those that are left of conversions that were cut."""
        beside = [path for path in Path(self._large).iterdir() if path.name not in self._kept]
        cache = Path(os.environ["TENON_CACHE_DIR"])
        return beside + [path for path in cache.rglob("*") if path.is_file() and path.stat().st_size > 10_000_000]

    @cached_property
    def _kept(self) -> set[str]:
        return {path.name for path in Path(self._large).iterdir()}

    def differences(self) -> list[str]:
        """Messages that are otherwise on the disk than in the window."""
        written = Event()
        self.workspace._writer.run(written.set)
        self.wait(written.is_set)
        found = []
        for conversation in self.workspace.library.conversations():
            kept = {one.id: one for one in self.workspace._database.reader.messages(conversation.id)}
            for message in self.workspace.library.messages(conversation.id):
                there = kept.get(message.id)
                if there is None or (there.content, there.state) != (message.content, message.state):
                    found.append(f"{message.id}: {message.state} {message.content!r:.80} is {there!r:.200}")
        return found


@pytest.mark.timeout(0)
def test_kills_of_the_engine_lose_nothing(qtbot: QtBot, smollm2: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    large = write_checkpoint(
        tmp_path / "large",
        dtype=torch.bfloat16,
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=8,
    )
    desk = Desk(qtbot, smollm2, large)
    desk.converted()
    order = [list(ENGINE_PHASES)[number % len(ENGINE_PHASES)] for number in range(KILLS)]
    chance.shuffle(order)
    problems: list[str] = []
    cut, answered = 0, 0
    for number, phase in enumerate(order):
        before = len(problems)
        desk.begin(phase)
        wait_s = chance.uniform(0.0, ENGINE_PHASES[phase])
        qtbot.wait(int(1000 * wait_s))
        pid, running = desk.pid, desk.window.page.current is not None and desk.last().role == "assistant"
        reply = desk.last() if running else None
        assert pid is not None
        engine = psutil.Process(pid)
        left = [engine, *engine.children(recursive=True)]
        os.kill(pid, signal.SIGKILL)
        desk.wait(lambda pid=pid: desk.pid != pid)
        if reply is not None:
            now = desk.workspace.library.message(reply.conversation_id, reply.id)
            cut += reply.state.unfinished
            if not now.content.startswith(reply.content):
                problems.append(f"{number} {phase}: lost text: {reply.content!r} is {now.content!r}")
            if now.state.unfinished:
                problems.append(f"{number} {phase}: the reply still waits: {now!r:.300}")
        _, alive = psutil.wait_procs(left, ORPHANS / 10)
        problems += [f"{number} {phase}: left behind: {child}" for child in alive]
        hello = desk.hello()
        answered += hello.state is MessageState.COMPLETE and bool(hello.content)
        if hello.state is not MessageState.COMPLETE or not hello.content:
            problems.append(f"{number} {phase}: the next prompt: {hello!r:.400}")
        problems += [f"{number} {phase}: {said}" for said in desk.differences()]
        for sentence in problems[before:]:
            print(f"   {sentence}", flush=True)
        print(
            f"{number} {phase}, killed after {wait_s:.2f} s. {number + 1} kills of the engine: {cut} replies were cut,"
            f" the next prompt answered {answered} times, {len(problems)} problems",
            flush=True,
        )
    # Files of cut conversions are gone, or they would be used.
    for converted in desk.converted():
        converted.unlink()
    desk.workspace.choose_model(str(large))
    desk.wait(desk.ready)
    left_over = desk.converted()
    desk.window.close()
    print(
        f"{KILLS} kills of the engine with seed {SEED}: {cut} replies were cut and kept all of their text; the next"
        f" prompt answered {answered} times; {len(problems)} problems; converted files {left_over}",
        *problems,
        sep="\n",
    )
    assert not problems
    assert answered == KILLS


@pytest.mark.timeout(0)
def test_kills_of_the_window_lose_nothing(smollm2: Path, tmp_path: Path) -> None:
    chance, tally = random.Random(SEED), Tally()
    shown, killed_at, disturbed = Shown(), 0.0, False
    write_chats(tmp_path / "chats.json")
    problems: list[str] = []
    answered = 0
    order = [list(PHASES)[number % len(PHASES)] for number in range(KILLS)]
    chance.shuffle(order)
    for number, phase in enumerate((*order, "typing")):
        window = Window(tmp_path, phase, chance.randrange(10**9))
        wait_s = chance.uniform(0.0, PHASES[phase])
        if phase != "starting":
            window.wait_for("state")
            state, content, error = window.wait_for("works")
            answered += state == "complete" and bool(content)
            if state != "complete" or not content:
                problems.append(f"{number} {phase}: the next prompt was not answered: {state} {content!r} {error!r}")
            window.wait_for("closing" if phase == "closing" else "phase")
        now_disturbed = slept(wait_s)
        at = window.kill()
        before = len(tally.lost)
        for when, kind, value in window.lines:
            if kind == "state":
                tally.compare(shown, value, killed_at, disturbed)
                shown, killed_at, disturbed = Shown(), at, now_disturbed
                shown.take(0.0, "set", value)
            elif when <= at:
                shown.take(when, kind, value)
        problems += [f"{number} {phase}: left behind: {line}" for line in window.orphans()]
        problems += [f"{number} {phase}: {said}" for said in damage(tmp_path, tmp_path / "copy")]
        for sentence in (*tally.lost[before:], *problems[-3:]):
            print(f"   {number} {sentence}", flush=True)
        print(
            f"{number} {phase}, killed after {wait_s:.2f} s. {report(tally, number + 1, answered)}",
            flush=True,
        )
    left = sorted(
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.name.endswith((".part", ".tmp"))
    )
    print(
        f"Seed {SEED}: {report(tally, KILLS, answered)}",
        f"left on the disk: {left}",
        *problems,
        *tally.lost,
        sep="\n",
    )
    assert not problems
    assert not tally.lost
    # Files that the last kill cut; the next that writes such a file deletes them.
    assert len(left) == len({re.sub(r"\.\d+\.", ".", name) for name in left})


def report(tally: Tally, kills: int, answered: int) -> str:
    """Cost of so many kills, in words."""
    ages = ", ".join(
        f"{kind} {1000 * age:.0f} ms ({tally.touched[kind]} kills)" for kind, age in sorted(tally.oldest_s.items())
    )
    return (
        f"{kills} kills of the window: {len(tally.lost)} things lost; the next prompt answered"
        f" {answered} times; the oldest change not on the disk: {ages or 'none'}; at most {tally.characters} characters"
        f" of a reply, {tally.letters} letters in the composer; {tally.twice} prompts sent and still typed"
    )
