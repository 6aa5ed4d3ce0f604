"""Runs cases of one target in a process of its own, so that a crash or a hang is seen from outside.

Standard output has a line of JSON for each case that failed. The state file has the number of the case that runs.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import mmap
import signal
import struct
import sys
import traceback
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

STATE_BYTES = 8
#: No case needs as much; what asks for more is damage that was believed.
_MOST_BYTES = 6 << 30


def case_random(target: str, seed: int, case: int) -> Random:
    """Random numbers that decide a case; the same each time."""
    return Random(f"{target} {seed} {case}")


def main(target: str, seed: int, first: int, stop: int, state: Path, folder: Path) -> None:
    """Run the cases from ``first`` on."""
    faulthandler.enable()
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1)
    tried: Any = import_module(f"tests.fuzz.targets.{target}").Target(folder)
    _limit_memory()
    gc.collect()
    gc.freeze()
    with state.open("r+b") as file, mmap.mmap(file.fileno(), STATE_BYTES) as place:
        for case in range(first, stop):
            place[:] = struct.pack("<q", case)
            try:
                tried.run(case_random(target, seed, case))
            except Exception as error:
                frames = traceback.format_exc().strip().splitlines()
                failure = {"case": case, "error": repr(error)[:2000], "where": "\n".join(frames[-30:])[:6000]}
                print(json.dumps(failure), flush=True)
        place[:] = struct.pack("<q", stop)
    tried.close()


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))


if __name__ == "__main__":
    main(
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
        int(sys.argv[4]),
        Path(sys.argv[5]),
        Path(sys.argv[6]),
    )
