"""The GPUs that torch can use (CUDA, ROCm, XPU and MPS), or else graphics chips, and their speeds."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

import psutil
import torch

from engine.graphics.adapters import memory_of, rests
from engine.graphics.known import Adapter, read_known
from engine.graphics.speed import fastest_s
from engine.messages.machine import Gpu, GpuKind, GpuSpeed
from engine.placement.device import answers
from engine.planning.probes.host import read_group_limits
from engine.planning.probes.host_speed import operator_seconds

_INTEL_CARD = r"\b[AB]\d{2,3}|Max|Flex"
_BUFFER_BYTES = 256 << 20
_CROSSING_BYTES = 64 << 20
_SIDE = 4096


def read_gpus() -> tuple[Gpu, ...]:
    """Return every GPU of this machine that the installed torch computes on, in torch's order.

    If there are none, graphics chips that were found when the machine was measured are what drafts may run on.
    """
    if torch.cuda.is_available():
        return _answering("cuda", torch.cuda.device_count(), _cuda)
    if torch.xpu.is_available():
        return _answering("xpu", torch.xpu.device_count(), _xpu)
    if torch.backends.mps.is_available():
        total = int(torch.mps.recommended_max_memory())
        free = total - int(torch.mps.driver_allocated_memory())
        return (_unified("mps:0", "mps", "Apple GPU", total, free),)
    return tuple(_chip(adapter) for adapter in read_known().chips)


def _answering(kind: str, count: int, read: Callable[[int], Gpu]) -> tuple[Gpu, ...]:
    """Return the GPUs of a kind that compute. A driver that has no room for one more process raises too."""
    found = []
    for index in range(count):
        with suppress(RuntimeError):
            if answers(torch.device(kind, index)):
                found.append(read(index))
    return tuple(found)


def _cuda(index: int) -> Gpu:
    kind: GpuKind = "rocm" if torch.version.hip else "cuda"
    properties = torch.cuda.get_device_properties(index)
    free, total = torch.cuda.mem_get_info(index)
    device, name = f"cuda:{index}", str(properties.name)
    if getattr(properties, "is_integrated", False):
        return _unified(device, kind, name, int(total), int(free))
    return Gpu(device, kind, name, int(total), int(free), unified=False)


def _xpu(index: int) -> Gpu:
    properties = torch.xpu.get_device_properties(index)
    total = int(properties.total_memory)
    try:
        free = int(torch.xpu.mem_get_info(index)[0])
    except RuntimeError:  # not every driver reports it
        free = total
    # Torch does not say which ones are integrated; cards have a number in their names.
    if re.search(_INTEL_CARD, str(properties.name)) is None:
        return _unified(f"xpu:{index}", "xpu", str(properties.name), total, free)
    return Gpu(f"xpu:{index}", "xpu", str(properties.name), total, free, unified=False)


def _chip(adapter: Adapter) -> Gpu:
    memory, device, unified = psutil.virtual_memory(), adapter.device, adapter.kind != "card"
    total = memory_of(device, int(memory.total))
    if rests(device) or not unified:  # a chip that rests stays in the report, whose speeds are kept for all of it
        return Gpu(device, adapter.interface, adapter.name, total, 0 if rests(device) else total, unified)
    return _unified(device, adapter.interface, adapter.name, total, 0)


def _unified(device: str, kind: GpuKind, name: str, total: int, free: int) -> Gpu:
    """Return a GPU in the host's memory, whose driver leaves out page cache that gives way (and control groups)."""
    available = int(psutil.virtual_memory().available)
    left = read_group_limits().free_bytes
    if left is not None:
        available = min(available, left)
    return Gpu(device, kind, name, total, min(total, max(free, available)), unified=True)


def measure_gpu(device: torch.device, dtype: torch.dtype, free_bytes: int, check: Callable[[], None]) -> GpuSpeed:
    """Measure a GPU that torch computes on, in about a second.

    Args:
        device: The GPU.
        dtype: The GPU's 16-bit type.
        free_bytes: Free memory of the GPU; an eighth is used at most.
        check: Called often; raises to cancel.
    """
    most = max(1 << 20, free_bytes // 8)
    buffer = torch.ones(min(_BUFFER_BYTES, most) // 4, device=device)
    reading = fastest_s(lambda: buffer.sum(), check)
    side = min(_SIDE, max(64, int((most / 6) ** 0.5)))
    matrix = torch.ones(side, side, device=device, dtype=dtype)
    multiplying = fastest_s(lambda: matrix @ matrix, check)
    host = torch.ones(min(_CROSSING_BYTES, most) // 4)
    if device.type == "cuda":
        host = host.pin_memory()
    place = torch.empty_like(host, device=device)
    crossing = fastest_s(lambda: place.copy_(host), check)
    return GpuSpeed(
        memory_bytes_per_s=buffer.nbytes / reading,
        products_per_s=side**3 / multiplying,
        operator_s=operator_seconds(device),
        from_host_bytes_per_s=host.nbytes / crossing,
    )
