"""Families of models that Tenon runs, each line of a maker in a file of its own."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from engine.families.family import Family, GgufForm, Line, Values

LINES: tuple[Line, ...] = tuple(
    line
    for module in iter_modules(__path__)
    if (line := getattr(import_module(f"{__name__}.{module.name}"), "LINE", None)) is not None
)
SUPPORTED: dict[str, Family] = {name: row for line in LINES for name, row in line.families.items()}
"""Families by ``architectures[0]`` of config.json."""
ASSISTANTS: dict[str, Family] = {name: row for line in LINES for name, row in line.assistants.items()}
"""Families of drafts for one family alone, by ``architectures[0]``."""
VALUES: dict[str, Values] = {name: values for line in LINES for name, values in line.values.items()}
"""Values of config.json by ``model_type``."""
GGUF: dict[str, GgufForm] = {name: form for line in LINES for name, form in line.gguf.items()}
"""Forms of GGUF files by llama.cpp's name of the architecture."""
