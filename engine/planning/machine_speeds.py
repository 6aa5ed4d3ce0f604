"""The speeds that a plan is made with: the report's own where they were measured, assumed ones where they were not."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from engine.messages.machine import FormatSpeed, Gpu, GpuSpeed, HostSpeed, MachineReport
from engine.model.weight_format import weight_format
from engine.planning.kernel_table import FORMAT_WIDTHS, matrix_size
from engine.planning.probes.host_speed import format_speed

# A modest laptop, for a machine that was not measured yet: orders come out right, figures do not.
_ASSUMED_BYTES_PER_S = 25e9
_ASSUMED_PRODUCTS_PER_S = {"fp32": 20e9, "bf16": 30e9, "q8_0": 50e9, "q4_k_m": 50e9}
_ASSUMED_OPERATOR_S = 4e-6
_ASSUMED_GPU = GpuSpeed(200e9, 2e12, 10e-6, 6e9)
_ASSUMED_DISK_BYTES_PER_S = {"spinning": 120e6, "network": 100e6}
_ASSUMED_SSD_BYTES_PER_S = 1e9


@dataclass(frozen=True)
class MachineSpeeds:
    """Speeds of one machine.

    Attributes:
        host: Of the processor.
        gpu: Of the GPU that a plan may use, None for none.
        disk_bytes_per_s: Reading the models' folder.
        measured: These were measured on the machine.
        unified: The processor and the GPU read one memory.
    """

    host: HostSpeed
    gpu: GpuSpeed | None
    disk_bytes_per_s: float
    measured: bool
    unified: bool = False


def machine_speeds(report: MachineReport, gpu: Gpu | None) -> MachineSpeeds:
    """The speeds of a machine with one of its GPUs, or without any."""
    speeds = report.speeds
    disk = report.disk("models")
    kind = "unknown" if disk is None else disk.kind
    assumed_disk = _ASSUMED_DISK_BYTES_PER_S.get(kind, _ASSUMED_SSD_BYTES_PER_S)
    unified = gpu is not None and gpu.unified
    if speeds is None:
        assumed = None if gpu is None else _ASSUMED_GPU
        return MachineSpeeds(_assumed_host(report), assumed, assumed_disk, False, unified)
    own = None if gpu is None else speeds.gpus.get(gpu.device, _ASSUMED_GPU)
    read = speeds.disks.get("models", speeds.disks.get("cache", assumed_disk))
    return MachineSpeeds(speeds.host, own, read, True, unified)


def format_seconds(host: HostSpeed) -> dict[str, float]:
    """Seconds of each format's products in a large model at the widths that count, as the kernel table has them."""
    rows, columns = matrix_size()
    found = {}
    for name in host.formats:
        speed = format_speed(host, name, inf)
        size = weight_format(name).matrix_bytes(rows, columns)
        found[name] = sum(speed.seconds(size, width * rows * columns) for width in FORMAT_WIDTHS)
    return found


def _assumed_host(report: MachineReport) -> HostSpeed:
    cores = report.processor.usable_cores
    formats = {
        name: FormatSpeed(_ASSUMED_BYTES_PER_S, cores * each, 0.2)
        for name, each in _ASSUMED_PRODUCTS_PER_S.items()
    }
    return HostSpeed(_ASSUMED_BYTES_PER_S, _ASSUMED_OPERATOR_S, formats)
