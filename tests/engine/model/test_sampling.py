from __future__ import annotations

import math
from array import array

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from engine.errors import InvalidOption, WeightsNotFinite
from engine.kernels import library
from engine.messages import Penalties
from engine.model.sampling import Sampler, uniform
from tests.support.fast_cases import examples

VOCABULARY = 10


def _logits(seed: int = 0, size: int = VOCABULARY) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed)) * 2


def _transformers_distribution(logits: torch.Tensor, sampler: Sampler, seen: list[int]) -> torch.Tensor:
    steps = LogitsProcessorList()
    if sampler.repetition_penalty != 1:
        steps.append(RepetitionPenaltyLogitsProcessor(sampler.repetition_penalty))
    steps.append(TemperatureLogitsWarper(sampler.temperature))
    if sampler.top_k:
        steps.append(TopKLogitsWarper(sampler.top_k))
    if sampler.top_p < 1:
        steps.append(TopPLogitsWarper(sampler.top_p))
    if sampler.min_p:
        steps.append(MinPLogitsWarper(sampler.min_p))
    return torch.softmax(steps(torch.tensor([seen]), logits[None].clone())[0].double(), 0)


@pytest.mark.parametrize(
    "sampler",
    [
        Sampler(temperature=0.7),
        Sampler(temperature=1.3, top_k=4),
        Sampler(temperature=1.0, top_p=0.8),
        Sampler(temperature=0.9, min_p=0.1),
        Sampler(temperature=1.1, top_k=6, top_p=0.9, min_p=0.05, repetition_penalty=1.3),
    ],
    ids=["temperature", "top-k", "top-p", "min-p", "all"],
)
def test_distribution_is_that_of_transformers(sampler: Sampler) -> None:
    for seed in range(20):
        logits, seen = _logits(seed, 50), [1, 4, 4, 30]
        expected = _transformers_distribution(logits, sampler, seen)
        torch.testing.assert_close(sampler.distribution(logits, seen), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("sampler", [Sampler(temperature=0.8), Sampler(temperature=1.0, top_k=5, top_p=0.9)])
def test_draws_follow_the_distribution(sampler: Sampler) -> None:
    """Pitfall 1 of the fifteen: 100,000 draws, total variation under 0.01."""
    logits, draws = _logits(), 100_000
    expected = sampler.distribution(logits)
    # The noise is one uniform number for each (seed, position); counting those in each token's interval is drawing.
    noise = torch.tensor([uniform(seed=5, position=position) for position in range(draws)], dtype=torch.float64)
    chosen = torch.searchsorted(expected.cumsum(0), noise, right=True)
    frequencies = torch.bincount(chosen, minlength=VOCABULARY) / draws
    assert float((frequencies - expected).abs().sum()) / 2 < 0.01
    keyed = [Sampler(**{**vars(sampler), "seed": 5}).pick(logits[None], 0, position) for position in range(500)]
    assert keyed == chosen[:500].tolist()


def test_noise_is_keyed_by_seed_and_position() -> None:
    assert uniform(1, 2) == uniform(1, 2)
    assert len({uniform(seed, position) for seed in range(50) for position in range(50)}) == 2500
    across_seeds = torch.tensor([uniform(seed, 7) for seed in range(20_000)])
    assert abs(float(across_seeds.mean()) - 0.5) < 0.01


def test_greedy_takes_the_best_and_ignores_the_filters() -> None:
    logits = _logits()
    assert Sampler(temperature=0.0, top_k=1, top_p=0.1).pick(logits[None], 0, 3) == int(logits.argmax())
    assert Sampler().distribution(logits).max() == 1.0


def test_a_temperature_that_no_logit_can_be_divided_by_is_greedy() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.9]])
    for temperature in (2.9e-212, 1e-31, 1e-29):
        sampler = Sampler(temperature=temperature)
        assert sampler.pick(logits, 0, 5) == 1
        assert sampler.distribution(logits[0]).tolist() == [0.0, 1.0, 0.0]


def test_penalty_moves_the_greedy_choice() -> None:
    logits = torch.tensor([2.0, 1.9, -1.0])
    assert Sampler(repetition_penalty=1.2).pick(logits[None], 0, 0, [0]) == 1
    assert Sampler(repetition_penalty=1.2).pick(logits[None], 0, 0, [2]) == 0


FILTERS = st.builds(
    Sampler,
    temperature=st.sampled_from([0.0, 0.3, 0.7, 1.0, 2.5]),
    top_k=st.sampled_from([0, 1, 2, 5, 40, 200]),
    top_p=st.sampled_from([1.0, 0.95, 0.8, 0.75, 0.5, 0.1, 1e-3, 1e-300]),
    min_p=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    repetition_penalty=st.sampled_from([1.0, 1.3, 0.8]),
    seed=st.integers(0, 2**64 - 1),
    penalties=st.just(Penalties())
    | st.builds(
        Penalties,
        presence=st.sampled_from([0.0, 0.5, -2.0]),
        frequency=st.sampled_from([0.0, 0.3, 2.0, -0.1]),
        bias=st.sampled_from([(), ((0, -100.0),), ((0, 3.5),)]),
        window=st.sampled_from([1, 3, 64, 1000]),
    ),
    begins=st.integers(0, 5),
)


@pytest.mark.skipif(library.available() is None, reason=library.reason())
@settings(max_examples=examples(200))
@given(
    sampler=FILTERS,
    size=st.sampled_from([1, 2, 3, 50, 63, 64, 65, 130, 1000]),
    spread=st.sampled_from([0.0, 0.01, 2.0, 10.0, 300.0]),
    whole=st.booleans(),
    impossible=st.integers(0, 3),
    seed=st.integers(0, 1000),
)
def test_the_kernel_picks_what_torch_picks(
    sampler: Sampler, size: int, spread: float, whole: bool, impossible: int, seed: int
) -> None:
    """Whole logits are full of ties."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(size, generator=generator) * spread
    logits = logits.round() if whole else logits
    seen = array("i", torch.randint(size, (7 + 10 * seed % 150,), generator=generator).tolist())
    if size > impossible:
        logits[torch.randint(size, (impossible,), generator=generator)] = -math.inf
    if not logits.isfinite().any():
        return
    assert sampler.pick(logits[None], 0, 5, seen) == sampler._pick(
        sampler._penalised(logits, seen, 5), uniform(sampler.seed, 5)
    )


@pytest.mark.parametrize("odd", [math.nan, math.inf])
@pytest.mark.parametrize("sampler", [Sampler(), Sampler(temperature=0.8), Sampler(temperature=1.0, top_p=0.9)])
def test_a_row_without_a_finite_largest_logit_is_refused(sampler: Sampler, odd: float) -> None:
    logits = _logits(size=100)
    logits[[30, 70]] = odd
    for call in (lambda: sampler.pick(logits[None], 0, 0), lambda: sampler.distribution(logits)):
        with pytest.raises(WeightsNotFinite, match="its weights are damaged"):
            call()


def test_draws_of_the_kernel_cover_a_large_vocabulary() -> None:
    """A flat row: each draw is the token at its noise's share."""
    size, sampler = 5000, Sampler(temperature=1.0, seed=3)
    for position in range(300):
        assert sampler.pick(torch.zeros(1, size), 0, position) == int(uniform(3, position) * size)


def test_the_penalty_forgets_what_is_long_ago() -> None:
    sampler, logits = Sampler(repetition_penalty=1.2), torch.tensor([2.0, 1.9, -1.0])
    assert sampler.pick(logits[None], 0, 0, [0, *[2] * (Penalties.window - 1)]) == 1
    assert sampler.pick(logits[None], 0, 0, [0, *[2] * Penalties.window]) == 0
    assert sampler.distribution(logits, [0, *[2] * Penalties.window]).argmax() == 0


def test_penalties_are_those_of_openai_s_formula_behind_the_repetition_penalty() -> None:
    """The prompt's tokens count for the repetition penalty alone."""
    penalties = Penalties(presence=0.5, frequency=0.25, bias=((3, 2.0), (4, -1.0)))
    sampler = Sampler(temperature=0.7, repetition_penalty=1.3, penalties=penalties, begins=2)
    logits, text = _logits(2), [7, 8, 3, 3, 9]
    expected = logits.clone()
    expected[3] += 2.0
    expected[4] -= 1.0
    for token in set(text):
        expected[token] *= 1.3 if expected[token] < 0 else 1 / 1.3
    expected[3] -= 2 * 0.25 + 0.5
    expected[9] -= 0.25 + 0.5
    found = sampler.distribution(logits, text, 5)
    torch.testing.assert_close(found, torch.softmax(expected.double() / 0.7, 0), atol=1e-6, rtol=1e-5)
    assert sampler.history(text, 5) == array("i", text)
    alone = Sampler(penalties=penalties, begins=2)
    assert (alone.history(text, 5), alone.history(text, 2)) == (array("i", text[2:]), array("i"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1), ("temperature", float("nan")), ("temperature", 1e9), ("top_k", -1), ("top_p", 0.0),
        ("top_p", 1.5), ("min_p", -1.0), ("min_p", 2.0), ("repetition_penalty", 0.0), ("seed", -1), ("seed", 1 << 64),
    ],
)  # fmt: skip
def test_absurd_values_are_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(InvalidOption, match=field.replace("_", "[ -]")):
        Sampler(**{field: value})
