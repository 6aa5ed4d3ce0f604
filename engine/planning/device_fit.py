"""How much of a target a GPU's memory takes, and how its layers are placed there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.errors import InvalidOption
from engine.messages import LoadOptions
from engine.model.config import ModelConfig
from engine.model.footprint import layer_bytes
from engine.model.weight_format import WeightFormat
from engine.modes import MODES
from engine.planning.footprint import device_footprint, device_format
from engine.planning.placement_plan import PlacementPlan
from engine.sentences import figure, say

# One layer computes while the next one comes.
_RING = 2


@dataclass(frozen=True)
class DevicePlan:
    """A target's part of a GPU.

    Attributes:
        placement: What goes where.
        size_bytes: What it takes of the GPU's memory.
        notes: Sentences for the person about what could not be done as asked.
    """

    placement: PlacementPlan
    size_bytes: int = 0
    notes: tuple[str, ...] = ()


def plan_device(
    config: ModelConfig,
    weights: WeightFormat,
    context: int,
    options: LoadOptions,
    budget_bytes: int | None,
    beside_draft: bool,
) -> DevicePlan:
    """Decide which layers of a target are on the GPU.

    A mode that is about the GPU runs without one too, and says so: the reply matters more than where it is computed.

    Args:
        config: Of the target.
        weights: Its format on the host.
        context: Tokens.
        options: Its mode, and how many layers are wanted there.
        budget_bytes: What may be taken of the GPU's memory beside a draft; None where there is no GPU.
        beside_draft: Whether a draft is there, so that layers may be too without the mode being about it.

    Raises:
        InvalidOption: a negative number of layers is wanted.
    """
    wanted = options.gpu_layers
    check_layers(wanted)
    mode = MODES.get(options.mode)
    kind = None if mode is None else mode.placement
    if kind not in ("offload", "layer-offload") and not beside_draft:
        return DevicePlan(PlacementPlan())
    if budget_bytes is None:
        note = say("There is no GPU that Tenon may use here, so the model runs on the CPU alone.")
        return DevicePlan(PlacementPlan(), notes=(note,))
    if kind == "layer-offload":
        return _layer_offload(config, weights, context, wanted, budget_bytes)
    plan = _offload(config, weights, context, wanted, budget_bytes)
    return plan if kind == "offload" else replace(plan, notes=())


def check_layers(wanted: int | None) -> None:
    """Refuse a number of layers that cannot be on a GPU.

    Raises:
        InvalidOption: it is negative.
    """
    if wanted is not None and wanted < 0:
        raise InvalidOption(
            say("The number of layers on the GPU is {wanted}, but it must be at least 0.", wanted=wanted)
        )


def layers_that_fit(config: ModelConfig, weights: WeightFormat, context: int, budget_bytes: int) -> int:
    """How many of the first layers, with their keys and values, a GPU takes.

    Args:
        config: Of the target.
        weights: Its format on the host.
        context: Tokens.
        budget_bytes: What a draft leaves of the GPU's memory.
    """
    each = layer_bytes(config, device_format(weights), context)
    computing = _taken_bytes(config, weights, context, PlacementPlan("offload"))
    return max(0, min(config.layers, (budget_bytes - computing) // each))


def _offload(
    config: ModelConfig, weights: WeightFormat, context: int, wanted: int | None, budget_bytes: int
) -> DevicePlan:
    """The first layers on the GPU, the others on the CPU."""
    asked = config.layers if wanted is None else min(wanted, config.layers)
    taken = min(asked, layers_that_fit(config, weights, context, budget_bytes))
    if taken == 0:
        least = _taken_bytes(config, weights, context, PlacementPlan("offload", device_layers=1))
        note = _too_small(budget_bytes, least)
        return DevicePlan(PlacementPlan(), notes=(note,) if asked else ())
    plan = PlacementPlan("offload", device_layers=taken)
    return DevicePlan(plan, _taken_bytes(config, weights, context, plan), _fewer(wanted, asked, taken))


def _layer_offload(
    config: ModelConfig, weights: WeightFormat, context: int, wanted: int | None, budget_bytes: int
) -> DevicePlan:
    """All layers computed on the GPU; there is room for some, and for the ring that the others pass through."""
    asked = config.layers if wanted is None else min(wanted, config.layers)
    if asked == config.layers:
        all_stay = PlacementPlan("layer-offload", device_layers=asked)
        taken_bytes = _taken_bytes(config, weights, context, all_stay)
        if taken_bytes <= budget_bytes:
            return DevicePlan(all_stay, taken_bytes)
    ring = min(_RING, config.layers)
    least = _taken_bytes(config, weights, context, PlacementPlan("layer-offload", buffers=ring))
    if least > budget_bytes:
        note = _too_small(budget_bytes, least)
        return DevicePlan(PlacementPlan(), notes=(note,))
    # Were more to stay than the ring leaves of the layers, all of them could.
    asked = min(asked, config.layers - ring)
    taken = min(asked, (budget_bytes - least) // layer_bytes(config, device_format(weights), 0))
    plan = PlacementPlan("layer-offload", device_layers=taken, buffers=ring)
    return DevicePlan(plan, _taken_bytes(config, weights, context, plan), _fewer(wanted, asked, taken))


def _too_small(budget_bytes: int, least_bytes: int) -> str:
    """What to say where nothing of the model fits."""
    return say(
        "The least part of the model would need {least} GB of the GPU's memory and may take {budget} GB, so the model "
        "runs on the CPU alone.",
        least=figure(least_bytes / 1e9, ".3g"),
        budget=figure(budget_bytes / 1e9, ".3g"),
    )


def _fewer(wanted: int | None, asked: int, taken: int) -> tuple[str, ...]:
    """What to say where a number of layers was asked for and not all of them fit."""
    if wanted is None or taken == asked:
        return ()
    return (
        say(
            "The GPU's memory takes {taken} of the {wanted} layers that were to be there.",
            taken=taken,
            wanted=asked,
        ),
    )


def _taken_bytes(config: ModelConfig, weights: WeightFormat, context: int, plan: PlacementPlan) -> int:
    """What a plan takes of the GPU's memory."""
    return device_footprint(config, plan, weights, context).total
