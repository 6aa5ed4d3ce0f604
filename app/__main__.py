"""The `tenon` command: no arguments open the window, anything else goes to the command line front end.

Import-light on purpose: the engine's process is spawned, and spawning imports this module again.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence

_FALLBACK_VERSION = "0.1.0"


def version() -> str:
    """Tenon's version, as installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("tenon")
    except PackageNotFoundError:
        return _FALLBACK_VERSION


def main(argv: Sequence[str] | None = None) -> int:
    """Run Tenon and return its exit code."""
    multiprocessing.freeze_support()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        print(f"tenon {version()}")
        return 0
    if arguments:
        from engine.cli import main as command_line

        return command_line(arguments)
    from app.ui.display import display_problem

    problem = display_problem()
    if problem:
        print(f"tenon: {problem}", file=sys.stderr)
        return 2
    from app.bootstrap import run

    return run()


if __name__ == "__main__":
    sys.exit(main())
