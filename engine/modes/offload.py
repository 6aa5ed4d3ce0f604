"""Partial offload: the first layers on the GPU, as many as its memory takes, the others computed on the CPU.

Plain decoding: what the mode is about is where the layers are, which is settled when the model is loaded.
"""

from engine.modes.mode import Mode
from engine.sentences import mark, say

_NO_LAYERS_WANTED = mark("It needs layers on the GPU, and the setting for GPU layers is 0.")

MODE = Mode(
    name=mark("offload"),
    title=mark("Partial offload"),
    help=mark("As many layers as fit run on the GPU, the rest in memory."),
    reason=mark("Partial offload was chosen: the first layers on the GPU, the others on the CPU."),
    placements=("offload", "resident"),
    needs_gpu=True,
    pointless=lambda placement, gpu_layers: say(_NO_LAYERS_WANTED) if gpu_layers == 0 else "",
)
