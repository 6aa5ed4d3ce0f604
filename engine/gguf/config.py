"""A GGUF file's metadata as the config.json and generation_config.json of a Hugging Face checkpoint.

Source: llama.cpp, convert_hf_to_gguf.py (the values that are written) and src/llama-model.cpp (the assumed ones).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import ConfigInvalid, UnsupportedModel
from engine.families import GGUF, LINES, SUPPORTED
from engine.families.family import Family, GgufForm
from engine.families.gguf_values import GgufValues
from engine.gguf.header import Strings

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
#: Texts of tokens that end a reply in every vocabulary that has them. Source: llama.cpp, src/llama-vocab.cpp.
END_TEXTS = frozenset(
    (
        *("<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<end_of_utterance>", "<|flush|>", "<|calls|>", "[e~["),
        *(text for line in LINES for text in line.ends),
    )
)
# Code models write these between two files; a file may name others by the keys.
_BETWEEN_FILES = {
    "fim_pad": frozenset(("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]")),
    "fim_rep": frozenset(("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>")),
    "fim_sep": frozenset(("<|file_sep|>",)),
}
_SENTENCE_PIECE_END = 2
#: ``general.sampling``'s names, and generation_config.json's.
_SAMPLING = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_repeat": "repetition_penalty",
}


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
        shapes: Shapes of its tensors, by llama.cpp's names.
        floats: Reads a tensor of a few numbers.

    Raises:
        ConfigInvalid: A value is missing or of the wrong kind.
        UnsupportedModel: Tenon cannot run this architecture, or a feature that the file asks for.
    """
    form = GGUF[architecture_of(metadata)]
    try:
        return _config(GgufValues(metadata, shapes, floats), form)
    except (LookupError, TypeError, ValueError, ArithmeticError, StopIteration) as error:
        raise bad_metadata(error) from error


def bad_metadata(error: Exception) -> ConfigInvalid:
    """Return the error for a value that is missing or makes no sense."""
    return ConfigInvalid(
        "A value in the GGUF file's metadata is missing or of the wrong kind; choose another file of this model.",
        details=repr(error),
    )


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


def read_end_ids(metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the tokens that end a reply: those that the metadata names, and those whose text says so."""
    tokens = metadata.get("tokenizer.ggml.tokens")
    texts = list(tokens) if isinstance(tokens, (list, Strings)) else []

    def named(key: str) -> int | None:
        index = metadata.get(f"tokenizer.ggml.{key}_token_id")
        return index if isinstance(index, int) and 0 <= index < len(texts) else None

    listed = metadata.get("tokenizer.ggml.eos_token_ids")
    more = listed if isinstance(listed, list) else []
    ends = {named(key) for key in ("eos", "eot", "eom")} | {
        index for index in more if isinstance(index, int) and 0 <= index < len(texts)
    }
    if metadata.get("tokenizer.ggml.model") == "llama" and named("eos") is None and len(texts) > 2:
        ends.add(_SENTENCE_PIECE_END)
    between = {key: named(key) for key in _BETWEEN_FILES}
    sought = END_TEXTS.union(*(_BETWEEN_FILES[key] for key, index in between.items() if index is None))
    found = {index: text for index, text in enumerate(texts) if text in sought}
    found |= {index: texts[index] for index in (*ends, *between.values()) if index is not None}
    return _ends(found)


def end_ids_by_text(id_of: Callable[[str], int | None]) -> tuple[int, ...]:
    """Return the tokens that end a reply in a vocabulary that says nothing but their texts.

    Args:
        id_of: Returns the id of a token by its text, or None if there is none.
    """
    ids = {text: id_of(text) for text in END_TEXTS.union(*_BETWEEN_FILES.values())}
    return _ends({index: text for text, index in ids.items() if index is not None})


def _ends(found: Mapping[int, str]) -> tuple[int, ...]:
    """Return the tokens, given with their texts, that end a reply beside the others."""
    known, others = set(found.values()), set()
    if known & {"<|call|>", "<|calls|>"} and known & {"<|return|>", "<|flush|>"}:
        others.add("<|end|>")  # ends a channel here, and not the reply
    if known & {"<|tool_response>", "<|plamo:eos|>"}:
        others.add("</s>")  # a word like others here, for HTML
    return tuple(sorted(index for index, text in found.items() if text not in others))


def sampling_pairs(advised: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata for the sampling that a generation_config.json advises."""
    kinds = {"top_k": int}
    return {
        f"general.sampling.{key}": kinds.get(key, float)(advised[name])
        for key, name in _SAMPLING.items()
        if isinstance(advised.get(name), (int, float)) and not isinstance(advised[name], bool)
    }


def read_sampling(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the advised sampling in the form of generation_config.json, or nothing if the file advises none."""
    advised = {
        name: metadata[f"general.sampling.{key}"]
        for key, name in _SAMPLING.items()
        if isinstance(metadata.get(f"general.sampling.{key}"), (int, float))
    }
    return {"do_sample": True, **advised} if advised else {}
