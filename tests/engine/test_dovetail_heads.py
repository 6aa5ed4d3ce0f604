"""Dovetail through the engine with draft heads: the model's own text with any head, and bad ones refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.decoding.worth import Worth
from engine.messages import Notice
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen
from tests.support.heads import LAYOUTS, MEDUSA_LAYOUTS, make_head
from tests.support.stand_in import use_gpu

pytestmark = pytest.mark.usefixtures("no_gpu")
PROMPT = "one two three four one two three four one two " * 3


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("target") / "llama", num_hidden_layers=6)


@pytest.mark.parametrize("layout", chosen([*LAYOUTS, *MEDUSA_LAYOUTS], ("eagle", "eagle3", "medusa", "medusa-drafted")))
def test_the_text_is_the_models_own(client: EngineClient, target: Path, tmp_path: Path, layout: str) -> None:
    head = make_head(layout).write(tmp_path / layout, safetensors=layout.startswith(("speculators", "medusa-s")))
    plain = client.answer(PROMPT, target, mode="plain", weights="fp32", max_tokens=40)
    mode = "ghidorah" if layout in MEDUSA_LAYOUTS else "dovetail"
    options = {"draft": str(head), "mode": mode, "weights": "fp32", "max_tokens": 40}
    reply = client.answer(PROMPT, target, **options)
    assert reply.token_ids == plain.token_ids
    assert reply.timings.draft_n > 0
    assert reply.drafts == (str(head),)
    following = client.answer(PROMPT + reply.text, target, **options)
    assert following.timings.cache_n > 0
    plain = client.answer(PROMPT + reply.text, target, mode="plain", weights="fp32", max_tokens=40)
    assert following.token_ids == plain.token_ids


@pytest.mark.parametrize("layout", ["medusa", "medusa-shared", "medusa-drafted"])
def test_a_seed_gives_one_text_with_and_without_medusa_heads(
    client: EngineClient, target: Path, tmp_path: Path, layout: str
) -> None:
    heads = str(make_head(layout).write(tmp_path / layout, safetensors=True))
    settings = {"temperature": 0.8, "top_p": 0.95, "repetition_penalty": 1.1, "seed": 3, "max_tokens": 40}
    plain = client.answer(PROMPT, target, mode="plain", **settings)
    reply = client.answer(PROMPT, target, mode="ghidorah", draft=heads, draft_nodes=31, **settings)
    assert reply.token_ids == plain.token_ids
    assert reply.timings.draft_n > 0


@pytest.mark.parametrize("layout", ["medusa", "medusa-shared", "medusa-drafted"])
def test_medusa_heads_run_on_a_gpu(
    client: EngineClient, target: Path, tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_gpu(monkeypatch)
    # However busy the machine is: the schedule goes by measured times, and would draft less or nothing.
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    heads = str(make_head(layout).write(tmp_path / layout, safetensors=True))
    options = {"weights": "fp32", "max_tokens": 24, "gpu_layers": 0}
    client.events.clear()
    plain = client.answer(PROMPT, target, mode="plain", **options)
    for sampling in ({}, {"temperature": 0.8, "seed": 2}):
        reply = client.answer(PROMPT, target, mode="ghidorah", draft=heads, **options, **sampling)
        assert sampling or reply.token_ids == plain.token_ids
        assert reply.devices["draft"] == "cpu:0"
        assert reply.timings.draft_n > 0
        # The vocabulary of a random draft may lack the end of a reply, which is said.
        assert all("never guesses the end" in event.text for event in client.seen(Notice))


@pytest.mark.parametrize("weights", ["bf16", "q8_0"])
def test_a_head_runs_beside_a_model_in_any_format(
    client: EngineClient, target: Path, tmp_path: Path, weights: str
) -> None:
    head = make_head("dovetail").write(tmp_path / "head", safetensors=True)
    reply = client.answer(
        PROMPT, target, draft=str(head), mode="dovetail", weights=weights, max_tokens=24, draft_nodes=8
    )
    assert len(reply.token_ids) == 24 or reply.stop_reason == "end"
    assert reply.timings.draft_n > 0


def test_a_head_for_another_model_is_refused(client: EngineClient, tmp_path: Path) -> None:
    other = write_checkpoint(tmp_path / "other", hidden_size=32)
    head = make_head("eagle").write(tmp_path / "head", safetensors=True)
    message = client.failure("a", other, draft=str(head)).error.message
    assert "for a model with hidden size 64, and this model's is 32" in message


def test_a_head_for_deeper_models_is_refused(client: EngineClient, tmp_path: Path) -> None:
    other = write_checkpoint(tmp_path / "other", num_hidden_layers=1)
    head = make_head("eagle3").write(tmp_path / "head", safetensors=True)
    message = client.failure("a", other, draft=str(head)).error.message
    assert "reads the layers 2, 0, -2 of a model, and this one has 1" in message
