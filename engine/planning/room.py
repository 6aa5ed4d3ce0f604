"""Memory that a machine has left for a model, within the budgets that were set for it."""

from __future__ import annotations

from engine.messages import MachineReport
from engine.placement.plan import Room
from engine.planning.thresholds import GPU_RESERVE_BYTES, HOST_RESERVE_BYTES


def read_room(report: MachineReport, ram_budget_bytes: int | None, vram_budget_bytes: int | None) -> Room:
    """The memory that may be taken.

    Args:
        report: The machine.
        ram_budget_bytes: For the whole process; None for all that is free.
        vram_budget_bytes: Of the GPU; 0 leaves it alone.
    """
    host = report.memory.available_bytes - HOST_RESERVE_BYTES
    if ram_budget_bytes is not None and budget_is_free(report, ram_budget_bytes):
        host = (
            ram_budget_bytes - report.memory.process_bytes
        )  # who names what is there has left others theirs
    usable = () if vram_budget_bytes == 0 else report.gpus
    if not usable:
        return Room(max(host, 0))
    gpu = max(usable, key=lambda gpu: gpu.free_bytes)
    free = gpu.free_bytes - GPU_RESERVE_BYTES
    there = free if vram_budget_bytes is None else min(free, vram_budget_bytes)
    return Room(max(host, 0), gpu.device, max(0, there), gpu.unified)


def budget_is_free(report: MachineReport, ram_budget_bytes: int) -> bool:
    """True if the machine has as much left as a budget names."""
    return ram_budget_bytes - report.memory.process_bytes <= report.memory.available_bytes
