from __future__ import annotations

import re
from collections import Counter
from pathlib import Path


def test_no_two_test_files_have_one_name() -> None:
    """Pytest cannot collect them together."""
    found = Counter(path.name for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name, count in found.items() if count > 1] == []


def test_the_tests_that_hold_a_promise_are_there() -> None:
    root = Path(__file__).parents[2]
    promised = re.findall("`(tests/[^`]+)`", (root / "SECURITY.md").read_text(encoding="utf-8"))
    assert promised
    assert [name for name in promised if not (root / name).exists()] == []
