"""Memory of Tenon's processes together, in a control group without swap if a limit is given.

    python -m tests.benchmarks.footprint [--limit 2e9] [--model FILE] [--turns 200] [--documents 3] [--serve]

Opens the window offscreen in folders of its own (or starts `tenon serve`) and has a model reply; prints a line of
JSON. `mb` is what the processes hold after the last reply: anonymous memory of each, and each page of a file once.
`killed` counts what the system killed for memory in the group, and `failed` has the sentences of replies that failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil

from tests.support.memory_cage import enter, memory_cage

_PROMPTS = ("How do I start a new chat?", "What is a token?", "Write a short story about a lighthouse keeper.")
_FILE = "Clean the outside of machine {n} with a dry cloth, and oil part {n} of the pump every {n} days. "
_DOCUMENT_SENTENCES = 300


def held_mb(processes: list[psutil.Process]) -> dict[str, float]:
    """Return the MB of each process's anonymous memory, of pages of files (each once), and of all together."""
    held: dict[str, float] = {}
    files: dict[str, int] = {}
    for process in processes:
        anonymous, own, name = 0, dict[str, int](), ""
        for line in Path(f"/proc/{process.pid}/smaps").read_text().splitlines():
            if mapping := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)", line):
                name = mapping[1]
            elif line.startswith("Rss:"):
                own[name] = own.get(name, 0) + int(line.split()[1])
            elif line.startswith("Anonymous:"):
                anonymous += int(line.split()[1])
                own[name] -= int(line.split()[1])
        held[f"{process.name()} {process.pid}"] = round(anonymous / 1024, 1)
        files |= {name: max(size, files.get(name, 0)) for name, size in own.items()}
    held["files"] = round(sum(files.values()) / 1024, 1)
    return {**held, "together": round(sum(held.values()), 1)}


def _family() -> list[psutil.Process]:
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def window(options: argparse.Namespace) -> dict[str, Any]:
    """Chat in a window of this process; return what happened."""
    from PySide6.QtCore import QTimer

    from app import bootstrap
    from app.chat.conversation import Message
    from engine.documents.reading import text_attachment

    qt = bootstrap._qt()
    instance, record = (
        bootstrap.SingleInstance(bootstrap.instance_name()),
        bootstrap.SessionRecord(bootstrap.log_folder()),
    )
    application = bootstrap._application(qt, instance, record, ())
    workspace = application.workspace
    workspace.settings.max_tokens = options.tokens
    if options.model:
        workspace.choose_model(options.model)
    texts = ["".join(_FILE.format(n=n * at) for n in range(_DOCUMENT_SENTENCES)) for at in range(options.documents)]
    documents = tuple(text_attachment(f"manual {at}.txt", text.encode()) for at, text in enumerate(texts))
    found: dict[str, Any] = {"failed": [], "notices": []}
    chat: int | None = None
    turn = 0

    def ask() -> None:
        nonlocal chat
        if turn % 20 == 0:
            chat = None  # another chat
        chat = workspace.turns.send(chat, _PROMPTS[turn % len(_PROMPTS)], documents if turn == 0 else ())
        application.window.shelf.open(chat)

    def end() -> None:
        found["mb"] = held_mb(_family())
        application.window.close()

    def changed(message: Message) -> None:
        nonlocal turn
        if message.role != "assistant" or message.state.unfinished:
            return
        turn += 1
        if message.error:
            found["failed"].append(message.error)
        found["notices"] += [said for said in message.notices if said not in found["notices"]]
        found["runs"] = message.statistics and message.statistics.mode
        if turn < options.turns:
            QTimer.singleShot(0, ask)
        else:
            QTimer.singleShot(options.rest_ms, end)

    workspace.replies.message_changed.connect(changed)
    application.first_paint.happened.connect(lambda: QTimer.singleShot(options.rest_ms, ask))
    try:
        application.run()
    finally:
        instance.close()
        record.close()
    return {**found, "turns": turn}


def serve(options: argparse.Namespace) -> dict[str, Any]:
    """Ask a server that is a child of this process; return what happened."""
    found: dict[str, Any] = {"failed": []}
    command = ["-m", "app", "serve", "--port", "0", "--key", "benchmark"]
    chosen = ["--model", options.model] if options.model else []
    with subprocess.Popen([sys.executable, *command, *chosen], stdout=subprocess.PIPE, text=True) as server:
        try:
            address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
            headers = {"Authorization": "Bearer benchmark", "Content-Type": "application/json"}
            with urlopen(Request(f"{address}/models", headers=headers)) as answer:
                model = json.load(answer)["data"][0]["id"]
            for turn in range(options.turns):
                messages = [{"role": "user", "content": _PROMPTS[turn % len(_PROMPTS)]}]
                body = json.dumps({"model": model, "max_tokens": options.tokens, "messages": messages}).encode()
                with urlopen(Request(f"{address}/chat/completions", body, headers)) as answer:
                    answer.read()
            time.sleep(options.rest_ms / 1000)
            found["mb"] = held_mb(_family()[1:])
        finally:
            server.terminate()
    return found


def _killed(group: Path) -> int:
    """Return how many processes of a control group the system killed."""
    for name in ("memory.oom_control", "memory.events"):
        if (group / name).exists() and (said := re.search(r"oom_kill (\d+)", (group / name).read_text())):
            return int(said[1])
    return 0


def run(*arguments: str, limit_bytes: int | None = None) -> dict[str, Any]:
    """Measure in a process of its own, limited where a group can be made; return what it printed.

    Raises:
        RuntimeError: It failed: its last words.
    """
    with memory_cage(limit_bytes or 1 << 60) as entrance, tempfile.TemporaryDirectory(prefix="tenon-") as folder:
        folders = {f"TENON_{kind}_DIR": f"{folder}/{kind}" for kind in ("DATA", "CONFIG", "CACHE", "LOG")}
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.footprint", "--inside", *arguments],
            env={**os.environ, **folders, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            preexec_fn=lambda: enter(entrance if limit_bytes else None),
        )
        killed = _killed(entrance.parent) if entrance is not None else 0
    if done.returncode != 0:
        raise RuntimeError(f"ended with {done.returncode}, {killed} killed: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**found, "killed": killed}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, help="bytes of the control group")
    parser.add_argument("--model", default="", help="default: the bundled one")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=100, help="longest reply")
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--rest-ms", type=int, default=8000, help="rest before the first question and at the end")
    parser.add_argument("--serve", action="store_true", help="the server in place of the window")
    options = parser.parse_args()
    if options.inside:
        print(json.dumps((serve if options.serve else window)(options)))
    else:
        print(json.dumps(run(*sys.argv[1:], limit_bytes=options.limit and int(options.limit))))


if __name__ == "__main__":  # the processes that are started import this file too
    main()
