"""A run: model, drafts, places and formats of a request, settled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from engine.drafting.kind import DraftKind
from engine.errors import InvalidOption, PicturesUnseen
from engine.hub.bundled import bundled_drafts, paired_drafts
from engine.hub.installed import find_model, installed_models
from engine.hub.model_head import read_head, unseen
from engine.hub.titles import title_of_model
from engine.messages import OWN_HEAD, Generate, LoadOptions, MachineReport, Plan, PlanReport, Promise, Request
from engine.messages.machine import Gpu
from engine.model.fused_layer import can_fuse
from engine.model_file import open_model
from engine.modes import AUTO, MEMORY_TITLES, MODES, OFF, Mode, check_options, mode_of, named_drafts
from engine.modes.plain import LAYER_OFFLOAD, OFFLOAD, PLAIN
from engine.planning.hardware import held_device_bytes, read_report
from engine.planning.load_plan import LoadPlan
from engine.planning.machine_planner import MachinePlan, displaced
from engine.planning.planner import Find, ModelPlanner, model_planner
from engine.sentences import either, figure, mark, paragraph, say

# Modes without any draft, by memory.
_WITHOUT_DRAFT = {mode.memory: mode for mode in (PLAIN, OFFLOAD, LAYER_OFFLOAD)}
_NOT_LOADED = mark("The mode in memory goes on: another one is not faster by as much as loading it is worth.")
_ONE_ALONE = mark("The draft {draft} is not used: this machine was never measured, so one draft guesses alone.")
_LEFT = mark("The draft {draft} is not used: with it, {mode} is {source} at {times} times the usual speed.")
_ALONE = mark("The draft {draft} cannot guess together with others: name it alone.")
# A mode that ``auto`` would have to load anew must be faster than the one in memory by more than this.
_LOADING_AGAIN = 1.15


@dataclass(frozen=True)
class Run:
    """Model, drafts and places that a request runs with."""

    options: LoadOptions  # options of the request, which name a draft if they name a memory
    plan: Plan  # the mode and why, as the user sees it
    planner: ModelPlanner  # planner of the model with its drafts
    mode: Mode
    drafts: tuple[DraftKind, ...] = ()  # drafts that guess
    left: str = ""  # why drafts that were named do not guess; empty if they do

    @cached_property
    def load(self) -> LoadPlan:
        """Places and formats of the model and its drafts.

        Raises:
            OutOfMemory: The model cannot be loaded; the error names the least memory that would do.
        """
        plan = self.planner.load_plan(self.mode, self.drafts)
        return replace(plan, notes=(*plan.notes, self.left)) if self.left else plan

    def needs_torch(self, request: Request) -> bool:
        """Return False if the kernel library computes all of a request, so that `engine.small_torch` suffices.

        It does for a GGUF file, in memory or on the disk, with drafts that ship with it, where the reply's tokens are
        picked by the target alone and the prompt has no pictures. tests/engine/test_without_torch.py tries what is let
        through here.
        """
        opened, plan, config = self.planner.opened, self.load, self.planner.opened.config
        picks = not isinstance(request, Generate) or (
            request.logprobs is None and request.verify == Generate.verify and not request.pictures
        )
        whole = plan.weights.packed and can_fuse(config) and not plan.device
        own = opened.place.suffix == ".gguf" and not self.options.adapter and not config.computes_beside_layers
        drafts = {draft.name for draft in self.drafts}
        return not (picks and whole and own and drafts.issubset(bundled_drafts(self.options.model)))

    def settled(self, options: LoadOptions) -> Run | None:
        """Return what other options run with if all of it is in memory for this run, in the same place, else None.

        What guesses may differ, and the choice of memory too if it is not another part of a GPU. The planner's own
        choice is not known after drafts were named, since it planned with these.
        """
        own, options, held = self.options, _with_draft(options), {draft.name for draft in self.drafts}
        settled = {name: getattr(own, name) for name in ("drafts", "insists", "memory", "mode_options")}
        planned = options.drafts or not named_drafts(own.drafts)
        known = options.drafts == own.drafts or held.issuperset(named_drafts(options.drafts))
        if replace(options, **settled) != own or not planned or not known:
            return None
        auto = not options.drafts or _may_leave(options)
        if auto and self.planner.outdated:
            self.planner.renew()
        run = settle(options, self.planner)
        plan = self.planner.plan
        elsewhere = run.mode.needs_gpu and run.mode.memory != self.mode.memory
        there = plan.mode(run.mode.name).load
        if there is not None and self.load.placement.streams:
            # Layers may have the memory of a draft that is not used any more.
            elsewhere |= self.planner.machine.share_of(self.load, there) > _LOADING_AGAIN
        if not elsewhere and held.issuperset(draft.name for draft in run.drafts):
            if there is not None and there.placement.name == self.load.placement.name:
                return run
            return replace(run, plan=replace(run.plan, promise=None))  # which is of other places
        speeds = [plan.mode(mode.name).tokens_per_second or 0.0 for mode in (run.mode, self.mode)]
        if auto and speeds[0] < _LOADING_AGAIN * speeds[1]:
            return replace(self, plan=Plan(self.mode.name, say(_NOT_LOADED), _promise(plan, self.mode)))
        return None


def check(options: LoadOptions, find: Find = find_model) -> None:
    """Refuse options that cannot run, whatever the model.

    Args:
        find: Finds a draft's folder by its name.

    Raises:
        InvalidOption: A value is out of its range.
        CheckpointError: A draft does not exist.
    """
    check_options(options.mode_options)
    if options.memory not in MEMORY_TITLES:
        raise InvalidOption(
            "There is no choice of memory {memory}: choose {names}.",
            memory=repr(options.memory),
            names=either(MEMORY_TITLES),
        )
    if OFF in options.drafts and len(options.drafts) > 1:
        raise InvalidOption(_ALONE, draft=OFF)
    for draft in named_drafts(options.drafts):
        if draft != OWN_HEAD:  # which the model's files decide
            find(draft)


def check_sight(request: Generate) -> None:
    """Refuse pictures for a model that does not see them, and name models that do.

    Raises:
        PicturesUnseen: The model has no tower, or one that is of no use.
        CheckpointError: There is no such model.
    """
    if not request.pictures:
        return
    opened = open_model(request.options.model, adapter=request.options.adapter)
    if opened.tower is not None:
        return
    here = [title_of_model(model.name) for model in installed_models() if read_head(model.location).sees]
    raise PicturesUnseen(paragraph(opened.tower_trouble, unseen(request.options.model, here)))


def settle(options: LoadOptions, planner: ModelPlanner | None = None, find: Find = find_model) -> Run:
    """Settle what a request runs with.

    Args:
        planner: Planner of its model; None to make one now.
        find: Finds a draft's folder by its name.

    Raises:
        InvalidOption: A value is out of its range, or the drafts cannot guess together.
        CheckpointError: The model or a draft does not exist, or the draft is another model's.
    """
    check(options, find)
    options = _with_draft(options)
    planner = planner or model_planner(options)
    plan = planner.plan
    left = _left(options, planner)
    if not options.drafts or left:
        mode = MODES[plan.chosen or "lookup"]  # loading says why none can run
        chosen = Plan(mode.name, paragraph(left, plan.reason), _promise(plan, mode))
        return Run(options, chosen, planner, mode, planner.drafts_of(mode), left)
    by_name = {draft.name: draft for draft in planner.drafts}
    drafts = tuple(by_name[name] for name in named_drafts(options.drafts))
    mode = _mode(options, drafts, plan)
    return Run(options, Plan(mode.name, say(mode.reason), _promise(plan, mode)), planner, mode, drafts)


def _with_draft(options: LoadOptions) -> LoadOptions:
    """Return options that name a draft if they name a memory: what ships to guess ahead of a disk, else lookup."""
    if options.drafts or options.memory == AUTO:
        return options
    ahead = MODES["llmcad"]
    shipped = paired_drafts(options.model, ahead.drafts) if options.memory == ahead.memory else ()
    return replace(options, drafts=shipped or ("lookup",))


def _may_leave(options: LoadOptions) -> bool:
    """Return whether drafts that were named are left where they gain nothing, all of them or some."""
    return bool(named_drafts(options.drafts)) and options.memory == AUTO and not options.insists


def _left(options: LoadOptions, planner: ModelPlanner) -> str:
    """Return a sentence if the model is faster without some of the drafts that were named, or an empty text."""
    plan, taken = planner.plan, planner.plan.taken
    if not _may_leave(options) or taken is None or len(taken.drafts) == len(planner.drafts):
        return ""
    unused = ", ".join(title_of_model(draft.name) for draft in planner.drafts if draft.name not in taken.drafts)
    best = plan.drafted(several=len(planner.drafts) > 1)
    times = None if best is None else plan.times_plain(best)
    if best is None or times is None:
        return ""
    dear = plan.mode(best.mode).dear
    if not (plan.measured or dear):  # no figure is made from assumed speeds
        return say(_ONE_ALONE, draft=unused) if taken.drafts else ""
    left = say(
        _LEFT,
        draft=unused,
        mode=say(MODES[best.mode].title),
        source=say("measured") if best.measured else say("predicted"),
        times=figure(times, ".2g"),
    )
    return paragraph(left, dear or best.passed_over, displaced(plan.mode(best.mode), plan.mode("plain")))


def _mode(options: LoadOptions, drafts: Sequence[DraftKind], plan: MachinePlan) -> Mode:
    """Return the mode that a kind of draft has in a place in memory.

    Raises:
        InvalidOption: One of several drafts is of a kind that guesses alone.
    """
    if len(options.drafts) > 1:
        mode = MODES["minions"]
        for draft in drafts:
            if draft.kind not in mode.drafts:
                raise InvalidOption(_ALONE, draft=draft.name)
    elif drafts:
        (draft,) = drafts
        mode = mode_of(draft.kind)
        ahead = MODES["llmcad"]
        if draft.kind in ahead.drafts and options.memory in (AUTO, ahead.memory):
            speeds = [plan.mode(one.name).tokens_per_second or 0.0 for one in (mode, ahead)]
            if options.memory != AUTO or 0.0 < speeds[1] >= speeds[0]:
                mode = ahead
    else:
        (word,) = options.drafts
        mode = _WITHOUT_DRAFT.get(options.memory, PLAIN) if word == OFF else MODES[word]
    return mode if options.memory in (AUTO, mode.memory) else mode.placed(options.memory)


def _promise(plan: MachinePlan, mode: Mode) -> Promise | None:
    """Return the speed that a reply in a mode is promised, or None if it would be no more than a guess.

    A mode that was put elsewhere is not planned there.
    """
    if MODES[mode.name] is not mode or not plan.measured:
        return None
    planned = plan.mode(mode.name)
    return Promise(planned.promised_per_second, rough=planned.busy)


def forecast(options: LoadOptions, held_bytes: int = 0) -> PlanReport:
    """Predict every mode for an installed model on this machine.

    Modes with a draft are planned with the one asked for, else with the one that they would take. The mode of
    ``auto`` is the one that it would take now: a bundled draft counts once replies have shown what it is worth
    here.

    Args:
        options: The model and what is settled.
        held_bytes: Bytes of the host's memory that the loaded model would give back.

    Raises:
        CheckpointError: The model does not exist, or its config cannot be used.
        InvalidOption: A value is out of its range.
    """
    report = _without_model(read_report(), held_bytes)
    return planned(options, model_planner(options, report, this_machine=True)).message


def planned(options: LoadOptions, planner: ModelPlanner, find: Find = find_model) -> MachinePlan:
    """Return the plan of every mode with the one that a request with these options runs in.

    Raises:
        CheckpointError: The model's tokenizer cannot be used.
    """
    planner.opened.check_tokenizer()
    plan = planner.plan
    if not plan.chosen:
        return plan
    taken = settle(replace(options, memory=AUTO), planner, find).plan  # a plan has every place in memory
    return plan.taking(taken.mode, taken.reason)


def _without_model(report: MachineReport, held_bytes: int) -> MachineReport:
    """Return the report with the memory that the loaded model holds counted as free."""
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
