"""Packed weights: how close they come, what they refuse, how large they are."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch
from torch import Tensor

from engine.kernels import bf16, int4, int8
from engine.kernels.packing import PANEL_ROWS, NotPackable

FORMATS = [int8, int4, bf16]


def relative_error(form: ModuleType, weight: Tensor) -> float:
    return float((form.unpack(form.pack(weight)) - weight).norm() / weight.norm())


@pytest.mark.parametrize(("form", "most"), [(int8, 0.009), (int4, 0.082), (bf16, 0.0018)])
def test_gaussian_weights_come_back_closely(form: ModuleType, most: float) -> None:
    weight = torch.randn(256, 1024, generator=torch.Generator().manual_seed(0))
    assert relative_error(form, weight) < most


def test_searched_scales_beat_the_plain_ones() -> None:
    weight = torch.randn(64, 512, generator=torch.Generator().manual_seed(0))
    groups = weight.view(64, -1, 32)
    largest = groups.gather(-1, groups.abs().argmax(-1, keepdim=True))
    plain = (groups / (largest / -8)).round().clamp(-8, 7) * (largest / -8)
    assert relative_error(int4, weight) < 0.95 * float((plain - groups).norm() / weight.norm())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (600, 40), (31, 5000)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_any_shape_and_type_packs(form: ModuleType, shape: tuple[int, int], dtype: torch.dtype) -> None:
    weight = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    packed = form.pack(weight)
    assert packed.data.dtype == torch.uint8
    assert packed.size_bytes == form.packed_bytes(*shape)
    assert form.unpack(packed).shape == shape
    largest = weight.float().abs().max()
    assert (form.unpack(packed) - weight.float()).abs().max() < 0.16 * largest


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (100, 40)])
def test_rows_unpack_by_themselves(form: ModuleType, shape: tuple[int, int]) -> None:
    packed = form.pack(torch.randn(shape, generator=torch.Generator().manual_seed(2)))
    whole = form.unpack(packed)
    for start in range(0, shape[0], PANEL_ROWS):
        for stop in {start + 1, min(start + PANEL_ROWS, shape[0]), shape[0]}:
            assert torch.equal(form.unpack(packed, start, stop), whole[start:stop])


@pytest.mark.parametrize("form", FORMATS)
def test_zeros_stay_zeros(form: ModuleType) -> None:
    assert (form.unpack(form.pack(torch.zeros(3, 70))) == 0).all()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("scale", [1e-44, 1e-39, 1e-30, 1e30])
def test_tiny_and_huge_weights_stay_finite(form: ModuleType, scale: float) -> None:
    weight = torch.randn(40, 64) * scale
    unpacked = form.unpack(form.pack(weight)).float()
    assert torch.isfinite(unpacked).all()
    assert (unpacked - weight).abs().max() <= 0.16 * weight.abs().max() + 1e-37


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("weight", "why"),
    [
        (torch.tensor([[1.0, torch.nan]]), "NaN"),
        (torch.tensor([[1.0, -torch.inf]]), "infinity"),
        (torch.zeros(3), "matrix"),
        (torch.zeros(0, 3), "matrix"),
        (torch.zeros(3, 3, dtype=torch.int8), "floating"),
        (torch.zeros(1, 70000), "columns"),
    ],
)
def test_what_no_format_holds(form: ModuleType, weight: Tensor, why: str) -> None:
    with pytest.raises(NotPackable, match=why):
        form.pack(weight)


def test_sizes_in_bits_per_weight() -> None:
    weights = 4096 * 4096
    assert int8.packed_bytes(4096, 4096) * 8 / weights < 8.02
    assert int4.packed_bytes(4096, 4096) * 8 / weights == 4.5
    assert bf16.packed_bytes(4096, 4096) * 8 / weights == 16
