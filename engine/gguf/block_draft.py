"""Drafts of a whole block (DFlash, DSpark) in GGUF, in the terms of DeepSpec's checkpoints.

PrismML's older files call themselves ``dspark``, count outputs of the target's layers and not inputs, and hold copies
of the target's embedding and head, which are left out. A key that is not known keeps its name, so that it is refused.

Sources: llama.cpp, conversion/qwen.py (``DFlashModel``, ``DSparkModel``) and src/models/dflash.cpp; PrismML's
llama.cpp, conversion/dspark.py and gguf-py/gguf/scripts/gguf_dspark_to_dflash.py.
"""

from __future__ import annotations

from typing import Any

from engine.gguf.config import bad_metadata
from engine.gguf.header import GgufHeader
from engine.gguf.model import GgufFile, sources
from engine.gguf.rotations import read_rotations

_LEGACY = "dspark."
_KEYS = {
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.causal": "is_causal",
    "attention.sliding_window": "sliding_window",
    "rope.freq_base": "rope_theta",
    "target_layers": "target_layer_ids",
}
# Keys that shapes of tensors say too, that differ for images only, and that say how many guesses to check.
_UNREAD = ("vocab_size", "markov_rank", "rope.dimension_sections", "confidence_head", "has_confidence_head")
_MODULES = {
    "enc.output_norm": "hidden_norm",
    "markov_w1": "markov_head.markov_w1",
    "markov_w2": "markov_head.markov_w2",
    "markov_head_a": "markov_head.markov_w1",
    "markov_head_b": "markov_head.markov_w2",
    "conf_proj": "confidence_head.proj",
    "confidence_head": "confidence_head.proj",
    "log_snr_fc1": "log_snr_embed.fc1",
    "log_snr_fc2": "log_snr_embed.fc2",
}
_TABLE, _SHARED = "markov_head.markov_w1.weight", ("embed_tokens.weight", "lm_head.weight")


def read_block_draft(header: GgufHeader) -> tuple[dict[str, Any], GgufFile]:
    """Return the config of a draft, and its tensors by their names.

    Raises:
        ConfigInvalid: A value is missing, or of the wrong kind.
    """
    try:
        return _read(header)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise bad_metadata(error) from error


def _read(header: GgufHeader) -> tuple[dict[str, Any], GgufFile]:
    metadata, prefix = header.metadata, f"{header.metadata['general.architecture']}."
    own = {key.replace(prefix, ""): value for key, value in metadata.items() if key.startswith(prefix)}
    slides = own.pop("attention.sliding_window_pattern", ())
    config: dict[str, Any] = {_KEYS.get(key, key): value for key, value in own.items() if key not in _UNREAD}
    shapes = {name: tensor.shape for name, tensor in header.tensors.items()}
    found = {}
    for name, source in sources(shapes, "qwen3", 0, 0).items():
        module, _, kind = name.removeprefix("model.").removeprefix(_LEGACY).rpartition(".")
        found[f"{_MODULES.get(module, module)}.{kind}" if module else kind] = source
    table = shapes[found[_TABLE].name] if _TABLE in found else None
    vocabulary = found.get(_SHARED[0])
    config["vocab_size"] = (
        table[0] if table else shapes[vocabulary.name][0] if vocabulary else len(metadata["tokenizer.ggml.tokens"])
    )
    if prefix == _LEGACY:
        found = {name: source for name, source in found.items() if name not in _SHARED}
    each = config.setdefault("head_dim", config["hidden_size"] // config["num_attention_heads"])
    same = ("attention.value_length", "rope.dimension_count")
    config = {key: value for key, value in config.items() if key not in same or value != each}
    config["mask_token_id"] = metadata.get("tokenizer.ggml.mask_token_id", config.get("mask_token_id"))
    config["target_layer_ids"] = [layer - (prefix != _LEGACY) for layer in config["target_layer_ids"]]
    config["markov_rank"] = table[1] if table else 0
    config["draft_vocab_size"] = shapes.get("d2t", (config["vocab_size"],))[0]
    config.setdefault("sample_from_anchor", table is not None)
    if slides and config.get("sliding_window"):
        config["layer_types"] = ["sliding_attention" if one else "full_attention" for one in slides]
    return config, GgufFile(header, found, read_rotations(metadata, shapes))
