"""Modes: what a kind of draft does, in some place in memory, as a recipe of parts for the one loop.

``MODES`` is the table of them, and `in_mode` says which draft and which memory a mode's name stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.errors import InvalidOption
from engine.hub.bundled import paired_drafts
from engine.messages import LoadOptions, ModeOption
from engine.modes.drafted import DOVETAIL, GHIDORAH, LLMCAD, LOOKUP, MINIONS, PPD
from engine.modes.mode import MEMORY_TITLES, Mode
from engine.modes.plain import LAYER_OFFLOAD, OFFLOAD, PLAIN
from engine.sentences import either, mark, paragraph, say

AUTO = "auto"
OFF = "off"
"""Draft of those who want none."""
_WHOLE_NUMBER = mark("{option}: choose a whole number from {least} to {most}, not {value}.")
_SWITCH = mark("{option}: choose true or false, not {value}.")
# In the order of menus.
MODES: dict[str, Mode] = {
    mode.name: mode for mode in (PLAIN, LOOKUP, DOVETAIL, GHIDORAH, PPD, MINIONS, OFFLOAD, LAYER_OFFLOAD, LLMCAD)
}

__all__ = [
    "AUTO",
    "MEMORY_TITLES",
    "MODES",
    "OFF",
    "Mode",
    "check_options",
    "in_mode",
    "mode_of",
    "mode_options",
    "named_drafts",
]


def mode_options() -> dict[str, ModeOption]:
    """Return the options of all modes by name, without a default if modes differ in it."""
    found: dict[str, ModeOption] = {}
    for option in (option for mode in MODES.values() for option in mode.options):
        known = found.setdefault(option.name, option)
        if known.default != option.default:
            found[option.name] = replace(known, default=None)
    return found


def named_drafts(drafts: Sequence[str]) -> tuple[str, ...]:
    """Return those of `LoadOptions.drafts` that are folders or names of drafts."""
    words = {OFF, *(mode.name for mode in MODES.values() if mode.drafter is not None)}
    return tuple(draft for draft in drafts if draft not in words)


def mode_of(kind: str) -> Mode:
    """Return the mode that a kind of draft makes alone."""
    return next(mode for mode in MODES.values() if kind in mode.drafts)


def in_mode(name: str, options: LoadOptions, planned: Sequence[str] = ()) -> LoadOptions:
    """Return options with the draft and the memory that a mode's name stands for.

    A mode with a draft takes the named drafts, else what ships with the model; a memory that is chosen stays.

    Args:
        name: ``--mode`` name.
        options: Model, drafts and what else is settled.
        planned: Drafts that a plan has for the mode, which are taken as they are.

    Raises:
        InvalidOption: There is no such mode, no draft for it, or it contradicts a chosen draft or memory.
        CheckpointError: A draft does not exist.
    """
    if name == AUTO:
        return options
    mode = MODES.get(name)
    if mode is None:
        raise InvalidOption(
            "There is no mode {mode}: choose {auto}, {names}.",
            mode=repr(name),
            auto=AUTO,
            names=either(MODES),
        )
    if options.memory not in (AUTO, mode.memory) and mode.memory != AUTO:
        raise InvalidOption(
            "The mode {mode} stands for the memory {own}: leave out the memory {memory}.",
            mode=say(mode.title),
            own=repr(mode.memory),
            memory=repr(options.memory),
        )
    memory = options.memory if mode.memory == AUTO else mode.memory
    own = name if mode.drafter is not None else LOOKUP.name if mode.takes_several else "" if mode.drafts else OFF
    named = named_drafts(options.drafts)
    wrong = [draft for draft in options.drafts if draft != own and not (draft in named and mode.drafts)]
    if wrong:
        raise InvalidOption(
            "The mode {mode} contradicts the draft {draft}: leave out one of the two.",
            mode=say(mode.title),
            draft=", ".join(wrong),
        )
    if not mode.drafts:
        return replace(options, drafts=(own,), memory=memory)
    drafts = tuple(planned)
    if not drafts and named:
        from engine.drafting.kinds import kind_of  # which needs torch
        from engine.model_file import open_draft, open_model

        model = open_model(options.model, adapter=options.adapter)
        drafts = tuple(draft for draft in named if kind_of(open_draft(draft, model)).kind in mode.drafts)
        drafts = drafts if mode.takes_several else drafts[:1]
        if drafts and drafts != named:
            raise InvalidOption(
                "The mode {mode} drafts with {drafts} alone: leave out {unused}.",
                mode=say(mode.title),
                drafts=", ".join(drafts),
                unused=", ".join(draft for draft in named if draft not in drafts),
            )
    elif not drafts:
        drafts = paired_drafts(options.model, mode.drafts, mode.takes_several)
    if not drafts:
        raise InvalidOption(paragraph(say("The mode {mode} cannot run.", mode=say(mode.title)), say(mode.needs)))
    drafts = (LOOKUP.name, *drafts) if mode.takes_several else drafts[:1]
    return replace(options, drafts=drafts, insists=True, memory=memory)


def check_options(given: Mapping[str, object]) -> None:
    """Refuse options that no mode has, and values that they do not take.

    Raises:
        InvalidOption: An option or a value is wrong in one of these ways.
    """
    known = mode_options()
    for name, value in given.items():
        option = known.get(name)
        if option is None:
            raise InvalidOption("No mode has an option {name}: choose {names}.", name=repr(name), names=either(known))
        if not option.accepts(value):
            raise InvalidOption(
                _SWITCH if option.is_switch else _WHOLE_NUMBER,
                option=say(option.title),
                least=option.least,
                most=option.most,
                value=repr(value),
            )
