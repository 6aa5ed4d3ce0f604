"""Which mode and which precision to run, and why."""

from __future__ import annotations

from engine.errors import InvalidOption
from engine.hub.installed import paired_draft
from engine.messages import LoadOptions, Plan
from engine.modes import MODES

AUTO = "auto"

_REASONS = {
    "plain": "Plain decoding was chosen: one token for each pass.",
    "lookup": "Prompt lookup was chosen.",
    "dovetail": "Dovetail was chosen: a draft guesses trees of tokens, and the model checks each tree in one pass.",
    "llmcad": "LLMCad was chosen: layers that memory has no room for are read from the disk, and meanwhile a draft "
    "guesses ahead.",
}


def choose_draft(options: LoadOptions) -> str | None:
    """The draft to load beside the model: the one asked for, else the bundled one where the mode needs a draft."""
    mode = MODES.get(options.mode)
    if options.draft is None and mode is not None and mode.needs_draft:
        return paired_draft(options.model)
    return options.draft


def choose_plan(options: LoadOptions) -> Plan:
    """The mode to run.

    Args:
        options: Its mode is a name from `MODES`, or ``auto``.

    Raises:
        InvalidOption: there is no such mode, or it needs a draft and there is none.
    """
    if options.mode == AUTO:
        if options.draft is not None:
            return Plan("dovetail", "Auto: a draft is given, so dovetail guesses with it.")
        # Lookup needs no second model, and its schedule drafts nothing where drafts do not pay for themselves.
        return Plan(
            "lookup", "Auto: lookup needs no second model, and drafts only while that is faster than plain."
        )
    if options.mode not in MODES:
        raise InvalidOption(f"There is no mode {options.mode!r}: choose {AUTO}, {' or '.join(MODES)}.")
    if MODES[options.mode].needs_draft and choose_draft(options) is None:
        raise InvalidOption(
            f"The mode {options.mode} needs a draft: name a small model of the same vocabulary as the draft, "
            "or choose another mode."
        )
    return Plan(options.mode, _REASONS[options.mode])
