"""GGUF's block types against the package gguf, bit for bit and over wild bytes, with the library and without."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize as gguf_dequantize
from torch import Tensor

from engine.kernels import blocks, library
from engine.kernels.packing import Packed

TYPES = list(blocks.NAMES.values())
needs_library = pytest.mark.skipif(library.available() is None, reason=library.reason())


@pytest.fixture(params=["library", "torch"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "torch":
        monkeypatch.setattr(library, "_load", lambda: library._Loaded(None, "there is none."))
    elif library.available() is None:
        pytest.skip(library.reason())
    return str(request.param)


def wild(type: int, rows: int, columns: int, seed: int = 0) -> Tensor:
    """Random bytes, so that scales are NaN, infinite, subnormal and negative too."""
    generator = torch.Generator().manual_seed(seed * 100 + type)
    raw = torch.randint(256, (rows, blocks.row_bytes(type, columns)), dtype=torch.uint8, generator=generator)
    raw[: rows // 8] = 0
    raw[rows // 8 : rows // 4] = 255
    return raw


def expected(type: int, raw: Tensor) -> Tensor:
    with np.errstate(all="ignore"):
        return torch.from_numpy(gguf_dequantize(raw.numpy(), GGMLQuantizationType(type)))


def same_bits(left: Tensor, right: Tensor) -> bool:
    """Whether all numbers are equal bit for bit; which NaN a NaN is counts for nothing."""
    return left.shape == right.shape and bool(
        ((left.view(torch.int32) == right.view(torch.int32)) | (left.isnan() & right.isnan())).all()
    )


@pytest.mark.parametrize("type", TYPES)
def test_sizes_are_those_of_gguf(type: int) -> None:
    assert blocks.block_of(type) == GGML_QUANT_SIZES[GGMLQuantizationType(type)]
    assert blocks.name_of(type) == GGMLQuantizationType(type).name


@needs_library
@pytest.mark.parametrize("type", [*TYPES, -1, 0, 9, 31, 99])
@pytest.mark.parametrize("columns", [0, 1, 32, 100, 256, 288, 768])
def test_the_library_and_python_agree_on_sizes(type: int, columns: int) -> None:
    functions = library.loaded()
    assert functions is not None
    found = functions.tenon_arranged_bytes(type, 33, columns)
    if found >= 0:
        assert found == blocks.arranged_bytes(type, 33, columns)
    else:
        with pytest.raises(ValueError, match=r"no multiple of a block|no block type"):
            blocks.arranged_bytes(type, 33, columns)


@pytest.mark.parametrize("type", TYPES)
def test_rows_equal_those_of_gguf(type: int, way: str) -> None:
    raw = wild(type, 48, 768)
    exact = expected(type, raw)
    assert exact.isnan().any() or type == blocks.NAMES["MXFP4"]
    assert same_bits(blocks.dequantize(type, raw, 768), exact)
    some = torch.tensor([47, 0, 3, 3, 30])
    assert same_bits(blocks.dequantize(type, raw, 768, some), exact[some])
    assert blocks.dequantize(type, raw, 768, some[:0]).shape == (0, 768)
    for row in (-1, 48):
        with pytest.raises(IndexError, match="48"):
            blocks.dequantize(type, raw, 768, torch.tensor([row]))
    with pytest.raises(ValueError, match="bytes are not rows"):
        blocks.dequantize(type, raw.flatten()[1:], 768)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(("rows", "columns"), [(1, 256), (32, 512), (33, 768), (100, 256)])
def test_arranging_changes_no_value(type: int, rows: int, columns: int, way: str) -> None:
    raw = wild(type, rows + 5, columns, rows)
    order = torch.randperm(rows + 5, generator=torch.Generator().manual_seed(rows))[:rows].to(torch.int32)
    exact = expected(type, raw)
    for row_map, want in ((None, exact[:rows]), (order, exact[order.long()])):
        source = raw[:rows] if row_map is None else raw
        packed = blocks.arrange(type, source, rows, columns, row_map)
        assert packed.size_bytes == blocks.arranged_bytes(type, rows, columns)
        assert same_bits(blocks.unpack(packed), want)
        for start in range(0, rows, 32):
            assert same_bits(blocks.unpack(packed, start, start + 7), want[start : start + 7])


@needs_library
@pytest.mark.parametrize("type", TYPES)
def test_the_library_arranges_as_torch_does(type: int, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = wild(type, 75, 1024)
    for columns in (1024, 990) if blocks.block_of(type)[0] == 1 else (1024,):
        part = raw[:, : blocks.row_bytes(type, columns)].contiguous()
        ours = [
            blocks.arrange(
                type, part, 75, columns, out=torch.full_like(torch.empty(size, dtype=torch.uint8), 9)
            )
            for size in [blocks.arranged_bytes(type, 75, columns)]
        ]
        ours.append(blocks.arrange(type, part, 75, columns, threads=3))
        unpacked = blocks.unpack(ours[0])
        with monkeypatch.context() as context:
            context.setattr(library, "_load", lambda: library._Loaded(None, "there is none."))
            plain = blocks.arrange(type, part, 75, columns)
            assert same_bits(blocks.unpack(ours[0]), unpacked)
        for packed in ours:
            assert torch.equal(packed.data, plain.data)


@needs_library
@pytest.mark.parametrize("type", TYPES)
def test_padding_is_zero(type: int) -> None:
    one = blocks.arrange(type, wild(type, 1, 256), 1, 256)
    whole = Packed(one.data, 32, 256, type)
    rest = blocks.unpack(whole)[1:]
    assert torch.equal(rest, torch.zeros_like(rest))
    assert int((one.data != 0).sum()) <= blocks.arranged_bytes(type, 32, 256) // 32


def test_what_does_not_fit_is_one_sentence(way: str) -> None:
    type = blocks.NAMES["Q4_K"]
    raw = wild(type, 4, 512)
    with pytest.raises(ValueError, match="100 columns are no multiple of a block of 256"):
        blocks.arrange(type, raw, 4, 100)
    with pytest.raises(ValueError, match="number 77"):
        blocks.row_bytes(77, 256)
    for rows, row_map in ((5, None), (3, None), (1, torch.tensor([4])), (1, torch.tensor([-1]))):
        with pytest.raises(ValueError, match="rows"):
            blocks.arrange(type, raw, rows, 512, row_map)
    with pytest.raises(ValueError, match="takes"):
        blocks.arrange(type, raw, 4, 512, out=torch.empty(7, dtype=torch.uint8))


@needs_library
@pytest.mark.parametrize("cap", [name for name, usable in library.instruction_sets().items() if usable])
def test_under_every_cap(cap: str) -> None:
    code = (
        "from tests.engine.kernels import test_blocks as t\n"
        "for type in t.TYPES:\n"
        "    raw = t.wild(type, 40, 512)\n"
        "    packed = t.blocks.arrange(type, raw, 40, 512)\n"
        "    assert t.same_bits(t.blocks.unpack(packed), t.expected(type, raw))\n"
        "    assert t.same_bits(t.blocks.dequantize(type, raw, 512), t.expected(type, raw))\n"
        "print(t.library.available())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {library.CAP_VARIABLE: cap},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout.strip() == cap, done.stderr
