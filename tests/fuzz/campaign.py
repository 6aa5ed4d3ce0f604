"""Runs the cases of a target and counts what went wrong; a worker that crashed or hung is replaced by another."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.fuzz.worker import STATE_BYTES

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("gguf", "safetensors", "config", "tokenizer", "template", "markdown", "chat_files", "pipe")
#: A case hangs that computes for so long, or sits for so many looks without an end.
_HANG_S = 5.0
_LOOK_S = 0.1
_LOOKS = 600


@dataclass
class Outcome:
    """Failures of a campaign: each is the number of its case and what happened."""

    target: str
    cases: int
    crashes: list[tuple[int, str]] = field(default_factory=list)
    hangs: list[tuple[int, str]] = field(default_factory=list)
    internal: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        counts = f"{len(self.crashes)} crashes, {len(self.hangs)} hangs, {len(self.internal)} internal errors"
        return f"{self.target}: {self.cases} cases, {counts}"

    @property
    def failures(self) -> list[str]:
        """Failures in words, each with the command that repeats it."""
        found = [(kind, *one) for kind in ("crashes", "hangs", "internal") for one in getattr(self, kind)]
        return [f"python -m tests.fuzz {self.target} --only {case}\n({kind}) {what}" for kind, case, what in found]


def run(
    target: str, folder: Path, cases: int, first: int = 0, seed: int = 1, tell: Callable[[str], None] = print
) -> Outcome:
    """Run a campaign.

    Args:
        target: One of `TARGETS`.
        folder: An empty folder, for the files of the cases and Tenon's own.
        cases: Number of cases.
        first: The number of the first one.
        seed: Of all of them.
        tell: Takes each failure when it is found.
    """
    outcome = Outcome(target, cases)
    stop, case = first + cases, first
    folder.mkdir(parents=True, exist_ok=True)
    while case < stop:
        case = _Worker(outcome, folder, seed, tell).run(case, stop)
    return outcome


class _Worker:
    """One process that runs cases until it is through, crashes or hangs."""

    def __init__(self, outcome: Outcome, folder: Path, seed: int, tell: Callable[[str], None]) -> None:
        self._outcome = outcome
        self._folder = folder
        self._seed = seed
        self._tell = tell
        self._state = folder / "state"
        self._errors = folder / "errors"
        self._failures = folder / "failures"

    def run(self, first: int, stop: int) -> int:
        """Run the cases from ``first`` on; returns the number of the one to go on with."""
        self._state.write_bytes(struct.pack("<q", first - 1))
        numbers = map(str, (self._seed, first, stop))
        command = [sys.executable, "-m", "tests.fuzz.worker", self._outcome.target, *numbers]
        places = {name: str(self._folder / name.lower()) for name in ("DATA", "CONFIG", "CACHE")}
        environment = os.environ | {f"TENON_{name}_DIR": path for name, path in places.items()}
        environment |= {
            "HF_HUB_OFFLINE": "1",
            "QT_QPA_PLATFORM": "offscreen",
            "TOKENIZERS_PARALLELISM": "false",
        }
        with self._errors.open("w+") as errors, self._failures.open("w") as failures:
            process = subprocess.Popen(
                [*command, str(self._state), str(self._folder)],
                cwd=ROOT,
                env=environment,
                stdout=failures,
                stderr=errors,
            )
            hung = self._watch(process, first)
        self._collect()
        case = self._case()
        if hung:
            self._add("hangs", case, self._last_words())
            return case + 1
        if process.returncode == 0:
            return stop
        if case < first:
            raise RuntimeError(f"the worker did not begin:\n{self._last_words()}")
        self._add("crashes", case, f"exit code {process.returncode}\n{self._last_words()}")
        return case + 1

    def _watch(self, process: subprocess.Popen[bytes], first: int) -> bool:
        """Wait for its end, or for a case that hangs: by the time that it computes, as machines are busy."""
        seen, since, looks = -2, 0.0, 0
        while process.poll() is None:
            time.sleep(_LOOK_S)
            try:
                times = psutil.Process(process.pid).cpu_times()
            except psutil.Error:
                continue
            case, used = self._case(), times.user + times.system
            if case != seen:
                seen, since, looks = case, used, 0
            looks += 1
            if case >= first and (used - since > _HANG_S or looks > _LOOKS):
                if hasattr(signal, "SIGUSR1"):
                    process.send_signal(signal.SIGUSR1)  # where it is, for whoever mends it
                    time.sleep(0.5)
                process.kill()
                process.wait()
                return True
        return False

    def _case(self) -> int:
        return int(struct.unpack("<q", self._state.read_bytes()[:STATE_BYTES])[0])

    def _collect(self) -> None:
        for line in self._failures.read_text(encoding="utf-8").splitlines():
            failure = json.loads(line)
            self._add("internal", failure["case"], f"{failure['error']}\n{failure['where']}")

    def _add(self, kind: str, case: int, what: str) -> None:
        getattr(self._outcome, kind).append((case, what))
        self._tell(f"{kind}: case {case} of {self._outcome.target}\n{what}\n")

    def _last_words(self) -> str:
        return self._errors.read_text(encoding="utf-8", errors="replace")[-4000:]
