"""The pictures in assets/screenshots: small enough for a repository, and those that the README shows are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "screenshots"
LARGEST_BYTES = 150_000


def test_what_the_readme_shows_is_there() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))

    assert len(shown) >= 3
    assert [path for path in shown if not (ROOT / path).is_file()] == []


def test_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.png")}

    assert sizes
    assert {name: size for name, size in sizes.items() if size > LARGEST_BYTES} == {}
