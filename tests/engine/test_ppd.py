"""Parallel prompt decoding through the engine: the model's own text wherever its layers lie, and bad sets refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.decoding.worth import Worth
from engine.messages import Notice
from engine.model.config import read_config
from engine.model.footprint import stored_layer_bytes
from engine.model.weight_format import weight_format
from engine.placement.plan import Sizes
from engine.placement.streamed import StreamedPlan
from engine.verifying import RULES
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import covering
from tests.support.prompt_tokens import write_prompt_tokens
from tests.support.stand_in import use_gpu, use_no_baseline, use_no_gpu

PROMPT = "one two three four one two three four one two " * 3
LAYERS = 12


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("target") / "llama"
    return write_checkpoint(folder, num_hidden_layers=LAYERS, intermediate_size=512)


@pytest.fixture
def draft(tmp_path: Path) -> str:
    return str(write_prompt_tokens(tmp_path / "set", members=2, num_layers=LAYERS))


@pytest.fixture(autouse=True)
def _always_drafted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schedule goes by measured times, and random prompt tokens are worth none."""
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 20)
    use_no_gpu(monkeypatch)


def streamed_options(folder: Path, weights: str) -> dict[str, Any]:
    """With memory for some layers."""
    config, format_ = read_config(Checkpoint(folder)), weight_format(weights)
    least = StreamedPlan.least_bytes(Sizes(config, format_, 256))
    return {"ram_budget_bytes": least + 3 * stored_layer_bytes(config, format_)}


@pytest.mark.parametrize(
    ("place", "weights"),
    covering(["resident", "split", "streamed"], ["fp32", "bf16", "q8_0", "q4_k_m"], together=1),
)
def test_the_text_is_the_model_s_own(
    place: str, weights: str, client: EngineClient, target: Path, draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"weights": weights, "kv_cache": "full", "context": 256, "max_tokens": 32}
    if place == "split":
        use_gpu(monkeypatch)
        options["gpu_layers"] = 5
    if place == "streamed":
        use_no_baseline(monkeypatch)
        options |= streamed_options(target, weights)
    for sampling in ({"temperature": 0.0}, {"temperature": 1.0, "seed": 3}):
        reply = client.answer(PROMPT, target, mode="ppd", draft=draft, **options, **sampling)
        # What is read from the disk leaves time to guess ahead meanwhile.
        assert reply.mode == ("llmcad" if place == "streamed" else "ppd")
        assert (reply.drafts, reply.devices["draft"]) == ((draft,), "cpu")
        assert reply.timings.draft_n > 10
        places = {"resident": "cpu", "split": "cpu:0 (5 of 12 layers), cpu", "streamed": "cpu, disk"}
        assert reply.devices["target"] == places[place]
        assert len(reply.token_ids) > 10
        # The bits of a device's own products in 16 bits depend on the width of the forward, in every mode.
        if place != "split" or weights == "fp32":
            plain = "offload" if place == "split" else "plain"
            alone = client.answer(PROMPT, target, mode=plain, **options, **sampling)
            assert reply.token_ids == alone.token_ids


def test_the_next_question_goes_on_in_the_cache(client: EngineClient, target: Path, draft: str) -> None:
    options = {"weights": "fp32", "max_tokens": 24}
    reply = client.answer(PROMPT, target, mode="ppd", draft=draft, **options)
    following = client.answer(PROMPT + reply.text, target, mode="ppd", draft=draft, **options)
    assert following.timings.cache_n > 0
    plain = client.answer(PROMPT + reply.text, target, mode="plain", **options)
    assert following.token_ids == plain.token_ids


@pytest.mark.parametrize("sampling", [{"temperature": 0.0}, {"temperature": 0.9, "seed": 4}])
def test_a_model_that_is_read_from_the_disk_needs_no_second_one(
    sampling: dict[str, Any], client: EngineClient, target: Path, draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_no_baseline(monkeypatch)
    options = {"weights": "fp32", "kv_cache": "full", "context": 256, "max_tokens": 32, **sampling}
    options |= streamed_options(target, "fp32")
    reply = client.answer(PROMPT, target, mode="llmcad", draft=draft, **options)
    assert (reply.mode, reply.devices["target"]) == ("llmcad", "cpu, disk")
    assert reply.timings.draft_n > 10
    assert reply.token_ids == client.answer(PROMPT, target, mode="plain", **options).token_ids


@pytest.mark.parametrize(
    ("mode", "sampling"),
    covering(["ppd", "llmcad"], [{"temperature": 0.0}, {"temperature": 0.9, "seed": 4}], together=1),
)
def test_words_may_be_looked_up_beside_them(
    sampling: dict[str, Any],
    mode: str,
    client: EngineClient,
    target: Path,
    draft: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_no_baseline(monkeypatch)
    options = {"weights": "fp32", "kv_cache": "full", "context": 256, "max_tokens": 48, **sampling}
    options |= streamed_options(target, "fp32")
    reply = client.answer(PROMPT, target, mode=mode, draft=draft, look_up=True, **options)
    assert reply.timings.draft_n > 10
    assert reply.token_ids == client.answer(PROMPT, target, mode="plain", **options).token_ids


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_verifies_its_drafts(rule: str, client: EngineClient, target: Path, draft: str) -> None:
    reply = client.answer(PROMPT, target, mode="ppd", draft=draft, verify=rule, temperature=0.8, seed=2, max_tokens=24)
    assert len(reply.token_ids) == 24
    assert reply.timings.draft_n > 10
    said = [event.text for event in client.seen(Notice)]
    assert not any("The draft" in text for text in said)
    assert any("Typical acceptance is lossy" in text for text in said) == (rule == "typical")


def test_no_prompt_tokens_or_others_are_refused(client: EngineClient, target: Path, tmp_path: Path) -> None:
    failed = client.failure(PROMPT, target, mode="ppd")
    assert failed.error.message.startswith("The mode PPD cannot run. It needs prompt tokens that were trained for ")
    failed = client.failure(PROMPT, target, mode="ppd", draft=str(target))
    assert "It needs prompt tokens that were trained for this very model" in failed.error.message
    other = write_prompt_tokens(tmp_path / "other", hidden_size=32)
    failed = client.failure(PROMPT, target, mode="ppd", draft=str(other))
    assert "for a model with hidden size 32, and this model's is 64" in failed.error.message
    many = write_prompt_tokens(tmp_path / "many", members=30, num_layers=LAYERS)
    failed = client.failure("one", target, mode="ppd", draft=str(many), context=64)
    assert failed.error.message.startswith("There are 90 prompt tokens, and the context has room for 64 tokens;")
