"""Write BENCHMARKS.md from the rows in tests/benchmarks/results: ``python -m tests.benchmarks.page``.

A benchmark keeps its rows there with `keep`, for which it has the option ``--write``.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from datetime import date
from pathlib import Path
from typing import Any

from engine.kernels import library
from engine.planning.probes.host import read_processor

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "BENCHMARKS.md"
RESULTS = Path(__file__).parent / "results"
TABLES = ("kernels", "quality", "modes", "memory_bound", "server", "window")
_HEAD = """# Benchmarks

`python -m tests.benchmarks.page` writes this page from `tests/benchmarks/results/*.json`, into which the benchmarks
put their rows (`--write`). Each row is the latest measurement of its kind, beside the goal that was set, if there was
one. The number in the last column is that of the command below the table; a command that names a module begins with
`python -m`, and FILE and FOLDER stand for your own. Ratios come from runs in turn in one process. Two runs on such a
machine differ by up to a third in their times and far less in their ratios, so read ratios, and read them to the
first figure. Nothing was measured on a GPU, on ARM, on Windows or on macOS.

[docs/papers](docs/papers) says what five papers claim and what of it holds here.
"""


def page() -> str:
    """Return BENCHMARKS.md."""
    return "\n".join([_HEAD, *(_section(_read(table)) for table in TABLES)])


def keep(table: str, what: str, figure: float, unit: str, note: str = "") -> None:
    """Put a figure that this process has measured into a table's file, in place of the row that says the same.

    Args:
        table: A name of `TABLES`.
        what: What was measured, in a few words.
        figure: The number, which is rounded to three digits.
        unit: Its unit, or what it is a multiple of.
        note: A few words on how it came about, such as the two times behind a ratio.
    """
    found = _read(table)
    rows: list[dict[str, Any]] = found["rows"]
    row = {
        "what": what, "figure": float(f"{figure:.3g}"), "unit": unit, "note": note, "machine": _machine(),
        "date": date.today().isoformat(), "command": _command(),
    }  # fmt: skip
    place = next((index for index, one in enumerate(rows) if one["what"] == what), len(rows))
    if place < len(rows) and "goal" in rows[place]:
        row["goal"] = rows[place]["goal"]
    rows[place : place + 1] = [row]
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (RESULTS / f"{table}.json").write_text(text + "\n", encoding="utf-8")


def _read(table: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{table}.json").read_text(encoding="utf-8"))
    return found


def _section(found: dict[str, Any]) -> str:
    commands = list(dict.fromkeys(row["command"] for row in found["rows"]))
    rows = [
        f"| {row['what']} | {_figure(row)} | {row.get('goal', '')} | {row['machine']} | {row['date']} | "
        f"{commands.index(row['command']) + 1} |"
        for row in found["rows"]
    ]
    head = ["| what | figure | goal | machine | date | command |", "|---|---|---|---|---|---|"]
    numbered = [f"{number}. `{command}`" for number, command in enumerate(commands, 1)]
    return "\n".join([f"## {found['title']}", "", found["about"], "", *head, *rows, "", *numbered, ""])


def _figure(row: dict[str, Any]) -> str:
    note = f"({row['note']})" if row.get("note") else ""
    return " ".join(filter(None, [f"**{row['figure']:,}**", row["unit"], note]))


def _machine() -> str:
    capability = library.available() or "no kernels"
    processor = read_processor()
    return f"{processor.name}, {capability}, {processor.usable_cores} cores"


def _command() -> str:
    """Return what was typed after ``python -m``, without --write and with folders replaced by a word."""
    module = Path(sys.argv[0]).stem
    words = ["FOLDER" if os.sep in word else word for word in sys.argv[1:] if word != "--write"]
    return shlex.join([f"tests.benchmarks.{module}", *words])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
