"""Modes without a draft: plain decoding, one token for each forward; two are about where the layers are."""

from __future__ import annotations

from engine.modes.mode import Mode
from engine.sentences import mark

PLAIN = Mode(
    name="plain",
    title=mark("Plain"),
    help=mark("Generates one token after the other."),
    reason=mark("Plain decoding was chosen: one token for each pass."),
)

# The first layers are on the GPU, as many as its memory takes; the others are computed on the CPU.
OFFLOAD = Mode(
    name=mark("offload"),
    title=mark("Partial offload"),
    help=mark("As many layers as fit run on the GPU, the rest in memory."),
    reason=mark("Partial offload was chosen: the first layers on the GPU, the others on the CPU."),
    memory="gpu",
    placements=("offload", "resident"),
)

# All layers are computed on the GPU; those that do not fit into its memory are copied there for each forward. It
# pays if many tokens share a forward, as those of a long prompt do.
LAYER_OFFLOAD = Mode(
    name=mark("layer-offload"),
    title=mark("Layer offload"),
    help=mark("Each layer is copied to the GPU when its turn comes."),
    reason=mark("Layer offload was chosen: layers that do not fit on the GPU are copied there for each token."),
    memory="gpu-copy",
    placements=("layer-offload", "resident"),
)
