"""The command line: a second front end, which shows that the engine needs no window."""

from __future__ import annotations

import argparse
import sys

from engine.cli import ask, bench, doctor, gpu, models, plan, serve, train
from engine.cli.subcommand import Parser, told
from engine.errors import TenonError
from engine.files import file_trouble
from engine.gpu_addon.check import activate
from engine.hub.endpoints import mend_endpoints
from engine.hub.model_folders import mend_folders
from engine.hub.model_move import finish_move
from engine.terminal import set_up_streams


def main(arguments: list[str]) -> int:
    """Run a subcommand.

    Args:
        arguments: Arguments after ``tenon`` on the command line.

    Returns:
        0 when it worked, 2 for bad usage or input, 1 for any other failure, 130 when interrupted.
    """
    set_up_streams()
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    if arguments[0] != "gpu":  # which looks at the add-on, and removes it
        problem = activate()
        if problem is not None:
            print(told("AddonUnusable", problem), file=sys.stderr)
    try:
        mend_folders()
        mend_endpoints()
        finish_move()
        return int(options.run(options))
    except TenonError as error:
        print(f"tenon: {told(type(error).__name__, error.message)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, say) has seen enough.
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"tenon: {file_trouble(error).message}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tenon",
        description="Language models on this machine. Without a subcommand, `tenon` opens the window.",
        epilog="`tenon --version` prints the version, `tenon --self-test` tries window, engine and model out.",
    )
    commands = parser.add_subparsers(title="subcommands", metavar="COMMAND", required=True)
    for subcommand in (ask, serve, models, plan, bench, train, doctor, gpu):
        subcommand.add_to(commands)
    return parser
