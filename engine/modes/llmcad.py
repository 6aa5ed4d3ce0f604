"""LLMCad: the target's layers come from the disk, and a small model in memory drafts while they are on their way.

Source: Xu et al. 2023, "LLMCad: Fast and Scalable On-device Large Language Model Inference". A forward that waits for
the disk takes as long for 64 tokens as for one, and the kernels compute 64 columns at once: hence 63 nodes and
the root. As published a draft ends at the threshold, without the nodes beyond it that are worth their time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.modes.mode import AS_PUBLISHED, DEPTH, LOOK_UP, Mode, Values, adaptive, nodes
from engine.sentences import mark, say

if TYPE_CHECKING:
    from engine.drafting.kind import Pacing
    from engine.placement.plan import PlacementPlan

_FITS = mark("It is for models larger than memory, and this one fits.")


def _growth(values: Values) -> Pacing:
    from engine.drafting.kind import Pacing

    return Pacing(draft_beyond=not values[AS_PUBLISHED.name], length=values["draft_depth"])


def _pointless(placement: PlacementPlan, gpu_layers: int | None) -> str:
    return "" if placement.streams else say(_FITS)


MODE = Mode(
    name=mark("llmcad"),
    title="LLMCad",
    help=mark("For models larger than memory: a draft writes, the model is read from the disk to check."),
    reason=mark(
        "LLMCad was chosen: layers that memory has no room for are read from the disk, and meanwhile a draft guesses "
        "ahead."
    ),
    drafts_ahead=True,
    schedule=adaptive,
    growth=_growth,
    options=(DEPTH, nodes(63), LOOK_UP, AS_PUBLISHED),
    drafts=("model", "medusa", "prompt-tokens"),
    pointless=_pointless,
    reason_in_memory=mark(
        "LLMCad was chosen, but this model fits in memory: nothing is read from the disk, so there is no wait in "
        "which the draft could guess; it guesses before each pass only."
    ),
    wrong_draft=mark(
        "It needs a small model as its draft, Medusa heads or prompt tokens: choose a model of the same vocabulary, or "
        "what was trained for this one. Other heads cannot guess while the model is read from the disk."
    ),
)
