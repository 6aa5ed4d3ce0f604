"""The `tenon` command: a window, the self-test, or the command line front end.

No arguments, or files, open the window; `--self-test` tries it out; anything else is a command.

Import-light on purpose: the engine's process is spawned, and spawning imports this module again.
"""

from __future__ import annotations

import builtins
import gc
import multiprocessing
import os
import sys
from collections.abc import Sequence

from app.version import version
from engine.descriptors import raise_descriptor_limit


def are_files(arguments: Sequence[str]) -> bool:
    """Return True if these are things to open in the window: each is there and cannot be taken for a subcommand."""
    return all(os.path.exists(path) and _named_like_a_file(path) for path in arguments)


def _named_like_a_file(argument: str) -> bool:
    separators = tuple(filter(None, (os.sep, os.altsep)))
    return argument.lower().endswith((".gguf", ".json")) or any(mark in argument for mark in separators)


def main(argv: Sequence[str] | None = None) -> int:
    """Run Tenon and return its exit code."""
    multiprocessing.freeze_support()
    from engine.terminal import set_up_streams

    set_up_streams()
    raise_descriptor_limit()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        print(f"tenon {version()}")
        return 0
    tested = arguments[:1] == ["--self-test"]
    if arguments and _named_like_a_file(arguments[0]) and not os.path.exists(arguments[0]):
        print(f"tenon: There is nothing at {arguments[0]}: check the path.", file=sys.stderr)
        return 2
    if arguments and not tested and not are_files(arguments):
        from engine.cli import main as command_line

        return command_line(arguments)
    from app.ui.display import display_problem

    problem = display_problem()
    if problem:
        print(f"tenon: {problem}", file=sys.stderr)
        return 2
    gc.disable()  # until the first paint nearly all that is made stays; from then on `GarbageInWindowThread` collects
    plain_import = builtins.__import__
    import PySide6.QtCore  # noqa: F401

    # PySide's own reads the source of every module, in case it asks for `__feature__`, which none does.
    builtins.__import__ = plain_import
    if tested:
        return _self_test(arguments[1:])
    from app.bootstrap import run

    return run([os.path.abspath(path) for path in arguments])


def _self_test(arguments: list[str]) -> int:
    """`tenon --self-test [FILE]`: the report goes to standard output, where there is one, and into the file."""
    from app.bootstrap import run_self_test

    code, report = run_self_test()
    if sys.stdout is not None:  # a program of Windows that opens no terminal has none
        print(report)
    if arguments:
        with open(arguments[0], "w", encoding="utf-8") as file:
            file.write(report + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
