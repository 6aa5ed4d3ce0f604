"""What single tokens say, remembered: drafts name the same tokens again and again."""

from __future__ import annotations

from engine.text.tokenizer import Tokenizer


class TokenTexts:
    """The text of one token in the middle of a reply.

    A token that is part of a character gives a replacement mark, and one that is left out of texts (the end of the
    text, say) gives nothing.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[int, str] = {}
        # A leading space is dropped at the start of a text, so a token is read behind another one.
        self._before = tokenizer.encode("a")
        self._skipped = len(tokenizer.decode(self._before))

    def text(self, token_id: int) -> str:
        """What a token says."""
        known = self._known.get(token_id)
        if known is None:
            known = self._tokenizer.decode([*self._before, token_id])[self._skipped :]
            self._known[token_id] = known
        return known
