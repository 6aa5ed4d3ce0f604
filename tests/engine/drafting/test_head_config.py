"""The blocks' sizes as the heads' own code reads config.json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.drafting.head_layout import block_config
from engine.errors import UnsupportedModel
from engine.model.config import ModelConfig, read_config
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import LLAMA3_ROPE
from tests.support.heads import CONFIG

ANGLE = 2 / 16  # of the second pair of a head of 16


def read(raw: dict[str, Any], eagle3: bool = True) -> ModelConfig:
    return block_config({**CONFIG, **raw}, eagle3, "", 9)[0]


def speculators(**layer: Any) -> dict[str, Any]:
    return {"speculators_model_type": "eagle3", "transformer_layer_config": {**CONFIG, **layer}}


def test_without_rope_theta_it_turns_by_ten_thousand_whatever_the_target_does() -> None:
    assert read({}).ropes[0].frequencies[1] == pytest.approx(10000**-ANGLE)
    assert read({"rope_theta": 5e5}).ropes[0].frequencies[1] == pytest.approx(5e5**-ANGLE)


@pytest.mark.parametrize("nested", [False, True])
def test_llama3_scaling_is_the_targets(checkpoint_of: Callable[[str], Path], nested: bool) -> None:
    target = read_config(Checkpoint(checkpoint_of("llama3-rope")))
    scaling = {name: value for name, value in LLAMA3_ROPE.items() if name != "rope_theta"}
    old = {"rope_theta": LLAMA3_ROPE["rope_theta"], "rope_scaling": scaling}
    assert read(speculators(**old) if nested else old).ropes == target.ropes
    assert read(speculators(rope_parameters=dict(LLAMA3_ROPE))).ropes == target.ropes


def test_layers_that_turn_differently_are_refused() -> None:
    each = {"rope_type": "default", "rope_theta": 1e6}
    both = {"full_attention": each, "sliding_attention": {**each, "rope_theta": 1e4}}
    with pytest.raises(UnsupportedModel, match="layers have different RoPE"):
        read(speculators(rope_parameters=both))


def test_biases_are_those_that_the_heads_own_code_has() -> None:
    assert not read({"attention_bias": True, "mlp_bias": True}).qkv_bias
    assert read({"qkv_bias": True}, eagle3=False).qkv_bias
    assert read(speculators(attention_bias=True)).output_bias


def test_only_eagle_3_reads_a_head_width() -> None:
    assert read({"head_dim": 32}).head_dim == 32
    assert read({"head_dim": 32}, eagle3=False).head_dim == 16


def test_eagle_3s_own_code_has_one_block_whatever_config_json_says() -> None:
    assert read({"num_hidden_layers": 5}).layers == 1
    assert read({"num_hidden_layers": 5}, eagle3=False).layers == 5
    assert read(speculators(num_hidden_layers=2)).layers == 2
