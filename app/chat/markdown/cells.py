"""The cells of a table in Markdown."""

from __future__ import annotations

import re

_PART = re.compile(r"\\.?|[`|]|[^\\`|]+", re.DOTALL)


def split_cells(line: str) -> list[str]:
    r"""Return the cells of one table row; ``\|`` and bars inside backticks do not part cells."""
    row = line.strip()
    row = row[1:] if row.startswith("|") else row
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    cells: list[str] = []
    parts: list[str] = []
    in_code = False
    for part in _PART.findall(row):
        if part == "|" and not in_code:
            cells.append("".join(parts).strip())
            parts = []
        else:
            in_code ^= part == "`"
            parts.append("|" if part == "\\|" else part)
    return [*cells, "".join(parts).strip()]
