"""Report of a machine: parts that are read each time, and speeds that are measured once and kept."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path

import torch

from engine.cached_json import read_cached, write_cached
from engine.hub.installed import cache_folder
from engine.hub.model_folders import models_folder
from engine.kernels import library
from engine.messages.machine import MachineReport, Speeds, TorchBuild
from engine.placement.device import half_type
from engine.plain_data import from_plain
from engine.planning import kernel_table
from engine.planning.hardware import give_back_device_memory, read_host_memory
from engine.planning.probes.disks import read_bytes_per_s, read_disk
from engine.planning.probes.graphics import measure_gpu, read_gpus
from engine.planning.probes.host_speed import measure_host
from engine.planning.probes.other_work import OtherWork
from engine.planning.probes.power import read_power
from engine.planning.probes.processor import read_processor

_FILE_NAME = "hardware-speeds.json"


def read_report() -> MachineReport:
    """This machine now, in some milliseconds, with the speeds that are kept for it."""
    report = MachineReport(
        machine=_machine_name(),
        system=f"{platform.system()} {platform.release()}",
        processor=read_processor(),
        memory=read_host_memory(),
        gpus=read_gpus(),
        disks=(read_disk("models", models_folder()), read_disk("cache", cache_folder())),
        power=read_power(),
        torch=TorchBuild(str(torch.__version__), torch.version.cuda, torch.version.hip),
        kernels=library.available(),
    )
    return replace(report, speeds=_kept_speeds(report))


def measure_report(
    progress: Callable[[str, float], None] = lambda what, share: None,
    check: Callable[[], None] = lambda: None,
    again: bool = False,
) -> MachineReport:
    """This machine with its speeds, measured where none are kept for it. That takes a few seconds.

    Args:
        progress: Called with what is measured next and the share that is done.
        check: Called often; raises to cancel.
        again: Measure even where speeds are kept.
    """
    report = read_report()
    if report.speeds is not None and not again:
        return report
    if again:
        kernel_table.forget(cache_folder())
    speeds = _measure(report, progress, check)
    write_cached(cache_folder() / _FILE_NAME, {hardware_hash(report): asdict(speeds)})
    return replace(report, speeds=speeds)


def hardware_hash(report: MachineReport) -> str:
    """Changes with everything that speeds depend on."""
    gpus = tuple((gpu.device, gpu.name, gpu.total_bytes) for gpu in report.gpus)
    disks = tuple((disk.role, disk.folder) for disk in report.disks)
    facts = (report.machine, report.processor, report.memory.total_bytes, gpus, disks, report.torch)
    kernels = (report.kernels, library.built_ns())
    return hashlib.sha256(repr((facts, kernels)).encode()).hexdigest()[:16]


def _measure(
    report: MachineReport,
    progress: Callable[[str, float], None],
    check: Callable[[], None],
) -> Speeds:
    others = OtherWork()
    steps = 5 + len(report.gpus) + len(report.disks)
    done = 0

    def next_step(what: str) -> None:
        nonlocal done
        check()
        progress(what, done / steps)
        done += 1

    threads = torch.get_num_threads()
    torch.set_num_threads(report.processor.usable_cores)
    try:
        host = measure_host(cache_folder(), next_step, check, report.memory.available_bytes)
    finally:
        torch.set_num_threads(threads)
    gpus = {}
    for gpu in report.gpus:
        next_step(gpu.name)
        device = torch.device(gpu.device)
        with suppress(RuntimeError):  # a GPU that fails is one without speeds
            gpus[gpu.device] = measure_gpu(device, half_type(device), gpu.free_bytes, check)
    give_back_device_memory()
    disks: dict[str, float] = {}
    for disk in report.disks:
        next_step(f"disk of the {disk.role}")
        speed = read_bytes_per_s(Path(disk.folder), check)
        if speed is not None:
            disks[disk.role] = speed
    progress("", 1.0)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Speeds(now, host, gpus, disks, others.busy)


def _kept_speeds(report: MachineReport) -> Speeds | None:
    try:
        return from_plain(Speeds, read_cached(cache_folder() / _FILE_NAME)[hardware_hash(report)])
    except (ValueError, KeyError, TypeError):
        return None


def _machine_name() -> str:
    for path in ("/proc/device-tree/model", "/sys/class/dmi/id/product_name"):
        with suppress(OSError):
            name = Path(path).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
            if name:
                return name
    return ""
