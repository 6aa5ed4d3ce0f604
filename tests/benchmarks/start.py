"""From the shell to the first token, beside torch's own import: each run is a fresh process, warm, the rows take turns.

python -m tests.benchmarks.start --tree . ../before --model FILE --runs 7
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

_SAY = "print(1, flush=True)"
ROWS = {
    "import torch": ["-c", f"import torch; {_SAY}"],
    "the engine's process is there": ["-c", f"import engine.process; {_SAY}"],
    "tenon ask, first token": ["-m", "app", "ask", "Hi", "--max-tokens", "2", "--model", "{model}"],
}


def seconds_to_output(arguments: list[str], tree: Path) -> float:
    """Seconds from starting Python to the first byte that it writes."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.read(1)
        seconds = time.perf_counter() - started
        process.stdout.read()
    if not first or process.returncode:
        raise RuntimeError(f"{arguments} in {tree} ended with {process.returncode}")
    return seconds


def main() -> None:
    """Measure and print one line for each row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tree", type=Path, nargs="+", default=[Path()], help="checkouts to compare, kernels built"
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for name, arguments in ROWS.items():
        filled = [argument.format(model=options.model) for argument in arguments]
        trees = [tree.resolve() for tree in options.tree]
        runs = [[seconds_to_output(filled, tree) for tree in trees] for _ in range(options.runs + 1)][1:]
        medians = " ".join(f"{statistics.median(column):7.2f}" for column in zip(*runs, strict=True))
        print(f"{name:32}{medians}", flush=True)


if __name__ == "__main__":
    main()
