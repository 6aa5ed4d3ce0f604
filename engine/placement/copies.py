"""Copies from the host's memory to a device that run while the device computes, and how each waits for the other."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from engine.errors import OutOfMemory
from engine.placement.device_failure import answers
from engine.sentences import figure
from engine.weights.direct_reader import PageMemory

_PORTABLE = 1  # cudaHostRegisterPortable

Mark = Any
"""A moment in the work of the device: a copy that is done, or everything computed so far."""


class Copies:
    """Copies of layers to a device. Done when they have begun, as without streams."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def host_buffer(self, size_bytes: int) -> Tensor:
        """(size,) uint8 in the host's memory, from which copies are fast."""
        return torch.empty(size_bytes, dtype=torch.uint8)

    def device_buffer(self, size_bytes: int) -> Tensor:
        """(size,) uint8 in the device's memory."""
        return torch.empty(size_bytes, dtype=torch.uint8, device=self._device)

    def computed(self) -> Mark:
        """The moment at which everything is computed that was asked for until now."""
        return None

    def start(self, target: Tensor, source: Tensor, after: Mark) -> Mark:
        """Begin to copy once ``after`` is reached, behind the copies begun before; returns when it will be done."""
        target.copy_(source)

    def wait(self, done: Mark) -> None:
        """Let everything computed from now on wait for a copy."""

    def finish(self) -> None:
        """Wait here for every copy that was begun."""


class StreamCopies(Copies):
    """Copies on a second stream of a CUDA or XPU device, with events in both directions; nothing waits on the host."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self._module: Any = torch.get_device_module(device)
        self._stream = self._module.Stream(device)

    def host_buffer(self, size_bytes: int) -> Tensor:
        """Pinned: the device reads it without the processor's help.

        Raises:
            OutOfMemory: the system pins no more.
        """
        try:
            if self._device.type == "cuda":
                return _registered(size_bytes)
            return torch.empty(size_bytes, dtype=torch.uint8, pin_memory=True)
        except RuntimeError as error:
            answers(self._device)  # CUDA would tell of it again at the next kernel
            raise OutOfMemory(
                "The system does not let Tenon pin {size_bytes} MB more of the host's memory for "
                "copies to the GPU: raise the limit (ulimit -l), or choose the mode offload.",
                size_bytes=figure(size_bytes / 1000000.0, ".3g"),
                details=str(error),
            ) from error

    def computed(self) -> Mark:
        """An event on the stream that computes."""
        return self._event(self._module.current_stream(self._device))

    def start(self, target: Tensor, source: Tensor, after: Mark) -> Mark:
        """Queue the copy on the second stream."""
        self._stream.wait_event(after)
        with self._module.stream(self._stream):
            target.copy_(source, non_blocking=True)
        return self._event(self._stream)

    def wait(self, done: Mark) -> None:
        """Queue the wait on the stream that computes."""
        self._module.current_stream(self._device).wait_event(done)

    def finish(self) -> None:
        """Wait for the second stream."""
        self._stream.synchronize()

    def _event(self, stream: Any) -> Any:
        event = self._module.Event()
        event.record(stream)
        return event


def _registered(size_bytes: int) -> Tensor:
    """(size,) uint8 of the host's that a CUDA device reads without the processor's help.

    Torch's own pinned memory takes the next power of two of bytes. It records an event when it is freed, and after the
    device was lost that ends the process.

    Raises:
        RuntimeError: The system pins no more.
    """
    memory = PageMemory(size_bytes).tensor(0, size_bytes)
    runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    code = int(runtime.cudaHostRegister(memory.data_ptr(), size_bytes, _PORTABLE))
    if code:
        raise RuntimeError(f"cudaHostRegister gave {code}")
    weakref.finalize(memory, runtime.cudaHostUnregister, memory.data_ptr()).atexit = False
    return memory


def copies_to(device: torch.device) -> Copies:
    """Copies to this device, on a stream of their own where it has streams."""
    return StreamCopies(device) if device.type in ("cuda", "xpu") else Copies(device)
