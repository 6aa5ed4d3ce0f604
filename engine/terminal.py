r"""Text that goes to a terminal or a pipe.

What others wrote (replies, names of models, files and servers, errors) must not steer a terminal, so a terminal is
given text alone: each character that would steer it is shown as JSON writes it, ``\u001b``. Pipes and files get the
text as it is.
"""

from __future__ import annotations

import io
import re
import sys

# C0 but tab and newline, DEL, C1, and what reorders the text around it (Unicode Standard Annex #9, explicit
# directional embeddings, overrides and isolates).
_STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Steering(str):
    """A sequence of Tenon's own that a terminal obeys: it is written as it is. ``print`` would make it a plain text."""


class _Terminal(io.TextIOWrapper):
    """A stream to a terminal that shows what would steer it: each character by itself, in whatever piece it comes."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(stream.buffer, "utf-8", "replace", line_buffering=True)
        self._stream = stream  # closes the buffer when it goes

    def write(self, text: str) -> int:
        """Write a text as one."""
        return super().write(text if isinstance(text, Steering) else _STEERING.sub(_shown, text))


def _shown(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def set_up_streams() -> None:
    """Let standard output and error take any character, whatever encoding is claimed, and show it on a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper):  # a program of Windows that opens no terminal has none
            continue
        stream.reconfigure(encoding="utf-8", errors="replace")
        if stream.isatty() and not isinstance(stream, _Terminal):
            setattr(sys, name, _Terminal(stream))
