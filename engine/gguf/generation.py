"""Advice of a GGUF file on replies: the tokens that end them, and the sampling of its makers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gguf.constants import TokenType

# Metadata has one end, or two; chat models end their turns with any of these too.
_ENDS = frozenset(
    (
        *("<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"),
        *("<|end_of_text|>", "<EOT>", "<end_of_utterance>", "<｜end▁of▁sentence｜>"),
    )
)
_END_KINDS = (TokenType.CONTROL, TokenType.USER_DEFINED)
#: ``general.sampling``'s names, and generation_config.json's.
_SAMPLING = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_repeat": "repetition_penalty",
}


def read_end_ids(metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """The tokens that end a reply: those that the metadata names, and those whose text says so."""
    named = {metadata.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom")}
    tokens, kinds = metadata.get("tokenizer.ggml.tokens"), metadata.get("tokenizer.ggml.token_type")
    if isinstance(tokens, list) and isinstance(kinds, list):
        pairs = zip(tokens, kinds, strict=False)
        named |= {index for index, (token, kind) in enumerate(pairs) if kind in _END_KINDS and token in _ENDS}
    return tuple(sorted(index for index in named if isinstance(index, int)))


def read_sampling(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The advised sampling as generation_config.json would have it; nothing where the file advises none."""
    advised = {
        name: metadata[f"general.sampling.{key}"]
        for key, name in _SAMPLING.items()
        if isinstance(metadata.get(f"general.sampling.{key}"), (int, float))
    }
    return {"do_sample": True, **advised} if advised else {}
