"""Modes to choose from, as the engine describes them."""

from __future__ import annotations

from collections.abc import Callable

from app.chat.choices import Choice
from app.words import mark, tr
from engine.messages import ModeDescriptor
from engine.modes import descriptors

_NO_DRAFT = mark("Needs a draft: choose one in the menu of models.")
_OTHER_DRAFT = mark("Needs a draft of another kind: choose one in the menu of models.")
_NO_GPU = mark("Needs a GPU, and there is none that Tenon can use here.")
_GPU_LEFT_ALONE = mark("Needs a GPU, and the GPU memory budget of 0 leaves it alone.")

_ON_SERVER = mark("On a server")
#: What replies of servers have in the place of a mode.
REMOTE = "remote"

_known = descriptors()


def learn(modes: tuple[ModeDescriptor, ...]) -> None:
    """From now on these are the modes: what an engine has told of itself."""
    global _known
    _known = modes


def known_modes() -> tuple[ModeDescriptor, ...]:
    """Every mode, ``auto`` first; before an engine has told, those of this installation."""
    return _known


def mode_title(name: str) -> str:
    """Title of a mode."""
    if name == REMOTE:
        return tr(_ON_SERVER)
    return next((tr(mode.title) for mode in _known if mode.name == name), name.capitalize())


def mode_choices(
    draft_of: Callable[[ModeDescriptor], str | None], gpu: str | None, vram_budget_bytes: int | None
) -> list[Choice]:
    """Every mode, with the reason where it cannot run.

    Args:
        draft_of: Name of the draft that a mode would take; empty where there is none, None where the one that was
            chosen is of another kind.
        gpu: The GPU; empty where there is none, None while that is not known.
        vram_budget_bytes: Most of its memory that may be taken; None for what is free.
    """
    return [_choice(mode, draft_of(mode), gpu, vram_budget_bytes) for mode in _known]


def _choice(
    mode: ModeDescriptor, draft: str | None, gpu: str | None, vram_budget_bytes: int | None
) -> Choice:
    help_text, problem = tr(mode.help), ""
    if mode.drafts and draft:
        help_text = tr("{what} Draft: {draft}", what=help_text, draft=draft)
    elif mode.drafts:
        problem = tr(_OTHER_DRAFT if draft is None else _NO_DRAFT)
    elif mode.needs_gpu and gpu == "":
        problem = tr(_NO_GPU)
    elif mode.needs_gpu and vram_budget_bytes == 0:
        problem = tr(_GPU_LEFT_ALONE)
    return Choice(mode.name, tr(mode.title), help_text, problem=problem)
