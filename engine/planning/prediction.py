"""What models would do on this machine, for choosing one before it is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil

from engine.errors import CheckpointError, TenonError
from engine.hub.installed import cache_folder, models_folder
from engine.messages import DraftPair, ModelOutline, ModelPredicted, Prediction, PredictModels
from engine.modes import MODES
from engine.planning.footprint import BASELINE_BYTES
from engine.planning.hardware_report import HardwareReport, read_report
from engine.planning.machine_planner import plan_machine
from engine.planning.mode_plan import Wishes
from engine.planning.model_facts import DraftFacts, TargetFacts, draft_facts, target_facts
from engine.planning.pairs import pairs
from engine.planning.placing import read_room


def predictions(command: PredictModels, check: Callable[[], None]) -> Iterator[ModelPredicted]:
    """What is predicted for each model that a command names.

    Args:
        command: The models, and what the person has settled.
        check: Called between models; what it raises ends the work.
    """
    report = read_report(models_folder(), cache_folder())
    # The model that is loaded now would go before another comes.
    free_bytes = min(report.memory.available_bytes + _held_bytes(), report.memory.total_bytes)
    report = replace(report, memory=replace(report.memory, available_bytes=free_bytes))
    for model in command.models:
        check()
        yield ModelPredicted(command.request_id, model.reference, predict(model, command, report))


def predict(model: ModelOutline, wanted: PredictModels, report: HardwareReport) -> Prediction:
    """What one model would do on a machine."""
    room = read_room(report, wanted.ram_budget_bytes, wanted.vram_budget_bytes)
    measured = report.speeds is not None
    try:
        target = target_facts(model.reference, Path(model.place))
        wishes = Wishes(
            weights=wanted.weights,
            context=min(wanted.context, target.config.context_length) if wanted.context else None,
            ram_budget_bytes=wanted.ram_budget_bytes,
            vram_budget_bytes=wanted.vram_budget_bytes,
        )
        plan = plan_machine(report, target, _draft(model, target), wishes, runnable=tuple(MODES))
    except TenonError as error:
        return Prediction(room_bytes=room.host_bytes, measured=measured, problem=error.message)
    if plan.chosen is None:
        return Prediction(room_bytes=room.host_bytes, measured=measured, problem=plan.reason)
    best = plan.mode(plan.chosen)
    memory = best.memory_bytes or {}
    return Prediction(
        mode=best.mode,
        tokens_per_second=best.tokens_per_second,
        memory_bytes=memory.get("host", 0),
        room_bytes=room.host_bytes,
        gpu_bytes=sum(taken for device, taken in memory.items() if device != "host"),
        from_disk=best.disk_bytes_per_round > 0,
        with_draft=MODES[best.mode].needs_draft,
        measured=measured,
    )


def found_pairs(check: Callable[[], None]) -> tuple[DraftPair, ...]:
    """Every installed draft with every installed target, as it is told to the window."""
    return tuple(
        DraftPair(pair.target, pair.draft, pair.kind == "head", pair.made_for_it, pair.problem or "")
        for pair in pairs(check)
    )


def _held_bytes() -> int:
    """What this process holds of the memory beyond itself; pages of mapped files count as free already."""
    memory = psutil.Process().memory_info()
    return max(0, int(memory.rss) - int(getattr(memory, "shared", 0)) - BASELINE_BYTES)


def _draft(model: ModelOutline, target: TargetFacts) -> DraftFacts | None:
    """The draft's facts; None for one that cannot be used, which is no reason not to take the model."""
    if model.draft_place is None:
        return None
    try:
        return draft_facts(model.reference, Path(model.draft_place), target.config)
    except CheckpointError:
        return None
