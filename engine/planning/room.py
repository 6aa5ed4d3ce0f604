"""Memory that a machine has left for a model, within the budgets that were set for it."""

from __future__ import annotations

from engine.messages import LoadOptions, MachineReport
from engine.placement.plan import Room, Sizes, Units
from engine.planning.machine_speeds import machine_speeds
from engine.planning.unit_times import UnitTimes

# Memory that other programs will want next.
_HOST_RESERVE_BYTES = 256 << 20
# Memory that the GPU's driver, its kernels and other programs need beside tensors.
_GPU_RESERVE_BYTES = 512 << 20


def read_room(report: MachineReport, options: LoadOptions) -> Room:
    """The memory that may be taken of a machine."""
    ram_budget_bytes, vram_budget_bytes = options.ram_budget_bytes, options.vram_budget_bytes
    host = report.memory.available_bytes - _HOST_RESERVE_BYTES
    if ram_budget_bytes is not None and budget_is_free(report, ram_budget_bytes):
        # Who names what is there has left others theirs.
        host = ram_budget_bytes - report.memory.process_bytes
    usable = () if vram_budget_bytes == 0 else report.gpus
    if not usable:
        return Room(max(host, 0))
    gpu = max(usable, key=lambda gpu: gpu.free_bytes)
    free = gpu.free_bytes - _GPU_RESERVE_BYTES
    there = free if vram_budget_bytes is None else min(free, vram_budget_bytes)
    speeds = machine_speeds(report, gpu)

    def units(sizes: Sizes, width: int) -> Units:
        return UnitTimes(sizes.config, sizes.weights, speeds, sizes.context).at(width)

    return Room(max(host, 0), gpu.device, max(0, there), gpu.unified, units)


def budget_is_free(report: MachineReport, ram_budget_bytes: int) -> bool:
    """True if the machine has as much left as a budget names."""
    return ram_budget_bytes - report.memory.process_bytes <= report.memory.available_bytes
