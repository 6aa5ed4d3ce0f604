from __future__ import annotations

import pytest

from engine.json_text import read_json


def test_json_is_read() -> None:
    assert read_json('{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}
    assert read_json(b'"text"') == "text"


@pytest.mark.parametrize("deep", ["[" * 200 + "]" * 200, '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 100_000])
def test_what_is_nested_too_deeply_is_no_json(deep: str) -> None:
    with pytest.raises(ValueError, match=r"too deeply|Expecting"):
        read_json(deep)


def test_halves_of_characters_are_marked_and_whole_ones_stay() -> None:
    assert read_json(r'{"a\ud800": ["\ud83d\ude00", "b\udfff"]}') == {"a\ufffd": ["😀", "b\ufffd"]}
