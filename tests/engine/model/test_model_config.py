"""config.json: what is understood, and what is refused by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ConfigInvalid, UnsupportedModel
from engine.families import SUPPORTED
from engine.model.config import ModelConfig, read_config
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from tests.support.checkpoints import SIZES, VARIANTS

#: config.json as the model's own folder has it, in the spelling of its time, shortened to what counts.
PUBLISHED: dict[str, dict[str, Any]] = {
    "Llama-3.2-1B": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "head_dim": 64,
        "hidden_act": "silu",
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "max_position_embeddings": 131072,
        "num_attention_heads": 32,
        "num_hidden_layers": 16,
        "num_key_value_heads": 8,
        "rms_norm_eps": 1e-05,
        "rope_scaling": {
            "factor": 32.0,
            "high_freq_factor": 4.0,
            "low_freq_factor": 1.0,
            "original_max_position_embeddings": 8192,
            "rope_type": "llama3",
        },
        "rope_theta": 500000.0,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "vocab_size": 128256,
    },
    "Qwen2.5-0.5B": {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_act": "silu",
        "hidden_size": 896,
        "intermediate_size": 4864,
        "max_position_embeddings": 32768,
        "max_window_layers": 21,
        "num_attention_heads": 14,
        "num_hidden_layers": 24,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-06,
        "rope_theta": 1000000.0,
        "sliding_window": 32768,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "use_sliding_window": False,
        "vocab_size": 151936,
    },
    "Phi-3-mini-128k": {
        "architectures": ["Phi3ForCausalLM"],
        "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"},
        "model_type": "phi3",
        "hidden_act": "silu",
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "max_position_embeddings": 131072,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 32,
        "original_max_position_embeddings": 4096,
        "rms_norm_eps": 1e-05,
        "rope_scaling": {"long_factor": [2.0] * 48, "short_factor": [1.0] * 48, "type": "longrope"},
        "rope_theta": 10000.0,
        "sliding_window": 262144,
        "tie_word_embeddings": False,
        "vocab_size": 32064,
    },
    "gemma-3-4b": {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "text_config": {
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "model_type": "gemma3_text",
            "num_hidden_layers": 34,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            "sliding_window": 1024,
        },
        "vision_config": {"hidden_size": 1152, "model_type": "siglip_vision_model"},
    },
}


@pytest.fixture
def folder(llama_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(llama_folder, tmp_path / "model", ignore=shutil.ignore_patterns("*.packed")))


def read_changed(folder: Path, **changes: Any) -> ModelConfig:
    """The config of a checkpoint whose config.json says something else."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
    return read_config(Checkpoint(folder))


def read_published(folder: Path, name: str) -> ModelConfig:
    """The config of a model whose weights are not here."""
    (folder / "config.json").write_text(json.dumps(PUBLISHED[name]))
    return read_config(CheckpointOutline(folder))


def test_every_supported_architecture_is_compared_with_transformers() -> None:
    compared = {architecture for architecture, _ in VARIANTS.values()}
    # test_vision_checkpoint.py
    multimodal = ("Gemma3", "Gemma4", "Gemma4Unified", "Lfm3Vl", "Mistral3", "Qwen3_5", "Qwen3_5Moe")
    multimodal += ("SmolVLM", "Idefics3", "Qwen3VL", "Qwen3VLMoe", "Lfm2Vl")  # tests/engine/vision
    compared |= {f"{name}ForConditionalGeneration" for name in multimodal}
    apart = {f"MuseGlimmerFor{end}" for end in ("CausalLM", "ConditionalGeneration")}
    gguf = {"Qwen3VLForCausalLM", "Qwen3VLMoeForCausalLM"}
    assert set(SUPPORTED) - compared == {*apart, *gguf}


def test_sizes_are_those_of_the_file(folder: Path) -> None:
    config = read_config(Checkpoint(folder))
    assert config.hidden_size == SIZES["hidden_size"]
    assert config.layers == SIZES["num_hidden_layers"]
    assert (config.heads, config.kv_heads, config.group, config.head_dim) == (4, 2, 2, 16)
    assert config.vocabulary_size == SIZES["vocab_size"]
    assert config.context_length == SIZES["max_position_embeddings"]
    assert hash(config) == hash(read_config(Checkpoint(folder)))


def test_llama_3_scaling_is_read_in_the_older_spelling(folder: Path) -> None:
    config = read_published(folder, "Llama-3.2-1B")
    frequencies = config.ropes[0].frequencies
    assert len(frequencies) == 32
    assert frequencies[0] == 1.0
    assert frequencies[-1] == pytest.approx(500000.0 ** (-62 / 64) / 32.0)
    assert config.tied


def test_qwen_slides_only_when_told_to(folder: Path) -> None:
    config = read_published(folder, "Qwen2.5-0.5B")
    assert config.windows == (None,) * 24
    assert config.qkv_bias
    assert not config.output_bias


def test_phi_3_has_two_sets_of_frequencies(folder: Path) -> None:
    config = read_published(folder, "Phi-3-mini-128k")
    (rope,) = config.ropes
    assert rope.long_frequencies == tuple(frequency / 2 for frequency in rope.frequencies)
    assert rope.original_context == 4096
    assert rope.attention_scaling == pytest.approx((1 + 5 / 12) ** 0.5)
    assert config.windows == (262144,) * 32


def test_gemma_3_takes_its_text_part(folder: Path) -> None:
    config = read_published(folder, "gemma-3-4b")
    assert config.windows[:6] == (1024,) * 5 + (None,)
    assert config.layer_ropes[:6] == (1,) * 5 + (0,)
    assert config.ropes[0].frequencies[0] == pytest.approx(1 / 8)
    assert config.ropes[1].frequencies[0] == 1.0
    assert config.embedding_scale == 2560**0.5


@pytest.mark.parametrize("architecture", ["MixtralForCausalLM", "GPT2LMHeadModel"])
def test_another_architecture_is_refused_with_the_list(folder: Path, architecture: str) -> None:
    with pytest.raises(UnsupportedModel) as caught:
        read_changed(folder, architectures=[architecture])
    assert architecture in caught.value.message
    assert all(family.name in caught.value.message for family in SUPPORTED.values())


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"quantization_config": {"quant_method": "vptq", "bits": 4}}, "vptq"),
        ({"hidden_act": "relu2"}, "relu2"),
        (
            {"rope_scaling": {"rope_type": "axial", "factor": 2.0}, "rope_parameters": None},
            "axial",
        ),
        (
            {"rope_scaling": {"rope_type": "default", "mrope_section": [1, 2]}, "rope_parameters": None},
            "mrope_section",
        ),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        ({"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
        ({"use_bidirectional_attention": True}, "use_bidirectional_attention"),
    ],
)
def test_a_feature_that_is_not_there_is_refused_by_name(folder: Path, changes: dict[str, Any], name: str) -> None:
    with pytest.raises(UnsupportedModel, match=name) as caught:
        read_changed(folder, **changes)
    assert caught.value.message.endswith(".")


def test_an_unknown_kind_of_layer_is_refused(folder: Path) -> None:
    qwen = {**PUBLISHED["Qwen2.5-0.5B"], "num_hidden_layers": 2}
    qwen["layer_types"] = ["full_attention", "linear_attention"]
    with pytest.raises(UnsupportedModel, match="linear_attention"):
        read_changed(folder, **qwen)


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": "wide"},
        {"num_attention_heads": 0},
        {"num_key_value_heads": 3},
        {"num_hidden_layers": None},
        {"num_hidden_layers": 1 << 40},
        {"num_hidden_layers": 0},
        {"num_hidden_layers": -1},
        {"hidden_size": 0},
        {"max_position_embeddings": 1 << 64},
        {"max_position_embeddings": float("inf")},
        {"rms_norm_eps": float("nan")},
        {"rms_norm_eps": 10**400},
        {"head_dim": 3},
        {"rope_theta": float("nan")},
        {"rope_theta": -1.0},
        {"rope_scaling": {"rope_type": "linear", "factor": 0.0}},
        {"rope_scaling": {"rope_type": "linear", "factor": float("inf")}},
        {"rope_scaling": {"rope_type": "yarn", "factor": float("nan")}},
        {
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": True,
                "low_freq_factor": True,
                "high_freq_factor": 4,
            }
        },
        {"rope_scaling": {"rope_type": "longrope", "short_factor": [1], "long_factor": [[1]]}},
        {"rope_scaling": [1]},
    ],
)
def test_a_senseless_value_is_refused(folder: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigInvalid):
        read_changed(folder, **changes)


def test_more_experts_per_token_than_experts_are_refused(checkpoint_of: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint_of("qwen3-moe"), tmp_path / "model"))
    for count in (13, 0):
        with pytest.raises(ConfigInvalid, match=f"{count} experts per token where there are 12"):
            read_changed(folder, num_experts_per_tok=count)


@pytest.mark.parametrize(
    ("variant", "groups"), [("qwen35", "linear_num_key_heads"), ("granite-hybrid", "mamba_n_groups")]
)
def test_heads_that_share_keys_are_a_multiple(checkpoint_of: Any, tmp_path: Path, variant: str, groups: str) -> None:
    folder = Path(shutil.copytree(checkpoint_of(variant), tmp_path / "model"))
    with pytest.raises(ConfigInvalid, match="share 3 key heads"):
        read_changed(folder, **{groups: 3})


@pytest.mark.parametrize(
    ("variant", "changes", "said"),
    [
        ("nemotron-h", {"layers_block_type": None, "hybrid_override_pattern": "M-*X"}, "no layers of the type X"),
        ("granite-hybrid", {"layer_types": ["mamba", "attention", "rwkv", "mamba"]}, "no layers of the type rwkv"),
        ("granite-hybrid", {"mamba_conv_bias": False}, "mamba_conv_bias as True alone"),
        ("nemotron-h", {"mlp_hidden_act": "silu"}, "no activation silu; it has relu2"),
        ("nemotron-h", {"time_step_limit": [0.1, 0.2]}, "time_step_limit"),
    ],
)
def test_a_mamba_that_nobody_knows_is_refused(
    variant: str, changes: dict[str, Any], said: str, checkpoint_of: Any, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint_of(variant), tmp_path / "model"))
    with pytest.raises(UnsupportedModel, match=said):
        read_changed(folder, **changes)


@pytest.mark.parametrize("pattern", ["M-M*-", ["mamba", "mlp", "mamba", "attention", "mlp"]])
def test_older_spellings_of_kinds_of_layers_are_known(pattern: Any, checkpoint_of: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint_of("nemotron-h"), tmp_path / "model"))
    key = "hybrid_override_pattern" if isinstance(pattern, str) else "layers_block_type"
    config = read_changed(folder, **{"layers_block_type": None, key: pattern})
    assert config.convolutions == (True, False, True, False, False)
    assert config.networks == (False, True, False, False, True)
