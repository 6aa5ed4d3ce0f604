"""An engine whose graphics card is the stand-in, or fails in the middle of a reply: what the trial's children run.

A card is lost to one process alone: a kernel fails there, as it would if the card were gone, and every further call of
that process raises. The card itself goes on. Memory runs out because the process has taken all of it before.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import pytest
import torch

from engine.placement.layer_offload import LayerOffload
from engine.placement.split import DeviceLayers
from engine.planning.hardware import find_gpu
from engine.process import serve as serve_engine
from tests.support.stand_in import STAND_IN, lose_gpu, use_gpu

#: Environment of a child: a stand-in for the card, and ``lost`` or ``full`` with the layer that is asked for then.
STAND_IN_VARIABLE, FAULT_VARIABLE = "TENON_TRIAL_STAND_IN", "TENON_TRIAL_FAULT"
_STAND_IN_BYTES = 3 << 30
# Down to the smallest, for what torch has kept of the memory would do for a while.
_PIECES_BYTES = (1 << 30, 64 << 20, 2 << 20, 1 << 20, 64 << 10, 4 << 10, 512)

_held: list[Any] = []


def use_stand_in() -> None:
    """Let the host's memory be the card."""
    patch = pytest.MonkeyPatch()
    use_gpu(patch, _STAND_IN_BYTES)
    patch.setattr("engine.loaded_model.free_device_bytes", lambda device: _STAND_IN_BYTES)
    patch.setattr("engine.loaded_model.held_device_bytes", lambda device: 0)


def card() -> torch.device:
    """The card, or the stand-in."""
    return STAND_IN if STAND_IN_VARIABLE in os.environ else (find_gpu() or STAND_IN)


def lose() -> None:
    """Lose the card to this process."""
    device = card()
    if device == STAND_IN:
        lose_gpu(pytest.MonkeyPatch())
        raise torch.AcceleratorError("CUDA error: device-side assert triggered")
    torch.zeros(1, device=device)[torch.full((1,), 7, device=device)]


def fill() -> None:
    """Take all memory of the card."""
    device = card()
    if device == STAND_IN:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
    for size in _PIECES_BYTES:
        with suppress(RuntimeError):
            while True:
                _held.append(torch.empty(size, dtype=torch.uint8, device=device))


def fail_at(fault: Callable[[], None], at: int) -> None:
    """Let a fault happen as soon as so many layers of the card have been asked for."""
    calls = 0
    for place in (DeviceLayers, LayerOffload):
        layer: Any = place.layer

        def counted(layers: Any, index: int, own: Any = layer) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                fault()
            return own(layers, index)

        place.layer = counted  # type: ignore[method-assign]


def serve(connection: Connection) -> None:
    """Run an engine as the environment says."""
    if STAND_IN_VARIABLE in os.environ:
        use_stand_in()
    if FAULT_VARIABLE in os.environ:
        kind, at = os.environ[FAULT_VARIABLE].split(":")
        fail_at({"lost": lose, "full": fill}[kind], int(at))
    serve_engine(connection)
