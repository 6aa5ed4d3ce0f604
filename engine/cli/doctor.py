"""``tenon doctor``: say what Tenon found on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.cli.subcommand import add_json, show_status
from engine.sentences import readable

if TYPE_CHECKING:
    from engine.messages.machine import MachineReport, Speeds


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    doctor = commands.add_parser(
        "doctor",
        help="say what Tenon found on this machine",
        description="Say what Tenon found on this machine. What takes seconds to find out is kept.",
    )
    doctor.set_defaults(run=_doctor)
    doctor.add_argument("--measure", action="store_true", help="measure again, even where it was done before")
    add_json(doctor)


def _doctor(options: argparse.Namespace) -> int:
    from engine.planning.hardware import measure_report

    def progress(what: str, share: float) -> None:
        show_status(f"Measuring: {what} ({share:.0%})" if what else "")

    try:
        report = measure_report(progress, again=options.measure)
    except KeyboardInterrupt:
        print("\ntenon: Stopped; nothing was kept.", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(asdict(report), ensure_ascii=False))
    else:
        print("\n".join(f"{name:<11}{text}" for name, text in _lines(report)))
    return 0


def _lines(report: MachineReport) -> list[tuple[str, str]]:
    from engine.gpu_addon.addon import read_status
    from engine.hub.installed import cache_folder
    from engine.kernels import library
    from engine.planning.kernel_table import describe

    cpu, memory, power = report.processor, report.memory, report.power
    swap = f", {readable(memory.swap_total_bytes)} of swap" if memory.swap_total_bytes else ", no swap"
    lines = [
        ("machine", ", ".join(part for part in (report.machine, report.system) if part)),
        ("processor", f"{cpu.name} ({', '.join(cpu.instruction_sets) or cpu.architecture})"),
        (
            "cores",
            f"{cpu.usable_cores} usable of {cpu.physical_cores} physical and {cpu.logical_cores} logical",
        ),
        ("memory", f"{readable(memory.available_bytes)} available of {readable(memory.total_bytes)}{swap}"),
    ]
    for gpu in report.gpus:
        shared = ", shared with the host" if gpu.unified else ""
        text = f"{gpu.name} ({gpu.device}), {readable(gpu.free_bytes)} free of {readable(gpu.total_bytes)}{shared}"
        text += ", by Tenon's own shaders" if gpu.by_shaders else ""
        lines.append(("gpu", text))
    if all(gpu.by_shaders for gpu in report.gpus):
        status = read_status()
        lines.append(("" if report.gpus else "gpu", "none that torch can use"))
        lines += [("", text) for text in (status.sentence, status.chips) if text]
    lines += [
        ("disk", f"{readable(disk.free_bytes)} free for {disk.role}, kind of disk: {disk.kind}")
        for disk in report.disks
    ]
    supply = {True: "mains", False: "battery", None: "unknown"}[power.on_mains]
    charge = "" if power.battery_percent is None else f", battery at {power.battery_percent:.0f} %"
    lines.append(("power", supply + charge))
    lines += [("", trouble) for trouble in power.troubles]
    made_for = {"CUDA": report.torch.cuda, "ROCm": report.torch.rocm}
    build = next((f"{name} {version}" for name, version in made_for.items() if version), "no GPU")
    lines.append(("torch", f"{report.torch.version}, {build}"))
    if report.kernels is None:
        lines.append(("kernels", f"torch's own operators alone: {library.reason()}"))
    else:
        usable = [name for name, runs in library.instruction_sets().items() if runs]
        lines.append(("kernels", f"{report.kernels} (this machine runs {', '.join(usable)})"))
        if report.kernels == "portable":
            lines.append(("", "slow: they are made for AVX2, AVX-512, AMX or NEON"))
        lines.append(("choice", describe(cache_folder())))
    lines += [("limits" if at == 0 else "", text) for at, text in enumerate(_limits())]
    return lines if report.speeds is None else lines + _speed_lines(report.speeds)


def _limits() -> list[str]:
    """Return the bounds in force, so that others' requests cannot take all of this machine."""
    from engine.bounded_http import MOST_BYTES
    from engine.descriptors import descriptor_limit
    from engine.documents.reading import READER
    from engine.preparer import SLOW
    from engine.server.application import limits

    most = descriptor_limit()
    return [
        "any number of open files" if most is None else f"{most} open files in each process",
        *(f"server: {text}" for text in limits()),
        f"a long request is prepared in {SLOW.time_s:.0f} s of a processor and {SLOW.memory_bytes >> 20} MiB",
        f"a document is read in {READER.clock_s:.0f} s and {READER.memory_bytes >> 20} MiB",
        f"an answer of another server has {MOST_BYTES >> 20} MiB",
    ]


def _speed_lines(speeds: Speeds) -> list[tuple[str, str]]:
    lines = [
        ("measured", speeds.measured_at + (", while other programs kept it busy" if speeds.busy else "")),
        ("", f"memory {readable(speeds.host.memory_bytes_per_s)}/s"),
    ]
    for name, format_ in speeds.host.formats.items():
        weights, products = readable(format_.bytes_per_s), format_.products_per_s / 1e9
        lines.append(("", f"{name} reads {weights}/s of weights, {products:.3g} billion products/s"))
    for device, gpu in speeds.gpus.items():
        form, crossing = "of 4-bit blocks" if gpu.packed else "in 16 bits", readable(gpu.from_host_bytes_per_s)
        computes = f"{gpu.products_per_s / 1e9:.3g} billion products/s {form}"
        reads = f"{device} reads {readable(gpu.memory_bytes_per_s)}/s"
        lines.append(("", f"{reads}, {computes}, takes {crossing}/s from the host"))
    lines += [
        ("", f"disk of the {role} reads {readable(each)}/s past the page cache") for role, each in speeds.disks.items()
    ]
    return lines
