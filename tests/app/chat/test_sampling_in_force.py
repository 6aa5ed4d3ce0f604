from __future__ import annotations

from dataclasses import asdict

from app.chat.engine_options import InForce, sampling_in_force
from engine.advice import model_advice, settled_sampler
from engine.messages import ModelAdvice, SamplingOptions

ADVISED = {"do_sample": True, "temperature": 0.6, "top_k": 20}


def test_what_is_shown_is_what_the_engine_samples_with() -> None:
    for own in ({}, ADVISED, {"repetition_penalty": 1.05}, {"do_sample": False}):
        for asked in (
            SamplingOptions(),
            SamplingOptions(temperature=0.3),
            SamplingOptions(temperature=0.0, top_k=7),
        ):
            sampler = settled_sampler(asked, own)
            shown = sampling_in_force(asdict(asked), model_advice(own, None))
            names = {"temperature", "repetition_penalty"} if sampler.temperature == 0.0 else set(shown)
            assert {name: shown[name].value for name in names} == {name: getattr(sampler, name) for name in names}


def test_each_number_says_where_it_comes_from() -> None:
    shown = sampling_in_force(asdict(SamplingOptions(top_k=3)), model_advice({"repetition_penalty": 1.05}, None))
    assert shown["temperature"] == InForce(0.8, "usual")
    assert shown["top_k"] == InForce(3, "set")
    assert shown["repetition_penalty"] == InForce(1.05, "makers")
    greedy = sampling_in_force(asdict(SamplingOptions(temperature=0.0)), model_advice({}, None))
    assert greedy["repetition_penalty"] == InForce(1.0, "greedy")
    assert sampling_in_force(asdict(SamplingOptions()), ModelAdvice()) == {}
