"""Plans every mode for a model on a machine, from a report and configs alone: nothing is loaded, nothing measured."""

from __future__ import annotations

from collections.abc import Callable, Collection

from engine.errors import InvalidOption
from engine.model.footprint import weight_bytes
from engine.model.weight_format import FORMAT_NAMES, weight_format
from engine.planning.context_range import check_context
from engine.planning.device_fit import check_layers
from engine.planning.format_planner import FormatPlanner
from engine.planning.hardware_report import HardwareReport
from engine.planning.mode_plan import ORDER, MachinePlan, Wishes
from engine.planning.model_facts import DraftFacts, TargetFacts
from engine.planning.placing import Room, read_room
from engine.planning.profile import Profile
from engine.planning.thresholds import SMALL_MODEL_BYTES
from engine.sentences import either, say

_AUTO = "auto"


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

    def plan(name: str) -> MachinePlan:
        weights = weight_format(name)
        planner = FormatPlanner(report, target, draft, wishes, profiles(name), room, weights)
        return planner.plan(runnable)

    best = max(map(plan, _formats(target, wishes.weights, room)), key=_worth)
    if wishes.weights == _AUTO and not _worth(best)[1]:
        # 4 bits lose more than can be answered for unasked, so they are for models that fit no other way.
        return max(best, plan("int4"), key=_worth)
    return best


def _worth(plan: MachinePlan) -> tuple[bool, bool, float]:
    """A format is worth what its best mode is predicted to do, and more if nothing has to be streamed."""
    if plan.chosen is None:
        return False, False, 0.0
    best = plan.mode(plan.chosen)
    return True, not best.disk_bytes_per_round, best.tokens_per_second or 0.0


def _formats(target: TargetFacts, wanted: str, room: Room) -> tuple[str, ...]:
    """The formats to choose from."""
    if wanted in FORMAT_NAMES:
        return (wanted,)
    if wanted != _AUTO:
        raise InvalidOption(
            say(
                "There is no weight format {wanted}: choose auto, {names}.",
                wanted=repr(wanted),
                names=either(FORMAT_NAMES),
            )
        )
    exact_bytes = weight_bytes(target.config, weight_format("fp32"))
    if exact_bytes <= min(SMALL_MODEL_BYTES, room.host_bytes // 2):
        return ("fp32",)
    device = 0 if room.gpu is None or room.gpu.unified else room.gpu_bytes
    formats = ("fp32", "bf16", "int8")
    room_bytes = room.host_bytes + device
    roomy = [name for name in formats if weight_bytes(target.config, weight_format(name)) <= room_bytes]
    return tuple(roomy) or ("int4",)
