"""The GPUs that torch can use: CUDA, ROCm, XPU and MPS."""

from __future__ import annotations

import re

import psutil
import torch

from engine.messages.machine import Gpu, GpuKind
from engine.planning.probes.control_groups import read_group_limits

_INTEL_CARD = r"\b[AB]\d{2,3}|Max|Flex"


def read_gpus() -> tuple[Gpu, ...]:
    """Every GPU of this machine that the installed torch runs on, in torch's order."""
    if torch.cuda.is_available():
        return tuple(_cuda(index) for index in range(torch.cuda.device_count()))
    if torch.xpu.is_available():
        return tuple(_xpu(index) for index in range(torch.xpu.device_count()))
    if torch.backends.mps.is_available():
        total = int(torch.mps.recommended_max_memory())
        free = total - int(torch.mps.driver_allocated_memory())
        return (_unified("mps:0", "mps", "Apple GPU", total, free),)
    return ()


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
    except RuntimeError:  # not every driver says
        free = total
    # Torch does not say which ones are integrated; cards have a number in their names.
    if re.search(_INTEL_CARD, str(properties.name)) is None:
        return _unified(f"xpu:{index}", "xpu", str(properties.name), total, free)
    return Gpu(f"xpu:{index}", "xpu", str(properties.name), total, free, unified=False)


def _unified(device: str, kind: GpuKind, name: str, total: int, free: int) -> Gpu:
    """A GPU in the host's memory, whose driver leaves out page cache that gives way (and control groups)."""
    available = int(psutil.virtual_memory().available)
    left = read_group_limits().free_bytes
    if left is not None:
        available = min(available, left)
    return Gpu(device, kind, name, total, min(total, max(free, available)), unified=True)
