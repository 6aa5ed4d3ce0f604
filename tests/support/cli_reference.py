"""Write docs/cli.md from the parsers of the command line: ``python -m tests.support.cli_reference``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from engine.cli import _parser

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
_HEAD = """# The command line

`python -m tests.support.cli_reference` writes this page from the parsers themselves. `tenon` alone, or with files,
opens the window; `tenon COMMAND --help` prints what stands here.

Errors are one line on standard error. The exit code is 0 if it worked, 2 for bad usage or input, 130 if you pressed
Ctrl+C, and 1 otherwise.
"""


def reference() -> str:
    """Return the page: a section for each command, with its arguments and options."""
    return "\n".join([_HEAD, *_sections(_parser(), "")])


def _sections(parser: argparse.ArgumentParser, about: str) -> Iterator[str]:
    actions = [action for action in parser._actions if action.help is not argparse.SUPPRESS]
    commands = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
    if about:
        yield f"## {parser.prog}\n\n{parser.description or about[:1].upper() + about[1:] + '.'}\n"
        rows = [_row(action) for action in actions if action not in commands and action.dest != "help"]
        if rows:
            yield "\n".join(["| argument or option | meaning |", "|---|---|", *rows, ""])
        if parser.epilog:
            yield f"{parser.epilog}\n"
    for action in commands:
        told = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, command in action.choices.items():
            yield from _sections(command, told.get(name, ""))


def _row(action: argparse.Action) -> str:
    names = [name for name in action.option_strings if name.startswith("--")] or action.option_strings
    choices = ",".join(action.choices or ())
    value = action.metavar or (f"{{{choices}}}" if choices else action.dest.upper())
    if action.nargs == 0:
        value = ""
    meaning = (action.help or "") % {**vars(action), "prog": "tenon"}
    shown = ", ".join(f"`{name} {value}`" if value else f"`{name}`" for name in names) or f"`{value}`"
    return "| {} | {} |".format(*(cell.replace("|", "\\|") for cell in (shown, meaning)))


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
