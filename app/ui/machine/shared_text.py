"""The page about this machine as plain text, to be pasted where people compare machines."""

from __future__ import annotations

from datetime import datetime

from app.chat.modes import mode_title
from app.ui import figures
from app.ui.figures import gigabytes
from app.ui.machine.width_panel import mode_with_widths, width_bars
from app.ui.machine.words import (
    card_words,
    measured_words,
    plan_notes,
    power_words,
    result_words,
    speed_figure,
    speed_words,
)
from app.words import tr
from engine.messages import BenchmarkRow, MachineReport, ModePrediction, PlanReport


def shared_text(
    report: MachineReport | None,
    plan: PlanReport | None,
    measured: tuple[BenchmarkRow, ...],
    now: datetime,
) -> str:
    """Everything that the page shows; no folder and no name of a user is in it.

    Args:
        report: The machine; None before it is known.
        plan: Plan of the model that is shown, or None.
        measured: Measured modes.
        now: The moment.
    """
    parts = []
    if report is not None:
        parts.append("\n".join(_machine_lines(report, now)))
    if plan is not None:
        parts.append("\n".join(_plan_lines(plan)))
        mode = mode_with_widths(plan)
        if mode is not None:
            parts.append("\n".join(_width_lines(mode)))
    if measured:
        parts.append("\n".join(_measured_lines(measured)))
    return "\n\n".join(parts)


def _machine_lines(report: MachineReport, now: datetime) -> list[str]:
    lines = [", ".join(part for part in (report.machine, report.system) if part)]
    lines += [f"{card.name}: {', '.join((card.title, *card.details))}" for card in card_words(report)]
    lines += [
        tr(
            "{weights}: reads {rate} of weights, {products} billion products/s",
            weights=name,
            rate=figures.rate(one.bytes_per_s),
            products=figures.ratio(one.products_per_s / 1e9),
        )
        for name, one in ({} if report.speeds is None else report.speeds.host.formats).items()
    ]
    lines.append(", ".join(part for part in (measured_words(report, now), power_words(report)) if part))
    return lines


def _plan_lines(plan: PlanReport) -> list[str]:
    return [
        tr("Plan for {model}", model=plan.model),
        *(f"{mode_title(mode.mode)}: {_prediction(mode)}" for mode in plan.modes),
        plan.reason,
        *plan_notes(plan),
    ]


def _prediction(mode: ModePrediction) -> str:
    if mode.refusal or mode.tokens_per_second is None:
        return mode.refusal
    words = [tr("about {speed} tok/s", speed=speed_figure(mode.tokens_per_second))]
    if mode.first_token_s is not None:
        words.append(tr("first token {time}", time=figures.duration(1e3 * mode.first_token_s)))
    for device, taken in mode.memory_bytes.items():
        size = gigabytes(taken)
        words.append(
            tr("{size} GB of memory", size=size)
            if device == "host"
            else tr("{size} GB on {device}", size=size, device=device)
        )
    return ", ".join([*words, mode.summary])


def _width_lines(mode: ModePrediction) -> list[str]:
    bars = width_bars(mode)
    lines = [speed_words(bar.title, bar.measured, bar.predicted, "") for bar in bars]
    return [f"{tr('Speed by width')}, {mode_title(mode.mode)}", *lines]


def _measured_lines(measured: tuple[BenchmarkRow, ...]) -> list[str]:
    lines = [
        speed_words(mode_title(row.mode), row.tokens_per_second, row.predicted_per_second, row.refusal or "")
        for row in measured
    ]
    title, sentence = result_words(measured)
    return [tr("Measured"), *lines, *([f"{title}: {sentence}"] if title else [])]
