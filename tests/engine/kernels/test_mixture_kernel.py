"""Experts of a layer in the kernel library: every block type, and what a row reads."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn import functional

from engine.kernels import blocks, layer, library
from engine.model.fused_layer import FusedMixture
from engine.model.linear import JoinedLinear
from engine.model.mixture import mixed
from tests.engine.kernels.test_layer_kernel import SOFTMAX, random_experts
from tests.support.fast_cases import chosen, covering
from tests.support.matrices import TYPES
from tests.support.rounding import DRAWS_APART, to_8_bits

pytestmark = pytest.mark.skipif(library.available() is None, reason=library.reason())
HIDDEN = 256
MIXTURE = replace(SOFTMAX, width=256)


def exact(part: Any, rows: torch.Tensor) -> torch.Tensor:
    """A map with the numbers that its blocks stand for."""
    if isinstance(part, JoinedLinear):
        return torch.cat([exact(one, rows) for one in part.parts], -1)
    return functional.linear(rows, blocks.unpack(part.matrix).double())


def network(gate_up: Any, down: Any, rows: torch.Tensor) -> torch.Tensor:
    gate, up = exact(gate_up, rows).chunk(2, -1)
    return exact(down, functional.silu(gate) * up)


def rounded_network(gate_up: Any, down: Any, rows: torch.Tensor) -> torch.Tensor:
    """The same with activations in 8 bits, which each instruction set has at most."""
    gate, up = exact(gate_up, to_8_bits(rows)).chunk(2, -1)
    return exact(down, to_8_bits(functional.silu(gate) * up))


@pytest.mark.parametrize(("form", "rows"), covering(sorted(TYPES), [1, 5, 40], together=1))
def test_experts_of_every_type_give_what_their_numbers_do(instruction_set: str, form: str, rows: int) -> None:
    experts = random_experts(MIXTURE, HIDDEN, form)
    generator = torch.Generator().manual_seed(rows)
    hidden = torch.randn(rows, HIDDEN, generator=generator)
    chosen = torch.rand(rows, MIXTURE.experts, generator=generator).topk(MIXTURE.chosen).indices
    weights = torch.rand(chosen.shape, generator=generator)
    expected, rounded = (
        mixed(experts, hidden.double(), chosen, weights.double(), one) for one in (network, rounded_network)
    )
    fused = FusedMixture(MIXTURE, experts)
    found = layer.experts(fused.structure, layer.ACTIVATIONS["silu"], hidden, chosen.int(), weights)
    assert (found - expected).norm() < DRAWS_APART * (rounded - expected).norm()


@pytest.mark.skipif(sys.platform != "linux", reason="pages are closed by mprotect")
@pytest.mark.parametrize("form", chosen(["Q4_K", "MXFP4", "BF16"], ("Q4_K",)))
def test_a_row_reads_the_experts_that_it_chose_and_no_others(form: str) -> None:
    """In a process whose pages of the others are closed; it ends where a page of a chosen one is closed instead."""
    codes = [
        subprocess.run(
            [sys.executable, "-m", "tests.support.guarded_experts", form, closed],
            capture_output=True,
            check=False,
        ).returncode
        for closed in ("others", "chosen")
    ]
    assert codes == [0, -signal.SIGSEGV]
