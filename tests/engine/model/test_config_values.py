"""Defaults and older spellings of config.json: those of transformers' own config classes, for every family."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers
from transformers import CONFIG_MAPPING
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.lfm2.modeling_lfm2 import Lfm2MLP

from engine.families import VALUES
from engine.model.config_values import complete
from engine.model.rope import Rope, read_rope
from tests.engine.model.test_model_config import PUBLISHED
from tests.support.checkpoints import LLAMA3_ROPE, LONG_ROPE, SIZES, VARIANTS

FIELDS = (
    *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
    *("num_key_value_heads", "max_position_embeddings", "rms_norm_eps", "tie_word_embeddings"),
)
#: What only some families have.
OPTIONAL = (
    *("head_dim", "hidden_act", "hidden_activation", "attention_bias", "mlp_bias", "sliding_window"),
    *("layer_types", "no_rope_layers", "query_pre_attn_scalar", "attn_logit_softcapping"),
    *("final_logit_softcapping", "num_experts", "num_experts_per_tok", "moe_intermediate_size"),
    *("norm_topk_prob", "routed_scaling_factor", "n_group", "topk_group"),
)
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
LONG = {**LONG_ROPE, "short_factor": [1.5] * 8, "long_factor": [4.0] * 8}

CASES: list[tuple[str, dict[str, Any]]] = [
    # GLM-4's own default turns 21 channels of 42, which are no pairs.
    *((model_type, {"head_dim": 128} if model_type == "glm4_moe" else {}) for model_type in VALUES),
    *((model_type, SIZES) for model_type in VALUES),
    *((model_type, {**SIZES, "num_key_value_heads": None}) for model_type in ("llama", "qwen2", "phi3")),
    ("llama", {**SIZES, "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2.0}}),
    ("llama", {**SIZES, "rope_theta": 5e5, "rope_scaling": None}),
    ("llama", {**SIZES, "rope_scaling": {**YARN, "truncate": False, "beta_fast": 8}}),
    ("llama", {**SIZES, "rope_scaling": {**YARN, "mscale": 1.0, "mscale_all_dim": 0.5}}),
    ("llama", {**SIZES, "rope_scaling": {**YARN, "attention_factor": 1.25, "beta_slow": 2}}),
    ("llama", {**SIZES, "rope_scaling": LLAMA3_ROPE, "original_max_position_embeddings": 32}),
    ("llama", {**SIZES, "rope_scaling": {**LONG, "factor": 8.0}}),
    ("llama", {**SIZES, "head_dim": 24, "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}),
    ("mistral", {**SIZES, "sliding_window": None, "rope_scaling": YARN}),
    ("qwen2", {**SIZES, "use_sliding_window": True, "max_window_layers": 1}),
    ("qwen3", {**SIZES, "rope_parameters": {"rope_type": "yarn", "factor": 2.0, "rope_theta": 1e6}}),
    ("qwen3", {**SIZES, "use_sliding_window": True, "layer_types": ["sliding_attention"] * 3}),
    ("smollm3", {**SIZES, "use_sliding_window": True, "sliding_window": 16, "no_rope_layer_interval": 2}),
    ("smollm3", {**SIZES, "no_rope_layers": [1, 0, 1]}),
    ("phi3", {**SIZES, "rope_scaling": {**LONG, "attention_factor": 1.5}, "sliding_window": 20}),
    ("lfm2", {**SIZES, "full_attn_idxs": [1], "block_ff_dim": 384, "tie_embedding": False, "norm_eps": 1e-4}),
    (
        "lfm2",
        {**SIZES, "block_ffn_dim_multiplier": 1.3, "block_multiple_of": 32, "layer_types": ["conv"] * 3},
    ),
    ("gemma2", {**SIZES, "attn_logit_softcapping": None, "final_logit_softcapping": None}),
    ("gemma3_text", {**SIZES, "sliding_window_pattern": 2, "rope_theta": 2e6, "rope_local_base_freq": 5e3}),
    ("gemma3_text", {**SIZES, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}),
    ("gemma3_text", {**SIZES, "rope_parameters": {"full_attention": {"rope_type": "default"}}}),
    *((PUBLISHED[name]["model_type"], PUBLISHED[name]) for name in PUBLISHED if "gemma" not in name),
    ("gemma3_text", PUBLISHED["gemma-3-4b"]["text_config"]),
    *(
        (getattr(transformers, architecture).config_class.model_type, {**SIZES, **own})
        for architecture, own in VARIANTS.values()
    ),
]


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


def reference_rope(config: Any, layer_type: str | None) -> Rope:
    """The same by transformers' own functions."""
    parameters = config.rope_parameters[layer_type] if layer_type else config.rope_parameters
    kind = parameters["rope_type"]
    if kind == "default":
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        size = int(head_dim * (parameters.get("partial_rotary_factor") or 1.0))
        powers = parameters["rope_theta"] ** (torch.arange(0, size, 2, dtype=torch.float) / size)
        return Rope(tuple((1.0 / powers).tolist()))
    compute = ROPE_INIT_FUNCTIONS[kind]
    short, scaling = compute(config, torch.device("cpu"), layer_type=layer_type)
    if kind != "longrope":
        return Rope(tuple(short.tolist()), scaling)
    original = parameters["original_max_position_embeddings"]
    long, _ = compute(config, torch.device("cpu"), seq_len=original + 1)
    return Rope(tuple(short.tolist()), scaling, tuple(long.tolist()), original)


@pytest.mark.parametrize(("model_type", "raw"), CASES)
def test_values_are_those_that_transformers_reads(model_type: str, raw: dict[str, Any]) -> None:
    raw = {**raw, "model_type": model_type}
    before = copy.deepcopy(raw)
    ours = complete(raw, model_type)
    assert raw == before
    theirs = CONFIG_MAPPING[model_type].from_dict(copy.deepcopy(raw))
    theirs.allow_global_per_layer_attribute_access = True  # Gemma 4's layers differ: what most have
    expected = {name: getattr(theirs, name, None) for name in FIELDS}
    if model_type.startswith("lfm2"):
        expected["rms_norm_eps"] = theirs.norm_eps
    if model_type == "nemotron_h":
        expected["rms_norm_eps"] = theirs.layer_norm_epsilon
    if model_type == "qwen3_5_moe_text":  # which has no networks but experts
        expected["intermediate_size"] = raw.get("intermediate_size", theirs.moe_intermediate_size)
    if model_type in ("qwen3_vl_text", "qwen3_vl_moe_text"):  # whose text part says nothing of it
        expected["tie_word_embeddings"] = raw.get("tie_word_embeddings", False)
    if model_type == "lfm2":  # whose networks are narrower than the config says
        with torch.device("meta"):
            expected["intermediate_size"] = Lfm2MLP(theirs).w1.out_features
    assert {name: ours[name] for name in FIELDS} == expected
    for name in OPTIONAL:
        if hasattr(theirs, name) and (name != "layer_types" or theirs.layer_types is not None):
            # Qwen2 with experts has a window of 0 where there is none.
            none = name == "sliding_window" and not theirs.sliding_window
            assert ours[name] == (None if none else getattr(theirs, name)), name
    head_dim = getattr(theirs, "head_dim", None) or theirs.hidden_size // theirs.num_attention_heads
    assert ours["head_dim"] == head_dim
    if model_type == "nemotron_h":  # which rotates nothing
        assert ours["no_rope_layers"] == [0] * len(theirs.layer_types)
        return
    nested = [key for key in ("full_attention", "sliding_attention") if key in theirs.rope_parameters]
    assert [key for key in ("full_attention", "sliding_attention") if key in ours["rope_parameters"]] == nested
    for layer_type in nested or [None]:
        whole = ours.get("global_head_dim") if layer_type == "full_attention" else None
        found, expected_rope = read_rope(ours, layer_type, True, whole), reference_rope(theirs, layer_type)
        # Powers of float32 are off by one unit in their last place in torch, and each step after them rounds once.
        for name in ("frequencies", "long_frequencies"):
            assert (getattr(found, name) or ()) == pytest.approx(getattr(expected_rope, name) or (), rel=4 * 2**-23), (
                name
            )
        assert replace(found, frequencies=(), long_frequencies=None) == replace(
            expected_rope, frequencies=(), long_frequencies=None
        )


def test_phi_3s_first_name_of_longrope_is_known() -> None:
    """transformers forgets the context that it counts from."""
    old, new = (complete({**SIZES, "rope_scaling": {**LONG, "rope_type": name}}, "phi3") for name in ("su", "longrope"))
    assert read_rope(old, None, True) == read_rope(new, None, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": "64"},
        {"vocab_size": None},
        {"num_hidden_layers": 2.5},
        {"rms_norm_eps": None},
        {"tie_word_embeddings": "no"},
        {"attention_bias": 1},
        {"max_position_embeddings": True},
    ],
)
def test_values_of_the_wrong_kind_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(changes))):
        complete({**SIZES, **changes}, "llama")


def test_a_window_that_is_not_used_may_be_any() -> None:
    raw = {"num_hidden_layers": 2, "use_sliding_window": False, "sliding_window": 0}
    assert complete(raw, "qwen2_moe")["sliding_window"] is None
