"""Layer offload: all layers computed on the GPU; those that its memory does not take are copied there for each forward.

Plain decoding, as in partial offload. It pays where many tokens share a forward, as those of a long prompt do.
"""

from engine.decoding.schedule import FixedLength
from engine.drafting.drafter import NoDrafter
from engine.modes.mode import Mode

LAYER_OFFLOAD = Mode(
    "layer-offload",
    drafter=lambda chances: NoDrafter(),
    schedule=lambda nodes, cost: FixedLength(0),
    placement="layer-offload",
)
