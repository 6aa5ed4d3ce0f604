"""A row's layer over experts of which some may not be read, in a process that ends where one is.

    python -m tests.support.guarded_experts TYPE others|chosen

``others``: the pages of all experts that the row did not choose are closed; ``chosen``: those of one that it chose.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import replace

import torch

from engine.kernels import layer
from engine.kernels.library import Packed
from engine.model.fused_layer import FusedMixture, fused_step, fused_text
from engine.model.linear import JoinedLinear, LinearMap, PackedLinear
from engine.weights.direct_reader import PageMemory
from tests.engine.kernels.test_layer_kernel import SOFTMAX, RandomLayer, Shape, rotations

_PAGE = 4096
_CLOSED = 0  # PROT_NONE


def matrices(linear: LinearMap) -> Iterator[PackedLinear]:
    """A map's packed matrices."""
    for part in linear.parts if isinstance(linear, JoinedLinear) else (linear,):
        assert isinstance(part, PackedLinear)
        yield part


def moved(matrix: Packed) -> tuple[Packed, PageMemory]:
    """The matrix in whole pages of its own."""
    memory = PageMemory(-(-matrix.size_bytes // _PAGE) * _PAGE)
    own = memory.tensor(0, matrix.size_bytes)
    own.copy_(matrix.data.view(torch.uint8))
    return replace(matrix, data=own), memory


def main(form: str, closed: str) -> None:
    """Run the layer twice, the second time with pages closed."""
    mixture = replace(SOFTMAX, width=256)
    made = RandomLayer(Shape(mixture=mixture), form)
    experts = made.experts
    pages: list[list[PageMemory]] = []
    for maps in zip(experts.gate_up, experts.down, strict=True):
        pages.append([])
        for part in (part for one in maps for part in matrices(one)):
            matrix, memory = moved(part.matrix)
            part.move_to(matrix)
            pages[-1].append(memory)
    fused = FusedMixture(mixture, experts)
    made.structure.mixture = ctypes.addressof(fused.structure)
    hidden = torch.randn(1, made.shape.hidden, generator=torch.Generator().manual_seed(2))
    taken: list[int] = []
    cache = made.cache()
    text = fused_text(1, None, cache, 0)
    step = fused_step([text], cache.dtype, None, rotations(torch.zeros(1), made.shape.rotated))
    address = (ctypes.c_void_p * 1)(cache.data_ptr())
    stores = layer.stores([address])
    before, after = hidden.clone(), hidden.clone()
    layer.forward(made.structure, step.step, stores, 0, before, taken.extend)
    assert len(set(taken)) == mixture.chosen
    kept = set(taken) if closed == "others" else set(range(mixture.experts)) - {taken[0]}
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    for expert in set(range(mixture.experts)) - kept:
        for memory in pages[expert]:
            assert protect(memory.tensor(0, 1).data_ptr(), memory.size_bytes, _CLOSED) == 0
    layer.forward(made.structure, step.step, stores, 0, after)
    assert torch.equal(before, after)


if __name__ == "__main__":
    main(*sys.argv[1:])
