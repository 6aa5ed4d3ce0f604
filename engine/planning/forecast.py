"""Predictions of every mode for a model, as if no other model were in memory."""

from __future__ import annotations

from dataclasses import replace

import torch

from engine.hub.bundled import paired_draft
from engine.hub.installed import cache_folder
from engine.hub.model_folders import models_folder
from engine.messages import LoadOptions, MachineReport, PlanReport
from engine.messages.machine import Gpu
from engine.modes import MODES
from engine.planning.hardware import held_device_bytes
from engine.planning.hardware_report import read_report
from engine.planning.model_planner import model_planner
from engine.planning.planner import AUTO, settle
from engine.sentences import mark, paragraph, say

UNTRIED_DRAFT = mark(
    "A mode with a draft may be faster, and is taken once replies have shown what the draft is worth here: measure "
    "every mode, or choose one with a draft for a chat."
)


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
    report = _without_model(read_report(models_folder(), cache_folder()), held_bytes)
    auto = replace(options, mode=AUTO)
    planner = model_planner(auto, report, this_machine=True)
    taken = settle(auto, planner).plan
    plan = planner.plan
    draft = options.draft or paired_draft(options.model)
    untried = draft is not None and not plan.draft
    if untried:
        plan = model_planner(replace(auto, draft=draft), report, this_machine=True).plan
    if not planner.plan.chosen:
        return plan.message("", planner.plan.reason)
    reason = taken.reason
    if untried and plan.chosen and MODES[plan.chosen].needs_draft:
        reason = paragraph(reason, say(UNTRIED_DRAFT))
    return plan.message(taken.mode, reason)


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
