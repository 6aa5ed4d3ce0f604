"""The tokens that end replies, by a GGUF file's advice or by their texts alone, and its makers' sampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.families import LINES
from engine.gguf.header import Strings

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


def read_sampling(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the advised sampling in the form of generation_config.json, or nothing if the file advises none."""
    advised = {
        name: metadata[f"general.sampling.{key}"]
        for key, name in _SAMPLING.items()
        if isinstance(metadata.get(f"general.sampling.{key}"), (int, float))
    }
    return {"do_sample": True, **advised} if advised else {}
