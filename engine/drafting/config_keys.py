"""Keys of a draft's config.json: one that nothing here reads may change what the draft computes, so it is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.errors import ConfigInvalid, UnsupportedModel

# Values of transformers' configs that say nothing about a forward: names, training, generation.
_HARMLESS = frozenset(
    (
        "architectures",
        "attention_dropout",
        "auto_map",
        "decoder_start_token_id",
        "dtype",
        "embed_requires_grad",
        "has_no_defaults_at_init",
        "id2label",
        "initializer_range",
        "label2id",
        "length_penalty",
        "max_length",
        "max_window_layers",
        "model_max_length",
        "model_type",
        "name_or_path",
        "num_anchors",
        "num_beam_groups",
        "num_beams",
        "num_return_sequences",
        "pretraining_tp",
        "problem_type",
        "repetition_penalty",
        "return_dict",
        "speculators_config",
        "speculators_model_type",
        "speculators_version",
        "target_model_name_or_path",
        "target_model_type",
        "target_vocab_size",
        "temperature",
        "tie_word_embeddings",
        "tokenizer_class",
        "top_k",
        "top_p",
        "torch_dtype",
        "transformers_version",
        "typical_p",
        "use_cache",
        "verifier_attachment_mode",
    )
)
_HARMLESS_ENDS = ("_token_id", "_dropout", "_pdrop")


def check_keys(config: Mapping[str, Any], read: Collection[str]) -> None:
    """Refuse values that are set and that nothing reads.

    Args:
        config: config.json, or a part of it.
        read: Keys that are read.

    Raises:
        UnsupportedModel: There are others; names them.
    """
    unknown = sorted(
        key
        for key, value in config.items()
        if value
        and key not in read
        and key not in _HARMLESS
        and not key.startswith("_")
        and (key == "mask_token_id" or not key.endswith(_HARMLESS_ENDS))
    )
    if unknown:
        raise UnsupportedModel(
            "The draft's config.json has {keys}, which Tenon does not know and which may change what the draft "
            "computes; choose another draft, or take that out if it says nothing about the computation.",
            keys=", ".join(unknown),
        )


def refuse(key: str, value: object) -> UnsupportedModel:
    """The error for a setting that Tenon does not run."""
    return UnsupportedModel(
        "The draft's config.json says {key} = {value}, which Tenon does not run; choose another draft.",
        key=key,
        value=value,
    )


def bad_value(error: Exception) -> ConfigInvalid:
    """The error for a value that is missing or makes no sense."""
    return ConfigInvalid(
        "A value in the draft's config.json is missing or of the wrong kind ({problem}); correct it, or choose "
        "another draft.",
        problem=str(error),
        details=repr(error),
    )
