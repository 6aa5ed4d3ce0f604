"""A machine's report and a model's plan as the messages that tell them: plain data, without torch."""

from __future__ import annotations

from engine.messages import (
    DiskReport,
    FormatReport,
    GpuReport,
    MachineReport,
    ModePrediction,
    PlanReport,
)
from engine.planning.hardware_report import HardwareReport, TorchBuild
from engine.planning.mode_plan import MachinePlan, ModePlan


def machine_report(report: HardwareReport) -> MachineReport:
    """Message about a machine for the person."""
    cpu, memory, speeds = report.processor, report.memory, report.speeds
    on_gpus = {} if speeds is None else speeds.gpus
    on_disks = {} if speeds is None else speeds.disks
    gpus = []
    for gpu in report.gpus:
        speed = on_gpus.get(gpu.device)
        gpus.append(
            GpuReport(
                gpu.device,
                gpu.name,
                gpu.total_bytes,
                gpu.free_bytes,
                gpu.unified,
                None if speed is None else speed.memory_bytes_per_s,
                None if speed is None else speed.from_host_bytes_per_s,
            )
        )
    host = None if speeds is None else speeds.host
    formats = {} if host is None else host.formats
    return MachineReport(
        machine=report.machine,
        system=report.system,
        processor=cpu.name,
        instruction_sets=cpu.instruction_sets,
        usable_cores=cpu.usable_cores,
        physical_cores=cpu.physical_cores,
        logical_cores=cpu.logical_cores,
        memory_total_bytes=memory.total_bytes,
        memory_free_bytes=memory.available_bytes,
        swap_bytes=memory.swap_total_bytes,
        gpus=tuple(gpus),
        disks=tuple(
            DiskReport(disk.role, disk.kind, disk.free_bytes, on_disks.get(disk.role))
            for disk in report.disks
        ),
        on_mains=report.power.on_mains,
        battery_percent=report.power.battery_percent,
        torch=_build(report.torch),
        kernels=report.kernels or "",
        measured_at="" if speeds is None else speeds.measured_at,
        memory_bytes_per_s=None if host is None else host.memory_bytes_per_s,
        formats=tuple(
            FormatReport(name, one.bytes_per_s, one.products_per_s) for name, one in formats.items()
        ),
        measured_busy=speeds is not None and speeds.busy,
    )


def plan_report(plan: MachinePlan, context_limit: int, chosen: str, reason: str) -> PlanReport:
    """Message about a plan for the person.

    Args:
        plan: Every mode.
        context_limit: Most tokens of context that the model takes.
        chosen: The mode that ``auto`` takes; empty where none can run.
        reason: Why.
    """
    return PlanReport(
        model=plan.model,
        draft=plan.draft or "",
        weights=plan.weights,
        prompt_tokens=plan.prompt_tokens,
        context_limit=context_limit,
        modes=tuple(map(_prediction, plan.modes)),
        chosen=chosen,
        reason=reason,
        measured=plan.measured,
        profiled=plan.profiled,
    )


def _prediction(mode: ModePlan) -> ModePrediction:
    if mode.refusal is not None:
        return ModePrediction(mode.mode, refusal=mode.refusal)
    return ModePrediction(
        mode.mode,
        summary=mode.summary,
        tokens_per_second=mode.tokens_per_second,
        first_token_s=mode.first_token_s,
        memory_bytes=dict(mode.memory_bytes or {}),
        context=None if mode.load is None else mode.load.context,
        streams=mode.disk_bytes_per_round > 0,
    )


def _build(build: TorchBuild) -> str:
    made_for = {"CUDA": build.cuda, "ROCm": build.rocm}
    return ", ".join([build.version, *(f"{name} {version}" for name, version in made_for.items() if version)])
