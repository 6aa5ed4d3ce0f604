"""A GGUF file's metadata as the config.json of a Hugging Face checkpoint.

Source: llama.cpp, convert_hf_to_gguf.py (the values that are written) and src/llama-model.cpp (the assumed ones).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import ConfigInvalid, UnsupportedModel
from engine.families import GGUF, SUPPORTED
from engine.families.family import Family, GgufForm
from engine.families.gguf_values import GgufValues

_MULTIPLIERS = {
    "embedding_scale": "embedding_multiplier",
    "residual_scale": "residual_multiplier",
    "logit_scale": "logits_scaling",
    "attention.scale": "attention_multiplier",
}
#: Values that scale or clamp numbers that Tenon does not: neutral ones are harmless.
_NEUTRAL = {
    "logit_scale": 1,
    "residual_scale": 1,
    "embedding_scale": 1,
    "attention.clamp_kqv": 0,
    "attention.max_alibi_bias": 0,
    "rope.scale_linear": 1,
    "rope.scaling.yarn_attn_factor": 1,
    "rope.scaling.yarn_ext_factor": 1,
    "rope.scaling.yarn_log_multiplier": 0,
    "expert_count": 0,
}

Floats = Callable[[str], "list[float]"]


def architecture_of(metadata: Mapping[str, Any]) -> str:
    """Return llama.cpp's name of the architecture.

    Raises:
        ConfigInvalid: The file names none.
        UnsupportedModel: Tenon does not run it.
    """
    said = metadata.get("general.architecture")
    if not isinstance(said, str):
        raise ConfigInvalid("The GGUF file names no architecture; choose another file of this model.")
    name = next((name for name, form in GGUF.items() if said in (name, *form.other_names)), None)
    if name is None:
        raise UnsupportedModel(
            "Tenon cannot run GGUF files of the architecture {name}; choose another model. It runs {names}.",
            name=said,
            names=", ".join(GGUF),
        )
    return name


def read_gguf_config(
    metadata: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], floats: Floats
) -> dict[str, Any]:
    """Return the content of config.json for the same model.

    Args:
        metadata: Metadata of the file.
        shapes: Shapes of its tensors, by llama.cpp's names.
        floats: Reads a tensor of a few numbers.

    Raises:
        ConfigInvalid: A value is missing or of the wrong kind.
        UnsupportedModel: Tenon cannot run this architecture, or a feature that the file asks for.
    """
    form = GGUF[architecture_of(metadata)]
    try:
        return _config(GgufValues(metadata, shapes, floats), form)
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, StopIteration) as error:
        raise ConfigInvalid(
            "A value in the GGUF file's metadata is missing or of the wrong kind; choose another file of this model.",
            details=repr(error),
        ) from error


def _config(file: GgufValues, form: GgufForm) -> dict[str, Any]:
    """Return the content of config.json."""
    family, shapes = SUPPORTED[form.architecture], file.shapes
    _refuse_features(file, form, family)
    own = {} if form.values is None else form.values(file)
    if family.experts is not None and file.value("expert_count", 0):
        own = {**_experts(file), **own}
    if family.multipliers:
        own |= {name: float(file.value(key, 0.0)) or 1.0 for key, name in _MULTIPLIERS.items()}
    if family.qkv_bias is None:
        own["attention_bias"] = "blk.0.attn_q.bias" in shapes
    if family.mlp_bias is None:
        own["mlp_bias"] = "blk.0.ffn_gate.bias" in shapes
    if family.query_key_norm is None:
        own["use_qk_norm"] = "blk.0.attn_q_norm.weight" in shapes
    for name, read in (
        ("intermediate_size", lambda: file.same("feed_forward_length")),
        ("num_key_value_heads", lambda: file.same("attention.head_count_kv", file.heads)),
        ("rope_parameters", file.rope),
    ):
        if name not in own:
            own[name] = read()
    return {
        "architectures": [form.architecture],
        "model_type": form.model_type,
        "vocab_size": shapes["token_embd.weight"][0],
        "hidden_size": file.hidden,
        "num_hidden_layers": file.layers,
        "num_attention_heads": file.heads,
        "head_dim": int(file.value("attention.key_length_swa", file.head_dim)),
        **file.given(int, max_position_embeddings="context_length"),
        **file.given(float, rms_norm_eps="attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": "output.weight" not in shapes,
        "bos_token_id": file.metadata.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": file.metadata.get("tokenizer.ggml.eos_token_id"),
        "pad_token_id": None,
        **own,
    }


def _refuse_features(file: GgufValues, form: GgufForm, family: Family) -> None:
    known = {*form.read, *(_MULTIPLIERS if family.multipliers else ())}
    if family.experts is not None:
        known.add("expert_count")
    for key, neutral in _NEUTRAL.items():
        found = file.value(key, neutral)
        if key not in known and found != neutral:
            raise UnsupportedModel(
                "Tenon has no {key} ({found}) in GGUF files of {architecture}; choose another model.",
                key=key,
                found=found,
                architecture=file.prefix,
            )
    if not family.latent and file.value("attention.value_length", file.head_dim) != file.head_dim:
        raise UnsupportedModel("Tenon has no heads whose keys and values differ in size; choose another model.")


def _experts(file: GgufValues) -> dict[str, Any]:
    router = "blk.{}.ffn_gate_inp.weight"
    # Ollama's converter leaves the width of an expert out for Qwen3.
    stacks = (shape for name, shape in file.shapes.items() if name.endswith("ffn_down_exps.weight"))
    return {
        "num_experts": int(file.value("expert_count")),
        "num_experts_per_tok": int(file.value("expert_used_count")),
        "moe_intermediate_size": next(stacks)[-1],
        "norm_topk_prob": bool(file.value("expert_weights_norm", True)),
        "routed_scaling_factor": float(file.value("expert_weights_scale", 0.0)) or 1.0,
        "mlp_layer_types": [
            "sparse" if router.format(layer) in file.shapes else "dense" for layer in range(file.layers)
        ],
    }
