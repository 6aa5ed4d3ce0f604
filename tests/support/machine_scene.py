"""A made-up machine and a plan for it, for tests and pictures of what the window says of them."""

from __future__ import annotations

from dataclasses import replace

from engine.messages import (
    DiskReport,
    FormatReport,
    GpuReport,
    MachineReport,
    ModePrediction,
    PlanReport,
)

GB = 1_000_000_000
MACHINE = MachineReport(
    machine="ThinkPad T14",
    system="Linux 6.8",
    processor="Intel Core i7-12700H",
    instruction_sets=("AVX2", "AVX-VNNI"),
    usable_cores=14,
    physical_cores=14,
    logical_cores=20,
    memory_total_bytes=16 * GB,
    memory_free_bytes=10 * GB,
    swap_bytes=4 * GB,
    gpus=(),
    disks=(DiskReport("models", "solid", 64 * GB, 3.1e9), DiskReport("cache", "solid", 64 * GB, 3.0e9)),
    on_mains=True,
    battery_percent=None,
    torch="2.13.0+cpu",
    kernels="avx2",
    measured_at="2026-03-02T13:02:00+00:00",
    memory_bytes_per_s=41e9,
    formats=(FormatReport("q8_0", 38e9, 400e9),),
)
GPU = GpuReport("cuda:0", "RTX 3050 Laptop", 4 * GB, 36 * GB // 10, False, 190e9, 11e9)
NO_GPU = "There is no GPU that Tenon can use here."
LAYERS = "10 of 32 layers on the GPU, the others in memory"
FITS = "It is for models larger than memory, and this one fits."


def machine(measured: bool = True, gpu: bool = False) -> MachineReport:
    """A laptop."""
    found = replace(MACHINE, gpus=(GPU,)) if gpu else MACHINE
    if measured:
        return found
    disks = tuple(replace(disk, read_bytes_per_s=None) for disk in found.disks)
    gpus = tuple(replace(one, memory_bytes_per_s=None, from_host_bytes_per_s=None) for one in found.gpus)
    return replace(found, disks=disks, gpus=gpus, measured_at="", memory_bytes_per_s=None, formats=())


def prediction(mode: str, speed: float, summary: str, host_gb: float, gpu_gb: float = 0.0) -> ModePrediction:
    """A mode that can run."""
    memory = {"host": round(host_gb * GB)}
    if gpu_gb:
        memory["cuda:0"] = round(gpu_gb * GB)
    return ModePrediction(mode, "", summary, speed, 6.0 / speed, memory, 8192)


def plan(measured: bool = True, gpu: bool = False) -> PlanReport:
    """Every mode for a model of 8 billion weights."""
    if gpu:
        modes = (
            prediction(
                "dovetail",
                14.5,
                "draft on the GPU, 10 of 32 layers on the GPU, the others in memory",
                5.3,
                2.1,
            ),
            prediction("lookup", 8.9, "all in memory", 6.2),
            prediction("offload", 7.8, LAYERS, 5.0, 1.6),
            prediction("plain", 5.9, "all in memory", 6.2),
            prediction(
                "layer-offload",
                2.6,
                "10 of 32 layers on the GPU, the others copied there as needed",
                6.2,
                1.1,
            ),
            ModePrediction("llmcad", FITS),
        )
        reason = (
            "Auto: dovetail, predicted at 14 tok/s, 2.5 times plain (draft on the GPU, the others in memory)."
        )
    else:
        modes = (
            prediction("dovetail", 14.5, "draft on the CPU, all in memory", 6.9),
            prediction("lookup", 8.9, "all in memory", 6.2),
            prediction("plain", 5.9, "all in memory", 6.2),
            ModePrediction("llmcad", FITS),
            ModePrediction("offload", NO_GPU),
            ModePrediction("layer-offload", NO_GPU),
        )
        reason = "Auto: dovetail, predicted at 14 tok/s, 2.5 times plain (draft on the CPU, all in memory)."
    return PlanReport(
        "smollm2", "smollm2-draft", "q8_0", 512, 32_768, modes, "dovetail", reason, measured, profiled=False
    )
