from __future__ import annotations

import pytest
import torch

from engine.messages.machine import FormatSpeed, GpuSpeed
from engine.model.weight_format import weight_format
from engine.planning.kernel_table import matrix_size
from engine.planning.probes.graphics import measure_gpu
from engine.planning.probes.host_speed import fit_speed


@pytest.mark.parametrize("overlap", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("widths", [(1, 16), (1, 2, 4, 8, 16, 32, 64)])
def test_the_fit_finds_the_speeds_that_made_the_times(overlap: float, widths: tuple[int, ...]) -> None:
    true = FormatSpeed(40e9, 200e9, overlap)
    products = matrix_size()[0] * matrix_size()[1]
    size = weight_format("q8_0").matrix_bytes(*matrix_size())
    row = {width: {"one": true.seconds(size, width * products), "slower": 1.0} for width in widths}
    found = fit_speed("q8_0", row)
    for width in widths:
        expected = true.seconds(size, width * products)
        assert found.seconds(size, width * products) == pytest.approx(expected, rel=1e-6)
    if len(widths) > 2:
        assert found.overlap == overlap
        assert found.bytes_per_s == pytest.approx(true.bytes_per_s)


def test_a_processor_that_only_multiplies_is_described_too() -> None:
    found = fit_speed("q8_0", {1: {"torch": 1.0}, 16: {"torch": 16.0}})
    assert found.products_per_s > 0
    assert found.bytes_per_s > 0
    products = matrix_size()[0] * matrix_size()[1]
    size = weight_format("q8_0").matrix_bytes(*matrix_size())
    assert found.seconds(size, 16 * products) == pytest.approx(16.0)


def test_equation_4() -> None:
    speed = FormatSpeed(10.0, 5.0, 0.5)
    assert speed.seconds(100.0, 10.0) == 10.0 + 0.5 * 2.0
    assert speed.seconds(10.0, 100.0) == 20.0 + 0.5 * 1.0


def test_a_gpus_speeds_are_measured_within_its_memory() -> None:
    found = measure_gpu(torch.device("cpu"), torch.bfloat16, 16 << 20, lambda: None)
    assert min(found.memory_bytes_per_s, found.products_per_s, found.operator_s, found.from_host_bytes_per_s) > 0
    assert not found.packed


def test_each_further_row_of_a_chips_narrow_forward_takes_its_time() -> None:
    chip = GpuSpeed(100.0, 50.0, 1e-6, 1e9, packed=True, few_products_per_s=10.0, few_rows=4)
    assert [chip.seconds(100.0, 10.0, rows) for rows in (1, 3, 8)] == [1.0, 3.0, 1.6]
    torchs = GpuSpeed(100.0, 50.0, 1e-6, 1e9)
    assert [torchs.seconds(100.0, 10.0, rows) for rows in (1, 3, 8)] == [1.0, 1.0, 1.6]
