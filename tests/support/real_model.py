"""The real model that ships with Tenon: what tests of quality, speed and whole days run, where it was fetched."""

from __future__ import annotations

from pathlib import Path

from engine.hub.bundled import bundled_model
from engine.messages import DEFAULT_MODEL

_BUNDLED = bundled_model(DEFAULT_MODEL)
assert _BUNDLED is not None
_FILE = _BUNDLED.location  # now: tests put other files into the place of the bundled models
ABSENT = "the bundled model is not here: `make model` fetches it"


def real_model() -> Path | None:
    """Its GGUF file, SmolLM2-135M-Instruct in Q4_1; None where it was not fetched."""
    return _FILE if _FILE.is_file() else None
