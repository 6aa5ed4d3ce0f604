"""Predicted beside measured tokens per second, for every mode that can run.

    python -m tests.benchmarks.prediction --work FOLDER --targets smollm2 smollm2:q8_0 FILE.gguf --draft smollm2-draft

Targets are models by name, file or folder, such as the bundled one and `tests.benchmarks.widened_model` of it. Each is
measured twice by `tenon bench`, in a cache folder of its own: first predicted from the machine's report alone, then
with what the replies of the first run have taught. The report is measured at the start.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any


def _tenon(cache: Path, *arguments: str) -> Any:
    """The JSON that a subcommand prints."""
    done = subprocess.run(
        [sys.executable, "-m", "app", *arguments, "--json"],
        env={**os.environ, "TENON_CACHE_DIR": str(cache)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def _rows(cache: Path, target: str, draft: str | None, max_tokens: int, more: list[str]) -> dict[str, Any]:
    """Rows of a bench by mode."""
    folder, _, weights = target.partition(":")
    arguments = ["bench", "--model", folder, "--max-tokens", str(max_tokens), *more]
    if weights:
        arguments += ["--weights", weights]
    if draft is not None:
        arguments += ["--draft", draft]
    return {row["mode"]: row for row in _tenon(cache, *arguments)["rows"] if row["refusal"] is None}


def _cell(row: dict[str, Any]) -> str:
    predicted, measured = row["predicted_per_second"], row["tokens_per_second"]
    return f"{predicted:.3g} / {measured:.3g} ({predicted / measured - 1:+.0%})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--work", type=Path, required=True, help="where the cache folder is made")
    parser.add_argument("--targets", nargs="+", required=True, help="models, each with :FORMAT if wanted")
    parser.add_argument("--draft", help="a draft that fits all of them")
    parser.add_argument("--max-tokens", type=int, default=48)
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="further arguments of tenon bench")
    options = parser.parse_args()
    cache = options.work / "prediction-cache"
    shutil.rmtree(cache / "profiles", ignore_errors=True)
    _tenon(cache, "doctor", "--measure")
    print("| target | mode | from the report | with a profile |\n|---|---|---|---|")
    for target in options.targets:
        runs = [_rows(cache, target, options.draft, options.max_tokens, options.more) for _ in range(2)]
        for mode in runs[0]:
            print(f"| {target} | {mode} | {_cell(runs[0][mode])} | {_cell(runs[1][mode])} |", flush=True)


if __name__ == "__main__":
    main()
