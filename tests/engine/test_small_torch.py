"""The stand-in for torch, operator by operator beside torch itself: bits, types, shapes, strides, errors."""

from __future__ import annotations

import operator
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from engine import small_torch as small
from engine.small_torch import TorchNeeded

NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
Pair = tuple[Any, Any]
"""The same in the stand-in, and in torch."""


def of_numbers(values: np.ndarray[Any, Any], name: str) -> Pair:
    """Tensors of these float32 numbers in a type, converted by torch."""
    theirs = torch.from_numpy(values).to(getattr(torch, name))
    held = theirs.view(torch.int16).numpy().view(np.uint16) if name == "bfloat16" else theirs.numpy()
    return small.Tensor(held.copy(), getattr(small, name)), theirs


def bits(tensor: Any) -> bytes:
    """The numbers as they lie in memory; every NaN counts as one."""
    tensor = tensor.clone().contiguous()
    if tensor.dtype.is_floating_point:
        tensor = tensor.to(small.float64 if isinstance(tensor, small.Tensor) else torch.float64)
        array = tensor.numpy()
        return np.where(np.isnan(array), np.nan, array).tobytes()
    return bytes(tensor.numpy().tobytes())


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, torch.Tensor):
        assert repr(ours.dtype) == repr(theirs.dtype)
        assert ours.shape == theirs.shape
        assert bits(ours) == bits(theirs)
    elif isinstance(theirs, tuple | list):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    else:
        assert ours == theirs or (ours != ours and theirs != theirs)


def assert_alike(operate: Callable[..., Any], ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> None:
    """Compare the results; the stand-in may need torch, and what torch refuses is not looked at."""
    try:
        expected = operate(torch, *theirs)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return
    with suppress(TorchNeeded):
        assert_same(operate(small, *ours), expected)


@st.composite
def tensors(draw: st.DrawFn, names: tuple[str, ...] = NAMES, dims: int = 3, plain: bool = False) -> Pair:
    """A tensor of some type, shape and strides."""
    shape = draw(st.lists(st.integers(0, 4), max_size=dims))
    odd = [] if plain else [-1.0, np.nan, np.inf, -np.inf, -0.0, 1e38, 6e4]
    numbers = st.sampled_from([0.0, 1.0, 3.0, 100.0, 0.1, 2.7, *odd])
    name = draw(st.sampled_from(names))
    numbers = numbers if name.startswith(("float", "bfloat")) else st.integers(0, 100).map(float)
    count = int(np.prod(shape))
    values = np.array(draw(st.lists(numbers, min_size=count, max_size=count)), np.float32).reshape(shape)
    pair = of_numbers(values, name)
    if shape and draw(st.booleans()):
        step = draw(st.integers(1, 2))
        pair = pair[0][::step], pair[1][::step]
    if len(shape) > 1 and draw(st.booleans()):
        pair = pair[0].transpose(0, -1), pair[1].transpose(0, -1)
    assert pair[0].stride() == pair[1].stride() or 0 in shape
    return pair


SCALARS = (0, 1, 3, 2.5, -1.5, True, False)
TWO = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "and_", "or_")},
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}


@pytest.mark.parametrize("name", TWO)
@given(first=tensors(), second=tensors(), scalar=st.sampled_from(SCALARS), place=st.booleans())
def test_operators_of_two(name: str, first: Pair, second: Pair, scalar: Any, place: bool) -> None:
    operate = TWO[name]
    assert_alike(lambda _, one, other: operate(one, other), *zip(first, second, strict=True))
    assert_alike(lambda _, one: operate(one, scalar), *((one,) for one in first))
    if place and hasattr(operator, f"i{name}"):
        write = getattr(operator, f"i{name}")
        assert_alike(lambda _, one, other: (write(one, other), one), *zip(first, second, strict=True))


ONE: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda _, x, name=name: getattr(x, name)()
        for name in ("isfinite", "all", "any", "max", "min", "amax", "amin")
    },
    **{name: lambda _, x, name=name: getattr(x, name)() for name in ("contiguous", "clone", "flatten", "cpu")},
    **{name: lambda _, x, name=name: getattr(x, name)() for name in ("tolist", "item", "numel", "dim")},
    "nbytes": lambda _, x: x.nbytes,
    "bool": lambda _, x: bool(x),
    "len": lambda _, x: len(x),
    "all of a dimension": lambda _, x: x.all(0),
    "largest of a dimension, kept": lambda _, x: (x.amax(-1), x.amax(0, keepdim=True)),
    "nonzero": lambda _, x: x.nonzero(),
    "squeeze": lambda _, x: x.squeeze(-1),
    "transpose": lambda _, x: x.transpose(0, -1),
    "iterate": lambda _, x: list(x),
    "parts": lambda torch, x: torch.split(x, [1, x.shape[0] - 1]),
    "narrow": lambda _, x: x.narrow(-1, 1, 1),
    "where": lambda torch, x: torch.where(x == 1, x, 3),
    "masked": lambda _, x: x.masked_fill(x == 1, 0),
    "columns": lambda _, x: x[..., 0],
    "a new dimension": lambda _, x: x[:, None, ...],
    "rows by a list": lambda _, x: x[[0, -1, 0]],
    "rows by a tensor": lambda torch, x: x[torch.tensor([1, 0])],
    "rows by index_select": lambda torch, x: x.index_select(0, torch.tensor([1, 0])),
    "numbers by a mask": lambda _, x: x[x == 1],
    "shape": lambda _, x: x.view(-1, 2),
    "reshape": lambda _, x: x.reshape(2, -1),
    "bytes": lambda torch, x: x.reshape(-1).view(torch.uint8),
    "filled": lambda _, x: x.clone().fill_(1),
    **{f"to {name}": lambda torch, x, name=name: x.to(getattr(torch, name)) for name in NAMES},
}
# Operators that are asked with a dimension at least, and a number
_OF_A_DIMENSION = ("transpose", "parts", "narrow", "bytes", "rows by")
# Whole numbers have no NaN; of 0.0 and -0.0 either may be the larger one.
_PLAIN = ("to int", "to uint", "max", "min", "amax", "amin", "largest")


@pytest.mark.parametrize("name", ONE)
@given(data=st.data())
def test_operators_of_one(name: str, data: st.DataObject) -> None:
    ours, theirs = data.draw(tensors(plain=name.startswith(_PLAIN)))
    assume(not name.startswith(_OF_A_DIMENSION) or (theirs.ndim and theirs.numel()))
    assert_alike(ONE[name], (ours,), (theirs,))


WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda _, x: (x.sum(), x.sum(0), x.sum(-1, keepdim=True)),
    "sum in a type": lambda torch, x: x.sum(-1, dtype=torch.int32),
    "isin": lambda torch, x: torch.isin(x, torch.tensor([1, 3])),
}


@pytest.mark.parametrize("name", WHOLE)
@given(pair=tensors(("bool", "uint8", "int8", "int32", "int64")))
def test_operators_of_whole_numbers(name: str, pair: Pair) -> None:
    assume(pair[1].ndim and pair[1].numel())
    assert_alike(WHOLE[name], (pair[0],), (pair[1],))


VIEWS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x[1:],
    lambda x: x[..., ::2],
    lambda x: x[0],
    lambda x: x.transpose(0, 1),
    lambda x: x.flatten(),
    lambda x: x.view(2, 2, 4),
    lambda x: x.narrow(1, 1, 2),
    lambda x: x[2, 3],
    lambda x: x.transpose(0, 1)[1],
    lambda x: next(iter(x)),
    lambda x: x.contiguous(),
    lambda x: x.squeeze(0),
)


def _set_rows(torch: Any, x: Any) -> None:
    x[...] = 7


WRITES: tuple[Callable[[Any, Any], Any], ...] = (
    _set_rows,
    lambda torch, x: x.fill_(3),
    lambda torch, x: x.copy_(torch.tensor(2.75)),
    lambda torch, x: operator.iadd(x, 1),
    lambda torch, x: operator.imul(x, 2),
    lambda torch, x: x.__setitem__(x == 1, 5),
    lambda torch, x: x.__setitem__(slice(0, 1), 9.5),
)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "bool"])
@given(view=st.sampled_from(VIEWS), again=st.sampled_from(VIEWS[:2]), write=st.sampled_from(WRITES))
def test_writing_into_a_view_changes_what_it_is_of(name: str, view: Any, again: Any, write: Any) -> None:
    ours, theirs = of_numbers(np.arange(16, dtype=np.float32).reshape(4, 4) % 5, name)

    def run(torch: Any, x: Any) -> Any:
        part = view(x)
        part = again(part) if part.ndim else part
        write(torch, part)
        return x, part, part.stride(), part.is_contiguous()

    assert_alike(run, (ours,), (theirs,))


def test_a_shape_that_is_no_view_is_refused() -> None:
    for torch_ in (small, torch):
        with pytest.raises(RuntimeError):
            torch_.zeros(3, 4).transpose(0, 1).view(12)


@given(st.lists(st.floats(width=32), max_size=8), st.sampled_from(["float16", "bfloat16", "float64"]))
def test_floats_are_rounded_as_torch_rounds_them(values: list[float], name: str) -> None:
    numbers = np.array(values, np.float32)
    ours, theirs = (
        small.from_numpy(numbers).to(getattr(small, name)),
        torch.from_numpy(numbers).to(getattr(torch, name)),
    )
    assert_same(ours, theirs)
    assert_same(ours.float(), theirs.float())


@given(parts=st.lists(tensors(dims=1), min_size=1, max_size=3))
def test_parts_are_joined(parts: list[Pair]) -> None:
    assert_alike(lambda torch, *each: torch.cat(each), *zip(*parts, strict=True))


MADE: tuple[Callable[[Any], Any], ...] = (
    lambda torch: torch.tensor([1, 2]),
    lambda torch: torch.tensor([[1.5], [2]]),
    lambda torch: torch.tensor(True),
    lambda torch: torch.tensor([]),
    lambda torch: torch.tensor([1.1, 3], dtype=torch.bfloat16),
    lambda torch: torch.tensor([300, 2], dtype=torch.int32),
    lambda torch: torch.tensor(torch.tensor([3.0])[0].item()),
    lambda torch: torch.arange(5),
    lambda torch: torch.arange(2, 9, 3, dtype=torch.int32),
    lambda torch: torch.zeros(2, 3),
    lambda torch: torch.ones((2,), dtype=torch.bool),
    lambda torch: (
        torch.empty(0, 3).sum(0, dtype=torch.int64) if torch is not small else torch.zeros(3, dtype=torch.int64)
    ),
    lambda torch: torch.frombuffer(bytearray(8), dtype=torch.bfloat16, count=2, offset=2),
    lambda torch: torch.zeros(3).index_copy(0, torch.tensor([2, 0]), torch.tensor([1.0, 2.0])),
    lambda torch: torch.ones(3).index_add(0, torch.tensor([2, 0]), torch.tensor([0.1, 2.0]), alpha=-1),
    lambda torch: torch.ones(3).index_add(0, torch.tensor([1, 1, 1]), torch.tensor([0.1, 2e7, 0.3])),
    lambda torch: (int(torch.tensor([3])), float(torch.tensor(1)), [0, 1, 2][torch.tensor(1)]),
)


@pytest.mark.parametrize("make", MADE)
def test_tensors_are_made(make: Callable[[Any], Any]) -> None:
    assert_alike(make, (), ())


def test_memory_begins_where_a_cache_line_does() -> None:
    assert all(small.empty(size).data_ptr() % 64 == 0 for size in (1, 7, 1 << 20))
    assert small.empty(0).data_ptr() == torch.empty(0).data_ptr() == 0


MISSING: tuple[Callable[[Any], Any], ...] = (
    lambda torch: torch.randn(2),
    lambda torch: torch.nn.functional.silu(torch.ones(2)),
    lambda torch: torch.ones(2).exp(),
    lambda torch: torch.ones(2).sum(),
    lambda torch: torch.ones(2).to("cuda"),
    lambda torch: torch.zeros(1, device="mps"),
    lambda torch: torch.zeros(1, dtype=torch.uint8).view(torch.float8_e5m2).float(),
    lambda torch: torch.ones(2) + torch.ones(2, dtype=torch.int64),
    lambda torch: torch.tensor([3]) / 2,
    lambda torch: operator.iadd(torch.tensor([3]), 0.5),
)


@pytest.mark.parametrize("ask", MISSING)
def test_what_is_not_here_is_never_taken_for_an_error(ask: Callable[[Any], Any]) -> None:
    assert not issubclass(TorchNeeded, Exception)
    with pytest.raises(TorchNeeded):
        ask(small)


def test_it_takes_the_place_of_torch() -> None:
    code = (
        "from engine import small_torch; assert small_torch.can_install(); small_torch.install();"
        "import sys, torch; from torch.nn import functional; import engine.engine;"
        "assert torch is small_torch and small_torch.installed() and not torch.cuda.is_available();"
        "assert not small_torch.can_install(); print(torch.__version__)"
    )
    if not small._installed() or torch.version.cuda or torch.version.hip or sys.platform != "linux":
        pytest.skip("this torch computes on GPUs")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.stdout.strip() == torch.__version__, found.stderr
    assert not small.can_install()
