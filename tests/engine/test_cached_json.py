from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files import read_cached, write_cached

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.integers(0), st.integers(1, 255))
def test_a_value_comes_back_and_damage_never_makes_another_of_it(value: Any, place: int, bits: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cache.json")
        write_cached(path, value)
        assert read_cached(path) == value
        content = bytearray(path.read_bytes())
        content[place % len(content)] ^= bits
        path.write_bytes(content)
        found = read_cached(path)
        assert found == value or (found is None and not path.exists())
        write_cached(path, value)
        path.write_bytes(path.read_bytes()[: place % len(content)])
        assert read_cached(path) is None
        assert not path.exists()


def test_another_figure_of_the_same_length_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    write_cached(path, {"fp32": {1: {"torch": 0.00125}}})  # JSON makes text of the number
    path.write_text(path.read_text().replace("0.00125", "0.00025"))
    assert read_cached(path) is None
    assert not path.exists()


@pytest.mark.parametrize("content", ["", "[]", "3", "{}", '{"value": 3}', '{"crc32": 1}', "[" * 100_000])
def test_what_was_never_written_so_is_dropped(content: str, tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    path.write_text(content)
    assert read_cached(path) is None
    assert not path.exists()


def test_numbers_that_are_none_and_halves_of_characters(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    write_cached(path, [math.inf, math.nan])
    assert math.isnan(read_cached(path)[1])
    write_cached(path, "\ud800")
    assert read_cached(path) is None  # half a character does not come back


def test_a_place_that_cannot_be_written_or_read_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    write_cached(file / "below" / "cache.json", 1)
    assert read_cached(file / "below" / "cache.json") is None
    folder = tmp_path / "folder"
    folder.mkdir()
    write_cached(folder, 1)
    assert read_cached(folder) is None
    assert folder.is_dir()
    assert read_cached(tmp_path / "missing") is None
