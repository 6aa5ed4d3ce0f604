"""A made-up machine and a plan for it, for tests and pictures of what the window says of them."""

from __future__ import annotations

from dataclasses import replace

from engine.messages import MachineReport, ModePrediction, PlanReport
from engine.messages.machine import (
    Disk,
    FormatSpeed,
    Gpu,
    GpuSpeed,
    HostMemory,
    HostSpeed,
    Power,
    Processor,
    Speeds,
    TorchBuild,
)

GB = 1_000_000_000
MACHINE = MachineReport(
    machine="ThinkPad T14",
    system="Linux 6.8",
    processor=Processor("Intel Core i7-12700H", "x86_64", 14, 20, 14, ("AVX2", "AVX-VNNI")),
    memory=HostMemory(16 * GB, 10 * GB, 4 * GB),
    gpus=(),
    disks=(Disk("models", "/models", "solid", 64 * GB), Disk("cache", "/cache", "solid", 64 * GB)),
    power=Power(on_mains=True, battery_percent=None),
    torch=TorchBuild("2.13.0+cpu"),
    kernels="avx2",
    speeds=Speeds(
        measured_at="2026-03-02T13:02:00+00:00",
        host=HostSpeed(41e9, 4e-6, {"q8_0": FormatSpeed(38e9, 400e9, 0.2)}),
        gpus={"cuda:0": GpuSpeed(190e9, 5e12, 1e-5, 11e9)},
        disks={"models": 3.1e9, "cache": 3.0e9},
    ),
)
GPU = Gpu("cuda:0", "cuda", "RTX 3050 Laptop", 4 * GB, 36 * GB // 10, unified=False)
NO_GPU = "There is no GPU that Tenon can use here."
LAYERS = "10 of 32 layers on the GPU, the others in memory"
FITS = "It is for models larger than memory, and this one fits."


def machine(measured: bool = True, gpu: bool = False) -> MachineReport:
    """A laptop."""
    found = replace(MACHINE, gpus=(GPU,)) if gpu else MACHINE
    return found if measured else replace(found, speeds=None)


def prediction(mode: str, speed: float, summary: str, host_gb: float, gpu_gb: float = 0.0) -> ModePrediction:
    """A mode that can run."""
    memory = {"host": round(host_gb * GB)}
    if gpu_gb:
        memory["cuda:0"] = round(gpu_gb * GB)
    return ModePrediction(mode, "", summary, speed, 6.0 / speed, memory, 8192, predicted_per_second=speed)


def as_measured(made: PlanReport, speeds: dict[str, float]) -> PlanReport:
    """A plan after these modes were measured."""
    modes = [
        replace(mode, tokens_per_second=speeds[mode.mode], measured=True) if mode.mode in speeds else mode
        for mode in made.modes
    ]
    modes.sort(key=lambda mode: (bool(mode.refusal), -(mode.tokens_per_second or 0.0)))
    return replace(made, modes=tuple(modes))


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
            "Auto: dovetail, predicted at 14 tok/s, 2.5 times the usual speed (draft on the GPU, the others in memory)."
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
        reason = "Auto: dovetail, predicted at 14 tok/s, 2.5 times the usual speed (draft on the CPU, all in memory)."
    return PlanReport("smollm2", "q8_0", 512, 32_768, modes, "dovetail", reason, measured, profiled=False)
