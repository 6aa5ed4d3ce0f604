"""Plan of a load: format, context, placement and draft, decided once. Loading carries it out.

If memory is short, fewer states of a text are kept; then keys and values take 8 bits, if they may; then a context that
was not asked for shrinks; then layers are streamed from the disk. If memory is left, a context that was not asked for
grows to the model's own as far as half of what is left holds it, and changes nothing else in the plan. A mode that is
about a GPU runs without one too, and says so: a reply matters more than the place that computes it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, compress
from operator import itemgetter
from typing import TypeAlias

import torch

from engine.drafting.kind import DraftKind, DraftPlan
from engine.errors import Allowed, InvalidOption, OutOfMemory
from engine.gguf.stored_tensor import F32, F64
from engine.graphics.adapters import DEVICE as CHIP
from engine.messages import LoadOptions, MachineReport, MemoryPlace, MemoryShare
from engine.messages.machine import HostMemory
from engine.model.config import ModelConfig
from engine.model.footprint import weight_bytes
from engine.model.fused_layer import can_fuse
from engine.model.tensors import expected_tensors
from engine.model.text_states import LEAST_STATES, MOST_STATES
from engine.model.weight_format import DENSE_BF16, FORMAT_NAMES, WeightFormat, stored_format, weight_format
from engine.modes import Mode
from engine.placement import (
    PLACEMENTS,
    PlacementPlan,
    ResidentPlan,
    SplitPlan,
    StreamedExpertsPlan,
    StreamedPlan,
)
from engine.placement.plan import Footprint, Sizes
from engine.planning.cost_model import DraftCost
from engine.planning.hardware import free_device_bytes
from engine.planning.machine_speeds import budget_is_free, format_seconds, machine_speeds, read_room
from engine.sentences import either, figure, mark, paragraph, readable, say

USUAL_CONTEXT = 8192
"""One that was not asked for is as long before format, place and drafts are chosen: more would take their memory."""
_CONTEXT_STEP = 1024
SMALLEST_CONTEXT = 256
"""One that was not asked for shrinks no further than this, so that a model fits."""
_LEAST = 16
AUTO, FULL = "auto", "full"
CACHE_NAMES = (AUTO, FULL, "q8_0")
"""The values of ``--kv-cache``."""
FEWER_BITS = 0.9
"""8 bits must be faster than the numbers of the file by more than measurements differ."""
# A file in float32 up to this size stays in float32; a larger one is computed in 16 bits.
_EXACT_FILE_BYTES = 64 << 20
# Up to this size the numbers of the file cost little time and memory, and are not rounded to fewer bits for speed.
_SMALL_MODEL_BYTES = 1 << 30
# If layers are streamed, a context that was not asked for gets one part in so many of the budget: beyond it a layer
# that stays in memory is worth more.
_CACHE_SHARE = 8
# Part of the memory left beside all that is loaded that a longer context takes; other texts and programs have the rest.
_GROWTH_SHARE = 2
# Step in which budgets are set.
_BUDGET_STEP_BYTES = 100_000_000
# Memory by which the process may grow until it is asked again.
_GROWTH_BYTES = 16 << 20
_BOUNDLESS = 1 << 62
# Nodes of a tree for which a graphics chip and the host are compared.
_USUAL_NODES = 15
# A placement must be predicted to be faster than a simpler one by more than the error of predictions.
_WORTH = 1.15

NO_GPU = mark("There is no GPU that Tenon can use here.")
_NOT_ON_CHIP = mark("Tenon cannot compute this model's layers on a graphics chip in {name} weights.")
_NO_GPU_FOR_DRAFT = mark("There is no GPU that Tenon can use here, so the draft runs on the CPU beside the model.")
_NO_GPU_FOR_DRAFTS = mark("There is no GPU that Tenon can use here, so the drafts run on the CPU beside the model.")
_ONE_ON_GPU, _ONE_ON_CPU = mark("draft on the GPU, {where}"), mark("draft on the CPU, {where}")
_ALL_ON_GPU, _ALL_ON_CPU = mark("drafts on the GPU, {where}"), mark("drafts on the CPU, {where}")
_SOME_ON_GPU = mark("drafts on the GPU and the CPU, {where}")
_SHORT_OF_MEMORY = mark(
    "Keys and values take 8 bits, which is lossy, so that {context} tokens of context fit into memory."
)
_BUDGET_LEAST = mark(
    "The memory budget of {budget_bytes} is too small: Tenon itself takes {own_bytes}, and the model {needs}. Set the "
    "budget to {enough} or more, which gives a context of {context} tokens, or choose a smaller model."
)
_BUDGET_ROOMY = mark(
    "The memory budget of {budget_bytes} is too small: Tenon itself takes {own_bytes}, and the model {needs}. Set the "
    "budget to {roomy} for a context of {wanted} tokens, to {enough} or more for {context}, or choose a smaller model."
)
_NEEDS_RESIDENT = mark("{resident} for {name} weights and {context} tokens of context")
_NEEDS = mark(
    "{resident} for {name} weights and {context} tokens of context, or {least} when its layers are read from "
    "the disk for each token"
)


Drafts: TypeAlias = Sequence[DraftKind]
"""The drafts that a mode takes, or none."""


def usual_context(config: ModelConfig) -> int:
    """Return the tokens of context that a plan begins with if none are asked for."""
    return min(USUAL_CONTEXT, config.context_length)


def check_context(config: ModelConfig, context: int | None) -> int | None:
    """Return the context to plan with, in tokens: at most the model's own, or None if none was asked for.

    Raises:
        InvalidOption: The context is too short to be of use; the error names one that would do.
    """
    if context is None or context >= _LEAST:
        return context and min(context, config.context_length)
    raise InvalidOption(
        "The context is {context} tokens, but it must be at least {least}: choose a longer one, or none for the "
        "model's own.",
        context=figure(context, ","),
        least=_LEAST,
        allowed=Allowed("context", usual_context(config)),
    )


def choose_format(
    config: ModelConfig,
    wanted: str,
    fits: Callable[[WeightFormat], bool],
    seconds: Callable[[WeightFormat], float],
) -> WeightFormat:
    """Return the format asked for; for ``auto`` the file's, and never more bits than it has.

    A quantized file stays as it is. Plain numbers become 8 bits if they do not fit into memory, or if a large model
    is read faster so, and 4 if 8 do not fit either.

    Args:
        config: Config of the model.
        wanted: A name from `FORMAT_NAMES`, or ``auto``.
        fits: Returns True if all of a model in a format has room in memory.
        seconds: Returns the time of a token in a format, measured here or predicted; formats are compared by it
            alone.

    Raises:
        InvalidOption: there is no such format.
    """
    if wanted in FORMAT_NAMES:
        return weight_format(wanted)
    if wanted != AUTO:
        raise InvalidOption(
            "There is no weight format {wanted}: choose auto, {names}.",
            wanted=repr(wanted),
            names=either(FORMAT_NAMES),
        )
    stored = stored_format(config)
    if config.quantization is not None:
        return stored
    if _is_small_and_exact(config) and fits(weight_format("fp32")):
        return weight_format("fp32")
    eight = weight_format("q8_0")
    if not fits(stored):
        return eight if fits(eight) else weight_format("q4_k_m")
    large = weight_bytes(config, stored) > _SMALL_MODEL_BYTES
    return eight if large and seconds(eight) < FEWER_BITS * seconds(stored) else stored


def cache_formats(config: ModelConfig, weights: WeightFormat, wanted: str) -> tuple[WeightFormat, ...]:
    """Return the formats of keys and values to try with these weights, in order: the next if one has no room.

    8 bits are lossy, so ``auto`` takes them only if the wanted context does not fit otherwise. If the kernel
    library does not compute a model's layers, its cache stays as wide as its activations.

    Raises:
        InvalidOption: there is no such format.
    """
    if wanted not in CACHE_NAMES:
        raise InvalidOption(
            "There is no cache format {wanted}: choose {names}.",
            wanted=repr(wanted),
            names=either(CACHE_NAMES),
        )
    if wanted == FULL or not weights.packed or not can_fuse(config):
        return (weights,)
    small = replace(weights, cache=torch.int8)
    return (weights, small) if wanted == AUTO else (small,)


def _is_small_and_exact(config: ModelConfig) -> bool:
    """Return whether the file holds float32, and so little that this costs neither time nor memory."""
    if not config.types or weight_bytes(config, weight_format("fp32")) >= _EXACT_FILE_BYTES:
        return False
    matrices = [name for name, shape in expected_tensors(config).items() if len(shape) == 2]
    return all(config.types.get(name) in (F32, F64) for name in matrices)


@dataclass(frozen=True)
class LoadPlan:
    """One way to load a model, as plain data."""

    mode: str  # name of the mode, as in ``--mode``
    weights: WeightFormat  # format of the weights, which includes the format of keys and values
    context: int  # tokens of context
    states: int  # recurrent states that are kept of a text; 0 for a model that has none
    state_bytes: int  # bytes of all of them and of the present state, in all layers
    placement: PlacementPlan  # places of the layers
    device: str  # GPU that is used, as torch calls it; empty for none
    host: Footprint  # bytes on the host
    on_device: Footprint  # bytes on the GPU
    drafts: tuple[DraftPlan, ...] = ()  # plans of the drafts that are loaded beside the model
    notes: tuple[str, ...] = ()  # sentences for the user about what could not be done as asked

    def sizes(self, config: ModelConfig) -> Sizes:
        """Return the bytes of the model's parts."""
        return Sizes(config, self.weights, self.context, self.states, self.device.startswith(CHIP))

    def keeping(self, stays: Sequence[bool]) -> LoadPlan:
        """Return the plan with some of its drafts alone."""
        drafts = tuple(compress(self.drafts, stays))
        here, there = _taken(drafts)
        host, on_device = replace(self.host, draft=here), replace(self.on_device, draft=there)
        return replace(self, drafts=drafts, host=host, on_device=on_device)

    @property
    def summary(self) -> str:
        """Places of target and draft, in a few words."""
        where = self.placement.summary()
        if self.weights.cache == torch.int8:
            where = say("{where}, 8-bit cache (lossy)", where=where)
        there = sum(draft.on_gpu for draft in self.drafts)
        if not self.drafts:
            return where
        if len(self.drafts) == 1:
            sentence = _ONE_ON_GPU if there else _ONE_ON_CPU
        elif there == len(self.drafts):
            sentence = _ALL_ON_GPU
        else:
            sentence = _SOME_ON_GPU if there else _ALL_ON_CPU
        return say(sentence, where=where)

    @property
    def memory_bytes(self) -> dict[str, int]:
        """Bytes by device: ``host``, and a GPU's name as torch has it."""
        return {"host": self.host.total, **({self.device: self.on_device.total} if self.device else {})}

    def holds_bytes(self, config: ModelConfig, tokens: int, prompt: int, logit_rows: int) -> int:
        """Return the bytes of the host's memory that are taken with a text of so many tokens.

        Args:
            config: Config of the model.
            tokens: Tokens of the text.
            prompt: Tokens of the longest prompt since the model was loaded: its forward was the widest. Only streaming
                keeps so little beside that this is seen.
            logit_rows: Rows of a forward that have logits.
        """
        sizes, empty = self.sizes(config), 1.0 - tokens / self.context
        unused = sizes.computing - sizes.computes(logit_rows, prompt if self.placement.streams else self.context)
        return self.host.total - int(self.text_bytes["host"] * empty) - unused

    @property
    def text_bytes(self) -> dict[str, int]:
        """Bytes among these, by device, that a text takes when it fills the context: nothing when it begins."""
        drafts = [sum(draft.text_bytes for draft in self.drafts if draft.on_gpu == there) for there in (False, True)]
        here, there = self.host.cache + drafts[0], self.on_device.cache + drafts[1]
        return {"host": here, **({self.device: there} if self.device else {})}


class LoadPlanner:
    """Plans loads of one model on one machine.

    Args:
        report: Report of the machine, and of the memory that this process takes.
        config: Config of the model.
        options: Settled options; their mode is not used.
        speed: Predicts the tokens per second of a mode loaded in one way, with its drafts; 0 if it must be refused.
        seconds: Times of products by format, if they are known better than from the report.

    Raises:
        InvalidOption: the context is too short, or the number of layers is negative.
    """

    def __init__(
        self,
        report: MachineReport,
        config: ModelConfig,
        options: LoadOptions,
        speed: Callable[[Mode, LoadPlan, Drafts], float],
        seconds: Callable[[], Mapping[str, float]] | None = None,
    ) -> None:
        asked, context = options.context, check_context(config, options.context)
        options = replace(options, context=context)
        self._asked_beyond = asked if asked != context else None  # tokens that were asked for, if the model has fewer
        layers = config.layers if options.gpu_layers is None else options.gpu_layers
        if layers < 0:
            raise InvalidOption(
                "The number of layers on the GPU is {wanted}, but it must be at least 0.", wanted=layers
            )
        self.room = read_room(report, options)
        self._report = report
        self._config = config
        self._options = options
        self._speed = speed
        self._seconds = seconds
        self._most_layers = min(layers, config.layers)
        self._wanted = options.context or usual_context(config)
        self._smallest = options.context or min(SMALLEST_CONTEXT, self._wanted)
        # Several modes ask for the same ones.
        self._choices = cache(lambda kind, sizes, room: tuple(kind.choices(sizes, room, self._most_layers)))

    def plan(self, mode: Mode, weights: WeightFormat, drafts: Drafts) -> LoadPlan | None:
        """Return the load of a mode in one format, or None if not even streaming fits."""
        places = list(self._places(drafts))
        fastest = (self._fastest(mode, self._sizes(weights), beside, drafts) for beside in places)
        # A draft on a GPU that shares the host's memory gains nothing while the target is read from the disk.
        streamed = (self._streamed(mode, weights, beside) for beside in reversed(places))
        found = next((plan for plan in chain(fastest, streamed) if plan is not None), None)
        return found and self._grown(mode, found, drafts)

    def fits(self, mode: Mode, weights: WeightFormat, drafts: Drafts) -> bool:
        """Return whether the mode needs no streaming with the smallest context that would do."""
        smallest = [self._size(one, self._smallest) for one in self._formats(weights)]
        return any(self._fastest(mode, smallest, beside, drafts) for beside in self._places(drafts))

    def draft_format(self, draft: DraftKind) -> WeightFormat:
        """Return the format of a draft on the CPU."""
        return draft.host_format(self._format_seconds, self._report.kernels is not None)

    def shortage(self, weights: WeightFormat, drafts: Drafts) -> OutOfMemory:
        """Return the error for a load for which nothing fits, with the least memory that would do."""
        weights, context = self._formats(weights)[-1], self._smallest
        sizes, room = Sizes(self._config, weights, context, LEAST_STATES), self.room
        *_, beside = self._places(drafts)
        taken, _ = _taken(beside)
        resident = taken + ResidentPlan.of(self._config.layers).host(sizes).total
        least = min(resident, taken + StreamedPlan.least_bytes(sizes))
        needs = say(
            _NEEDS if least < resident else _NEEDS_RESIDENT,
            resident=readable(resident),
            name=weights.name,
            context=figure(context, ","),
            least=readable(least),
        )
        budget, memory = self._options.ram_budget_bytes, self._report.memory
        if budget is not None and budget_is_free(self._report, budget) and least <= memory.available_bytes:
            roomy = taken + ResidentPlan.of(self._config.layers).host(replace(sizes, context=self._wanted)).total
            return _budget_refused(budget, memory, needs, (context, least), (self._wanted, roomy))
        return OutOfMemory(
            "The model needs {needs}, but free are {budget}: close other programs, or choose a "
            "smaller model, smaller weights or a smaller context.",
            needs=needs,
            budget=readable(room.host_bytes),
            short_bytes=max(0, least - room.host_bytes),
        )

    def smallest(self, weights: WeightFormat) -> Sizes:
        """Return the sizes with the smallest context that would do."""
        return self._size(weights, self._smallest)

    def least_bytes(self, weights: WeightFormat) -> int:
        """Return the least of the host's memory with which the model runs at all."""
        context = min(self._options.context or self._config.context_length, SMALLEST_CONTEXT)
        return StreamedPlan.least_bytes(Sizes(self._config, weights, context, LEAST_STATES))

    def _formats(self, weights: WeightFormat) -> tuple[WeightFormat, ...]:
        return cache_formats(self._config, weights, self._options.kv_cache)

    def _size(self, weights: WeightFormat, context: int, states: int = LEAST_STATES) -> Sizes:
        return Sizes(self._config, weights, context, states, self.room.chip)

    def _sizes(self, weights: WeightFormat) -> list[Sizes]:
        """Return the sizes to try in order: fewer states, then other formats, then less and less context."""
        formats, context = self._formats(weights), self._wanted
        most = MOST_STATES if self._config.delta else LEAST_STATES
        sizes = [self._size(formats[0], context, states) for states in range(most, LEAST_STATES, -1)]
        sizes += [self._size(one, context) for one in formats]
        while context > self._smallest:
            context = max(context // 2, self._smallest)
            sizes.append(replace(sizes[-1], context=context))
        return sizes

    def _places(self, drafts: Drafts) -> Iterator[tuple[DraftPlan, ...]]:
        """Yield the drafts' places: the GPU for those that belong there, as long as they fit; else the host."""
        left, found = self.room.device_bytes, []
        for draft in drafts:
            found.append(self._place(draft, left, len(drafts)))
            left -= found[-1].size_bytes if found[-1].on_gpu else 0
        yield tuple(found)
        if self.room.unified and left < self.room.device_bytes:
            yield tuple(self._place(draft, 0, len(drafts)) for draft in drafts)

    def _place(self, draft: DraftKind, room_bytes: int, drafts: int) -> DraftPlan:
        """Return the place of one of so many drafts, given the room that the GPU has for it."""
        context, device, weights = self._options.context or USUAL_CONTEXT, self.room.device, self.draft_format(draft)
        on_host = DraftPlan(weights, "cpu").with_context(draft, context)
        if draft.on_host or (self.room.chip and self._chip_gains_nothing(draft, weights)):
            return on_host
        far_weights = replace(weights, cache=torch.float32) if self.room.chip else DENSE_BF16
        there = DraftPlan(far_weights, device).with_context(draft, context)
        if device and there.size_bytes <= room_bytes:
            return there
        note = say(_NO_GPU_FOR_DRAFT if drafts == 1 else _NO_GPU_FOR_DRAFTS)
        if device:
            note = say(
                "The draft needs {needed} GB of the GPU's memory and may take {budget} GB, so it runs on the CPU.",
                needed=figure(there.size_bytes / 1e9, ".3g"),
                budget=figure(self.room.device_bytes / 1e9, ".3g"),
            )
        return replace(on_host, note=note)

    def _chip_gains_nothing(self, draft: DraftKind, weights: WeightFormat) -> bool:
        """Return whether a graphics chip cannot run a draft in a format, or not faster than the host."""
        gpu = next(gpu for gpu in self._report.gpus if gpu.device == self.room.device)
        speeds = machine_speeds(self._report, gpu)
        there, here = (DraftCost(draft, weights, speeds, on_gpu).tree_s(_USUAL_NODES) for on_gpu in (True, False))
        return not draft.runs_on_chip(weights) or there * _WORTH > here

    def _fastest(
        self, mode: Mode, candidates: list[Sizes], beside: tuple[DraftPlan, ...], drafts: Drafts
    ) -> LoadPlan | None:
        """Return the simplest placement with the largest context that fits, or a faster one that costs no context.

        It is None if memory does not hold the model, so that only the disk remains. Experts from the disk are
        compared with placements that use a GPU for a part, which may be slower. The first placement that fits is
        taken if the mode is about a placement, the user said how many layers it has, or no speed was measured.
        """
        kinds = [PLACEMENTS[name] for name in mode.placements]
        settled = mode.needs_gpu or self._options.gpu_layers is not None or self._report.speeds is None
        if settled and not mode.needs_gpu and any(draft.on_gpu for draft in beside) and not self.room.chip:
            kinds.insert(0, SplitPlan)  # in the room that the drafts leave on the GPU
        kinds.append(StreamedExpertsPlan)
        best, most = None, 0.0
        for kind in kinds:
            if kind.from_disk and (best is None or not best.placement.uses_gpu):
                break
            plans, larger = self._fitting(mode, kind, candidates, beside)
            if plans and settled:
                return plans[0]
            rated = [(self._speed(mode, plan, drafts), plan) for plan in plans]
            speed, plan = max(rated, key=itemgetter(0), default=(0.0, None))
            # A placement with more context, or without loss, may be slower by as much.
            if speed > most * (_WORTH if len(larger) == len(candidates) else 1 / _WORTH):
                best, most, candidates = plan, speed, larger
        return best

    def _fitting(
        self,
        mode: Mode,
        kind: type[PlacementPlan],
        candidates: list[Sizes],
        beside: tuple[DraftPlan, ...],
    ) -> tuple[list[LoadPlan], list[Sizes]]:
        """Return the plans of one kind with the largest context that fits, and all sizes with this or more."""
        room = self.room.beside(*_taken(beside)).of(kind)
        for count, sizes in enumerate(candidates, 1):
            suited = kind.suited(sizes)
            plans = [self._made(mode, placement, suited, beside) for placement in self._choices(kind, suited, room)]
            if plans:
                return plans, candidates[:count]
        return [], candidates

    def _grown(self, mode: Mode, plan: LoadPlan, drafts: Drafts) -> LoadPlan:
        """Return a plan with as much of the model's own context as has room beside the rest of it, which stays."""
        own = self._config.context_length
        if self._options.context or plan.context < self._wanted or plan.placement.streams:
            return plan
        taken, there = plan.host.total - plan.host.baseline, plan.on_device.total
        pool = taken + (there if self.room.unified else 0)
        room = replace(
            self.room,
            host_bytes=pool + (self.room.host_bytes - pool) // _GROWTH_SHARE,
            device_bytes=there + (self.room.device_bytes - there) // _GROWTH_SHARE,
        )

        def with_context(tokens: int) -> tuple[Sizes, tuple[DraftPlan, ...]]:
            beside = (place.with_context(draft, tokens) for draft, place in zip(drafts, plan.drafts, strict=True))
            return replace(plan.sizes(self._config), context=tokens), tuple(beside)

        def is_too_long(tokens: int) -> bool:
            sizes, beside = with_context(tokens)
            return not plan.placement.fits(sizes, room.beside(*_taken(beside)))

        longer = sorted({*range(plan.context, own, _CONTEXT_STEP), own})
        most = longer[max(bisect_left(longer, True, key=is_too_long) - 1, 0)]
        return plan if most == plan.context else self._made(mode, plan.placement, *with_context(most))

    def _streamed(self, mode: Mode, weights: WeightFormat, beside: tuple[DraftPlan, ...]) -> LoadPlan | None:
        room = self.room.beside(*_taken(beside)).of(StreamedPlan)
        formats, most = self._formats(weights), room.host_bytes // _CACHE_SHARE
        sizes = Sizes(self._config, formats[-1], self._wanted, LEAST_STATES)
        while sizes.context > self._smallest and sum(sizes.caches) > most:
            sizes = replace(sizes, context=max(sizes.context // 2, self._smallest))
        full = replace(sizes, weights=formats[0])  # a shorter context may have room for whole keys and values
        chosen = full if sizes.context < self._wanted and sum(full.caches) <= most else sizes
        for one in (chosen, replace(sizes, context=self._smallest)):
            for kind in (StreamedExpertsPlan, StreamedPlan):
                placement = kind.fit(one, room, self._most_layers)
                if placement is not None:
                    return self._made(mode, placement, one, beside)
        return None

    def _made(self, mode: Mode, placement: PlacementPlan, sizes: Sizes, beside: tuple[DraftPlan, ...]) -> LoadPlan:
        on_host, on_gpu = _taken(beside)
        device = placement.device(sizes, on_gpu)
        return LoadPlan(
            mode=mode.name,
            weights=sizes.weights,
            context=sizes.context,
            states=sizes.states if self._config.delta else 0,
            state_bytes=sum(replace(sizes, context=0).caches),
            placement=placement,
            device=self.room.device if device.total else "",
            host=placement.host(sizes, on_host, self._report.memory.process_bytes),
            on_device=device,
            drafts=beside,
            notes=tuple(dict.fromkeys(self._notes(mode, placement, sizes, beside))),
        )

    def _notes(
        self, mode: Mode, placement: PlacementPlan, sizes: Sizes, beside: tuple[DraftPlan, ...]
    ) -> Iterator[str]:
        if self._asked_beyond is not None:
            yield say(
                "The model was trained on texts of up to {most} tokens, so that is its context, and not {asked}.",
                most=figure(self._config.context_length, ","),
                asked=figure(self._asked_beyond, ","),
            )
        if mode.needs_gpu:
            yield from self._gpu_notes(mode, placement, sizes)
        if sizes.weights.cache == torch.int8 and self._options.kv_cache == AUTO:
            yield say(_SHORT_OF_MEMORY, context=figure(sizes.context, ","))
        yield from (draft.note for draft in beside if draft.note)

    def _gpu_notes(self, mode: Mode, placement: PlacementPlan, sizes: Sizes) -> Iterator[str]:
        """Yield sentences about the part of the mode's placement that the GPU has no room for."""
        about = PLACEMENTS[mode.placements[0]]
        asked = about.fit(sizes, replace(self.room, host_bytes=_BOUNDLESS, device_bytes=_BOUNDLESS), self._most_layers)
        if self.room.device and asked is None and not (self.room.chip and self._most_layers):
            return  # no layer was to be there
        if not isinstance(placement, about):
            yield paragraph(self.gpu_refusal(mode, sizes), say("The model runs on the CPU alone."))
        elif asked and self._options.gpu_layers is not None and placement.device_layers < asked.device_layers:
            yield say(
                "The GPU's memory takes {taken} of the {wanted} layers that were to be there.",
                taken=placement.device_layers,
                wanted=asked.device_layers,
            )

    def gpu_refusal(self, mode: Mode, sizes: Sizes) -> str:
        """Return the reason why the placement that a mode is about has no room on a GPU."""
        room = self.room
        if not room.of(PLACEMENTS[mode.placements[0]]).device:
            return say(NO_GPU)
        there = replace(room, host_bytes=_BOUNDLESS, unified=False)
        about = PLACEMENTS[mode.placements[0]]
        if room.chip and about.fit(sizes, replace(there, device_bytes=_BOUNDLESS), self._most_layers) is None:
            return say(_NOT_ON_CHIP, name=sizes.weights.name)
        if about.fit(about.suited(sizes), there, self._most_layers) is None:
            return say(
                "Not even one layer fits into the {free_bytes} that are free on the GPU.",
                free_bytes=readable(room.device_bytes),
            )
        if room.unified:
            return say("The GPU and the CPU share one memory, which has no room for what both would need.")
        return say(
            "The part that does not fit on the GPU must be in memory, and {free_bytes} are free there.",
            free_bytes=readable(room.host_bytes),
        )

    def _format_seconds(self) -> Mapping[str, float]:
        return self._seconds() if self._seconds else format_seconds(machine_speeds(self._report, None).host)


def _taken(drafts: Sequence[DraftPlan]) -> tuple[int, int]:
    """Return the bytes that drafts take of the host's memory and of the GPU's."""
    there = sum(draft.size_bytes for draft in drafts if draft.on_gpu)
    return sum(draft.size_bytes for draft in drafts) - there, there


def _budget_refused(
    budget_bytes: int, memory: HostMemory, needs: str, least: tuple[int, int], wanted: tuple[int, int]
) -> OutOfMemory:
    """Return the error for a budget smaller than the process and the least of the model, with one that would do.

    Args:
        budget_bytes: The budget.
        memory: The host's memory.
        needs: Bytes that the model needs, in words.
        least: Tokens of the smallest context, and bytes that the model needs with it.
        wanted: The same for the context that it has if memory allows it.
    """
    own_bytes = memory.process_bytes
    enough, roomy = (
        math.ceil((own_bytes + size_bytes + _GROWTH_BYTES) / _BUDGET_STEP_BYTES) * _BUDGET_STEP_BYTES
        for _, size_bytes in (least, wanted)
    )
    has_room = wanted[1] <= memory.available_bytes and wanted[0] > least[0]
    return OutOfMemory(
        _BUDGET_ROOMY if has_room else _BUDGET_LEAST,
        budget_bytes=_gigabytes(budget_bytes),
        own_bytes=readable(own_bytes),
        needs=needs,
        enough=_gigabytes(enough),
        context=figure(least[0], ","),
        roomy=_gigabytes(roomy),
        wanted=figure(wanted[0], ","),
        allowed=Allowed("ram_budget_bytes", roomy if has_room else enough),
    )


def _gigabytes(size_bytes: int) -> str:
    """Write a size in the setting's unit if it is not a tiny part of that."""
    return f"{figure(size_bytes / 1e9, '.3g')} GB" if size_bytes >= _BUDGET_STEP_BYTES else readable(size_bytes)


@dataclass(frozen=True)
class GpuInUse:
    """The memory of a GPU that is in use."""

    name: str  # Torch's name of it
    total_bytes: int  # size of its memory

    @classmethod
    def of(cls, device: torch.device) -> GpuInUse | None:
        """Return the GPU that a device is, or None for the host itself."""
        if device.type == "cpu":
            return None
        # Only CUDA's total is known; others are asked for their free memory.
        total = torch.cuda.mem_get_info(device)[1] if device.type == "cuda" else free_device_bytes(device)
        return cls(str(device), total)


def memory_places(
    plan: LoadPlan, config: ModelConfig, memory: HostMemory, gpu: GpuInUse | None = None
) -> tuple[MemoryPlace, ...]:
    """Return the bytes of a model on the GPU, the host and the disk; of experts on disk only one token's."""
    places = []
    placement = plan.placement
    layers, there = placement.layers, placement.computed_there
    empty = replace(plan.sizes(config), context=0)
    # Layers whose experts lie elsewhere count where the rest of them lies.
    apart = bool(placement.part("host"))
    if gpu is not None:
        whole = there if apart else sum(place.device == 1.0 for place in layers)
        weights = MemoryShare("weights", plan.on_device.weights, whole, placement.part("device"))
        drafts = [draft for draft in plan.drafts if draft.on_gpu]
        states = placement.device_cache(empty)
        places.append(MemoryPlace(gpu.name, gpu.total_bytes, _shares(plan.on_device, states, weights, drafts)))
    tower = plan.sizes(config).tower
    here = replace(plan.host, baseline=memory.process_bytes, activations=plan.host.activations - tower)
    kept = len(layers) - there if apart else sum(place.host + place.copied == 1.0 for place in layers)
    weights = MemoryShare("weights", here.weights + tower, kept, placement.part("host"))
    others = MemoryShare("others", memory.others_bytes)
    drafts = [draft for draft in plan.drafts if not draft.on_gpu]
    states = placement.host_cache(empty)
    places.append(MemoryPlace("ram", memory.total_bytes, (*_shares(here, states, weights, drafts), others)))
    if placement.streams:
        read = sum(place.disk == 1.0 for place in layers)
        size_bytes = placement.read_bytes(plan.sizes(config), 1)
        places.append(MemoryPlace("disk", 0, (MemoryShare("weights", size_bytes, read, placement.part("disk")),)))
    return tuple(places)


def _shares(
    taken: Footprint, states: int, weights: MemoryShare, drafts: Sequence[DraftPlan]
) -> tuple[MemoryShare, ...]:
    rows = taken.cache - states
    shares = (
        MemoryShare("draft", taken.draft, drafts=len(drafts), text_bytes=sum(draft.text_bytes for draft in drafts)),
        weights,
        MemoryShare("caches", rows, text_bytes=rows),
        MemoryShare("states", states, text_bytes=states),
        MemoryShare("buffers", taken.activations + taken.buffers),
        MemoryShare("engine", taken.baseline),
    )
    return tuple(share for share in shares if share.size_bytes)
