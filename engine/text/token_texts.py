"""Texts of single tokens, remembered: drafts name the same tokens again and again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.text.tokenizer import Tokenizer

_PART = "\ufffd"
_MOST_PARTS = 8  # tokens of one character, and of those before it without a pause
#: SentencePiece's name for a token of one byte.
BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


def _byte_level() -> dict[str, int]:
    """Return the byte that each character stands for in the names of byte-level tokens (GPT-2's table)."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + at): byte for at, byte in enumerate(hidden)}


#: Byte-level tokens' characters and their bytes.
BYTE_LEVEL = _byte_level()


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
        """Text of a token."""
        known = self._known.get(token_id)
        if known is None:
            known = self._tokenizer.decode([*self._before, token_id])[self._skipped :]
            self._known[token_id] = known
        return known

    def said(self, token_id: int, first: bool = False) -> bytes:
        """Bytes of a token, which join to the text in UTF-8.

        Args:
            first: It begins a text, where SentencePiece drops a space.
        """
        text = self.text(token_id)
        if first and text.startswith(" ") and not self._tokenizer.decode([token_id]).startswith(" "):
            return text[1:].encode()
        if _PART not in text:
            return text.encode()
        name = self._tokenizer.name(token_id)
        byte = BYTE_TOKEN.fullmatch(name)
        if byte is not None:
            return bytes([int(byte[1], 16)])
        known = [BYTE_LEVEL.get(character) for character in name]
        return bytes(one for one in known if one is not None) if None not in known else text.encode()

    def text_in(self, token_ids: Sequence[int], at: int) -> str:
        """Text of the token at a place of a reply; the last part of a character has the whole of it."""
        own = self.text(token_ids[at])
        if _PART not in own:
            return own
        first = at
        while first and at - first < _MOST_PARTS and _PART in self.text(token_ids[first - 1]):
            first -= 1
        before = self._joined(token_ids[first:at]).rstrip(_PART)
        whole = self._joined(token_ids[first : at + 1])
        added = whole[len(before) :] if whole.startswith(before) else ""
        return own if not added or _PART in added else added

    def _joined(self, token_ids: Sequence[int]) -> str:
        return self._tokenizer.decode([*self._before, *token_ids])[self._skipped :] if token_ids else ""
