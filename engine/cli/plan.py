"""``tenon plan``: say what each mode would do on this machine, for a model that need not be here yet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.subcommand import add_json, add_load_options, as_json, load_options, path, show_status
from engine.errors import InvalidOption, ModelNotFound
from engine.hub.titles import title_of_model
from engine.json_text import from_plain, read_json
from engine.messages import MachineReport
from engine.sentences import readable

if TYPE_CHECKING:
    from engine.planning.machine_planner import MachinePlan, ModePlan


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    plan = commands.add_parser(
        "plan",
        help="say what each mode would do here",
        description="Predict every mode for a model on this machine, or say why it cannot run. A folder with the "
        "model's config.json is enough, or a name of the catalogue, or a repository of the hub.",
    )
    plan.set_defaults(run=_plan)
    add_load_options(plan)
    plan.add_argument(
        "--machine", metavar="FILE", type=path, help="plan for another machine: its `tenon doctor --json`"
    )
    add_json(plan)


def _plan(options: argparse.Namespace) -> int:
    from engine.planning.hardware import measure_report
    from engine.planning.planner import model_planner
    from engine.run import planned

    wanted = load_options(options)
    report = None if options.machine is None else _read_machine(options.machine)
    if report is None:
        show_status("Measuring the machine, if it is the first time ...")
        measure_report()
        show_status()
    plan = planned(wanted, model_planner(wanted, report, _find), _find)
    if not as_json(options, plan.as_json()):
        print("\n".join((*_lines(plan), *_known_drafts(plan))))
    return 0


def _known_drafts(plan: MachinePlan) -> list[str]:
    """Return the drafts that could be named if none was."""
    from engine.hub.catalogue import catalogue_model

    listed = catalogue_model(plan.model)
    drafts = () if listed is None else listed.drafts
    if plan.drafts or not drafts:
        return []
    return [f"Made to draft for it: {', '.join(drafts)}. Plan with one by `--draft {drafts[0]}`."]


def _find(reference: str) -> Path:
    """Return the outline of a model that is installed or in the catalogue, and ask the hub only for any other."""
    from engine.hub.connection import Hub
    from engine.hub.offer import find_or_outline

    try:
        return find_or_outline(reference)
    except ModelNotFound:
        return find_or_outline(reference, Hub())


def _read_machine(file: Path) -> MachineReport:
    try:
        return from_plain(MachineReport, read_json(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InvalidOption(
            f"{file} is not the report of a machine: write it with `tenon doctor --json`.", details=str(error)
        ) from error


def _lines(plan: MachinePlan) -> list[str]:
    with_draft = f" with {', '.join(map(title_of_model, plan.drafts))}" if plan.drafts else ""
    lines = [f"{title_of_model(plan.model)}{with_draft}, {plan.weights} weights", ""]
    lines.append(f"{'mode':<15}{'tok/s':>8}{'x plain':>9}{'first token':>13}{'memory':>16}{'GPU':>10}")
    for mode in plan.modes:
        lines += _mode_lines(mode, plan.times_plain(mode))
    lines += ["", plan.reason]
    if plan.taken is not None:
        lines.append(f"{plan.taken.context:,} of {plan.context_limit:,} tokens of context; memory from empty to full.")
        load = plan.mode(plan.chosen).load
        if load is not None and load.states:
            most = readable(load.state_bytes)
            lines.append(f"{load.states} states of the text are kept to go on from: {most} of memory at most.")
    if not plan.measured:
        lines.append("The machine was not measured, so figures may be far off.")
    return lines


def _mode_lines(mode: ModePlan, times: float | None) -> list[str]:
    if mode.tokens_per_second is None or mode.first_token_s is None:
        return [f"{mode.mode:<15}{mode.refusal}"]
    source = "measured" if mode.measured else "predicted"
    source = f"{source}, roughly: the machine was busy when it was measured" if mode.busy else source
    gpu = sum(taken for device, taken in mode.memory_bytes.items() if device != "host")
    on_gpu = f"{gpu / 1e9:.2g} GB" if gpu else ""
    least, most = mode.memory_bytes["host"] - mode.text_bytes["host"], mode.memory_bytes["host"]
    host = "-".join(dict.fromkeys(f"{size / 1e9:.3g}" for size in (least, most))) + " GB"
    return [
        f"{mode.mode:<15}{mode.tokens_per_second:>8.3g}{'' if times is None else f'{times:.2g}':>9}"
        f"{f'{mode.first_token_s:.2g} s':>13}{host:>16}{on_gpu:>10}",
        f"{'':<15}{source}, {mode.summary}",
        *([f"{'':<15}{mode.passed_over}"] if mode.passed_over else []),
    ]
