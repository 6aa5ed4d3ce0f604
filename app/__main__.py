"""The `tenon` command: no arguments or files open the window, anything else goes to the command line front end.

Import-light on purpose: the engine's process is spawned, and spawning imports this module again.
"""

from __future__ import annotations

import multiprocessing
import os
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


def are_files(arguments: Sequence[str]) -> bool:
    """Whether these are things to open in the window: each is there and cannot be taken for a subcommand."""
    separators = tuple(filter(None, (os.sep, os.altsep)))
    return all(
        os.path.exists(path)
        and (path.lower().endswith((".gguf", ".json")) or any(mark in path for mark in separators))
        for path in arguments
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run Tenon and return its exit code."""
    multiprocessing.freeze_support()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        print(f"tenon {version()}")
        return 0
    if arguments and not are_files(arguments):
        from engine.cli import main as command_line

        return command_line(arguments)
    from app.ui.display import display_problem

    problem = display_problem()
    if problem:
        print(f"tenon: {problem}", file=sys.stderr)
        return 2
    from app.bootstrap import run

    return run([os.path.abspath(path) for path in arguments])


if __name__ == "__main__":
    sys.exit(main())
