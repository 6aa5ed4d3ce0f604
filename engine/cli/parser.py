"""Shared parts of the subcommands' parsers: errors of one line, the option of the model, and sizes in bytes."""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

from engine.messages import DEFAULT_MODEL

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


class Parser(argparse.ArgumentParser):
    """Bad usage is one line on standard error and exit code 2, without the usage text before it."""

    def error(self, message: str) -> NoReturn:
        """Print the line and end the program."""
        print(f"{self.prog}: {message}. See `{self.prog} --help`.", file=sys.stderr)
        raise SystemExit(2)


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--model``."""
    parser.add_argument(
        "--model",
        metavar="REF",
        default=DEFAULT_MODEL,
        help="a folder, a GGUF file, or the name of an installed or a bundled model (default: %(default)s)",
    )


def size(text: str) -> int:
    """Bytes of a size such as 6G, 512MiB or 1000000."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write it like 6G, 512MiB or 1000000")
    return int(float(match[1]) * _UNITS[match[2]])
