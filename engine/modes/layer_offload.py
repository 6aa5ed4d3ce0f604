"""Layer offload: all layers computed on the GPU; those that its memory does not take are copied there for each forward.

Plain decoding, as in partial offload. It pays where many tokens share a forward, as those of a long prompt do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.modes.mode import Mode
from engine.sentences import mark, say

if TYPE_CHECKING:
    from engine.placement.plan import PlacementPlan

_NOTHING_TO_COPY = mark("Every layer fits on the GPU, so that none would have to be copied there.")


def _pointless(placement: PlacementPlan, gpu_layers: int | None) -> str:
    return say(_NOTHING_TO_COPY) if placement.device_layers == len(placement.layers) else ""


MODE = Mode(
    name=mark("layer-offload"),
    title=mark("Layer offload"),
    help=mark("Each layer is copied to the GPU when its turn comes."),
    reason=mark(
        "Layer offload was chosen: layers that do not fit on the GPU are copied there for each token."
    ),
    placements=("layer-offload", "resident"),
    needs_gpu=True,
    pointless=_pointless,
)
