"""Products of every block type on a chip against float64, over wild bytes and shapes that do not divide."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from engine.graphics.adapters import Chip
from engine.graphics.matrix import ChipMatrix
from engine.graphics.shaders import STEP_WORDS, TYPES
from engine.kernels import blocks
from engine.kernels.library import Packed
from engine.model.linear import PackedLinear
from tests.support.matrices import raw_matrix

NAMES = sorted(map(blocks.name_of, TYPES))
#: Rows of activations: one, some that share readings, and tiles.
COUNTS = (1, 3, 9, 37)


def multiplied(
    chip: Chip, parts: list[PackedLinear], x: Tensor, before: Tensor | None = None, asked: slice | None = None
) -> Tensor:
    """Multiply rows on the chip; ``before`` is what results are added to, ``asked`` the rows of a head."""
    rows, count = sum(part.matrix.rows for part in parts), len(x)
    start = 0 if asked is None else asked.start
    wanted = count if asked is None else asked.stop - start
    step = chip.buffer(torch.tensor([count, 0, 0, start, wanted, 0, 0], dtype=torch.int32))
    assert STEP_WORDS == 6
    given = torch.cat([x, torch.full((64, x.shape[1]), torch.nan)])  # which no result may come from
    there = torch.full((count + 64, rows), 7.0) if before is None else before
    y = chip.buffer(there)
    matrix = ChipMatrix(chip, parts, chip.buffer(given), y, step, float(before is not None), asked is not None)
    found = chip.run(list(matrix.steps(wanted)), (y, there.nbytes))
    results = found.view(torch.float32).view(-1, rows)
    if before is None:
        assert (results[wanted:] == 7.0).all()
    return results[:wanted].clone()


def linear(
    name: str, rows: int, columns: int, seed: int = 0, bias: Tensor | None = None
) -> tuple[PackedLinear, Tensor]:
    """Return a matrix as a file has it, and in float64."""
    raw = raw_matrix(name, rows, columns, seed)
    type = blocks.NAMES[name]
    plain = blocks.unpack(blocks.arrange(type, raw, rows, columns)).double()
    return PackedLinear(Packed(raw.reshape(-1), rows, columns, type), bias), plain


def bound(plain: Tensor, x: Tensor) -> Tensor:
    """Return the most by which sums in float32 may differ from exact ones."""
    return (x.double().abs() @ plain.abs().t()) * (x.shape[1] + 8) * 2.0**-24 + 1e-30


@pytest.mark.parametrize("name", NAMES)
def test_products_agree_with_float64(chip: Chip, name: str) -> None:
    columns = 768 if blocks.block_of(blocks.NAMES[name])[0] == 256 else 96
    for count in COUNTS:
        one, plain = linear(name, 37, columns, count)
        x = torch.randn(count, columns)
        difference = (multiplied(chip, [one], x).double() - x.double() @ plain.t()).abs()
        assert (difference <= bound(plain, x)).all(), (count, difference.max())


def test_plain_columns_need_no_block(chip: Chip) -> None:
    one, plain = linear("BF16", 5, 36)
    x = torch.randn(2, 36)
    assert ((multiplied(chip, [one], x) - x.double() @ plain.t()).abs() <= bound(plain, x)).all()


def test_several_matrices_of_several_types_with_biases_are_one(chip: Chip) -> None:
    biases: list[Any] = [torch.randn(9), None, torch.randn(33)]
    names = "Q4_0", "Q8_0", "F16"
    parts, plains = zip(
        *(linear(name, rows, 64, bias=bias) for name, rows, bias in zip(names, (9, 4, 33), biases, strict=True)),
        strict=True,
    )
    x = torch.randn(3, 64)
    whole = torch.cat(plains)
    biases[1] = torch.zeros(4)
    added = torch.cat(biases)
    assert torch.allclose(multiplied(chip, list(parts), x).double(), x.double() @ whole.t() + added, atol=1e-5)


def test_results_are_added_and_a_head_takes_the_rows_that_are_asked_for(chip: Chip) -> None:
    one, plain = linear("Q5_1", 8, 64)
    x, before = torch.randn(20, 64), torch.randn(20, 8)
    expected = (x.double() @ plain.t()).float()
    assert torch.allclose(multiplied(chip, [one], x, before.clone()), expected + before, atol=1e-5)
    for asked in (slice(19, 20), slice(2, 20)):
        assert torch.allclose(multiplied(chip, [one], x, asked=asked), expected[asked], atol=1e-5)


def test_a_matrix_above_the_largest_buffer_is_divided(chip: Chip) -> None:
    one, plain = linear("Q6_K", 50, 256)
    object.__setattr__(small := chip.adapter, "largest_bytes", 210 * 8)
    x = torch.randn(2, 256)
    found = multiplied(chip, [one], x)
    assert ((found - x.double() @ plain.t()).abs() <= bound(plain, x)).all()
    assert small.largest_bytes == 210 * 8
