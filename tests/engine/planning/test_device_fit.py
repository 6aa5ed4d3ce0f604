from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.linear import DEQUANTIZING_BYTES
from engine.planning.device_fit import device_format, layers_that_fit
from engine.planning.fit import fit_model
from engine.weights.checkpoint import Checkpoint
from tests.support.packed_models import PACKED


@pytest.fixture
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


def test_a_gpu_takes_as_many_layers_as_its_budget_holds(config: ModelConfig) -> None:
    settled = fit_model(config, LoadOptions(weights="fp32", context=100))
    each = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 2 * 16 * 4 * 100
    found = [layers_that_fit(config, settled, budget) for budget in (-1, each - 1, each, 2 * each, 10**9)]
    assert found == [0, 0, 1, 2, 3]


@pytest.mark.parametrize("name", PACKED)
def test_packed_layers_stay_packed_there_and_a_piece_is_dequantized(config: ModelConfig, name: str) -> None:
    settled = fit_model(config, LoadOptions(weights=name, context=100))
    there = device_format(settled.weights)
    shapes = ((128, 64), (64, 64), (192, 64), (64, 96))
    each = sum(settled.weights.matrix_bytes(*shape) for shape in shapes) + 2 * 64 * 4 + 2 * 2 * 16 * 2 * 100
    budgets = (each, DEQUANTIZING_BYTES + each - 1, DEQUANTIZING_BYTES + each, DEQUANTIZING_BYTES + 2 * each)
    assert [layers_that_fit(config, settled, budget) for budget in budgets] == [0, 0, 1, 2]
    assert (there.activations, there.packing) == (torch.bfloat16, settled.weights.packing)
