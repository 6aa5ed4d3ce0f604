from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_module_says_what_it_is() -> None:
    undocumented = [
        str(path.relative_to(ROOT))
        for top in ("app", "engine")
        for path in sorted((ROOT / top).rglob("*.py"))
        if path.name != "__init__.py"
        and ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) is None
    ]
    assert undocumented == []
