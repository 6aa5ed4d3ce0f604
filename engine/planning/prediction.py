"""Predictions of models on this machine, for choosing one before it is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from engine.drafting.kind import DraftKind
from engine.drafting.kinds import read_draft
from engine.errors import CheckpointError, TenonError
from engine.hub.installed import cache_folder
from engine.hub.model_folders import models_folder
from engine.messages import (
    Basis,
    LoadOptions,
    MachineReport,
    ModelOutline,
    ModelPredicted,
    Prediction,
    PredictModels,
)
from engine.messages.machine import HostMemory
from engine.modes import MODES
from engine.planning.hardware_report import hardware_hash, read_report
from engine.planning.machine_planner import MachinePlanner
from engine.planning.model_facts import TargetFacts, target_facts
from engine.planning.room import read_room

# What the system and a few open programs usually leave of the memory.
_USUAL_SHARE = 0.7
_USUAL_GPU_SHARE = 0.9


def predictions(command: PredictModels, check: Callable[[], None]) -> Iterator[ModelPredicted]:
    """Predict each model that a command names, on this machine as it usually is.

    What other programs hold just now does not count: it would recommend another model at each look.

    Args:
        command: The models, and what the person has settled.
        check: Called between models; what it raises ends the work.
    """
    report = _usual(read_report(models_folder(), cache_folder()))
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
        if options.context:
            options = replace(options, context=min(options.context, target.config.context_length))
        plan = MachinePlanner(report, target, _draft(model, target), options).plan()
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


def _usual(report: MachineReport) -> MachineReport:
    """The machine with as much memory free as usually is, whatever is open now."""
    total = report.memory.total_bytes
    gpus = tuple(
        replace(gpu, free_bytes=int((_USUAL_SHARE if gpu.unified else _USUAL_GPU_SHARE) * gpu.total_bytes))
        for gpu in report.gpus
    )
    return replace(report, memory=HostMemory(total, int(_USUAL_SHARE * total)), gpus=gpus)


def _draft(model: ModelOutline, target: TargetFacts) -> DraftKind | None:
    """The draft's facts; None for one that cannot be used, which is no reason not to take the model."""
    if model.draft_place is None:
        return None
    try:
        return read_draft(model.reference, Path(model.draft_place), target.config)
    except CheckpointError:
        return None
