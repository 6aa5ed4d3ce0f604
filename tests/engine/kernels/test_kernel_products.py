"""Products against float64, on every instruction set that this machine has."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels import bf16, int4, int8, library
from engine.kernels.activations import rounded_blocks

pytestmark = pytest.mark.skipif(library.available() is None, reason=library.reason())

FORMATS = {"int8": int8, "int4": int4, "bf16": bf16}
SETS = [name for name, usable in library.instruction_sets().items() if usable]


@pytest.fixture(params=SETS)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    before = library.available()
    assert library.select(request.param) == request.param
    yield request.param
    library.select(before)


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest) -> ModuleType:
    return FORMATS[request.param]


def float64_product(
    form: ModuleType, packed: int8.Packed, x: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The product of what the kernel is given, and the sum of magnitudes that bounds its rounding."""
    weight = form.unpack(packed).to(torch.float64)
    rows = (
        x.to(torch.float64) if form is bf16 else rounded_blocks(x, int8.SPAN if form is int8 else int4.GROUP)
    )
    out, bound = rows @ weight.t(), rows.abs() @ weight.abs().t()
    return (out, bound) if bias is None else (out + bias, bound + bias.abs())


def tolerance(form: ModuleType, instruction_set: str, columns: int) -> float:
    """Relative to the sum of magnitudes: a rounding per addition, and two to scale."""
    if form is bf16 and instruction_set in ("avx512bf16", "amx"):
        return 2**-8 + columns * 2**-24  # activations are rounded to bfloat16
    additions = {int8: columns / 128 + 2, int4: columns / 32 + 2, bf16: columns}[form]
    return float(additions + 6) * 2**-24


def check(form: ModuleType, instruction_set: str, weight: Tensor, x: Tensor, bias: Tensor | None) -> None:
    packed = form.pack(weight)
    out = form.matmul(packed, x, bias)
    expected, bound = float64_product(form, packed, x, bias)
    allowed = tolerance(form, instruction_set, weight.shape[1]) * bound + 1e-37
    assert out.dtype == torch.float32
    assert ((out - expected).abs() <= allowed).all(), ((out - expected).abs() / allowed).max()


@pytest.mark.parametrize("tokens", [1, 2, 3, 4, 5, 7, 12, 13, 16, 17, 24, 31, 48, 64, 65, 130])
def test_every_width_agrees_with_float64(form: ModuleType, instruction_set: str, tokens: int) -> None:
    generator = torch.Generator().manual_seed(tokens)
    weight = torch.randn(70, 200, generator=generator)
    x = torch.randn(tokens, 200, generator=generator)
    check(form, instruction_set, weight, x, torch.randn(70, generator=generator))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 100),
    columns=st.integers(1, 300),
    tokens=st.integers(1, 64),
    weight_exponent=st.integers(-30, 30),
    x_exponent=st.integers(-30, 30),
    biased=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_any_shape_and_size_agrees_with_float64(
    form: ModuleType,
    instruction_set: str,
    rows: int,
    columns: int,
    tokens: int,
    weight_exponent: int,
    x_exponent: int,
    biased: bool,
    seed: int,
) -> None:
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(rows, columns, generator=generator) * 2.0**weight_exponent
    x = torch.randn(tokens, columns, generator=generator) * 2.0**x_exponent
    check(form, instruction_set, weight, x, torch.randn(rows, generator=generator) if biased else None)


SIGNS = ((1.0, 1.0, 1.0, 1.0), (-1.0, -1.0, -1.0, -1.0), (1.0, 1.0, -1.0, -1.0), (1.0, -1.0, 1.0, -1.0))


@pytest.mark.parametrize("weight_signs", SIGNS)
@pytest.mark.parametrize("x_signs", SIGNS)
def test_the_largest_sums_do_not_overflow(
    form: ModuleType, instruction_set: str, weight_signs: tuple[float, ...], x_signs: tuple[float, ...]
) -> None:
    """Signs repeat every four columns, which is how the columns of a sum lie in a register's lanes."""
    weight, x = torch.tensor(weight_signs).repeat(33, 512), torch.tensor(x_signs).repeat(5, 512)
    check(form, instruction_set, weight, x, None)


def test_extreme_values(form: ModuleType, instruction_set: str) -> None:
    weight = torch.randn(40, 96)
    weight[3] = 0
    weight[4] *= 1e-34
    x = torch.randn(6, 96)
    x[1] = 0
    x[2, 5] = 1e30
    x[3] *= 1e-42
    packed = form.pack(weight)
    out = form.matmul(packed, x)
    expected, bound = float64_product(form, packed, x, None)
    assert torch.isfinite(out).all()
    assert ((out - expected).abs() <= 0.01 * bound + 1e-35).all()
    assert (out[1] == 0).all()
    assert (out[:, 3] == 0).all()


def test_a_token_is_the_same_whoever_shares_the_call(form: ModuleType, instruction_set: str) -> None:
    packed = form.pack(torch.randn(100, 320))
    x = torch.randn(64, 320)
    together = form.matmul(packed, x)
    # AMX's bf16 tiles take over at 16 tokens, and add in another order.
    tiles = form is bf16 and instruction_set == "amx"
    for width in (16, 33) if tiles else (1, 2, 5, 16, 33):
        assert torch.equal(form.matmul(packed, x[:width]), together[:width])
    others = torch.randn(64, 320) * 100
    others[7] = x[7]
    assert torch.equal(form.matmul(packed, others)[7], together[7])


def test_threads_do_not_change_a_bit(form: ModuleType, instruction_set: str) -> None:
    packed = form.pack(torch.randn(333, 640))
    x = torch.randn(80, 640)
    alone = form.matmul(packed, x, threads=1)
    for threads in (2, 3, 7, 200):
        assert torch.equal(form.matmul(packed, x, threads=threads), alone)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("tokens", [1, 3, 20])
def test_what_is_not_finite_stays_in_its_token(
    form: ModuleType, instruction_set: str, bad: float, tokens: int
) -> None:
    packed = form.pack(torch.randn(50, 130))
    x = torch.randn(tokens, 130)
    clean = form.matmul(packed, x)
    sick = tokens // 2
    x[sick, 17] = bad
    out = form.matmul(packed, x)
    others = [token for token in range(tokens) if token != sick]
    assert torch.equal(out[others], clean[others])
    assert not torch.isfinite(out[sick]).any()
    if form is not bf16:
        assert torch.isnan(out[sick]).all()


@pytest.mark.skipif(len(SETS) < 2, reason="this machine has one instruction set")
def test_instruction_sets_agree_bit_for_bit(instruction_set: str) -> None:
    if instruction_set == "portable":
        pytest.skip("has no fused multiply-add")
    weight, x, bias = torch.randn(100, 700), torch.randn(9, 700), torch.randn(100)
    eight, four = int8.pack(weight), int4.pack(weight)
    out = int8.matmul(eight, x, bias), int4.matmul(four, x, bias)
    library.select(None)
    assert torch.equal(int8.matmul(eight, x, bias), out[0])
    assert torch.equal(int4.matmul(four, x, bias), out[1])


def test_activations_that_do_not_lie_densely(form: ModuleType) -> None:
    packed = form.pack(torch.randn(40, 64))
    x = torch.randn(64, 10).t()
    assert torch.equal(form.matmul(packed, x), form.matmul(packed, x.contiguous()))


def test_no_tokens(form: ModuleType) -> None:
    assert form.matmul(form.pack(torch.randn(40, 64)), torch.empty(0, 64)).shape == (0, 40)


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
def test_shapes_and_types_that_do_not_fit(form: ModuleType, x: Tensor, bias: Tensor | None) -> None:
    with pytest.raises(ValueError, match="must be float32"):
        form.matmul(form.pack(torch.randn(40, 64)), x, bias)
