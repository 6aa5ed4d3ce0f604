"""Power that is lost while chats are written: ``python -m tests.support.power_cuts CUTS SEED``, with failing_io.c.

A cut leaves each file as it was when it was synced last, and of what was written since none, some of the pages, or all.
What the disk is left with is opened, and asked for the chats that were safe before.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from app.storage.conversation_store import ConversationStore
from app.storage.database import FILE_NAME, open_database
from tests.support.app_io_scenarios import InWindow
from tests.support.databases import close

_PAGE = 4096


class Cutting(InWindow):
    """Somebody chats; now and then the power goes, and what would be left is kept."""

    def cuts(self, folder: Path, count: int, seed: int) -> list[str]:
        """Return what was wrong after each."""
        self._chance, self._library = random.Random(seed), ctypes.CDLL(None)
        laid_out, self._safe = folder / "now", folder / "safe"
        laid_out.mkdir()
        self.lay_out(laid_out)
        shutil.copytree(laid_out, self._safe)
        self._library.failing_io_watch(os.fsencode(laid_out))
        self._library.failing_io_keep_safe(os.fsencode(self._safe))
        self._use(laid_out)
        workspace, synced = self.opened(), ConversationStore.sync
        promised: set[int] = set()

        def sync(store: ConversationStore) -> None:
            with closing(sqlite3.connect(self.data / FILE_NAME)) as connection:
                there = [row[0] for row in connection.execute("SELECT id FROM conversations")]
            synced(store)
            promised.update(there)

        ConversationStore.sync = sync  # type: ignore[method-assign]
        problems: list[str] = []
        kept: list[tuple[Path, set[int]]] = []
        wanted = threading.Event()

        def cut_now_and_then() -> None:
            for number in range(count):
                time.sleep(self._chance.uniform(0.0, 0.15))
                before = set(promised)
                kept.append((self._left(laid_out, folder / f"cut-{number}"), before))
            wanted.set()

        cutting = threading.Thread(target=cut_now_and_then)
        cutting.start()
        turn = 0
        while not wanted.is_set():
            turn += 1
            self.answered(workspace, None, f"Question {turn}\nsay {self._chance.randrange(1, 400)}")
            if turn % 3 == 0:
                workspace._journal._syncer.run(workspace._database.writer.checkpoint)
        cutting.join()
        self.end()
        ConversationStore.sync = synced  # type: ignore[method-assign]
        self._library.failing_io_keep_safe(b"/nowhere")
        for number, (left, before) in enumerate(kept):
            problems += [f"cut {number}: {problem}" for problem in _problems(left, before)]
        assert any(before for _, before in kept)
        return problems

    def _left(self, now: Path, left: Path) -> Path:
        """Copy what a cut leaves just now."""
        self._library.failing_io_hold()
        try:
            shutil.copytree(self._safe, left)
            for path in [path for path in now.rglob("*") if path.is_file() and not path.name.endswith("-shm")]:
                self._lose(path, left / path.relative_to(now))
        finally:
            self._library.failing_io_let_go()
        for path in left.rglob(f"{FILE_NAME}-shm"):
            path.unlink()
        return left

    def _lose(self, path: Path, left: Path) -> None:
        whole, safe = path.read_bytes(), left.read_bytes() if left.exists() else b""
        share = self._chance.choice((0.0, 0.0, 0.5, 1.0))  # of the pages that reached the disk without a sync
        pages = bytearray(whole.ljust(len(safe), b"\0") if share else safe)
        for at in range(0, len(pages), _PAGE):
            if self._chance.random() >= share:
                pages[at : at + _PAGE] = safe[at : at + _PAGE].ljust(len(pages[at : at + _PAGE]), b"\0")
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_bytes(pages)


def _problems(left: Path, before: set[int]) -> list[str]:
    try:
        database = open_database(left / "data")
    except Exception as error:
        return [repr(error)]
    try:
        found = {chat.id for chat in database.conversations}
        lost = [f"lost chats {sorted(before - found)}"] if before - found else []
        records = list(database.reader.records())
        empty = [str(one.conversation.id) for one in records if not one.messages]
        return [*lost, *database.notices, *(f"chat {one} is empty" for one in empty)]
    finally:
        close(database)


def main() -> int:
    """Print one line of JSON."""
    os.environ.pop("LD_PRELOAD")
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as scratch:
        print(json.dumps(Cutting().cuts(Path(scratch).resolve(), int(sys.argv[1]), int(sys.argv[2]))), flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
