"""Sources of Tenon, parsed once for all tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module; leave it as it is."""
    return ast.parse(path.read_text(encoding="utf-8"))
