"""Memory of this machine, of this process and of the GPU, and the report of a machine with its speeds.

Parts are read each time; speeds are measured once and kept.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path

import psutil
import torch

from engine.files import read_cached, write_cached
from engine.graphics.adapters import DEVICE, memory_of, opened
from engine.graphics.asking import ask_drivers
from engine.graphics.known import read_known
from engine.hub.installed import cache_folder
from engine.hub.model_folders import models_folder
from engine.json_text import from_plain
from engine.kernels import library
from engine.messages import Memory, MemoryShortage
from engine.messages.machine import HostMemory, MachineReport, PlainError, Speeds, TorchBuild
from engine.model.weight_format import MEASURED_NAMES
from engine.placement.device import half_type
from engine.planning import kernel_table
from engine.planning.probes.disks import read_bytes_per_s, read_disk
from engine.planning.probes.graphics import measure_gpu, read_gpus
from engine.planning.probes.host import OtherWork, read_group_limits, read_power, read_processor
from engine.planning.probes.host_speed import measure_host

_FILE_NAME = "hardware-speeds.json"
# Errors of predictions that differ by less are the same.
_SAME_ERROR = 0.02
#: Memory of the processes that prepare requests: after a chat, a long prompt and a form they hold 205 MiB with the
#: 49,152 tokens of SmolLM2; with the 262,144 of Gemma 3 234 MiB, and 286 more for ten minutes after a form.
PREPARERS_BYTES = 256 << 20
#: Memory of the encoder of `engine/text/meaning.py` beside these: 119 MiB with one text, 126 with 1,321 passages.
ENCODER_BYTES = 128 << 20
_documents = False


def read_host_memory() -> HostMemory:
    """Return the host's memory now."""
    memory, swap, limits = psutil.virtual_memory(), psutil.swap_memory(), read_group_limits()
    total, available = int(memory.total), int(memory.available)
    if limits.memory_bytes is not None and limits.free_bytes is not None:
        total, available = min(total, limits.memory_bytes), min(available, limits.free_bytes)
    return HostMemory(total, available, int(swap.total), process_bytes())


def expect_documents(attached: bool) -> None:
    """Count the encoder's memory from here on if documents are attached, whose meaning may be searched."""
    global _documents
    _documents = attached


def preparers_bytes() -> int:
    """Return the bytes that the processes that prepare requests may take."""
    return PREPARERS_BYTES + ENCODER_BYTES * _documents


def process_bytes() -> int:
    """Return the bytes that this process has now, and those that the processes that prepare its requests may take."""
    return int(psutil.Process().memory_info().rss) + preparers_bytes()


def available_memory_bytes() -> int:
    """Return the bytes that can be taken without swapping, capped by the control groups of this process."""
    return read_host_memory().available_bytes


def held_bytes() -> int:
    """Return the bytes that only this process holds. Mapped files give way, and count as available anyway."""
    memory = psutil.Process().memory_info()
    return int(memory.rss) - int(getattr(memory, "shared", 0))


def own_memory() -> Memory:
    """Return this process's resident set, now and at its peak."""
    information = psutil.Process().memory_info()
    if sys.platform == "win32":
        peak = information.peak_wset
    else:
        import resource

        # Linux counts in KiB, macOS in bytes.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Memory(resident_bytes=information.rss, resident_peak_bytes=max(peak, information.rss))


def memory_shortage(short_bytes: int) -> MemoryShortage:
    """Describe who holds the host's memory now.

    Args:
        short_bytes: Missing bytes; 0 if that is not known.
    """
    memory = read_host_memory()
    return MemoryShortage(memory.total_bytes, memory.others_bytes, memory.process_bytes, short_bytes)


def find_gpu() -> torch.device | None:
    """Return the first GPU that torch can use, or None if there is none."""
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    if torch.xpu.is_available():
        return torch.device("xpu", 0)
    if torch.backends.mps.is_available():
        return torch.device("mps", 0)
    return None


def give_back_device_memory() -> None:
    """Give back the GPU memory that torch keeps for tensors to come: other plans and programs count what is free."""
    with suppress(RuntimeError):  # a GPU that is lost has nothing to give
        if torch.accelerator.is_available():
            torch.accelerator.empty_cache()


def free_device_bytes(device: torch.device) -> int:
    """Return the bytes of a GPU that can be taken now; 0 for a GPU that is lost."""
    if device.type == DEVICE:
        return memory_of(str(device), available_memory_bytes())
    if device.type == "mps":
        return max(0, int(torch.mps.recommended_max_memory()) - int(torch.mps.current_allocated_memory()))
    try:
        return int(torch.get_device_module(device).mem_get_info(device)[0])
    except RuntimeError:
        return 0


def held_device_bytes(device: torch.device) -> int:
    """Return the bytes of a GPU that torch holds for this process, which its model would give back."""
    if device.type == DEVICE:
        return sum(chip.held_bytes for chip in opened(str(device)))
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return int(torch.get_device_module(device).memory_reserved(device))


def device_peak_bytes(device: torch.device) -> int:
    """Return the most bytes that tensors have taken on a GPU."""
    if device.type == DEVICE:
        return sum(chip.peak_bytes for chip in opened(str(device)))
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return int(torch.get_device_module(device).max_memory_allocated(device))


def read_report() -> MachineReport:
    """Describe this machine now, with the speeds that are kept for it. It takes some milliseconds."""
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
    return replace(report, speeds=kept_speeds(report))


def measure_report(
    progress: Callable[[str, float], None] = lambda what, share: None,
    check: Callable[[], None] = lambda: None,
    again: bool = False,
) -> MachineReport:
    """Describe this machine with its speeds; measure them, for some seconds, if only a busy machine's or none are kept.

    Args:
        progress: Called with the next part to be measured and the share that is done.
        check: Called often; raises to cancel.
        again: True to measure even if speeds of an idle machine are kept.
    """
    report = read_report()
    if all(gpu.by_shaders for gpu in report.gpus) and (again or not read_known().key):
        progress("graphics chips", 0.0)
        ask_drivers(check)
        report = read_report()
    if report.speeds is not None and not report.speeds.busy and not again:
        return report
    if report.speeds is not None:  # of the kernels, too
        kernel_table.forget(cache_folder())
    _keep_speeds(report, _measure(report, progress, check))
    return replace(report, speeds=kept_speeds(report))


def keep_error(report: MachineReport, key: str, error: PlainError) -> None:
    """Keep how far a model's speed was from its prediction, beside the speeds that it was predicted from.

    Args:
        report: The machine, with these speeds; nothing is kept if they were measured again since.
        key: Key of the model as `Speeds.errors` has it.
        error: The error; one that is kept already stays while it is within a fiftieth.
    """
    speeds = kept_speeds(report)
    if speeds is None or report.speeds is None or speeds.measured_at != report.speeds.measured_at:
        return
    known = speeds.errors.get(key)
    if known is None or abs(known.times / error.times - 1) > _SAME_ERROR:
        _keep_speeds(report, replace(speeds, errors={**speeds.errors, key: error}))


def hardware_hash(report: MachineReport) -> str:
    """Return a hash that changes with everything that speeds depend on."""
    gpus = tuple((gpu.device, gpu.name, gpu.total_bytes) for gpu in report.gpus if not gpu.by_shaders)
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
    torchs = [gpu for gpu in report.gpus if not gpu.by_shaders]
    steps = 1 + len(MEASURED_NAMES) + len(torchs) + len(report.disks)
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
    for gpu in torchs:
        next_step(gpu.name)
        device = torch.device(gpu.device)
        with suppress(RuntimeError):  # a GPU that fails has no speeds
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


def kept_speeds(report: MachineReport) -> Speeds | None:
    """Return the speeds that were measured on a machine with this hardware, or None if there are none.

    Those of graphics chips are kept with their drivers, so that another driver leaves the others as they are.
    """
    try:
        speeds = from_plain(Speeds, read_cached(cache_folder() / _FILE_NAME)[hardware_hash(report)])
    except (ValueError, KeyError, TypeError):
        return None
    chips = read_known().speeds if any(gpu.by_shaders for gpu in report.gpus) else {}
    return replace(speeds, gpus={**speeds.gpus, **chips})


def _keep_speeds(report: MachineReport, speeds: Speeds) -> None:
    speeds = replace(speeds, gpus={device: one for device, one in speeds.gpus.items() if not one.packed})
    write_cached(cache_folder() / _FILE_NAME, {hardware_hash(report): asdict(speeds)})


def _machine_name() -> str:
    for path in ("/proc/device-tree/model", "/sys/class/dmi/id/product_name"):
        with suppress(OSError):
            name = Path(path).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
            if name:
                return name
    return ""
