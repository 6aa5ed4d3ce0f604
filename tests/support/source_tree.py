"""The tree in ARCHITECTURE.md: every file with the first sentence of its docstring.

``python -m tests.support.source_tree`` writes it there again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
HEADING = "## The tree\n\n"
_NAME_WIDTH = 38


def tree() -> str:
    """The tree of app/ and engine/ as an indented block."""
    lines: list[str] = []
    for top in ("app", "engine"):
        lines += _lines(ROOT / top, 0)
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def _lines(folder: Path, depth: int) -> Iterator[str]:
    yield _line(f"{folder.name}/", folder / "__init__.py", depth)
    entries = [
        entry for entry in folder.iterdir() if entry.name[0] not in "._" or entry.name == "__main__.py"
    ]
    for entry in sorted(entries, key=lambda entry: (entry.is_dir(), entry.name)):
        if entry.is_dir() and (entry / "__init__.py").is_file():
            yield from _lines(entry, depth + 1)
        elif entry.suffix == ".py":
            yield _line(entry.name, entry, depth + 1)


def _line(name: str, source: Path, depth: int) -> str:
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    sentence = " ".join(docstring.split("\n\n")[0].split()).split(". ")[0].rstrip(".")
    return f"{'    ' * depth + name:<{_NAME_WIDTH}} {sentence}"


def main() -> None:
    """Write the tree into ARCHITECTURE.md."""
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    PAGE.write_text(before + HEADING + tree(), encoding="utf-8")


if __name__ == "__main__":
    main()
