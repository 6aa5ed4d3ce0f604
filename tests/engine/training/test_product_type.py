"""Trainings multiply in the type that this processor is fast in."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.training import llama_network as found


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    found.product_type.cache_clear()
    yield
    found.product_type.cache_clear()


@pytest.mark.parametrize("fast", [torch.bfloat16, torch.float32])
def test_it_is_the_type_whose_product_takes_less_time(fast: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0

    def linear(rows: Tensor, matrix: Tensor) -> Tensor:
        nonlocal clock
        assert rows.dtype == matrix.dtype
        clock += 1.0 if rows.dtype is fast else 4.0
        return rows

    monkeypatch.setattr(functional, "linear", linear)
    monkeypatch.setattr(time, "perf_counter", lambda: clock)
    assert found.product_type() is fast
    assert found.product_type() is fast  # once for all
