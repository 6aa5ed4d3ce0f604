from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.linear import DEQUANTIZING_BYTES
from engine.model.tensors import layer_slots
from engine.planning.device_fit import layers_that_fit, plan_device
from engine.planning.fit import fit_model
from engine.planning.footprint import device_footprint, device_format
from engine.planning.placement_plan import PlacementPlan
from engine.weights.checkpoint import Checkpoint
from tests.support.packed_models import PACKED


@pytest.fixture
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


def test_a_gpu_takes_as_many_layers_as_its_budget_holds(config: ModelConfig) -> None:
    settled = fit_model(config, LoadOptions(weights="fp32", context=100))
    each = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 2 * 16 * 4 * 100
    # A chunk of the prompt: queries, keys and values or both gates, what is between them, and four hidden rows.
    computing = 4 * 100 * (2 * 96 + 96 + 4 * 64)
    budgets = (-1, each, computing + each - 1, computing + each, computing + 2 * each, 10**9)
    assert [layers_that_fit(config, settled.weights, 100, budget) for budget in budgets] == [0, 0, 0, 1, 2, 3]


@pytest.mark.parametrize("name", PACKED)
def test_packed_layers_stay_packed_there_and_a_piece_is_dequantized(config: ModelConfig, name: str) -> None:
    settled = fit_model(config, LoadOptions(weights=name, context=100))
    there = device_format(settled.weights)
    slots = [slot for slot in layer_slots(config, 0) if len(slot.shape) == 2]
    each = sum(settled.weights.slot_bytes(slot) for slot in slots) + 2 * 64 * 4 + 2 * 2 * 16 * 2 * 100
    computing = DEQUANTIZING_BYTES + 4 * 100 * (2 * 96 + 96 + 4 * 64)
    assert device_footprint(config, PlacementPlan("offload"), settled.weights, 100).total == computing
    budgets = (each, computing + each - 1, computing + each, computing + 2 * each)
    assert [layers_that_fit(config, settled.weights, 100, budget) for budget in budgets] == [0, 0, 1, 2]
    assert (there.activations, there.kind) == (torch.bfloat16, settled.weights.kind)


def test_layer_offload_keeps_room_for_its_ring_and_all_keys_and_values(config: ModelConfig) -> None:
    settled = fit_model(config, LoadOptions(weights="fp32", context=100))
    each, cache = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64), 3 * 2 * 2 * 16 * 4 * 100
    fixed = cache + 4 * 100 * (2 * 96 + 96 + 4 * 64)

    def planned(budget: int, gpu_layers: int | None = None) -> tuple[str, int, int]:
        options = LoadOptions(mode="layer-offload", gpu_layers=gpu_layers)
        plan = plan_device(config, settled.weights, 100, options, budget, False)
        there = device_footprint(config, plan.placement, settled.weights, settled.context)
        assert plan.size_bytes == there.total
        return plan.placement.kind, plan.placement.device_layers, plan.placement.buffers

    assert planned(fixed + 2 * each - 1) == ("resident", 0, 0)
    assert planned(fixed + 2 * each) == ("layer-offload", 0, 2)
    assert planned(fixed + 3 * each) == ("layer-offload", 3, 0)
    assert planned(fixed + 9 * each, gpu_layers=1) == ("layer-offload", 1, 2)


def test_only_modes_that_want_it_use_the_gpu_without_a_draft(config: ModelConfig) -> None:
    settled = fit_model(config, LoadOptions(weights="fp32", context=100))
    for mode, beside_draft, kind in (
        ("plain", False, "resident"),
        ("auto", False, "resident"),
        ("dovetail", True, "offload"),
        ("offload", False, "offload"),
    ):
        plan = plan_device(config, settled.weights, 100, LoadOptions(mode=mode), 10**9, beside_draft)
        assert (plan.placement.kind, plan.notes) == (kind, ())
    nothing = plan_device(config, settled.weights, 100, LoadOptions(mode="dovetail"), 1000, True)
    assert (nothing.placement.kind, nothing.notes) == ("resident", ())
