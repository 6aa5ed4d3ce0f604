"""Modes: each a recipe of parts for the one loop. ``MODES`` is the table of them."""

from collections.abc import Mapping

from engine.errors import InvalidOption
from engine.messages import ModeDescriptor, shared_options
from engine.modes.drafted import DOVETAIL, GHIDORAH, LLMCAD, LOOKUP, MINIONS, PPD
from engine.modes.mode import Mode
from engine.modes.plain import LAYER_OFFLOAD, OFFLOAD, PLAIN
from engine.sentences import either, mark, say

_AUTO = ModeDescriptor("auto", mark("Auto"), mark("Takes the fastest mode for this model and this computer."))
_WHOLE_NUMBER = mark("{option}: choose a whole number from {least} to {most}, not {value}.")
_SWITCH = mark("{option}: choose true or false, not {value}.")
# In the order of menus.
MODES: dict[str, Mode] = {
    mode.name: mode
    for mode in (PLAIN, LOOKUP, DOVETAIL, GHIDORAH, PPD, MINIONS, OFFLOAD, LAYER_OFFLOAD, LLMCAD)
}

__all__ = ["MODES", "Mode", "check_options", "descriptors"]


def descriptors() -> tuple[ModeDescriptor, ...]:
    """Return every mode that a user may choose, ``auto`` first."""
    return (_AUTO, *(mode.descriptor for mode in MODES.values()))


def check_options(given: Mapping[str, object]) -> None:
    """Refuse options that no mode has, and values that they do not take.

    Raises:
        InvalidOption: An option or a value is wrong in one of these ways.
    """
    known = shared_options(descriptors())
    for name, value in given.items():
        option = known.get(name)
        if option is None:
            raise InvalidOption(
                "No mode has an option {name}: choose {names}.", name=repr(name), names=either(known)
            )
        if not option.accepts(value):
            raise InvalidOption(
                _SWITCH if option.is_switch else _WHOLE_NUMBER,
                option=say(option.title),
                least=option.least,
                most=option.most,
                value=repr(value),
            )
