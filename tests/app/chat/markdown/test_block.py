from __future__ import annotations

from tests.support.markdown import split_blocks


def test_the_source_of_a_block_has_its_marks() -> None:
    sources = [block.source for block in split_blocks("```py\nx\n```\n\\[y\\]\n\ntext")]

    assert sources == ["```py\nx\n```", "\\[\ny\n\\]", "text"]
