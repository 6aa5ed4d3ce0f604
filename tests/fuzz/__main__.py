"""``python -m tests.fuzz gguf --cases 10000``: damage what Tenon reads, and count what goes wrong.

``--only N`` repeats one case.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.campaign import TARGETS, run


def main() -> int:
    """Run the campaigns that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS, choices=TARGETS)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    first, cases = (options.first, options.cases) if options.only is None else (options.only, 1)
    failures = 0
    for target in options.targets:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"fuzz-{target}-") as folder:
            outcome = run(target, Path(folder), cases, first, options.seed, lambda line: print(line, flush=True))
        print(f"{outcome} ({time.monotonic() - begun:.0f} s)", flush=True)
        failures += len(outcome.failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
