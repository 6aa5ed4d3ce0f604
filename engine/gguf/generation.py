"""Advice of a GGUF file on replies: the tokens that end them, and the sampling of its makers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Texts of tokens that end a reply in every vocabulary that has them. Source: llama.cpp, src/llama-vocab.cpp.
END_TEXTS = frozenset(
    (
        *("<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"),
        *("<|end_of_text|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<end_of_utterance>", "</s>"),
        *("<eos>", "<turn|>", "<|tool_response>"),  # Gemma 4
        *("<|return|>", "<|call|>", "<|flush|>", "<|calls|>"),  # gpt-oss, Solar
        *("<｜end▁of▁sentence｜>", "[e~["),
    )
)
# Code models write these between two files; a file may name others by the keys.
_BETWEEN_FILES = {
    "fim_pad": frozenset(("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]")),
    "fim_rep": frozenset(("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>")),
    "fim_sep": frozenset(("<|file_sep|>",)),
}
#: Texts that `ends_among` looks for.
TEXTS = END_TEXTS.union(*_BETWEEN_FILES.values())
_SENTENCE_PIECE_END = 2
#: ``general.sampling``'s names, and generation_config.json's.
_SAMPLING = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_repeat": "repetition_penalty",
}


def read_end_ids(metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the tokens that end a reply: those that the metadata names, and those whose text says so."""
    tokens = metadata.get("tokenizer.ggml.tokens")
    texts = tokens if isinstance(tokens, list) else []

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
    return tuple(sorted(ends_among(found)))


def ends_among(texts: Mapping[int, str]) -> set[int]:
    """Return those of a vocabulary's ends that end a whole reply.

    Args:
        texts: By id: the tokens whose text is one of `TEXTS`, and other ends that the model's files name.
    """
    found = set(texts.values())
    between: set[str] = set()
    calls = "<|call|>" in found or "<|calls|>" in found
    if calls and ("<|flush|>" in found or "<|return|>" in found):
        between.add("<|end|>")  # ends a channel here, and not the reply
    if found & {"<|tool_response>", "<|plamo:eos|>"}:
        between.add("</s>")  # a word like others here, for HTML
    return {index for index, text in texts.items() if text not in between}


def read_sampling(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The advised sampling as generation_config.json would have it; nothing where the file advises none."""
    advised = {
        name: metadata[f"general.sampling.{key}"]
        for key, name in _SAMPLING.items()
        if isinstance(metadata.get(f"general.sampling.{key}"), (int, float))
    }
    return {"do_sample": True, **advised} if advised else {}
