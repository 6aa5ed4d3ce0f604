"""Sentences that a person may be shown when something cannot be used."""

from __future__ import annotations

from engine.errors import TenonError
from engine.messages import ErrorReport

_LONGEST = 1200


def check_sentence(error: TenonError | ErrorReport) -> None:
    """Raise unless an error is one sentence that can be shown and saved."""
    message = error.message
    kind = error.kind if isinstance(error, ErrorReport) else type(error).__name__
    bad = (
        kind == "InternalError"
        or not message.strip()
        or len(message) > _LONGEST
        or "Traceback" in message
        or any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in message)
    )
    if bad:
        raise AssertionError(f"{kind}: {message[:400]!r} ({len(message)} characters)\n{error.details}") from None
