"""Each call for files or sockets fails once: ``python -m tests.support.failing_io SCENARIO/FAULT[/STEP/FIRST]...``.

As SQLite tests itself (https://www.sqlite.org/testing.html#i_o_error_testing): a scenario runs again and again, and in
each run the next call fails, until a run needs fewer calls than that. The calls are those of the C library
(``failing_io.c``), so that the product knows nothing of it and what its libraries do counts too. After each run the
disk is healthy again, and the scenario looks at what was lost and does the next thing.
"""

from __future__ import annotations

import ctypes
import errno
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

SOURCE = Path(__file__).with_suffix(".c")

(
    OPEN, CREATE, READ, WRITE, SYNC, STAT, RENAME, UNLINK, MKDIR, LIST, TRUNCATE, LOCK, CLOSE, CHMOD, MAP,
    CONNECT, SEND, RECEIVE, DESCRIPTOR,
) = (1 << place for place in range(19))  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A fault: the calls that it strikes, its error, and whether all further ones fail too until the disk is healed."""

    calls: int
    error: int
    lasting: bool = False


_FULL = CREATE | WRITE | SYNC | RENAME | MKDIR | TRUNCATE
_BROKEN = OPEN | CREATE | READ | WRITE | SYNC | STAT | RENAME | UNLINK | LIST | TRUNCATE | LOCK | CLOSE | MAP
_DENIED = OPEN | CREATE | STAT | RENAME | UNLINK | MKDIR | LIST | CHMOD
_READ_ONLY = CREATE | WRITE | RENAME | UNLINK | MKDIR | TRUNCATE | CHMOD
FAULTS = {
    "full": Fault(_FULL, errno.ENOSPC),
    "stays-full": Fault(_FULL, errno.ENOSPC, lasting=True),
    "broken": Fault(_BROKEN, errno.EIO),
    "stays-broken": Fault(_BROKEN, errno.EIO, lasting=True),
    "denied": Fault(_DENIED, errno.EACCES),
    "turns-read-only": Fault(_READ_ONLY, errno.EROFS, lasting=True),  # as Linux does with a disk that fails
    "no-descriptors": Fault(DESCRIPTOR, errno.EMFILE),
    "reset": Fault(CONNECT | SEND | RECEIVE, errno.ECONNRESET),
}

# Of which no sentence for a person has anything.
_NO_SENTENCE = re.compile(
    r"mistake|Traceback|InternalError|Something could not be saved|\[Errno|Error\(|\w+Error\b|None\b",
    re.ASCII,
)


class Scenario(Protocol):
    """Something that a person does. An object lives for one run; what is raised is a fault that was found.

    Attributes:
        said: Every sentence that the person got.
    """

    said: list[str]

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        """Make the state before, once for all runs."""

    def begin(self, folder: Path) -> None:
        """Get ready with a copy of that, while everything works."""

    def act(self) -> None:
        """Do it; here calls fail."""

    def look(self) -> None:
        """Everything works again: nothing is lost, and the next thing can be done."""

    def end(self) -> None:
        """Let go of everything."""


@dataclass
class Outcome:
    """Outcome of a scenario: calls that can fail, runs, and what was wrong in them."""

    calls: int = 0
    runs: int = 0
    problems: list[str] = field(default_factory=list)


class FailingIO:
    """The library that was loaded before all others."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.failing_io_where.restype = ctypes.c_char_p
        for name in ("counted", "heal"):
            getattr(self._library, f"failing_io_{name}").restype = ctypes.c_long

    def watch(self, folder: Path) -> None:
        """Only what lies in here fails. Called before any of it is opened."""
        self._library.failing_io_watch(os.fsencode(folder))

    def arm(self, fault: Fault, number: int) -> None:
        """Let this call fail, from 0; below it none does, and they are counted."""
        self._library.failing_io_arm(fault.calls, fault.error, ctypes.c_long(number), fault.lasting)

    def heal(self) -> bool:
        """Let everything work; returns whether a call has failed."""
        return bool(self._library.failing_io_heal())

    @property
    def counted(self) -> int:
        """Calls since it was armed."""
        return int(self._library.failing_io_counted())

    @property
    def where(self) -> str:
        """The call that failed first, and its file."""
        return bytes(self._library.failing_io_where()).decode(errors="replace")


def build(folder: Path) -> Path | None:
    """Compile the library; None where that cannot be done here."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not sys.platform.startswith("linux") or compiler is None:
        return None
    library = folder / "libfailing_io.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    return library if subprocess.run(command, capture_output=True).returncode == 0 else None


def run_apart(library: Path, cases: dict[str, tuple[int, int]], timeout_s: float) -> dict[str, Outcome]:
    """Run ``scenario/fault`` with a step and a first call each, all in one process that the library is loaded into."""
    asked = [f"{case}/{step}/{first}" for case, (step, first) in cases.items()]
    command = [sys.executable, "-m", "tests.support.failing_io", *asked]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return {case: Outcome(**found) for case, found in json.loads(done.stdout.splitlines()[-1]).items()}


def every_call(kind: type[Scenario], fault: Fault, step: int = 1, first: int = 0) -> Outcome:
    """Run a scenario with each call failing in its turn.

    Args:
        kind: Makes the object of a run.
        fault: The fault of a call.
        step: Leave out all but every so manieth call.
        first: The first one.
    """
    library, outcome = FailingIO(), Outcome()
    memory = Path("/dev/shm")  # runs are many, and a real disk takes its time for each sync
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as scratch:
        laid_out = Path(scratch).resolve() / "before"
        laid_out.mkdir()
        kind.lay_out(laid_out)
        number = -1
        while True:
            folder = laid_out.with_name("now")
            shutil.copytree(laid_out, folder, symlinks=True)
            library.watch(folder)
            struck, calls, scenario = False, 0, kind()
            with _complaints() as problems:
                try:
                    scenario.begin(folder)
                    library.arm(fault, number)
                    try:
                        scenario.act()
                    finally:
                        struck, calls = library.heal(), library.counted
                    scenario.look()
                except (Exception, SystemExit):
                    problems.append(traceback.format_exc())
                finally:
                    library.heal()
                    scenario.end()
            problems += [f"said: {one}" for one in scenario.said if _NO_SENTENCE.search(one) or not one]
            shutil.rmtree(folder)
            if number < 0:
                assert not problems, "\n".join(("while nothing failed:", *problems))
                outcome.calls, number = calls, first
                continue
            outcome.problems += [f"call {number}: {library.where}\n{one}" for one in problems]
            if not struck:
                return outcome
            outcome.runs += 1
            number += step


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """Exceptions that nobody caught meanwhile, and errors in the log."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
            found.append(f"logged: {record.getMessage()}\n{trace}")

    def uncaught(problem: Any) -> None:
        trace = traceback.format_exception(problem.exc_type, problem.exc_value, problem.exc_traceback)
        found.append("uncaught: " + "".join(trace))

    handler = Handler(logging.ERROR)
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    logging.getLogger().addHandler(handler)
    sys.excepthook = lambda kind, error, trace: found.append(
        "uncaught: " + "".join(traceback.format_exception(kind, error, trace))
    )
    threading.excepthook = sys.unraisablehook = uncaught
    try:
        yield found
    finally:
        logging.getLogger().removeHandler(handler)
        sys.excepthook, threading.excepthook, sys.unraisablehook = before


def main() -> int:
    """Print one line of JSON."""
    os.environ.pop("LD_PRELOAD")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from tests.support.io_scenarios import scenario

    outcomes = {}
    for name, fault, *numbers in (asked.split("/") for asked in sys.argv[1:]):
        found = every_call(scenario(name), FAULTS[fault], *map(int, numbers))
        outcomes[f"{name}/{fault}"] = asdict(found)
    print(json.dumps(outcomes), flush=True)
    # Threads that wait for what will never come must not keep the process.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
