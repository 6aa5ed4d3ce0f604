"""Predictions for an installed model, as if no other were in memory, and for models that are not here yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import torch

from engine.drafting.kind import DraftKind
from engine.drafting.kinds import read_draft
from engine.errors import CheckpointError, TenonError
from engine.hub.bundled import bundled_drafts
from engine.hub.installed import find_model
from engine.messages import (
    Basis,
    LoadOptions,
    MachineReport,
    ModelOutline,
    ModelPredicted,
    PlanReport,
    Prediction,
    PredictModels,
)
from engine.messages.machine import Gpu, HostMemory
from engine.modes import MODES
from engine.planning.hardware import held_device_bytes
from engine.planning.hardware_report import hardware_hash, read_report
from engine.planning.machine_planner import MachinePlanner
from engine.planning.mode_plan import MachinePlan
from engine.planning.model_facts import TargetFacts, target_facts
from engine.planning.model_planner import model_planner
from engine.planning.planner import AUTO, settle
from engine.planning.room import read_room
from engine.sentences import mark, paragraph, say
from engine.text.tokenizer import check_tokenizer, read_templates

UNTRIED_DRAFT = mark(
    "A mode with a draft may be faster, and is taken once replies have shown what the draft is worth here: measure "
    "every mode, or choose one with a draft."
)
# Share of the memory that the system and a few open programs usually leave.
_USUAL_SHARE = 0.7
_USUAL_GPU_SHARE = 0.9


def forecast(options: LoadOptions, held_bytes: int = 0) -> PlanReport:
    """Predict every mode for an installed model on this machine.

    Modes with a draft are planned with the one asked for, else with the one that they would take. What ``auto``
    takes is what it would take now: a bundled draft counts for it once replies have shown what that is worth here.

    Args:
        options: The model and what is settled.
        held_bytes: Of the host's memory, what the model that is loaded now would give back.

    Raises:
        CheckpointError: there is no such model, or its config cannot be used.
        InvalidOption: a value is out of its range.
    """
    report = _without_model(read_report(), held_bytes)
    auto = replace(options, mode=AUTO)
    planner = model_planner(auto, report, this_machine=True)
    check_tokenizer(find_model(options.model))
    taken = settle(auto, planner).plan
    plan = planner.plan
    untried = not options.drafts and len(planner.drafts) < len(bundled_drafts(options.model))
    if untried:
        plan = model_planner(auto, report, this_machine=True, untried=True).plan
    if not planner.plan.chosen:
        return plan.message("", planner.plan.reason)
    return plan.message(taken.mode, reason_with_drafts(taken.reason, plan) if untried else taken.reason)


def reason_with_drafts(reason: str, untried: MachinePlan) -> str:
    """The reason of what ``auto`` takes, and why it leaves a draft that the plan with untried drafts would take."""
    left = untried.chosen and MODES[untried.chosen].needs_draft
    return paragraph(reason, say(UNTRIED_DRAFT)) if left else reason


def _without_model(report: MachineReport, held_bytes: int) -> MachineReport:
    """The machine with what the loaded model holds counted as free."""
    memory = report.memory
    free = min(memory.available_bytes + max(held_bytes, 0), memory.total_bytes)
    own = max(0, memory.process_bytes - held_bytes)
    return replace(
        report,
        memory=replace(memory, available_bytes=free, process_bytes=own),
        gpus=tuple(_freed(gpu, held_bytes) for gpu in report.gpus),
    )


def _freed(gpu: Gpu, held_bytes: int) -> Gpu:
    held = held_device_bytes(torch.device(gpu.device)) + (max(held_bytes, 0) if gpu.unified else 0)
    return replace(gpu, free_bytes=min(gpu.free_bytes + held, gpu.total_bytes))


def predictions(command: PredictModels, check: Callable[[], None]) -> Iterator[ModelPredicted]:
    """Predict each model that a command names, on this machine as it usually is.

    Memory that other programs hold just now does not count: it would recommend another model at each look.

    Args:
        command: The models, and what the person has settled.
        check: Called between models; what it raises ends the work.
    """
    report = _usual(read_report())
    for model in command.models:
        check()
        yield ModelPredicted(command.request_id, model.reference, predict(model, command.options, report))


def predict(model: ModelOutline, options: LoadOptions, report: MachineReport) -> Prediction:
    """Predict one model on a machine."""
    room = read_room(report, options)
    basis: Basis = "guess" if report.speeds is None else "busy" if report.speeds.busy else "rest"
    about = Prediction(room_bytes=room.host_bytes, basis=basis, machine=hardware_hash(report))
    try:
        target = target_facts(model.reference, Path(model.place))
        check_tokenizer(Path(model.place))
        if not target.missing_bytes:
            about = replace(about, only_continues=_only_continues(Path(model.place)))
        if options.context:
            options = replace(options, context=min(options.context, target.config.context_length))
        plan = MachinePlanner(report, target, _drafts(model, target), options).plan()
    except TenonError as error:
        return replace(about, problem=error.message)
    if not plan.chosen:
        return replace(about, problem=plan.reason)
    best = plan.mode(plan.chosen)
    memory = best.memory_bytes
    return replace(
        about,
        mode=best.mode,
        tokens_per_second=best.tokens_per_second,
        memory_bytes=memory.get("host", 0),
        gpu_bytes=sum(taken for device, taken in memory.items() if device != "host"),
        from_disk=best.disk_bytes_per_round > 0,
        with_draft=MODES[best.mode].needs_draft,
    )


def _only_continues(path: Path) -> bool:
    """True of a base model, which brings no template; of files that cannot be read loading tells."""
    try:
        return not read_templates(path)
    except (OSError, TypeError, ValueError):
        return False


def _usual(report: MachineReport) -> MachineReport:
    """The machine with as much memory free as usually is, whatever is open now."""
    total = report.memory.total_bytes
    gpus = tuple(
        replace(gpu, free_bytes=int((_USUAL_SHARE if gpu.unified else _USUAL_GPU_SHARE) * gpu.total_bytes))
        for gpu in report.gpus
    )
    return replace(report, memory=HostMemory(total, int(_USUAL_SHARE * total)), gpus=gpus)


def _drafts(model: ModelOutline, target: TargetFacts) -> tuple[DraftKind, ...]:
    """The draft's facts; none of one that cannot be used, which is no reason not to take the model."""
    if model.draft_place is None:
        return ()
    try:
        return (read_draft(model.reference, Path(model.draft_place), target.config),)
    except CheckpointError:
        return ()
