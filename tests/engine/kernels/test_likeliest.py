"""The likeliest tokens of a row of logits, beside torch's."""

from __future__ import annotations

import pytest
import torch

from engine.kernels import library
from engine.kernels.library import NotFinite
from engine.kernels.sampling import likeliest

pytestmark = pytest.mark.skipif(library.available() is None, reason="the kernel library was not built")


@pytest.mark.parametrize(
    ("rows", "size", "count", "temperature"),
    [(1, 8192, 4, 1.0), (3, 997, 10, 0.8), (2, 64, 64, 1.0), (2, 5, 10, 2.0)],
)
def test_they_are_torchs(rows: int, size: int, count: int, temperature: float) -> None:
    logits = 4 * torch.randn(rows, size, generator=torch.Generator().manual_seed(1))
    logits[:, 1] = -torch.inf
    tokens, shares = likeliest(logits, count, temperature)
    expected = (logits / temperature).log_softmax(-1).topk(min(count, size))
    assert tokens == expected.indices.tolist()
    torch.testing.assert_close(torch.tensor(shares), expected.values, atol=1e-4, rtol=1e-5)


def test_of_equal_logits_the_first_tokens_are_taken() -> None:
    assert likeliest(torch.zeros(1, 300), 3)[0] == [[0, 1, 2]]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_row_that_makes_no_sense_is_refused(bad: float) -> None:
    logits = torch.zeros(2, 100)
    logits[1, 70] = bad
    with pytest.raises(NotFinite):
        likeliest(logits, 2)
