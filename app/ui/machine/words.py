"""Words and figures of the page about this machine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QDate, QLocale, QTime

from app.chat.machine import Measuring, Stage, fastest
from app.chat.modes import mode_title
from app.ui import figures
from app.words import mark, tr
from engine.hub.titles import title_of_model
from engine.messages import MachineReport, ModePrediction, PlanReport
from engine.sentences import paragraph

_DISK_KINDS = {
    "solid": mark("SSD"),
    "card": mark("Memory card"),
    "spinning": mark("Hard disk"),
    "network": mark("Network disk"),
    "memory": mark("Cached part of the disk"),
}


@dataclass(frozen=True)
class CardWords:
    """A card."""

    icon: str  # file name of its icon
    name: str  # kind of part: processor, memory and the like
    title: str  # the part itself
    details: tuple[str, ...]  # lines below


def card_words(report: MachineReport) -> list[CardWords]:
    """Processor, graphics, memory and disk."""
    return [
        CardWords("cpu", tr("Processor"), report.processor.name, _processor_details(report)),
        CardWords("microchip", tr("Graphics"), _graphics_title(report), _graphics_details(report)),
        CardWords("memory-stick", tr("Memory"), figures.size(report.memory.total_bytes), _memory_details(report)),
        _disk_card(report),
    ]


def _processor_details(report: MachineReport) -> tuple[str, ...]:
    cpu = report.processor
    if cpu.usable_cores < cpu.physical_cores:
        cores = tr("%n of {all} core(s) usable", cpu.usable_cores, all=figures.whole(cpu.physical_cores))
    else:
        cores = tr("%n core(s)", cpu.usable_cores)
    sets = ", ".join(cpu.instruction_sets)
    kernels = (
        tr("Computes with {name}", name=report.kernels) if report.kernels else tr("Slow: Tenon's kernels are not there")
    )
    return tuple(line for line in (cores, sets, kernels, *report.power.troubles) if line)


def _graphics_title(report: MachineReport) -> str:
    return report.gpus[0].name if report.gpus else tr("No graphics card")


def _graphics_details(report: MachineReport) -> tuple[str, ...]:
    if not report.gpus:
        return (tr("No GPU that Tenon can use"), f"torch {report.torch.title}")
    gpu = report.gpus[0]
    speed = None if report.speeds is None else report.speeds.gpus.get(gpu.device)
    total, free = figures.size(gpu.total_bytes), figures.size(gpu.free_bytes)
    lines = [tr("{total}, {free} free", total=total, free=free)]
    if gpu.by_shaders:
        lines.append(tr("Used if it is switched on in the settings"))
    if gpu.unified:
        lines.append(tr("Shares the computer's memory"))
    if speed is not None and (gpu.by_shaders or not gpu.unified):
        lines.append(tr("Reads {rate}", rate=figures.rate(speed.memory_bytes_per_s)))
    if len(report.gpus) > 1:
        lines.append(tr("and %n more", len(report.gpus) - 1))
    return (*lines, f"torch {report.torch.title}")


def _memory_details(report: MachineReport) -> tuple[str, ...]:
    lines = [tr("{size} free", size=figures.size(report.memory.available_bytes))]
    if report.memory.swap_total_bytes:
        lines.append(tr("{size} of swap", size=figures.size(report.memory.swap_total_bytes)))
    return (*lines, _reads(None if report.speeds is None else report.speeds.host.memory_bytes_per_s))


def _reads(bytes_per_s: float | None) -> str:
    if bytes_per_s is None:
        return tr("Speed never measured")
    return tr("Reads {rate}", rate=figures.rate(bytes_per_s))


def _disk_card(report: MachineReport) -> CardWords:
    disk = report.disk("models")
    if disk is None:
        return CardWords("hard-drive", tr("Disk"), tr("Unknown"), ())
    free = figures.size(disk.free_bytes)
    speed = None if report.speeds is None else report.speeds.disks.get(disk.role)
    title = tr("{size} free", size=free)
    if disk.kind in _DISK_KINDS:
        title = tr("{kind}, {size} free", kind=tr(_DISK_KINDS[disk.kind]), size=free)
    return CardWords("hard-drive", tr("Disk"), title, (_reads(speed),))


def measured_words(report: MachineReport, now: datetime) -> str:
    """When the speeds were measured; ``now`` has its time zone."""
    if report.speeds is None:
        return tr("Speeds never measured")
    moment = datetime.fromisoformat(report.speeds.measured_at).astimezone(now.tzinfo)
    locale = QLocale()
    time = locale.toString(QTime(moment.hour, moment.minute), QLocale.FormatType.ShortFormat)
    if report.speeds.busy:
        return tr("Measured while other programs kept it busy")
    if moment.date() == now.date():
        return tr("Measured today at {time}", time=time)
    date = locale.toString(QDate(moment.year, moment.month, moment.day), tr("d MMM yyyy"))
    return tr("Measured on {date}", date=date)


def power_words(report: MachineReport) -> str:
    """Source of the power; empty where that is not known."""
    power = report.power
    if power.on_mains is None:
        return ""
    if power.on_mains:
        return tr("on mains power")
    if power.battery_percent is None:
        return tr("on battery")
    return tr("on battery, {charge}", charge=figures.percent(power.battery_percent / 100))


def speed_figure(tokens_per_second: float) -> str:
    """Tokens per second without the unit: 14.23 -> "14.2", 0.42 -> "0.42"."""
    if 0 < tokens_per_second < 0.995:
        return QLocale().toString(float(tokens_per_second), "f", 2)
    return figures.ratio(tokens_per_second)


def source_words(mode: ModePrediction) -> str:
    """Say what a mode's speed comes from."""
    if mode.measured:
        return tr("measured while other programs were busy") if mode.busy else tr("measured here")
    return tr("predicted from measurements made while other programs were busy") if mode.busy else tr("predicted")


def speed_and_source(mode: ModePrediction) -> str:
    """Return a mode's speed and what it comes from."""
    return tr("{speed}, {source}", speed=figures.speed(mode.tokens_per_second or 0.0), source=source_words(mode))


def speed_words(mode: str, measured: float | None, predicted: float | None, instead: str) -> str:
    """Return a mode's measured speed, or words in its place, and the predicted one."""
    if measured is None:
        return f"{mode}: {instead or tr('not measured')}"
    said = speed_figure(measured)
    if predicted is None:
        return tr("{mode}: {speed} tok/s", mode=mode, speed=said)
    figure = speed_figure(predicted)
    return tr("{mode}: {speed} tok/s, predicted {predicted}", mode=mode, speed=said, predicted=figure)


def context_words(context: int | None, plan: PlanReport | None = None) -> str:
    """Return a context in words: the tokens that were asked for, or the model's own, as far as memory allows it."""
    if context is not None:
        return tr("{tokens} tokens", tokens=figures.whole(context))
    tokens = None if plan is None or plan.taken is None else plan.taken.context
    if plan is None or tokens is None:
        return tr("Model's own context")
    if tokens == plan.context_limit:
        return tr("Model's own, {tokens} tokens", tokens=figures.whole(tokens))
    limit = figures.whole(plan.context_limit)
    return tr("{tokens} of {limit} tokens, as memory allows", tokens=figures.whole(tokens), limit=limit)


def plan_notes(plan: PlanReport) -> list[str]:
    """Text below the plan."""
    prompt = tr("First token: after a prompt of {tokens} tokens.", tokens=figures.whole(plan.prompt_tokens))
    weights = tr("Weights in {format}.", format=plan.weights)
    draft = tr("Draft: {name}.", name=", ".join(map(title_of_model, plan.drafts))) if plan.drafts else ""
    if not plan.measured:
        source = tr("Every figure is assumed: the speeds of this machine were never measured.")
    elif plan.profiled:
        source = tr("What is predicted comes from this machine's speeds and from replies of this model here.")
    else:
        source = tr("Predicted from this machine's speeds.")
    memory = tr("Memory: from an empty to a full context.")
    return [source, paragraph(weights, draft, prompt, memory)]


def progress_words(measuring: Measuring) -> str:
    """Words for what is being measured."""
    if measuring.stopping:
        return tr("Stopping")
    if measuring.stage is Stage.SPEEDS:
        return tr("Measuring processor, memory and disk")
    if measuring.stage is Stage.PLAN:
        return tr("Checking which modes can run")
    done, modes = figures.whole(measuring.modes_done), len(measuring.modes)
    return tr("{done} of %n mode(s) done", modes, done=done)


def promise_words(report: MachineReport | None, plan: PlanReport | None = None) -> str:
    """Text above the button that measures every mode."""
    if plan is not None and any(mode.busy for mode in plan.modes):
        return tr("Other programs kept the machine busy meanwhile: it is measured again when it is idle.")
    if report is not None and report.power.on_mains is False:
        return tr("On battery most computers are slower: plug it in to measure.")
    if report is None or report.speeds is None:
        return tr("The speeds of the machine are measured first; this takes some seconds.")
    return tr("Measurements are kept and improve the predictions for this model.")


def result_words(plan: PlanReport | None) -> tuple[str, str]:
    """Outcome of measuring: a title and a sentence; both empty where there is nothing to compare."""
    best = fastest(plan)
    if plan is None or best is None or best.tokens_per_second is None or sum(mode.measured for mode in plan.modes) < 2:
        return "", ""
    title, speed = tr("{mode} is the fastest here", mode=mode_title(best.mode)), figures.speed(best.tokens_per_second)
    if best.mode == "plain":
        return title, tr("{speed}: no other mode was faster.", speed=speed)
    times = plan.times_plain(best)
    return title, speed if times is None else f"{speed}, {figures.times_plain(times)}."
