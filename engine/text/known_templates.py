"""Chat templates of families, for files whose own template is of no use: told by the tokens that only they have."""

from __future__ import annotations

from collections.abc import Collection

from engine.families import LINES
from engine.families.family import KnownTemplate

_KNOWN = (
    KnownTemplate(
        "ChatML",
        ("<|im_start|>", "<|im_end|>"),
        "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n",
        "<|im_start|>assistant\n",
        "<|im_end|>",
    ),
    *(line.template for line in LINES if line.template is not None),
)


def known_template(tokens: Collection[str]) -> KnownTemplate | None:
    """Return the template of the family that has these tokens, or None if none is known."""
    return next((one for one in _KNOWN if all(mark in tokens for mark in one.marks)), None)
