"""Where a target's layers are to live: what planning decides and loading carries out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["resident", "offload", "layer-offload", "stream"]


@dataclass(frozen=True)
class PlacementPlan:
    """A placement before anything is loaded.

    Attributes:
        kind: ``resident``: in the host's memory. ``offload``: the first layers on the GPU, the others computed on the
            CPU. ``layer-offload``: all layers computed on the GPU, those that do not fit there copied as they are
            needed. ``stream``: those that do not fit into the host's memory are read from the disk as they are needed.
        device_layers: Layers that stay on the GPU.
        pinned_layers: ``stream``: layers that stay in the host's memory.
        buffers: ``stream`` and ``layer-offload``: layers that the ring of buffers holds.
    """

    kind: Kind = "resident"
    device_layers: int = 0
    pinned_layers: int = 0
    buffers: int = 0
