"""The graphics chips that drivers show to this process, and their use: buffers, shaders, one submission a forward.

The package `wgpu` speaks to the system's own driver: Vulkan, Metal or Direct3D 12. A driver is loaded here when a draft
or layers are placed on its chip, and before that in the process that asks (`engine.graphics.asking`).
"""

from __future__ import annotations

import logging
import os
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from engine.graphics.known import (
    NO_DRIVER,
    NO_PACKAGE,
    SOFTWARE,
    SWITCH,
    Adapter,
    Interface,
    Kind,
    keep_known,
    read_known,
)

#: Torch's name of a kind of device on which it computes nothing itself; here of all chips, whatever their interface.
DEVICE = "vulkan"

_KINDS: dict[str, Kind] = {"DiscreteGPU": "card", "IntegratedGPU": "shared", "CPU": "software"}
# Interfaces of which one is enough, the best first.
_INTERFACES: dict[str, Interface] = {"Metal": "metal", "Vulkan": "vulkan", "D3D12": "d3d12"}
# Limits that are asked for as high as an adapter has them.
_LIMITS = ("max-storage-buffer-binding-size", "max-buffer-size")
_STORAGE, _COPIED = 0x80, 0x8 | 0x4  # COPY_DST, COPY_SRC
_READ = 0x1 | 0x8  # MAP_READ, COPY_DST
_COMPUTE = 0x4
_BUFFERS = {"read": "read-only-storage", "read_write": "storage"}
# Seconds after which a driver is taken to hang; systems end work of a few seconds by themselves.
_LONGEST_S = 30

# Content of so many bytes is submitted at once, for until then a copy of it is in the host's memory.
_LARGE_BYTES = 1 << 20

_resting: set[str] = set()
_turn = threading.RLock()

Buffer = Any


@dataclass(frozen=True)
class Program:
    """A shader, and the layout of its buffers."""

    pipeline: Any
    layout: Any


@dataclass(frozen=True)
class Bound:
    """The buffers of a shader, which are held as long as it may run."""

    group: Any
    buffers: tuple[Buffer, ...]


#: A shader, its buffers, and its workgroups in both directions.
Step = tuple[Program, Bound, int, int]


@contextmanager
def in_turn() -> Iterator[None]:
    """Let one thread at a time use the buffers that a chip's texts share: drafts are made beside other replies."""
    with _turn:
        yield


@cache
def _found() -> tuple[Any, ...] | None:
    """Return the adapters of one interface as `wgpu` has them, or None without the package."""
    try:
        import wgpu
        from wgpu.backends.wgpu_native.extras import set_instance_extras

        logging.getLogger("wgpu").setLevel(logging.ERROR)  # its own class of logger, which it makes when imported
        set_instance_extras(backends=["Vulkan", "Metal", "DX12"])
        found = wgpu.gpu.enumerate_adapters_sync()
    except ImportError:  # of a library that it needs, too
        return None
    except (RuntimeError, OSError):
        return ()
    kinds = {str(adapter.info["backend_type"]) for adapter in found}
    best = next((one for one in _INTERFACES if one in kinds), "")
    return tuple(adapter for adapter in found if adapter.info["backend_type"] == best)


def find_adapters() -> dict[Adapter, Any]:
    """Return the chips, each with what `wgpu` has of it; a driver that computes on the processor is one in tests."""
    adapters: dict[Adapter, Any] = {}
    for found in _found() or ():
        info = found.info
        kind = _KINDS.get(str(info["adapter_type"]))
        if kind is None or (kind == "software" and os.environ.get(SWITCH) != SOFTWARE):
            continue
        device, driver = f"{DEVICE}:{len(adapters)}", str(info["description"])
        largest = min(int(found.limits[limit]) for limit in _LIMITS)
        interface = _INTERFACES[str(info["backend_type"])]
        adapters[Adapter(device, str(info["device"] or driver), driver, kind, interface, largest)] = found
    return adapters


def why_none() -> str:
    """Return the sentence for which there is no chip in `find_adapters`."""
    return NO_PACKAGE if _found() is None else NO_DRIVER


def rest(device: str) -> None:
    """Leave a chip alone until the next start, because it failed."""
    _resting.add(device)


def rests(device: str) -> bool:
    """Return whether a chip failed since the start."""
    return device in _resting


def memory_of(device: str, host_bytes: int) -> int:
    """Return the bytes of a chip's memory: the host's, or a card's largest buffer, which is all that it tells."""
    adapter = next((one for one in read_known().chips if one.device == device), None)
    if adapter is None:
        return 0
    return adapter.largest_bytes if adapter.kind == "card" else host_bytes


_opened: dict[str, Chip] = {}


def opened(device: str) -> list[Chip]:
    """Return the chip of this name if it is open."""
    return [_opened[device]] if device in _opened else []


def open_chip(device: str) -> Chip:
    """Open a chip, which stays open.

    Raises:
        RuntimeError: Its driver refuses, or there is none of this name.
    """
    if device not in _opened:
        known = read_known()
        adapter = next((one for one in known.chips if one.device == device), None)
        if adapter is None:
            raise RuntimeError(f"{device} is not there")
        keep_known(replace(known, process_id=os.getpid()))
        _opened[device] = Chip(adapter)
    return _opened[device]


class Chip:
    """An open chip. Everything that fails raises RuntimeError, as torch does of its devices, and lets the chip rest.

    Args:
        adapter: The chip.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        with self._failing():
            found = find_adapters().get(adapter)
            if found is None:
                raise RuntimeError(f"{adapter.name} is not there any more, or has another driver")
            limits = {limit: found.limits[limit] for limit in _LIMITS}
            self._device = found.request_device_sync(required_limits=limits)
        self._layouts: dict[tuple[str, ...], Any] = {}
        self._programs: dict[str, Program] = {}
        self._back: Buffer | None = None  # memory of the host that results come back in
        self.held_bytes = self.peak_bytes = 0  # bytes of buffers, now and at most

    @contextmanager
    def _failing(self) -> Iterator[None]:
        from wgpu import GPUError

        try:
            yield
        except (GPUError, RuntimeError) as error:
            rest(self.adapter.device)
            # A sentence of several lines ends with the cause.
            reason = str(error).strip().rpartition("\n")[2].strip()
            full = type(error).__name__ == "GPUOutOfMemoryError" or "memory" in reason.lower()
            raise RuntimeError(f"out of memory: {reason}" if full else reason) from error

    def buffer(self, content: Tensor | int) -> Buffer:
        """Return memory of the chip: so many bytes, or with the content of a tensor that fills whole words."""
        size_bytes = content if isinstance(content, int) else content.nbytes
        with self._failing():
            buffer = self._device.create_buffer(size=max(size_bytes, 4), usage=_STORAGE | _COPIED)
        self._hold(buffer.size)
        weakref.finalize(buffer, self._hold, -buffer.size)
        if isinstance(content, Tensor):
            self.write(buffer, content)
        return buffer

    def _hold(self, size_bytes: int) -> None:
        self.held_bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self.held_bytes)

    def write(self, buffer: Buffer, content: Tensor) -> None:
        """Write a tensor of the host to the beginning of a buffer, before everything that is submitted next."""
        if content.numel():
            with self._failing():
                self._device.queue.write_buffer(buffer, 0, content.contiguous().numpy())
            if content.nbytes >= _LARGE_BYTES:
                self.run([])

    def program(self, text: str) -> Program:
        """Return a shader, made once of its text, whose function is ``main``."""
        if text not in self._programs:
            with self._failing():
                module = self._device.create_shader_module(code=text)
                layout = self._layout(tuple(re.findall(r"var<storage, (\w+)>", text)))
                whole = self._device.create_pipeline_layout(bind_group_layouts=[layout])
                stage = {"module": module, "entry_point": "main"}
                pipeline = self._device.create_compute_pipeline(layout=whole, compute=stage)
                self._programs[text] = Program(pipeline, layout)
        return self._programs[text]

    def _layout(self, buffers: tuple[str, ...]) -> Any:
        """Return the layout of buffers that are read, or written too; shaders of alike ones take each other's."""
        if buffers not in self._layouts:
            entries = [
                {"binding": at, "visibility": _COMPUTE, "buffer": {"type": _BUFFERS[access]}}
                for at, access in enumerate(buffers)
            ]
            self._layouts[buffers] = self._device.create_bind_group_layout(entries=entries)
        return self._layouts[buffers]

    def bound(self, program: Program, *given: Buffer) -> Bound:
        """Return the buffers of a shader, in its order."""
        entries = [
            {"binding": at, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for at, buffer in enumerate(given)
        ]
        with self._failing():
            return Bound(self._device.create_bind_group(layout=program.layout, entries=entries), given)

    def run(self, steps: Sequence[Step], result: tuple[Buffer, int] | None = None) -> Tensor:
        """Submit shaders that run one after the other.

        Args:
            steps: The shaders.
            result: A buffer and its first bytes that come back, or None if nothing is waited for.

        Returns:
            (words,) int32, once everything is computed; none without a result.
        """
        with self._failing():
            encoder = self._device.create_command_encoder()
            going = encoder.begin_compute_pass()
            program = None
            for step, bound, over, down in steps:
                if step is not program:
                    going.set_pipeline(step.pipeline)
                    program = step
                going.set_bind_group(0, bound.group)
                going.dispatch_workgroups(over, down, 1)
            going.end()
            if result is None:
                self._device.queue.submit([encoder.finish()])
                return torch.empty(0, dtype=torch.int32)
            buffer, size_bytes = result
            back, self._back = self._back, None  # wgpu ends the process if one is used that still waits
            if back is None or back.size < size_bytes:
                back = self._device.create_buffer(size=size_bytes, usage=_READ)
            encoder.copy_buffer_to_buffer(buffer, 0, back, 0, size_bytes)
            self._device.queue.submit([encoder.finish()])
            answer = back.map_async(1, 0, size_bytes)
            # In single seconds, for a computer may sleep meanwhile.
            if not any(answer._thread_event.wait(1.0) for _ in range(_LONGEST_S)):
                raise RuntimeError(f"it did not answer in {_LONGEST_S} s")
            answer.sync_wait()
            try:
                words = bytearray(back.read_mapped(0, size_bytes, copy=False))
            finally:
                back.unmap()
            self._back = back
        return torch.frombuffer(words, dtype=torch.int32)

    def copy(self, source: Buffer, target: Buffer, size_bytes: int) -> None:
        """Copy the first bytes of a buffer to another."""
        with self._failing():
            encoder = self._device.create_command_encoder()
            encoder.copy_buffer_to_buffer(source, 0, target, 0, size_bytes)
            self._device.queue.submit([encoder.finish()])
