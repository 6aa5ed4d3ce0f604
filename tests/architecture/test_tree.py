from __future__ import annotations

from tests.support.source_tree import HEADING, PAGE, tree


def test_the_tree_in_architecture_md_is_the_tree() -> None:
    written = PAGE.read_text(encoding="utf-8").partition(HEADING)[2]
    assert written == tree(), "run: python -m tests.support.source_tree"


def test_every_file_says_what_it_is() -> None:
    undocumented = [line.strip() for line in tree().splitlines() if len(line.split()) < 2]
    assert undocumented == []
