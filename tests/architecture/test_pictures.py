"""The pictures in assets/screenshots: small, and those that the README shows are there, light and dark."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "screenshots"
LARGEST_BYTES = {"png": 150_000, "gif": 1_500_000}


def test_what_the_readme_shows_is_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pairs = re.findall(r'<source [^>]*dark\)" srcset="([^"]+)">\s*<img alt="[^"]+" src="([^"]+)">', readme)

    assert len(pairs) == readme.count("<picture>") == 1
    assert "![" not in readme  # a picture of one theme alone
    assert [path for pair in pairs for path in pair if not (ROOT / path).is_file()] == []


def test_pictures_are_small() -> None:
    for kind, largest in LARGEST_BYTES.items():
        sizes = {path.name: path.stat().st_size for path in FOLDER.glob(f"*.{kind}")}
        assert sizes
        assert {name: size for name, size in sizes.items() if size > largest} == {}
