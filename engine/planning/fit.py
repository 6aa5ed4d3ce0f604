"""Whether a model fits in memory, in which precision and with how much context."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.errors import Allowed, OutOfMemory
from engine.hub.installed import cache_folder
from engine.kernels import library
from engine.messages import LoadOptions
from engine.model.config import ModelConfig
from engine.model.footprint import cache_bytes, weight_bytes
from engine.model.weight_format import WeightFormat, weight_format
from engine.planning.context_range import check_context, default_context
from engine.planning.footprint import host_footprint
from engine.planning.format_choice import cache_formats, choose_format, draft_format, quantized_format
from engine.planning.hardware import available_memory_bytes, process_bytes
from engine.planning.kernel_table import format_seconds
from engine.planning.placement_plan import PlacementPlan
from engine.planning.streaming import least_bytes, plan_streaming, streaming_context
from engine.planning.thresholds import (
    DEFAULT_CONTEXT,
    HOST_RESERVE_BYTES,
    SMALLEST_CONTEXT,
)
from engine.sentences import figure, say
from engine.sizes import readable

# Budgets are set in steps of this.
_BUDGET_STEP_BYTES = 100_000_000
# What the process may take more when it is asked again.
_GROWTH_BYTES = 16 << 20
_RESIDENT = PlacementPlan()


@dataclass(frozen=True)
class Fit:
    """What will be loaded.

    Attributes:
        weights: The precision, that of keys and values included.
        context: Tokens of context.
        weight_bytes: Of the whole model, in memory or not.
        cache_bytes: Of a full context.
        plan: Where the layers live.
    """

    weights: WeightFormat
    context: int
    weight_bytes: int
    cache_bytes: int
    plan: PlacementPlan = _RESIDENT


def fit_model(
    config: ModelConfig,
    options: LoadOptions,
    taken_bytes: int = 0,
    on_gpu: Callable[[WeightFormat, int], PlacementPlan] = lambda weights, context: _RESIDENT,
) -> Fit:
    """Choose precision, context and placement so that everything fits.

    Keys and values take 8 bits first, where they may; then a context that was not asked for shrinks; then layers are
    streamed from the disk.

    Args:
        config: Of the model.
        options: What was asked for.
        taken_bytes: Memory that a draft is going to take.
        on_gpu: What a GPU takes of the model in a format, with a context.

    Raises:
        InvalidOption: an unknown precision, or a context the model does not have.
        OutOfMemory: not even streaming fits, with the least that would do.
    """
    check_context(config, options.context)
    baseline = process_bytes()
    available = available_memory_bytes()
    budget, named = available - HOST_RESERVE_BYTES, False
    if options.ram_budget_bytes is not None and options.ram_budget_bytes - baseline <= available:
        # Who names what is there has left others theirs.
        budget, named = options.ram_budget_bytes - baseline, True
    wanted = options.context or default_context(config)
    smallest = wanted if options.context else min(SMALLEST_CONTEXT, wanted)

    def needed(context: int, weights: WeightFormat) -> int:
        plan = on_gpu(weights, context)
        return host_footprint(config, plan, weights, context, taken_bytes, baseline_bytes=0).total

    def fits(weights: WeightFormat) -> bool:
        formats = cache_formats(config, weights, options.kv_cache)
        return any(needed(smallest, one) <= budget for one in formats)

    formats = cache_formats(
        config, choose_format(config, options.weights, fits, _seconds_in), options.kv_cache
    )
    weights = next((one for one in formats if needed(wanted, one) <= budget), formats[-1])
    whole = weight_bytes(config, weights)
    context = wanted
    while context > smallest and needed(context, weights) > budget:
        context = max(context // 2, smallest)
    if needed(context, weights) <= budget:
        cache = cache_bytes(config, context, weights)
        return Fit(weights, context, whole, cache, on_gpu(weights, context))
    context = streaming_context(config, weights, wanted, smallest, budget - taken_bytes)
    plan = plan_streaming(config, weights, context, budget, taken_bytes)
    if plan is None:
        context = smallest
        plan = plan_streaming(config, weights, context, budget, taken_bytes)
    if plan is None:
        resident = needed(context, weights)
        least = min(resident, least_bytes(config, weights, context, taken_bytes))
        needs = _needs(weights, context, resident, least)
        if options.ram_budget_bytes is not None and named and least <= available:
            raise _budget_refused(options.ram_budget_bytes, baseline, needs, least)
        raise OutOfMemory(
            say(
                "The model needs {needs}, but free are {budget}: close other programs, or choose a "
                "smaller model, smaller weights or a smaller context.",
                needs=needs,
                budget=readable(max(budget, 0)),
            ),
            short_bytes=max(0, least - budget),
        )
    return Fit(weights, context, whole, cache_bytes(config, context, weights), plan)


def _needs(weights: WeightFormat, context: int, resident: int, least: int) -> str:
    """What the model would take, resident and at the least."""
    if least < resident:
        return say(
            "{resident} for {name} weights and {context} tokens of context, or {least} when its layers are read from "
            "the disk for each token",
            resident=readable(resident),
            name=weights.name,
            context=figure(context, ","),
            least=readable(least),
        )
    return say(
        "{resident} for {name} weights and {context} tokens of context",
        resident=readable(resident),
        name=weights.name,
        context=figure(context, ","),
    )


def _budget_refused(budget_bytes: int, own_bytes: int, needs: str, least_bytes: int) -> OutOfMemory:
    """A budget that is smaller than the process and the least of the model, with the budget that would do."""
    steps = math.ceil((own_bytes + least_bytes + _GROWTH_BYTES) / _BUDGET_STEP_BYTES)
    enough = steps * _BUDGET_STEP_BYTES
    return OutOfMemory(
        say(
            "The memory budget of {budget_bytes} is too small: Tenon itself takes {own_bytes}, "
            "and the model {needs}. Set the budget to {enough} or more, or choose a smaller "
            "model.",
            budget_bytes=_gigabytes(budget_bytes),
            own_bytes=readable(own_bytes),
            needs=needs,
            enough=_gigabytes(enough),
        ),
        allowed=Allowed("ram_budget_bytes", enough),
    )


def draft_context(config: ModelConfig, options: LoadOptions) -> int:
    """The longest text that a draft will have to read, with a model of this config to draft for or to draft with."""
    return min(options.context or DEFAULT_CONTEXT, config.context_length)


def fit_draft(config: ModelConfig, options: LoadOptions) -> Fit:
    """Choose the precision of a draft that runs on the CPU, for at most the target's context."""
    weights = draft_weights(weight_bytes(config, weight_format("fp32")), quantized_format(config))
    context = draft_context(config, options)
    return Fit(weights, context, weight_bytes(config, weights), cache_bytes(config, context, weights))


def head_weights() -> WeightFormat:
    """The format of a draft head on the CPU: all of it is read at each level of a tree, so bytes are what costs."""
    return weight_format("fp32" if library.available() is None else "q8_0")


def draft_weights(exact_bytes: int, quantized: WeightFormat | None = None) -> WeightFormat:
    """The format of a draft on this machine, by its bytes in float32 and what its file is in; see `draft_format`."""
    return draft_format(exact_bytes, _seconds, library.available() is not None, quantized)


def _seconds_in(weights: WeightFormat) -> float:
    return _seconds()[weights.measured_as]


def _seconds() -> Mapping[str, float]:
    """Of each format's products here."""
    return format_seconds(cache_folder())


def _gigabytes(size_bytes: int) -> str:
    """In the unit of the setting, where that is no tiny part of it."""
    return (
        f"{figure(size_bytes / 1e9, '.3g')} GB" if size_bytes >= _BUDGET_STEP_BYTES else readable(size_bytes)
    )
