"""A vocabulary of letters and of all pairs of them, whose tokens show where a pre-tokenizer has split a text."""

from __future__ import annotations

from itertools import product
from typing import Any

from tokenizers import pre_tokenizers

LETTERS = "abstlrevABSTLRE0123 \n\r\t.,!/'\"`<(-_éЖǅ½٣今ひ한กि\u0301“。…\u3000\u00a0🙂"
#: No merges lead to it: it is one token where whole words are kept.
WHOLE = " base"


def _bytes_of(text: str) -> list[str]:
    """Return GPT-2's letters for the bytes of a text."""
    [(spelled, _)] = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    return list(spelled)


def pair_vocabulary(pre: str, marked: bool) -> dict[str, Any]:
    """Return a GGUF file's metadata.

    Args:
        pre: Name of the pre-tokenizer.
        marked: Tokens are spelled in characters, with a mark in the place of each space, and not in bytes.
    """
    merges: list[tuple[str, str]] = []
    if marked:
        letters = list(LETTERS.replace(" ", "\u2581"))
        tokens = [f"<0x{byte:02X}>" for byte in range(256)] + letters
        whole = WHOLE.replace(" ", "\u2581")
    else:
        letters = []
        for letter in LETTERS:
            first, *rest = _bytes_of(letter)
            for byte in rest:
                merges.append((first, byte))
                first += byte
            letters.append(first)
        tokens = sorted(pre_tokenizers.ByteLevel.alphabet())
        whole = "".join(_bytes_of(WHOLE))
    merges += product(letters, letters)
    merges = list(dict.fromkeys(merges))
    tokens = list(dict.fromkeys([*tokens, *map("".join, merges), whole, "<s>"]))
    values = {
        "model": "gpt2",
        "pre": pre,
        "tokens": tokens,
        "token_type": [*[1] * (len(tokens) - 1), 3],
        "merges": [" ".join(merge) for merge in merges],
        "bos_token_id": len(tokens) - 1,
        "eos_token_id": len(tokens) - 1,
    }
    return {f"tokenizer.ggml.{key}": value for key, value in values.items()}
