"""AWQ's, GPTQ's and MLX's layouts: values by each format's own formula, and blocks with the same codes."""

from __future__ import annotations

import pytest
import torch

from engine.kernels import blocks
from engine.weights.grouped import Grouped, lossless_kind, read_awq, read_gptq, read_mlx
from tests.support.foreign_matrices import mlx_packed, random_matrix


@pytest.mark.parametrize("group", [32, 64, 128, 256])
def test_awq_has_the_values_of_its_own_formula(group: int) -> None:
    matrix = random_matrix(24, 256, group, bits=4)
    found = read_awq(**_named(matrix.awq()))
    assert torch.equal(found.values().half(), matrix.values())


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros_less_one", [True, False])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("shuffled", [True, False])
def test_gptq_has_the_values_of_its_own_formula(
    bits: int, zeros_less_one: bool, symmetric: bool, shuffled: bool
) -> None:
    matrix = random_matrix(24, 256, 64, bits, symmetric, shuffled)
    parts = matrix.gptq(zeros_less_one)
    groups = parts.pop("g_idx")
    found = read_gptq(**_named(parts), groups=groups, bits=bits, zeros_less_one=zeros_less_one)
    assert torch.equal(found.values().half(), matrix.values())


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_mlx_has_the_values_of_its_own_formula(bits: int, dtype: torch.dtype) -> None:
    matrix = random_matrix(8, 128, 32, bits)
    scales = (matrix.scales * matrix.scales.bfloat16().sign()).to(dtype)
    offsets = (torch.randn(scales.shape) * 0.1).to(dtype)
    found = read_mlx(mlx_packed(matrix.codes, bits), scales, offsets, bits).values()
    by_column = (each[:, matrix.groups].float() for each in (scales, offsets))
    assert torch.equal(found, matrix.codes * next(by_column) + next(by_column))


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("symmetric", [True, False])
def test_blocks_have_the_same_codes(bits: int, symmetric: bool) -> None:
    """Values differ by the offset's rounding to half precision alone."""
    matrix = random_matrix(16, 256, 64, bits, symmetric)
    scales = matrix.scales.float()
    found = Grouped(matrix.codes.to(torch.uint8), scales, -matrix.zeros * scales)
    kind = lossless_kind(bits, 64, symmetric, ordered=True)
    if kind is None:
        assert bits == 8
        assert not symmetric
        return
    values = blocks.dequantize(kind, found.blocks(kind), 256)
    if symmetric:
        assert torch.equal(values, found.values())
    else:
        wrong = found.offsets.abs() * 2.0**-11
        assert torch.all((values - found.values()).abs() <= wrong[:, matrix.groups])


def test_no_block_has_the_codes_of_other_groups() -> None:
    assert lossless_kind(4, 16, True, ordered=True) is None
    assert lossless_kind(4, 64, True, ordered=False) is None
    assert lossless_kind(6, 64, False, ordered=True) is None


def test_zero_points_that_are_not_symmetric_are_noticed() -> None:
    matrix = random_matrix(8, 64, 32, bits=4)
    with pytest.raises(ValueError, match="not in the middle"):
        read_awq(**_named(matrix.awq())).blocks(blocks.NAMES["Q4_0"])


def _named(parts: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {"words": parts["qweight"], "zeros": parts["qzeros"], "scales": parts["scales"]}
