"""What servers tell of their drafts: 1 + accepted / steps."""

from __future__ import annotations

from typing import Any

import pytest

from engine.messages import Timings
from engine.remote.stream import (
    DraftCounts,
    between,
    of_request,
    read_counters,
    with_llama_timings,
    with_server_mean,
    with_usage,
)

PAGE = """# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{{engine="0",model_name="qwen3"}} {drafts}
vllm:spec_decode_num_drafts_created{{engine="0",model_name="qwen3"}} 1.7e+09
vllm:spec_decode_num_draft_tokens_total{{engine="0",model_name="qwen3"}} {drafted}
vllm:spec_decode_num_accepted_tokens_total{{engine="0",model_name="qwen3"}} {accepted}
vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",model_name="qwen3",position="0"}} 9.0
vllm:generation_tokens_total{{engine="0",model_name="qwen3"}} {written}
vllm:generation_tokens_total{{engine="0",model_name="other"}} 77.0
vllm:num_requests_running{{engine="0",model_name="qwen3"}} 1.0
"""


def page(drafts: float, drafted: float, accepted: float, written: float) -> str:
    return PAGE.format(drafts=drafts, drafted=drafted, accepted=accepted, written=written)


def test_counters_are_those_of_the_model() -> None:
    found = read_counters(page(10.0, 30.0, 12.0, 1.0e2), "qwen3")
    assert sorted(found.values()) == [10, 12, 30, 100]
    assert sum(read_counters(page(1, 2, 3, 4), "none").values()) == 0


def test_differences_are_the_replys_where_nobody_else_was_served() -> None:
    before, after = (
        read_counters(page(10, 30, 12, 100), "qwen3"),
        read_counters(page(30, 90, 42, 150), "qwen3"),
    )
    assert between(before, after, 50) == DraftCounts(20, 60, 30)
    assert between(before, after, 49) == DraftCounts(20, 60, 30, shared=True)
    timings = DraftCounts(20, 60, 30, shared=True).added_to(Timings())
    assert (timings.mean_acceptance_length, timings.acceptance_rate, timings.shared) == (2.5, 0.5, True)


def test_a_server_that_drafted_nothing_or_began_anew_has_none() -> None:
    before, after = read_counters(page(10, 30, 12, 100), "qwen3"), read_counters(page(0, 0, 0, 50), "qwen3")
    assert between(before, before, 0) is None
    assert between(before, after, 50) is None
    assert DraftCounts(0, 0, 0).added_to(Timings()) == Timings()


def test_vllm_counts_one_request_by_itself() -> None:
    metrics = {
        "time_to_first_token_ms": 85.2,
        "speculative_decoding": {
            "mean_acceptance_length": 2.5,
            "num_spec_steps": 4,
            "num_draft_tokens": 12,
            "num_accepted_draft_tokens": 6,
        },
    }
    assert of_request(metrics) == DraftCounts(4, 12, 6)
    assert of_request(None) is None
    assert of_request({"speculative_decoding": {"num_spec_steps": "many"}}) is None


def test_llama_cpp_counts_tokens() -> None:
    told = {"cache_n": 3, "prompt_n": 20, "prompt_ms": 100.0, "predicted_n": 30, "predicted_ms": 500.0}
    timings = with_llama_timings(Timings(), {**told, "draft_n": 40, "draft_n_accepted": 20})
    assert (timings.prompt_per_second, timings.predicted_per_second) == (200.0, 60.0)
    assert timings.mean_acceptance_length == 1 + 20 / 10
    assert with_llama_timings(Timings(), told).mean_acceptance_length is None
    assert with_llama_timings(Timings(predicted_n=5), {"predicted_n": "x", "draft_n": -1}).predicted_n == 5


@pytest.mark.parametrize(
    "told",
    [
        {"predicted_n": 10**12, "predicted_ms": 400.0},
        {"predicted_n": -5, "predicted_ms": -1},
        {"predicted_n": 30, "predicted_ms": 1e-320, "prompt_n": 5, "prompt_ms": 1e-320},
        {"predicted_n": 30, "predicted_ms": float("nan"), "prompt_ms": float("inf")},
        {"predicted_n": 30, "predicted_ms": 1e11},
        {"predicted_n": 30, "draft_n": 1, "draft_n_accepted": 29},
        {"predicted_n": 2, "draft_n": 40, "draft_n_accepted": 20},
        {"predicted_n": True, "predicted_ms": "fast"},
        {"predicted_n": 10**400, "prompt_n": 10**400, "cache_n": 10**400},
    ],
)
def test_what_cannot_be_is_not_told(told: dict[str, Any]) -> None:
    measured = Timings(predicted_n=30, predicted_ms=400.0, prompt_ms=100.0, predicted_per_second=75.0)
    usage = {"prompt_tokens": told.get("prompt_n"), "completion_tokens": told["predicted_n"]}
    for timings in (with_llama_timings(measured, told), with_usage(measured, usage)):
        assert timings.predicted_n in (2, 30)
        assert timings.predicted_ms == 400.0
        assert timings.predicted_per_second is None or timings.predicted_per_second <= 75.0
        assert timings.prompt_per_second in (None, 50.0)
        assert max(timings.prompt_n, timings.cache_n) <= 5
        assert timings.mean_acceptance_length is None
    assert read_counters(page(10, 2, 3, 4).replace(" 10", " 1e999"), "qwen3").total() == 9
    assert with_server_mean(measured, {"internal_states": [{"avg_spec_accept_length": 1e11}]}) == measured


def test_a_draft_of_a_reply_without_a_token_is_none() -> None:
    assert with_llama_timings(Timings(), {"predicted_n": 0, "draft_n": 5}) == Timings()


def test_usage_is_taken_for_what_was_counted_here() -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 11, "prompt_tokens_details": {"cached_tokens": 40}}
    timings = with_usage(Timings(predicted_n=3, predicted_ms=100.0, prompt_ms=10.0), usage)
    assert (timings.prompt_n, timings.cache_n, timings.predicted_n) == (10, 40, 11)
    assert timings.predicted_per_second == 100.0  # the first token comes with the prompt


def test_sglangs_mean_is_of_everybody() -> None:
    info = {"internal_states": [{"avg_spec_accept_length": 3.0}, {"avg_spec_accept_length": 2.0}]}
    timings = with_server_mean(Timings(), info)
    assert (timings.mean_acceptance_length, timings.shared) == (2.5, True)
    for nothing in (
        {},
        {"internal_states": [{"avg_spec_accept_length": None}]},
        {"internal_states": 3},
        None,
    ):
        assert with_server_mean(Timings(), nothing) == Timings()
