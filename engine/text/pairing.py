"""The check that a draft has the target's vocabulary: the same token for every id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import DraftMismatch
from engine.gguf.tokenizer import Vocabulary
from engine.text.tokenizer import Tokenizer

# Metadata of GGUF that names a vocabulary's tokens.
_TOKENS = tuple(f"tokenizer.ggml.{name}" for name in ("model", "pre", "tokens", "token_type", "merges"))


def have_one_vocabulary(target: Mapping[str, Any] | None, draft: Mapping[str, Any] | None) -> bool:
    """Return True if two GGUF files list the same tokens: to build a second tokenizer of them takes half a second.

    Args:
        target: Metadata of the target's file; None if it is no GGUF file.
        draft: Metadata of the draft's.
    """
    return target is not None and draft is not None and all(target.get(key) == draft.get(key) for key in _TOKENS)


def check_pair(target: Tokenizer | Vocabulary, draft: Tokenizer | Vocabulary) -> None:
    """Refuse a draft whose tokens are not the target's.

    Only the tokens are compared. Rows by which either model's matrices are padded beyond them name no token,
    so models that differ in their padding alone are a pair. GGUF files spell some of SentencePiece's spaces as spaces,
    and some give two tokens one text, which says nothing of the second.

    Raises:
        DraftMismatch: They differ.
    """
    wanted, found = target.tokens(), draft.tokens()
    for token_id in sorted((wanted.keys() | found.keys()) - (target.spelled.keys() | draft.spelled.keys())):
        ours, theirs = wanted.get(token_id), found.get(token_id)
        if ours != theirs and (not ours or not theirs or _spelled(ours) != _spelled(theirs)):
            raise DraftMismatch(
                "The draft was made for another vocabulary: it cuts text into other pieces than the model; choose a "
                "draft of the same family."
            )


def _spelled(token: str) -> str:
    return token.replace("\u2581", " ")
