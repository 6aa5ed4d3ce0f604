"""Routers against those of transformers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from transformers.models.glm4_moe_lite.modeling_glm4_moe_lite import Glm4MoeLiteTopkRouter
from transformers.models.granitemoe.modeling_granitemoe import GraniteMoeTopKRouter
from transformers.models.lfm2_moe.modeling_lfm2_moe import Lfm2MoeTopKRouter
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeTopKRouter

from engine.model.mixture import Mixture, choose

ROWS = torch.randn(200, 32, generator=torch.Generator().manual_seed(1))
WEIGHT = torch.randn(24, 32, generator=torch.Generator().manual_seed(2)) * 0.4
CORRECTION = torch.rand(24, generator=torch.Generator().manual_seed(3)) - 0.5
SIZES: dict[str, Any] = {"hidden_size": 32, "num_experts_per_tok": 5}


def qwen(normalised: bool) -> Any:
    config = transformers.Qwen3MoeConfig(**SIZES, num_experts=24, norm_topk_prob=normalised)
    return Qwen3MoeTopKRouter(config)


def granite() -> Any:
    return GraniteMoeTopKRouter(transformers.GraniteMoeConfig(**SIZES, num_local_experts=24))


def glm(groups: int, chosen_groups: int) -> Any:
    config = transformers.Glm4MoeLiteConfig(
        **SIZES,
        n_routed_experts=24,
        n_group=groups,
        topk_group=chosen_groups,
        norm_topk_prob=True,
        routed_scaling_factor=1.8,
    )
    router = Glm4MoeLiteTopkRouter(config)
    router.e_score_correction_bias.copy_(CORRECTION)
    return router


def lfm(normalised: bool) -> Any:
    config = transformers.Lfm2MoeConfig(
        **SIZES,
        num_experts=24,
        num_attention_heads=4,
        num_key_value_heads=2,
        norm_topk_prob=normalised,
        use_expert_bias=True,
        routed_scaling_factor=1.5,
    )
    return Lfm2MoeTopKRouter(config)


@pytest.mark.parametrize(
    ("router", "own"),
    [
        (qwen(True), {}),
        (qwen(False), {"normalised": False}),
        (granite(), {}),
        (glm(1, 1), {"scores": "sigmoid", "sum_floor": 1e-20, "scale": 1.8}),
        (glm(6, 2), {"scores": "sigmoid", "sum_floor": 1e-20, "scale": 1.8, "groups": 6, "chosen_groups": 2}),
        (lfm(True), {"scores": "sigmoid", "sum_floor": 1e-6, "scale": 1.5}),
        (lfm(False), {"scores": "sigmoid", "normalised": False, "scale": 1.5}),
    ],
    ids=("softmax", "shares of all", "top-k first", "sigmoid", "groups", "bias", "bias, not normalised"),
)
@torch.no_grad()
def test_experts_and_weights_are_those_of_transformers(router: Any, own: dict[str, Any]) -> None:
    router.weight.copy_(WEIGHT)
    corrected = own.get("scores") == "sigmoid"
    given = (CORRECTION,) if isinstance(router, Lfm2MoeTopKRouter) else ()
    _, their_weights, their_experts = router(ROWS, *given)
    mixture = Mixture(24, 5, 16, (True,), corrected=corrected, **own)
    experts, weights = choose(mixture, ROWS @ WEIGHT.t(), CORRECTION if corrected else None)
    theirs = torch.zeros(200, 24).scatter(1, their_experts, their_weights)
    torch.testing.assert_close(torch.zeros(200, 24).scatter(1, experts, weights), theirs)
