"""The pages that are read outside the app: links lead somewhere, commands can be typed, generated pages are current."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
from datetime import date
from pathlib import Path

import pytest

from engine.cli import _parser
from tests.benchmarks import page as benchmarks
from tests.support import cli_reference

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT, ROOT / ".github", ROOT / "docs", ROOT / "installers", ROOT / "assets" / "models")
PAGES = [page for folder in FOLDERS for page in folder.glob("*.md" if folder == ROOT else "**/*.md")]
CODE = [(page, line) for page in PAGES for line in re.findall(r"^    (.+)$", page.read_text("utf-8"), re.MULTILINE)]


def anchors(page: Path) -> set[str]:
    """GitHub's names of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    targets = re.findall(r'\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"', text)
    for link in (one or other for one, other in targets):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_commands_of_tenon_can_be_typed() -> None:
    lines = [(page.name, re.split(r"\s{3,}", line)[0]) for page, line in CODE if line.startswith("tenon ")]
    assert len(lines) > 10
    for page, line in lines:
        try:
            _parser().parse_args(shlex.split(line)[1:])
        except SystemExit:
            pytest.fail(f"{page}: {line}")


def test_modules_and_targets_that_are_named_are_there() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    modules = set(re.findall(r"python -m ((?:tests|app|engine|installers)[\w.]*)", text))
    assert len(modules) > 10
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", text)) <= made


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_files_that_are_named_are_there(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    named = re.findall(r"`((?:app|engine|tests|installers|assets|docs)/[\w./-]+)`", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_page_of_the_command_line_is_current() -> None:
    """Else run ``python -m tests.support.cli_reference``."""
    assert cli_reference.PAGE.read_text("utf-8") == cli_reference.reference()


def test_the_page_of_benchmarks_is_current() -> None:
    """Else run ``python -m tests.benchmarks.page``."""
    assert benchmarks.PAGE.read_text("utf-8") == benchmarks.page()


def test_a_row_that_is_measured_again_takes_the_old_one_s_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = {"what": "b", "figure": 2, "unit": "ms", "machine": "m", "date": "d", "command": "c", "goal": "1"}
    found = {"title": "Server", "about": "", "rows": [{**old, "what": "a"}, old]}
    (tmp_path / "server.json").write_text(json.dumps(found), encoding="utf-8")
    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["/x/tests/benchmarks/cost.py", "--write", "/a/b"])

    benchmarks.keep("server", "b", 0.12345, "ms")
    benchmarks.keep("server", "new", 1, "ms")

    rows = json.loads((tmp_path / "server.json").read_text(encoding="utf-8"))["rows"]
    assert [row["what"] for row in rows] == ["a", "b", "new"]
    assert (rows[1]["figure"], rows[1]["goal"], rows[1]["command"]) == (
        0.123,
        "1",
        "tests.benchmarks.cost FOLDER",
    )


@pytest.mark.parametrize("table", benchmarks.TABLES)
def test_rows_say_what_was_measured_where_when_and_how(table: str) -> None:
    rows = json.loads((benchmarks.RESULTS / f"{table}.json").read_text(encoding="utf-8"))["rows"]
    assert len({row["what"] for row in rows}) == len(rows) > 0
    for row in rows:
        assert row["figure"] >= 0
        assert row["machine"]
        assert date.fromisoformat(row["date"])
        module = row["command"].split()[0]
        assert not module.startswith("tests.") or importlib.util.find_spec(module) is not None
