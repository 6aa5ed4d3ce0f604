"""Products against float64, of every block type and on every instruction set that this machine has."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from engine.kernels import blocks, codebooks, library
from engine.kernels.library import PANEL_ROWS, Packed
from tests.support.fast_cases import covering, examples
from tests.support.matrices import BLOCKS, TYPES, matrix, raw_matrix

pytestmark = pytest.mark.skipif(library.available() is None, reason=library.reason())

WIDTHS = (1, 2, 3, 4, 5, 7, 12, 13, 16, 17, 31, 48, 65, 150, 512, 513, 514)  # kernels take up to 512 at a time


@pytest.fixture(params=TYPES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rounded(x: Tensor) -> Tensor:
    """Activations as products of blocks take them: 8 bits by groups of 32; float64."""
    groups = x.view(len(x), -1, 32)
    largest = groups.abs().amax(-1, keepdim=True)
    # A number over a tensor would be the tensor's reciprocal times the number.
    inverse = torch.where(largest >= 1e-36, torch.full_like(largest, 127.0) / largest, 0.0)
    return (torch.round(groups * inverse).double() * (largest / 127.0).double()).flatten(1)


def check(name: str, instruction_set: str, packed: Packed, x: Tensor, bias: Tensor | None) -> None:
    """Compare with float64 of what the kernel is given, within roundings of the sum of magnitudes."""
    out = blocks.matmul(packed, x, bias)
    weight = blocks.unpack(packed).double()
    rows = rounded(x) if name in BLOCKS else x.double()
    expected, bound = rows @ weight.t(), rows.abs() @ weight.abs().t()
    if bias is not None:
        expected, bound = expected + bias, bound + bias.abs()
    # A zero point is taken off what is up to 16 times as large; a rounding for each group or, of floats, each product.
    allowed = 2**-24 * (16 * 6 + (x.shape[1] / 8 if name in BLOCKS else x.shape[1] + 6))
    if name == "BF16" and instruction_set in ("avx512bf16", "amx"):
        allowed += 2**-8  # activations are rounded to bfloat16
    assert out.dtype == torch.float32
    assert ((out - expected).abs() <= allowed * bound + 1e-37).all(), ((out - expected).abs() / bound).max()


def test_every_width_agrees_with_float64_and_with_every_other(name: str, instruction_set: str) -> None:
    generator = torch.Generator().manual_seed(1)
    packed = matrix(name, 70, 512)
    x, bias = torch.randn(max(WIDTHS), 512, generator=generator), torch.randn(70, generator=generator)
    check(name, instruction_set, packed, x, bias)
    together = blocks.matmul(packed, x)
    for width in WIDTHS:
        assert torch.equal(blocks.matmul(packed, x[:width]), together[:width]), width
    others = torch.randn(64, 512) * 100
    others[7] = x[7]
    assert torch.equal(blocks.matmul(packed, others)[7], together[7])


def test_inputs_and_results_stay_within_bounds(instruction_set: str) -> None:
    """A NaN is no number outside of them: it makes its token's results NaN, as without bounds."""
    bounds = torch.tensor([-0.5, 0.25, -0.1, 0.2])
    packed = replace(matrix("BF16", 70, 512), bounds=bounds)
    x = torch.randn(515, 512, generator=torch.Generator().manual_seed(2))
    x[3, 5] = torch.nan
    expected = blocks.matmul(replace(packed, bounds=None), x.clamp(*bounds[:2])).clamp(*bounds[2:])
    known = expected.nan_to_num()
    assert (known.min(), known.max()) == tuple(bounds[2:])
    assert expected[3].isnan().all()
    torch.testing.assert_close(blocks.matmul(packed, x), expected, rtol=0, atol=0, equal_nan=True)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 100),
    units=st.integers(1, 4),
    tokens=st.integers(1, 64),
    x_exponent=st.integers(-30, 30),
    biased=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_any_shape_and_size_agrees_with_float64(
    name: str,
    instruction_set: str,
    rows: int,
    units: int,
    tokens: int,
    x_exponent: int,
    biased: bool,
    seed: int,
) -> None:
    generator = torch.Generator().manual_seed(seed)
    columns = units * max(32, blocks.block_of(TYPES[name])[0])
    x = torch.randn(tokens, columns, generator=generator) * 2.0**x_exponent
    bias = torch.randn(rows, generator=generator) if biased else None
    check(name, instruction_set, matrix(name, rows, columns, seed), x, bias)


SIGNS = ((1.0, 1.0, 1.0, 1.0), (-1.0, -1.0, -1.0, -1.0), (1.0, 1.0, -1.0, -1.0), (1.0, -1.0, 1.0, -1.0))


@pytest.mark.parametrize("byte", [0x00, 0x7F, 0x80, 0x88, 0xFF])
def test_the_largest_sums_do_not_overflow(name: str, instruction_set: str, byte: int) -> None:
    """Signs repeat every four columns, which is how the columns of a sum lie in a register's lanes.

    Few tokens are multiplied in other ways than many.
    """
    if name not in BLOCKS:
        pytest.skip("about integers")
    packed, form = matrix(name, 33, 512), blocks._FORMS[TYPES[name]]
    if form.more:
        raw = raw_matrix(name, 33, 512)
        raw[:, form.row_scale_bytes :].view(33, 2, form.size)[..., 2 * len(form.halves) :] = byte
        packed = blocks.arrange(TYPES[name], raw, 33, 512)
        for signs, tokens in product(SIGNS, (4, 17)):
            check(name, instruction_set, packed, torch.tensor(signs).repeat(tokens, 128), None)
        return
    filled = packed.data.clone()
    planes = blocks.unpack(packed)  # scales stay, the integers are all the same
    assert torch.isfinite(planes).all()
    raw = torch.full((33, blocks.row_bytes(TYPES[name], 512)), byte, dtype=torch.uint8)
    same = blocks.arrange(TYPES[name], raw, 33, 512, wild=True).data
    elements = blocks.block_of(TYPES[name])[0]
    unit = packed.data.numel() // 2 // (512 // elements)
    plane_bytes = {8: 1024, 4: 512, 5: 640, 6: 768, 3: 384, 2: 256}[
        {"Q8_0": 8, "Q5_0": 5, "Q5_1": 5, "Q5_K": 5, "Q6_K": 6, "Q3_K": 3, "Q2_K": 2}.get(name, 4)
    ] * (elements // 32)
    if blocks._FORMS[packed.type].halves == () or name.endswith(("Q1_0", "Q2_0")):
        plane_bytes = unit - {"NVFP4": 4, "MXFP4": 1}.get(name, 2) * PANEL_ROWS
    if packed.type in codebooks.TYPES:  # finer scales are among the signs; only the float stays
        plane_bytes = unit - 2 * PANEL_ROWS
    filled.view(-1, unit)[:, :plane_bytes] = same.view(-1, unit)[:, :plane_bytes]
    packed = Packed(filled, 33, 512, packed.type)
    for signs, tokens in product(SIGNS, (4, 17)):
        check(name, instruction_set, packed, torch.tensor(signs).repeat(tokens, 128), None)


def test_the_largest_scales_of_the_largest_sums_do_not_overflow(instruction_set: str) -> None:
    raw = torch.zeros(33, 2, 210, dtype=torch.uint8)  # every weight is -32 * -128 * 1.0
    raw[..., 192:208], raw[..., 209] = 0x80, 0x3C
    packed = blocks.arrange(TYPES["Q6_K"], raw.view(33, -1), 33, 512)
    assert (blocks.unpack(packed) == 4096.0).all()
    for signs, tokens in product(SIGNS, (4, 17)):
        check("Q6_K", instruction_set, packed, torch.tensor(signs).repeat(tokens, 128), None)


@pytest.mark.parametrize("block", BLOCKS)
def test_two_terms_hold_nearly_all_of_an_activation(instruction_set: str, block: str) -> None:
    packed, x = matrix(block, 70, 512), torch.randn(20, 512)
    weight = blocks.unpack(packed).double()
    exact, bound = x.double() @ weight.t(), x.abs().double() @ weight.abs().t()
    out = blocks.matmul(packed, x, refined_above=0.0)
    assert ((out - exact).abs() <= 4e-5 * bound).all()
    assert ((blocks.matmul(packed, x) - exact).abs() / bound).mean() > 20 * ((out - exact).abs() / bound).mean()
    for width in (1, 3, 16, 17):
        assert torch.equal(blocks.matmul(packed, x[:width], refined_above=0.0), out[:width])
    bad = x.clone()
    bad[1, 3] = torch.nan
    assert blocks.matmul(packed, bad, refined_above=0.0)[1].isnan().all()


@pytest.mark.parametrize("block", BLOCKS)
def test_second_terms_are_of_the_groups_that_stand_out(instruction_set: str, block: str) -> None:
    packed, x = matrix(block, 70, 512), torch.tensor([1.0, -1.0]).repeat(40, 256)
    x[::2, [5, 300]] = torch.tensor([60.0, 9.0])
    some, plain = (blocks.matmul(packed, x, refined_above=above) for above in (1.5, torch.inf))
    assert torch.equal(some[1::2], plain[1::2])
    exact = x.double() @ blocks.unpack(packed).double().t()
    assert (some - exact)[::2].abs().mean() < (plain - exact)[::2].abs().mean() / 20
    for width in (1, 3, 16, 17):
        assert torch.equal(blocks.matmul(packed, x[:width], refined_above=1.5), some[:width])


@pytest.mark.parametrize("block", BLOCKS)
def test_panels_with_likely_outputs_have_two_terms_and_the_others_one(instruction_set: str, block: str) -> None:
    packed, x = matrix(block, 330, 256), torch.randn(20, 256)
    whole, plain = (blocks.matmul(packed, x, refined_above=above) for above in (0.0, torch.inf))
    within = plain.std().item()
    near = plain >= plain.amax(1, keepdim=True) - within
    near = functional.pad(near, (0, -330 % 32)).view(20, -1, 32).any(2).repeat_interleave(32, 1)[:, :330]
    assert near.any(1).all()
    assert not near.all()
    out = blocks.matmul(packed, x, refined_above=-within)
    assert torch.equal(out, torch.where(near, whole, plain))
    for width in (1, 3, 16, 17):
        assert torch.equal(blocks.matmul(packed, x[:width], refined_above=-within), out[:width])
    x[1, 3] = torch.nan
    bad = blocks.matmul(packed, x, refined_above=-within)
    assert bad[1].isnan().all()
    assert torch.equal(bad[2:], out[2:])


def test_extreme_values(name: str, instruction_set: str) -> None:
    packed, x = matrix(name, 40, 256), torch.randn(6, 256)
    x[1] = 0
    x[2, 5] = 1e30
    x[3] *= 1e-42
    out = blocks.matmul(packed, x)
    assert torch.isfinite(out).all()
    assert (out[1] == 0).all()
    assert (out[3].abs() <= 1e-36).all()


def test_threads_do_not_change_a_bit(name: str, instruction_set: str) -> None:
    packed, x = matrix(name, 333, 512), torch.randn(520, 512)
    alone = blocks.matmul(packed, x, threads=1)
    for threads in (2, 3, 7, 200):
        assert torch.equal(blocks.matmul(packed, x, threads=threads), alone)


@pytest.mark.parametrize(("bad", "tokens"), covering([torch.nan, torch.inf, -torch.inf], [1, 3, 20], together=1))
def test_what_is_not_finite_stays_in_its_token(name: str, instruction_set: str, bad: float, tokens: int) -> None:
    packed, x = matrix(name, 50, 256), torch.randn(tokens, 256)
    clean = blocks.matmul(packed, x)
    sick = tokens // 2
    x[sick, 17] = bad
    out = blocks.matmul(packed, x)
    others = [token for token in range(tokens) if token != sick]
    assert torch.equal(out[others], clean[others])
    assert not torch.isfinite(out[sick]).any()
    if name in BLOCKS:
        assert torch.isnan(out[sick]).all()


@pytest.mark.skipif(sum(library.instruction_sets().values()) < 2, reason="this machine has one instruction set")
@pytest.mark.parametrize("block", BLOCKS)
def test_instruction_sets_agree_bit_for_bit(instruction_set: str, block: str) -> None:
    if instruction_set == "portable":
        pytest.skip("has no fused multiply-add")
    packed, x, bias = matrix(block, 100, 768), torch.randn(40, 768), torch.randn(100)
    out = blocks.matmul(packed, x, bias)
    library.select(None)
    assert torch.equal(blocks.matmul(packed, x, bias), out)


def test_activations_that_do_not_lie_densely(name: str) -> None:
    packed, x = matrix(name, 40, 256), torch.randn(256, 10).t()
    assert torch.equal(blocks.matmul(packed, x), blocks.matmul(packed, x.contiguous()))


def test_no_tokens(name: str) -> None:
    assert blocks.matmul(matrix(name, 40, 256), torch.empty(0, 256)).shape == (0, 40)


@pytest.mark.parametrize(
    ("x", "bias"),
    [
        (torch.zeros(2, 63), None),
        (torch.zeros(64), None),
        (torch.zeros(2, 64, dtype=torch.float64), None),
        (torch.zeros(2, 64), torch.zeros(39)),
        (torch.zeros(2, 64), torch.zeros(40, dtype=torch.float64)),
    ],
)
def test_shapes_and_types_that_do_not_fit(x: Tensor, bias: Tensor | None) -> None:
    with pytest.raises(ValueError, match="must be float32"):
        blocks.matmul(matrix("Q8_0", 40, 64), x, bias)
