"""Distance of a real model's formats from float32 of the same file, on every instruction set and beside llama.cpp."""

from __future__ import annotations

import pytest

from engine.kernels import library
from tests.benchmarks.quality import Figures, measure
from tests.support.real_models import ABSENT, real_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

FORMATS = ("auto", "q8_0")


@pytest.fixture(scope="module")
def rows() -> dict[str, Figures]:
    """Of 6,144 tokens of English and code."""
    model, sets = real_model(), [name for name, usable in library.instruction_sets().items() if usable]
    if model is None or not sets:
        pytest.skip(library.reason() or ABSENT)
    [(_, _, found)] = measure([str(model)], FORMATS, sets)
    return found


def of_format(rows: dict[str, Figures], name: str) -> dict[str, Figures]:
    return {row: figures for row, figures in rows.items() if row.split()[0] == name}


def test_8_bits_are_nearly_float32(rows: dict[str, Figures]) -> None:
    found = of_format(rows, "q8_0")
    most = max(len(row.windows) for row in found.values())
    # The portable set reads one window, whose KL is above the others' everywhere.
    assert {name: row.kl for name, row in found.items() if len(row.windows) == most and row.kl >= 0.002} == {}


def test_a_file_as_it_is_comes_as_near_as_in_llama_cpp(rows: dict[str, Figures]) -> None:
    if "llama.cpp" not in rows:
        pytest.skip("llama-cpp-python is not installed")
    peer = rows["llama.cpp"]
    worse = {name: row.kl for name, row in of_format(rows, "auto").items() if row.kl > peer.beside(row).kl}
    assert worse == {}, peer.kl


@pytest.mark.parametrize("name", FORMATS)
def test_instruction_sets_are_equally_good(rows: dict[str, Figures], name: str) -> None:
    same_kind = of_format(rows, name).values()
    for row in same_kind:
        assert all(
            abs(row.kl - other.beside(row).kl) < 0.001 for other in same_kind if len(other.windows) >= len(row.windows)
        )
