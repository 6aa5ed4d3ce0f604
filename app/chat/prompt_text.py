"""Text that a person typed or pasted, made fit to be kept."""

from __future__ import annotations


def whole_characters(text: str) -> str:
    """Replace halves of characters (lone surrogates), which a paste can bring and no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
