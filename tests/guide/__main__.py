"""Makes the toy models that tests and benchmarks run: ``python -m tests.guide``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.guide import recipe

STAGES = ("tokenizer", "target", "draft", "gated-fusion")
# Only when asked for by name: drafts to compare, which do not ship, and what feature drafts are worth.
ASIDE = ("ablation", "tau")
# Training frees and takes large blocks all the time; kept by the process instead of given back to the system each
# time, they make a step about a fifth faster. glibc reads this at the start of a process only.
MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
    "MALLOC_TOP_PAD_": str(1 << 28),
    "MALLOC_ARENA_MAX": "1",
}


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    options = argparse.ArgumentParser(prog="python -m tests.guide", description=__doc__)
    options.add_argument(
        "--stage", choices=(*STAGES, *ASIDE, "all"), default="all", help="what to make (default: all)"
    )
    options.add_argument(
        "--minutes", type=float, help="training time of the stage; of the target with --stage all"
    )
    options.add_argument(
        "--work", type=Path, default=recipe.default_work_folder(), help="checkpoints, to resume from"
    )
    options.add_argument(
        "--start-from",
        type=Path,
        help="a folder of finished models: learn what has changed in the facts with their weights and vocabulary",
    )
    options.add_argument("--out", type=Path, default=recipe.ASSETS, help="where the finished models go")
    options.add_argument("--threads", type=int, default=os.cpu_count(), help="processor threads")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the stages asked for."""
    options = parser().parse_args(arguments)
    from tests.guide import making

    stages = STAGES if options.stage == "all" else (options.stage,)
    work = recipe.Work(options.work, options.start_from)
    making.run(stages, work, options.out, options.minutes, options.threads)
    return 0


if __name__ == "__main__":
    if sys.platform == "linux" and not MALLOC.keys() & os.environ.keys():
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.guide", *sys.argv[1:]],
            {**os.environ, **MALLOC},
        )
    sys.exit(main())
