"""Graphics chips in plans: drafts and first layers go there if that was measured to be faster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.drafting.small_model import ModelDraft
from engine.gguf.stored_tensor import BF16
from engine.graphics.known import SWITCH
from engine.kernels import blocks
from engine.messages import LoadOptions
from engine.messages.machine import Gpu, GpuSpeed, MachineReport
from engine.planning.machine_planner import MachinePlan, ModePlan
from engine.planning.model_facts import TargetFacts
from tests.support.machines import machine, plan_machine, small_draft, stored_in, target

GB = 10**9


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")


#: A Radeon 780M: two thirds of 89 GB/s that it shares, a quarter of 8 TFLOPS; and an RTX 3050 through Vulkan.
SHARED = GpuSpeed(60e9, 1e12, 5e-6, 20e9, packed=True)
CARD = GpuSpeed(150e9, 2e12, 5e-6, 10e9, packed=True)


def report(speed: GpuSpeed | None, unified: bool = True, free_bytes: int = 8 * GB) -> MachineReport:
    """A laptop with a chip, measured at some speed or not at all."""
    laptop = machine("laptop-8gb")
    assert laptop.speeds is not None
    memory = replace(laptop.memory, total_bytes=16 * GB, available_bytes=12 * GB)
    chip = Gpu("vulkan:0", "vulkan", "Radeon 780M", free_bytes, free_bytes, unified)
    speeds = replace(laptop.speeds, gpus={} if speed is None else {"vulkan:0": speed})
    return replace(laptop, memory=memory, gpus=(chip,), speeds=speeds)


def packed_pair() -> tuple[TargetFacts, ModelDraft]:
    """A model of 8 billion weights and its draft, both in Q4_K_M."""
    kind, draft, facts = blocks.NAMES["Q4_K"], small_draft(), target("llama-8b")
    draft = replace(draft, config=stored_in(draft.config, kind, "Q4_K_M"))
    return replace(facts, config=stored_in(facts.config, kind, "Q4_K_M")), draft


def plan(machine_report: MachineReport, **options: object) -> MachinePlan:
    facts, draft = packed_pair()
    return plan_machine(machine_report, facts, draft, LoadOptions(**options))  # type: ignore[arg-type]


def mode(plans: MachinePlan, name: str) -> ModePlan:
    found = next(one for one in plans.modes if one.mode == name)
    assert found.load is not None
    return found


@pytest.mark.parametrize(("speed", "unified"), [(SHARED, True), (CARD, False)])
def test_a_chip_that_was_measured_to_be_faster_drafts(speed: GpuSpeed, unified: bool) -> None:
    there, here = plan(report(speed, unified)), plan(replace(report(None), gpus=()))
    drafted = mode(there, "dovetail")
    assert drafted.draft_devices == ("vulkan:0",)
    assert drafted.load.device == "vulkan:0"
    assert drafted.load.drafts[0].weights.name == "Q4_K_M"
    assert (drafted.tokens_per_second or 0.0) > 1.1 * (mode(here, "dovetail").tokens_per_second or 0.0)
    refused = next(one for one in there.modes if one.mode == "layer-offload")
    assert refused.refusal == "There is no GPU that Tenon can use here."


def test_layers_are_on_a_chip_that_was_measured_to_be_faster_and_runs_them() -> None:
    there, here = plan(report(CARD, False, 4 * GB)), plan(replace(report(None), gpus=()))
    for name in ("plain", "offload"):
        found = mode(there, name)
        placement, taken = found.load.placement, found.load.on_device
        assert (placement.name, found.load.device, found.refusal) == ("offload", "vulkan:0", "")
        assert 0 < placement.device_layers < len(placement.layers)
        assert 3 * GB < taken.total <= 4 * GB
        assert taken.cache == placement.device_layers * 4 * 2 * 8 * 128 * found.load.context  # float32
        assert (found.tokens_per_second or 0.0) > 1.3 * (mode(here, name).tokens_per_second or 0.0)
    slow = mode(plan(report(replace(CARD, memory_bytes_per_s=9e9), False)), "plain")
    assert slow.load == mode(here, "plain").load
    assert mode(plan(report(CARD, False), weights="fp32"), "plain").load.placement.name != "offload"


def test_a_model_that_no_chip_runs_is_refused_for_that_reason() -> None:
    found = plan(report(CARD, False), weights="fp32")
    refused = next(one for one in found.modes if one.mode == "offload")
    said = "Tenon cannot compute this model's layers on a graphics chip in fp32 weights."
    assert refused.refusal == said
    assert f"{said} The model runs on the CPU alone." in refused.load.notes  # type: ignore[union-attr]
    full = next(one for one in plan(report(CARD, False, GB // 2)).modes if one.mode == "offload")
    assert "Not even one layer fits" in full.refusal


@pytest.mark.parametrize(
    ("speed", "options"),
    [
        (None, {}),  # assumed speeds are those of other GPUs
        (replace(SHARED, memory_bytes_per_s=9e9), {}),
        (replace(SHARED, products_per_s=2e9), {}),
        (replace(SHARED, operator_s=1e-3), {}),
        (SHARED, {"vram_budget_bytes": 0}),
        (SHARED, {"vram_budget_bytes": 100_000_000}),
    ],
)
def test_the_processor_drafts_otherwise(speed: GpuSpeed | None, options: dict[str, int]) -> None:
    here = replace(report(None), gpus=())
    found = mode(plan(report(speed), **options), "dovetail")
    assert found.draft_devices == ("cpu",)
    assert found.tokens_per_second == mode(plan(here, **options), "dovetail").tokens_per_second


def test_one_pool_is_counted_once_and_a_context_grows_no_further_than_a_card() -> None:
    shared, card = mode(plan(report(SHARED)), "dovetail").load, mode(plan(report(CARD, False, 2 * GB)), "dovetail").load
    taken = shared.host.total - shared.host.baseline + shared.on_device.total
    assert taken <= 12 * GB
    assert 0 < card.on_device.total <= 2 * GB
    assert card.drafts[0].size_bytes == card.on_device.total


def test_a_chip_computes_in_the_processor_s_format() -> None:
    draft = small_draft()
    plain = replace(draft, config=stored_in(draft.config, BF16))
    found = plan_machine(report(SHARED), target("llama-8b"), plain)
    (place,) = mode(found, "dovetail").load.drafts  # type: ignore[union-attr]
    assert (place.device, place.weights.name) == ("vulkan:0", "q8_0")
