"""From the start to the window and to the first token, beside torch's import: fresh processes, warm, that take turns.

python -m tests.benchmarks.start --tree . ../before --model FILE --runs 7
python -m tests.benchmarks.start --program /usr/lib/tenon/tenon --runs 7
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

_SAY = "print(1, flush=True)"
ROWS = {
    "import torch": ["-c", f"import torch; {_SAY}"],
    "the engine's process is there": ["-c", f"import engine.process; {_SAY}"],
    "tenon ask, first token": ["-m", "app", "ask", "Hi", "--max-tokens", "2", "--model", "{model}"],
}
_MOMENT = re.compile(r"^(.+?) +([\d.]+) s after the start$", re.MULTILINE)


def _environment(tree: Path) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def seconds_to_output(arguments: list[str], tree: Path) -> dict[str, float]:
    """Seconds from starting Python to the first byte that it writes, without a name."""
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=tree,
        env=_environment(tree),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        first = process.stdout.read(1)
        seconds = time.perf_counter() - started
        process.stdout.read()
    if not first or process.returncode:
        raise RuntimeError(f"{arguments} in {tree} ended with {process.returncode}")
    return {"": seconds}


def moments_of_the_window(command: list[str], tree: Path) -> dict[str, float]:
    """Seconds from the start to each moment of the self-test, which opens the window with the bundled model."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as report:
        subprocess.run(
            [*command, "--self-test", report.name],
            cwd=tree,
            env=_environment(tree),
            capture_output=True,
            check=True,
        )
        return {name: float(seconds) for name, seconds in _MOMENT.findall(report.read())}


def tell(title: str, columns: list[Callable[[], dict[str, float]]], runs: int) -> None:
    """Run the columns by turns and print the medians of each moment, a line for each."""
    taken = [[column() for column in columns] for _ in range(runs + 1)][1:]
    for name in taken[0][0]:
        medians = " ".join(
            f"{statistics.median(run[column][name] for run in taken):7.2f}" for column in range(len(columns))
        )
        print(f"{f'{title} {name}'.strip():32}{medians}", flush=True)


def main() -> None:
    """Measure and print one line for each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, nargs="*", default=[], help="checkouts to compare, kernels built")
    parser.add_argument("--program", type=Path, nargs="*", default=[], help="built programs to compare")
    parser.add_argument("--model", help="for `tenon ask`")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    trees = [tree.resolve() for tree in options.tree]
    for name, arguments in ROWS.items():
        if trees and (options.model or "{model}" not in arguments):
            filled = [argument.format(model=options.model) for argument in arguments]
            tell(name, [partial(seconds_to_output, filled, tree) for tree in trees], options.runs)
    from_source = [partial(moments_of_the_window, [sys.executable, "-m", "app"], tree) for tree in trees]
    built = [partial(moments_of_the_window, [str(path.resolve())], Path("/")) for path in options.program]
    tell("self-test,", [*from_source, *built], options.runs)


if __name__ == "__main__":
    main()
