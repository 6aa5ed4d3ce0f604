"""Sampling of a reply, from the request, the advice of the model's makers, and the usual numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.advice import USUAL, read_advice, sampling_advice, settled_sampler
from engine.errors import InvalidOption
from engine.messages import SamplingOptions
from engine.model.sampling import Sampler
from engine.model_file import OpenedModel

ADVISED = {"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.9, "repetition_penalty": 1.1}
USUAL_SAMPLER = Sampler(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, repetition_penalty=1.1)


def test_what_is_not_asked_is_the_makers_advice() -> None:
    own = Sampler(temperature=0.6, top_k=20, top_p=0.9, repetition_penalty=1.1)
    assert settled_sampler(SamplingOptions(), ADVISED) == own
    asked = SamplingOptions(temperature=1.2, top_k=0, top_p=1.0, min_p=0.1, repetition_penalty=1.0, seed=3)
    assert settled_sampler(asked, ADVISED) == Sampler(temperature=1.2, min_p=0.1, seed=3)


@pytest.mark.parametrize("own", [{}, {"eos_token_id": 2}, {"temperature": "hot", "top_k": None, "top_p": [0.5]}])
def test_a_model_without_advice_takes_the_usual_numbers(own: dict[str, object]) -> None:
    assert settled_sampler(SamplingOptions(), own) == USUAL_SAMPLER
    assert sampling_advice(own) == (USUAL, ())


def test_a_text_that_is_continued_has_no_usual_penalty_but_the_makers_one() -> None:
    assert settled_sampler(SamplingOptions(), {}, chat=False).repetition_penalty == 1.0
    own = {"repetition_penalty": 1.05}
    assert settled_sampler(SamplingOptions(), own, chat=False).repetition_penalty == 1.05


def test_a_penalty_alone_leaves_the_rest_usual_and_a_temperature_alone_does_not() -> None:
    penalty, mine = sampling_advice({"repetition_penalty": 1.05})
    assert (penalty.temperature, penalty.top_k, penalty.repetition_penalty, mine) == (
        *(0.8, 40, 1.05),
        ("repetition_penalty",),
    )
    assert settled_sampler(SamplingOptions(), {"temperature": 0.6}) == Sampler(temperature=0.6)


def test_makers_that_want_no_sampling_get_none() -> None:
    own = {"do_sample": False, "temperature": 0.6}
    assert settled_sampler(SamplingOptions(), own) == Sampler()
    assert settled_sampler(SamplingOptions(temperature=0.4), own) == Sampler(temperature=0.4)


@pytest.mark.parametrize("own", [{}, ADVISED])
def test_temperature_0_is_greedy_and_nothing_else_that_was_not_asked_for(own: dict[str, object]) -> None:
    assert settled_sampler(SamplingOptions(temperature=0.0), own) == Sampler()
    asked = SamplingOptions(temperature=0.0, repetition_penalty=1.2)
    assert settled_sampler(asked, own) == Sampler(repetition_penalty=1.2)


def test_a_value_that_is_asked_for_out_of_its_range_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"top-p is 2.*above 0 and at most 1"):
        settled_sampler(SamplingOptions(top_p=2.0), {})


def test_advice_is_read_without_loading(tmp_path: Path) -> None:
    assert read_advice(OpenedModel("model", tmp_path)).sampling == USUAL
    (tmp_path / "generation_config.json").write_text(json.dumps(ADVISED))
    (tmp_path / "chat_template.jinja").write_text("{% if enable_thinking %}Think.{% endif %}")
    advice = read_advice(OpenedModel("model", tmp_path))
    assert (advice.sampling.temperature, advice.sampling.min_p, advice.thinking) == (0.6, 0.0, "switch")
    assert set(advice.own) == {"temperature", "top_k", "top_p", "min_p", "repetition_penalty"}
    (tmp_path / "chat_template.jinja").write_text("{% if")
    assert read_advice(OpenedModel("model", tmp_path)).thinking == ""
    (tmp_path / "tokenizer_config.json").write_text("{")
    assert read_advice(OpenedModel("model", tmp_path)).sampling.temperature == 0.6


@pytest.mark.parametrize(
    "value", [-5, float("nan"), float("inf"), 10**400, 1e9, True, "1"], ids=lambda value: str(value)[:9]
)
@pytest.mark.parametrize("name", ["temperature", "top_k", "top_p", "repetition_penalty"])
def test_a_number_of_the_makers_that_means_nothing_is_no_advice(name: str, value: object) -> None:
    settled_sampler(SamplingOptions(), {"do_sample": True, name: value})
    assert sampling_advice({name: value}) == (USUAL, ())
