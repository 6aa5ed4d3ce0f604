"""GGUF's block types against the package gguf, bit for bit and over wild bytes, with the library and without."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize as gguf_dequantize
from gguf.quants import quantize as gguf_quantize
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.gguf.types import GgmlType
from engine.kernels import blocks, library
from engine.kernels.library import NotFinite, NotPackable, Packed
from tests.support.fast_cases import chosen, examples
from tests.support.ik_types import NAMES as IK_NAMES
from tests.support.ik_types import dequantized
from tests.support.matrices import put_half, raw_matrix

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


#: Elements and bytes of blocks that the package gguf does not dequantize, and the places of their scales.
_OTHERS = {"Q1_0": (128, 18, 0), "Q2_0": (64, 18, 0), "PQ2_0": (128, 34, 0), "PTQ1_0": (128, 28, 26)}


def by_definition(name: str, raw: Tensor) -> Tensor:
    """Rows of one of these types, as llama.cpp and PrismML's define them."""
    _, size, at = _OTHERS[name]
    stored = raw.numpy().reshape(-1, size)
    scale = stored[:, at : at + 2].copy().view(np.float16).astype(np.float32)
    if name == "PTQ1_0":
        parts = [
            ((part * 3**digit & 255) * 3 >> 8)
            for part, count in zip(np.split(stored[:, :26].astype(int), [16, 24], 1), (5, 5, 4), strict=True)
            for digit in range(count)
        ]
        codes = np.concatenate(parts, 1)
    else:
        bits = 1 if name == "Q1_0" else 2
        codes = stored[:, 2:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & (1 << bits) - 1
        codes = codes.reshape(len(stored), -1).astype(int) * (2 if bits == 1 else 1)
    return torch.from_numpy((scale * (codes - 1).astype(np.float32)).reshape(len(raw), -1))


def expected(type: int, raw: Tensor) -> Tensor:
    with np.errstate(all="ignore"):
        if blocks.name_of(type) in IK_NAMES:
            return torch.from_numpy(dequantized(blocks.name_of(type), raw.numpy()))
        if blocks.name_of(type) in _OTHERS:
            return by_definition(blocks.name_of(type), raw)
        return torch.from_numpy(gguf_dequantize(raw.numpy(), GGMLQuantizationType(type)))


def same_bits(left: Tensor, right: Tensor) -> bool:
    """True if all numbers are equal bit for bit; any NaN equals any other."""
    return left.shape == right.shape and bool(
        ((left.view(torch.int32) == right.view(torch.int32)) | (left.isnan() & right.isnan())).all()
    )


@pytest.mark.parametrize("type", TYPES)
def test_sizes_are_those_of_gguf(type: int) -> None:
    name = blocks.name_of(type)
    if name in _OTHERS:
        assert blocks.block_of(type) == _OTHERS[name][:2]
        return
    if name in IK_NAMES:
        assert blocks.row_bytes(type, 512) == GgmlType[name].row_bytes(512)
        return
    assert blocks.block_of(type) == GGML_QUANT_SIZES[GGMLQuantizationType(type)]
    assert name == GGMLQuantizationType(type).name


@pytest.mark.parametrize("type", [type for type in TYPES if type > 33])
def test_later_types_take_their_own_size(type: int) -> None:
    wider = 2 if GgmlType(type).row_extra_bytes == 2 else 0  # scales of rows are of 32 bits in memory
    assert blocks.arranged_bytes(type, 96, 1024) == 96 * (blocks.row_bytes(type, 1024) + wider)


@needs_library
@settings(max_examples=examples(30))
@given(data=st.binary(min_size=4 * 54, max_size=4 * 54), name=st.sampled_from(["TQ1_0", "TQ2_0", "NVFP4", *_OTHERS]))
def test_wild_blocks_equal_their_definition(data: bytes, name: str) -> None:
    elements, size = blocks.block_of(blocks.NAMES[name])
    raw = torch.frombuffer(bytearray(data), dtype=torch.uint8)[: len(data) // size * size].view(-1, size)
    assert same_bits(blocks.dequantize(blocks.NAMES[name], raw.flatten(), elements), expected(blocks.NAMES[name], raw))


@needs_library
@pytest.mark.parametrize("type", [*TYPES, -1, 0, 9, 31, 99])
@pytest.mark.parametrize("columns", [0, 1, 32, 100, 256, 288, 768])
def test_the_library_and_python_agree_on_sizes(type: int, columns: int) -> None:
    functions = library.loaded()
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
    assert exact.isnan().any() or blocks.name_of(type) in ("MXFP4", "NVFP4")
    assert same_bits(blocks.dequantize(type, raw, 768), exact)
    assert blocks.dequantize(type, raw[:0], 768).shape == (0, 768)
    with pytest.raises(ValueError, match="bytes are not rows"):
        blocks.dequantize(type, raw.flatten()[1:], 768)


def bytes_of(type: int) -> st.SearchStrategy[tuple[int, bytes]]:
    """A type and bytes of two of its blocks, or of its 64 plain numbers."""
    elements, size = blocks.block_of(type)
    return st.tuples(st.just(type), st.binary(min_size=(64 if elements == 1 else 2) * size))


@needs_library
@settings(max_examples=examples(60))
@given(case=st.sampled_from(TYPES).flatmap(bytes_of))
@example(case=(39, b"\xfd" + 15 * b"\0" + b"\x06" + 17 * b"\0"))  # MXFP4: 4 times 2^126
def test_any_bytes_are_what_gguf_says(case: tuple[int, bytes]) -> None:
    type, data = case
    columns = 64 if blocks.block_of(type)[0] == 1 else 2 * blocks.block_of(type)[0]
    stored = blocks.row_bytes(type, columns)
    raw = torch.tensor(list(data[: len(data) // stored * stored]), dtype=torch.uint8).view(-1, stored)
    packed = blocks.arrange(type, raw, len(raw), columns, wild=True)
    assert same_bits(blocks.dequantize(type, raw, columns), expected(type, raw))
    assert same_bits(blocks.unpack(packed), expected(type, raw))
    try:
        blocks.arrange(type, raw, len(raw), columns)
    except NotFinite:
        # A scale of a row may be so large that its weights need not be finite. A byte that stands for NaN as a scale is
        # refused, and gguf reads it as a number.
        large = blocks._FORMS[type].row_scale == torch.float32
        assert not torch.isfinite(expected(type, raw)).all() or blocks.name_of(type) in ("MXFP4", "NVFP4") or large
    else:
        assert torch.isfinite(expected(type, raw)).all()


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(("rows", "columns"), [(1, 256), (32, 512), (33, 768), (100, 256)])
def test_arranging_changes_no_value(type: int, rows: int, columns: int, way: str) -> None:
    raw = wild(type, rows + 5, columns, rows)
    order = torch.randperm(rows + 5, generator=torch.Generator().manual_seed(rows))[:rows].to(torch.int32)
    exact = expected(type, raw)
    for row_map, want in ((None, exact[:rows]), (order, exact[order.long()])):
        source = raw[:rows] if row_map is None else raw
        packed = blocks.arrange(type, source, rows, columns, row_map, wild=True)
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
        if blocks._FORMS[type].row_scale == torch.float16:
            part[:, 1] &= 0x7B  # which NaN another becomes differs
        ours = [
            blocks.arrange(
                *(type, part, 75, columns),
                out=torch.full_like(torch.empty(size, dtype=torch.uint8), 9),
                wild=True,
            )
            for size in [blocks.arranged_bytes(type, 75, columns)]
        ]
        ours.append(blocks.arrange(type, part, 75, columns, threads=3, wild=True))
        unpacked = blocks.unpack(ours[0])
        with monkeypatch.context() as context:
            context.setattr(library, "_load", lambda: library._Loaded(None, "there is none."))
            plain = blocks.arrange(type, part, 75, columns, wild=True)
            assert same_bits(blocks.unpack(ours[0]), unpacked)
        for packed in ours:
            assert torch.equal(packed.data, plain.data)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("type", TYPES)
def test_a_scale_that_is_no_number_is_found(type: int, value: float, way: str) -> None:
    rows, columns = 37, 512
    raw = raw_matrix(blocks.name_of(type), rows, columns)
    blocks.arrange(type, raw, rows, columns)
    elements, size = blocks.block_of(type)
    form = blocks._FORMS[type]
    bad = torch.tensor([value], dtype=form.row_scale or (torch.bfloat16 if type == 30 else torch.float16))
    places = {39: (), 40: ()}.get(type, (0,) if form.row_scale else form.halves)
    for row, block, at in itertools.product((0, 31, 36), (0, columns // elements - 1), places or (0,)):
        damaged = raw.clone()
        start = block * size + at
        if form.row_scale:
            damaged[row, : bad.itemsize] = bad.view(torch.uint8)
        elif places:
            put_half(blocks.name_of(type), damaged[row, block * size :], at, bad.view(torch.uint8))
        else:
            damaged[row, start] = 255
        with pytest.raises(NotFinite):
            blocks.arrange(type, damaged, rows, columns)


@needs_library
@pytest.mark.parametrize("type", TYPES)
def test_padding_is_zero(type: int) -> None:
    one = blocks.arrange(type, wild(type, 1, 256), 1, 256, wild=True)
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


def weights(kind: str, rows: int = 64, columns: int = 1024) -> Tensor:
    generator = torch.Generator().manual_seed(5)
    gauss = torch.randn(rows, columns, generator=generator)
    scales = torch.randn(rows, columns // 256, 1, generator=generator).exp().expand(-1, -1, 256).reshape(gauss.shape)
    return 0.02 * {"gauss": gauss, "heavy": gauss * gauss.abs(), "shifted": gauss + 2, "scaled": gauss * scales}[kind]


@needs_library
@pytest.mark.parametrize("name", ["F16", "BF16"])
@pytest.mark.parametrize("scale", [1e-42, 1e-9, 3e-5, 1.0, 3e3])
def test_what_is_only_rounded_equals_gguf(name: str, scale: float) -> None:
    x = weights("heavy") * scale
    x[0, :32] = 0
    x[1, :64] = torch.arange(64) / 2 - 16  # ties
    exact = torch.from_numpy(gguf_quantize(x.numpy(), GGMLQuantizationType[name]).view(np.uint8))
    assert torch.equal(blocks.quantize(blocks.NAMES[name], x), exact)


@needs_library
@pytest.mark.parametrize(
    ("name", "most"),
    # Errors of llama.cpp's own quantizer (llama-cpp-python 0.3.36, no importance matrix).
    [
        ("Q2_K", {"gauss": 0.30318, "heavy": 0.39892, "shifted": 0.32504, "scaled": 0.30000}),
        ("Q3_K", {"gauss": 0.15217, "heavy": 0.17323, "shifted": 0.25839, "scaled": 0.15348}),
        ("Q4_0", {"gauss": 0.08560, "heavy": 0.11170, "shifted": 0.14475, "scaled": 0.08647}),
        ("Q5_0", {"gauss": 0.04270, "heavy": 0.05800, "shifted": 0.07247, "scaled": 0.04284}),
        ("Q5_1", {"gauss": 0.03760, "heavy": 0.04957, "shifted": 0.03760, "scaled": 0.03757}),
        ("IQ4_NL", {"gauss": 0.07612, "heavy": 0.09240, "shifted": 0.14315, "scaled": 0.07699}),
        ("IQ4_XS", {"gauss": 0.07674, "heavy": 0.09324, "shifted": 0.14449, "scaled": 0.07759}),
        ("Q4_1", {"gauss": 0.07810, "heavy": 0.10257, "shifted": 0.07810, "scaled": 0.07866}),
        ("Q4_K", {"gauss": 0.07131, "heavy": 0.09200, "shifted": 0.07391, "scaled": 0.07188}),
        ("Q5_K", {"gauss": 0.03595, "heavy": 0.04749, "shifted": 0.03678, "scaled": 0.03621}),
        ("Q6_K", {"gauss": 0.01771, "heavy": 0.02371, "shifted": 0.03055, "scaled": 0.01777}),
    ],
)
def test_searched_scales_err_no_more_than_llama_cpp(name: str, most: dict[str, float]) -> None:
    for kind, bound in most.items():
        x = weights(kind)
        back = blocks.dequantize(blocks.NAMES[name], blocks.quantize(blocks.NAMES[name], x), x.shape[1])
        assert float((back - x).square().mean().sqrt() / x.std()) < bound, kind


@needs_library
@pytest.mark.parametrize("name", ["Q2_K", "Q4_1", "Q4_K", "Q5_1", "Q5_K"])
def test_one_column_that_counts_most_spoils_no_fit(name: str) -> None:
    type, importance = blocks.NAMES[name], torch.ones(512)
    importance[5::128] = 1e4  # as that of a massive activation: 18,000 times the median in Qwen2.5-Coder 1.5B

    def back(x: Tensor, importance: Tensor | None = None) -> Tensor:
        return blocks.dequantize(type, blocks.quantize(type, x, importance=importance), x.shape[1])

    held = back(weights("gauss", 16, 512))  # by this type, so hardly anything need be lost
    missing = (back(held, importance) - held).square() * importance
    assert float(missing.mean().sqrt() / held.std()) < 0.01


@needs_library
@pytest.mark.parametrize("kind", ["gauss", "heavy", "shifted", "scaled"])
def test_8_bits_err_less_than_by_the_largest_magnitude(kind: str) -> None:
    x, q8_0, form = weights(kind), blocks.NAMES["Q8_0"], GGMLQuantizationType.Q8_0
    coarse = 0.01 * (x / 0.01).round().clamp(-7, 8)

    def lost(numbers: Tensor, raw: Tensor) -> float:
        return float((blocks.dequantize(q8_0, raw, numbers.shape[1]) - numbers).square().mean())

    for numbers, share in ((x, 0.9), (coarse, 0.6)):
        largest_at_127 = torch.from_numpy(gguf_quantize(numbers.numpy(), form).view(np.uint8))
        assert lost(numbers, blocks.quantize(q8_0, numbers)) < share * lost(numbers, largest_at_127)


@needs_library
@pytest.mark.parametrize("name", blocks.QUANTIZABLE)
def test_weights_that_are_hard_to_quantize(name: str) -> None:
    type = blocks.NAMES[name]

    def back(x: Tensor) -> Tensor:
        return blocks.dequantize(type, blocks.quantize(type, x), x.shape[1])

    bits = 8 * blocks.row_bytes(type, 256) / 256
    assert torch.equal(back(torch.zeros(2, 256)), torch.zeros(2, 256))
    assert blocks.quantize(type, torch.empty(0, 256)).shape == (0, blocks.row_bytes(type, 256))
    for value in (-3.0, 3.0):  # one number throughout, and only one that is not zero
        one, single = torch.full((1, 256), value), torch.zeros(1, 256)
        single[0, 77] = value
        assert (back(one) - one).abs().max() < 0.03
        assert (back(single) - single).abs().max() < 0.03
    for scale in (1e-30, 1e-7, 1e-2, 1e4):
        x = weights("gauss") * scale
        assert (back(x) - x).abs().max() < (0.2 if bits > 4 else 0.5) * x.abs().max() + 1e-6
    threaded = [blocks.quantize(type, weights("heavy"), threads) for threads in (1, 3)]
    assert torch.equal(*threaded)


@needs_library
@pytest.mark.parametrize("name", blocks.QUANTIZABLE)
def test_quantized_bits_are_the_same_on_every_instruction_set(name: str) -> None:
    importance = torch.rand(256, generator=torch.Generator().manual_seed(1)) + 0.1
    made = []
    for cap in ("portable", None):
        library.select(cap)
        try:
            found = [
                blocks.quantize(blocks.NAMES[name], weights(kind)) for kind in ("gauss", "heavy", "shifted", "scaled")
            ]
            made.append([*found, blocks.quantize(blocks.NAMES[name], weights("heavy", 8, 256), importance=importance)])
        finally:
            library.select(None)
    assert all(map(torch.equal, *made))


@needs_library
@pytest.mark.parametrize("name", blocks.QUANTIZABLE)
@pytest.mark.parametrize("wrong", [torch.nan, torch.inf, -torch.inf, 1e30, -3.4e38])
def test_what_a_type_cannot_hold_is_reported(name: str, wrong: float) -> None:
    if name == "BF16" and wrong == 1e30:
        pytest.skip("it holds this")
    for at in (0, 100, 255):
        x = weights("gauss", 3, 256)
        x[1, at] = wrong
        with pytest.raises(NotPackable, match=name):
            blocks.quantize(blocks.NAMES[name], x)


def test_what_is_not_quantized(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="MXFP4"):
        blocks.quantize(blocks.NAMES["MXFP4"], torch.zeros(1, 256))
    with pytest.raises(ValueError, match="Q8_0"):
        blocks.quantize(blocks.NAMES["Q8_0"], torch.zeros(1, 256), importance=torch.ones(255))
    with pytest.raises(ValueError, match="bfloat16"):
        blocks.quantize(blocks.NAMES["Q8_0"], torch.zeros(1, 256, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="no multiple"):
        blocks.quantize(blocks.NAMES["Q6_K"], torch.zeros(1, 128))
    monkeypatch.setattr(library, "_load", lambda: library._Loaded(None, "there is none."))
    with pytest.raises(NotPackable, match="there is none"):
        blocks.quantize(blocks.NAMES["Q8_0"], torch.zeros(1, 256))


@needs_library
@pytest.mark.parametrize(
    "cap", chosen([name for name, usable in library.instruction_sets().items() if usable], ("portable",))
)
def test_under_every_cap(cap: str) -> None:
    code = (
        "from tests.engine.kernels import test_blocks as t\n"
        "for type in t.TYPES:\n"
        "    raw = t.wild(type, 40, 512)\n"
        "    packed = t.blocks.arrange(type, raw, 40, 512, wild=True)\n"
        "    assert t.same_bits(t.blocks.unpack(packed), t.expected(type, raw))\n"
        "    assert t.same_bits(t.blocks.dequantize(type, raw, 512), t.expected(type, raw))\n"
        "for name in t.blocks.QUANTIZABLE:\n"
        "    t.test_weights_that_are_hard_to_quantize(name)\n"
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
