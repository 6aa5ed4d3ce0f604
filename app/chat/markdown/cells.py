"""The cells of a table in Markdown."""

from __future__ import annotations


def split_cells(line: str) -> list[str]:
    r"""The cells of one table row; ``\|`` and bars inside backticks do not part cells."""
    row = line.strip()
    row = row[1:] if row.startswith("|") else row
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    cells, cell, in_code, escaped = [], "", False, False
    for character in row:
        if escaped:
            cell += character if character == "|" else "\\" + character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == "|" and not in_code:
            cells.append(cell.strip())
            cell = ""
        else:
            in_code ^= character == "`"
            cell += character
    cells.append((cell + ("\\" if escaped else "")).strip())
    return cells
