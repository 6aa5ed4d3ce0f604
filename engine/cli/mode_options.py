"""Options of the command line that modes declare."""

from __future__ import annotations

import argparse

from engine.messages import ModeOption, OptionValue, shared_options
from engine.modes import MODES, descriptors


def add_mode_options(parser: argparse.ArgumentParser) -> None:
    """Add an option of the command line for each option of a mode."""
    group = parser.add_argument_group("options of modes")
    for option in shared_options(descriptors()).values():
        flag = f"--{option.name.replace('_', '-')}"
        if option.is_switch:
            switch = argparse.BooleanOptionalAction
            group.add_argument(flag, action=switch, help=_help(option))
        else:
            group.add_argument(
                flag,
                metavar="N",
                type=float if option.places else int,
                help=f"{_help(option)} ({option.least:g} to {option.most:g}; default: {_defaults(option)})",
            )


def given_mode_options(options: argparse.Namespace) -> dict[str, OptionValue]:
    """The values that were given."""
    known = shared_options(descriptors())
    return {name: value for name, value in vars(options).items() if name in known and value is not None}


def _help(option: ModeOption) -> str:
    return option.help.removesuffix(".").replace("%", "%%")


def _defaults(option: ModeOption) -> str:
    """The default, or that of each mode where they differ."""
    if option.default is not None:
        return f"{option.default:g}"
    own = {mode.name: mode.values({}).get(option.name) for mode in MODES.values()}
    return ", ".join(f"{value:g} in {name}" for name, value in own.items() if value is not None)
