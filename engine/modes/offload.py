"""Partial offload: the first layers on the GPU, as many as its memory takes, the others computed on the CPU.

Plain decoding: what the mode is about is where the layers are, which is settled when the model is loaded.
"""

from engine.decoding.schedule import FixedLength
from engine.drafting.drafter import NoDrafter
from engine.modes.mode import Mode

OFFLOAD = Mode(
    "offload",
    drafter=lambda chances: NoDrafter(),
    schedule=lambda nodes, cost: FixedLength(0),
    placement="offload",
)
