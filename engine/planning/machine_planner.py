"""Plans every mode for a model on a machine, from a report and configs alone: nothing is loaded, nothing measured."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import inf

from engine.model.weight_format import WeightFormat
from engine.planning.context_range import check_context
from engine.planning.device_fit import check_layers
from engine.planning.format_choice import choose_format
from engine.planning.format_planner import FormatPlanner
from engine.planning.hardware_report import HardwareReport
from engine.planning.mode_plan import ORDER, MachinePlan, Wishes
from engine.planning.model_facts import DraftFacts, TargetFacts
from engine.planning.placing import DraftRoom, Places, read_room
from engine.planning.profile import Profile


def plan_machine(
    report: HardwareReport,
    target: TargetFacts,
    draft: DraftFacts | None = None,
    wishes: Wishes | None = None,
    profiles: Callable[[str], Profile] = lambda weights: Profile(),
    runnable: Collection[str] = ORDER,
) -> MachinePlan:
    """Every mode for a model on a machine.

    Args:
        report: The machine; it need not be this one.
        target: The model.
        draft: What may guess for it.
        wishes: What is settled.
        profiles: What was measured with these models on this machine, by the name of a weight format.
        runnable: The modes that ``auto`` may take.

    Raises:
        InvalidOption: there is no such weight format, the model has no such context, or the number of layers is
            negative.
    """
    wishes = wishes or Wishes()
    config = target.config
    check_context(config, wishes.context)
    check_layers(wishes.gpu_layers)
    room = read_room(report, wishes.ram_budget_bytes, wishes.vram_budget_bytes)

    def fits(weights: WeightFormat) -> bool:
        places, alone = Places(config, weights, room, wishes), DraftRoom()
        if places.resident(alone) is not None:
            return True
        return room.gpu is not None and bool(places.offloaded(alone) or places.copied(alone))

    def plan(weights: WeightFormat) -> MachinePlan:
        planner = FormatPlanner(report, target, draft, wishes, profiles(weights.name), room, weights)
        return planner.plan(runnable)

    def seconds(weights: WeightFormat) -> float:
        planned = plan(weights)
        best = None if planned.chosen is None else planned.mode(planned.chosen).tokens_per_second
        return 1.0 / best if best else inf

    return plan(choose_format(config, wishes.weights, fits, seconds))
