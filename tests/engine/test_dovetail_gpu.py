"""Dovetail with a real GPU: the draft there, and the first layers of the target where the budget allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.planning.hardware import find_gpu
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(find_gpu() is None, reason="no GPU")]
PROMPT = "one two three four one two three four one two " * 3


def test_the_draft_is_on_the_gpu_and_the_text_is_the_cpu_s(client: EngineClient, llama_folder: Path) -> None:
    options = {"draft": str(llama_folder), "weights": "fp32", "max_tokens": 64, "context": 512}
    alone = client.answer(PROMPT, llama_folder, mode="plain", vram_budget_bytes=0, **options)
    # Enough for the draft and its cache, and for no layer of the target.
    reply = client.answer(PROMPT, llama_folder, mode="dovetail", vram_budget_bytes=600_000, **options)
    assert reply.token_ids == alone.token_ids
    assert reply.devices == {"target": "cpu", "draft": str(find_gpu())}
    assert reply.timings.acceptance_rate is not None
    assert reply.timings.acceptance_rate > 0.8
    assert 0 < reply.memory.host_to_device_bytes < 10_000 * reply.timings.target_forwards
    assert reply.memory.device_peak_bytes[str(find_gpu())] > 0


def test_layers_of_the_target_move_there_by_budget(client: EngineClient, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "deep", "qwen3", num_hidden_layers=6)
    draft = write_checkpoint(tmp_path / "draft", "llama", num_hidden_layers=1)
    options = {"draft": str(draft), "weights": "fp32", "max_tokens": 64, "context": 512}
    alone = client.answer(PROMPT, folder, mode="plain", vram_budget_bytes=0, **options)
    found = set()
    for budget in (2_600_000, 3_600_000, None):
        reply = client.answer(PROMPT, folder, mode="dovetail", vram_budget_bytes=budget, **options)
        assert reply.token_ids == alone.token_ids
        found.add(reply.devices["target"])
    assert f"{find_gpu()} (6 of 6 layers), cpu" in found
    assert len(found) == 3
