"""How a reply samples, from what was asked and what the checkpoint advises."""

from __future__ import annotations

import pytest

from engine.errors import InvalidOption
from engine.messages import ChatMessage, Generate, LoadOptions, SamplingOptions
from engine.model.sampling import Sampler
from engine.request import opening, settled_sampler

ADVISED = {"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.9, "repetition_penalty": 1.1}


def test_what_is_not_asked_is_the_checkpoint_s_own() -> None:
    own = Sampler(temperature=0.6, top_k=20, top_p=0.9, repetition_penalty=1.1, seed=7)
    assert settled_sampler(SamplingOptions(), ADVISED, 7) == own
    asked = SamplingOptions(temperature=1.2, top_k=0, top_p=1.0, min_p=0.1, repetition_penalty=1.0, seed=3)
    assert settled_sampler(asked, ADVISED, 7) == Sampler(temperature=1.2, min_p=0.1, seed=3)


@pytest.mark.parametrize("own", [{}, {"temperature": 0.6}, {"do_sample": False, "temperature": 0.6}])
def test_a_checkpoint_that_does_not_ask_to_be_sampled_is_greedy(own: dict[str, object]) -> None:
    assert settled_sampler(SamplingOptions(), own, 7).temperature == 0.0
    assert settled_sampler(SamplingOptions(temperature=0.4), own, 7).temperature == 0.4


def test_values_that_are_no_numbers_count_as_not_there() -> None:
    own = {"do_sample": True, "temperature": "hot", "top_k": None, "top_p": [0.5]}
    assert settled_sampler(SamplingOptions(), own, 7) == Sampler(temperature=1.0, seed=7)


def test_a_checkpoint_s_own_value_out_of_its_range_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"top-p is 2.*above 0 and at most 1"):
        settled_sampler(SamplingOptions(), {"top_p": 2.0}, 7)


def test_a_conversation_that_ends_with_a_reply_is_continued() -> None:
    asked = ChatMessage("user", "Count to three.")
    begun = ChatMessage("assistant", "One, two")
    assert opening(Generate("1", LoadOptions(), (asked, begun))) == "One, two"
    assert opening(Generate("1", LoadOptions(), (asked,))) == ""
    assert opening(Generate("1", LoadOptions(), raw_prompt="One")) == ""
