"""Columns divided between CPU and GPU, through the engine: planned by predicted time, loaded, and in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.decoding.worth import Worth
from engine.loaded_model import load_model
from engine.messages import LoadOptions, Notice
from engine.modes import in_mode
from engine.placement import ColumnsPlan
from engine.run import settle
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen
from tests.support.heads import make_head
from tests.support.stand_in import use_gpu, use_speeds

PROMPT = "one two three four one two three four one two " * 3
BOTH = "cpu:0 + cpu"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("divided") / "llama", "llama", num_hidden_layers=4)


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    use_gpu(monkeypatch)


@pytest.mark.parametrize("share", chosen([0.01, 0.3, 0.7, 1.0 - 1e-9], (0.01, 0.3)))
def test_each_unit_gets_what_it_is_fast_with_and_the_text_is_the_model_s(
    share: float, client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_speeds(monkeypatch, share)
    options = {"mode": "plain", "weights": "fp32", "max_tokens": 24}
    expected = client.answer(PROMPT, folder, vram_budget_bytes=0, **options)
    assert expected.devices["target"] == "cpu"
    reply = client.answer(PROMPT, folder, **options)
    assert reply.token_ids == expected.token_ids
    helps = share > 0.1
    assert reply.devices["target"] == (BOTH if helps else "cpu")
    plan = load_model(settle(in_mode("plain", LoadOptions(model=str(folder), weights="fp32", context=300)))).plan
    assert isinstance(plan.placement, ColumnsPlan) == helps
    if not isinstance(plan.placement, ColumnsPlan):
        return
    assert list(vars(plan.placement.ratios).values()) == pytest.approx([share] * 5)
    assert plan.device == "cpu:0"
    assert plan.memory_bytes["cpu:0"] == plan.on_device.total > 0
    assert " % of each layer's columns on the GPU" in plan.summary
    # What a person says of the GPU comes first.
    for said in ({"gpu_layers": 0}, {"vram_budget_bytes": 0}, {"memory": "gpu"}):
        told = LoadOptions(**{"model": str(folder), "drafts": ("off",), "weights": "fp32"} | said)
        assert not isinstance(load_model(settle(told)).plan.placement, ColumnsPlan)


@pytest.mark.parametrize(("mode", "layout"), [("ghidorah", "medusa-shared"), ("dovetail", "eagle")])
def test_drafts_are_checked_by_both_units(
    mode: str,
    layout: str,
    client: EngineClient,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_speeds(monkeypatch, 0.6)
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)  # whatever drafts take here
    head = str(make_head(layout).write(tmp_path / layout, safetensors=True))
    options = {"weights": "fp32", "max_tokens": 24}
    expected = client.answer(PROMPT, folder, mode="plain", vram_budget_bytes=0, **options)
    reply = client.answer(PROMPT, folder, mode=mode, draft=head, **options)
    assert (reply.token_ids, reply.devices["target"]) == (expected.token_ids, BOTH)
    assert reply.timings.draft_n > 0
    assert client.seen(Notice) == []


@pytest.mark.parametrize("weights", ["q8_0", "q4_k_m"])
def test_packed_columns_are_divided_too(
    weights: str, client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_speeds(monkeypatch, 0.9)  # it dequantizes
    reply = client.answer(PROMPT, folder, mode="plain", weights=weights, max_tokens=12)
    assert (len(reply.token_ids), reply.devices["target"]) == (12, BOTH)
