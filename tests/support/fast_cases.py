"""Choice of the cases that each run of the tests tries; `pytest -m slow` tries the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

#: Variants of `tests.support.checkpoints.VARIANTS` that have every kind of layer together: plain; a sliding window,
#: norms and inputs of its own; experts, sinks and biases; latent attention and shared experts; a convolution; a state.
FAMILIES = ("deepseek-v3", "gemma4-inputs", "gpt-oss", "lfm2", "llama", "qwen35")


def chosen(values: Iterable[Any], fast: Collection[Any] | Callable[[Any], bool]) -> list[ParameterSet]:
    """Return all values as parameters, of which those that are not in ``fast`` are slow."""
    is_fast = fast if callable(fast) else fast.__contains__
    return [_case(value if isinstance(value, tuple) else (value,), is_fast(value)) for value in values]


def families(variants: Iterable[str]) -> list[ParameterSet]:
    """Return variants in order, of which one of each kind of layer is fast."""
    return chosen(sorted(variants), FAMILIES)


def covering(*axes: Iterable[Any], together: int = 2) -> list[ParameterSet]:
    """Return all combinations, of which a covering array is fast: any two values of two axes meet in one of its cases.

    Nearly all faults need no more than two values at once (Kuhn, Wallace, Gallo 2004, "Software fault interactions").

    Args:
        *axes: Values of each parameter.
        together: Number of values that meet; with 1 each value is in a case at least.
    """
    values: list[Sequence[Any]] = [list(axis) for axis in axes]
    cases = list(product(*(range(len(axis)) for axis in values)))
    meets = {case: set(combinations(enumerate(case), together)) for case in cases}
    missing = set().union(*meets.values())
    fast, times = set[tuple[int, ...]](), Counter[tuple[int, int]]()
    while missing:
        best = max(
            cases,
            key=lambda case: (len(missing & meets[case]), -sum(times[value] for value in enumerate(case))),
        )
        fast.add(best)
        times.update(enumerate(best))
        missing -= meets[best]
    return [_case(tuple(axis[at] for axis, at in zip(values, case, strict=True)), case in fast) for case in cases]


def examples(number: int) -> int:
    """Return how many of a number of examples a test of Hypothesis tries in this run: all of them at night."""
    return max(5, number * settings.default.max_examples // 100)


def _case(values: tuple[Any, ...], fast: bool) -> ParameterSet:
    return pytest.param(*values, marks=() if fast else pytest.mark.slow)
