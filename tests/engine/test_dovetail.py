"""Dovetail through the engine: lossless with any draft, and every bad pair refused in one sentence."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from engine.decoding.worth import Worth
from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.kernels import library
from engine.messages import Cancel, Finished, Notice, PlanChosen
from engine.model.token_tree import Draft, DraftShape
from engine.reply import ReplyRun
from tests.support.checkpoints import VARIANTS, all_experts, write_checkpoint
from tests.support.decoders import load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen
from tests.support.stand_in import use_gpu
from tests.support.toy import ship

pytestmark = pytest.mark.usefixtures("no_gpu")
PROMPT = "one two three four one two three four one two " * 3
#: A shape that drafts in each round, whatever the clock says.
OWN: dict[str, int] = {"as_published": True, "draft_nodes": 4}
SHAPES: tuple[dict[str, int], ...] = (
    {},
    {"draft_width": 1, "draft_depth": 6, "draft_nodes": 6},
    {"draft_width": 3, "draft_nodes": 40},
)


@pytest.mark.parametrize("variant", chosen(sorted(VARIANTS), ("deepseek-v3", "gemma4-inputs", "gpt-oss")))
def test_greedy_tokens_are_those_of_transformers_with_any_draft(
    variant: str, client: EngineClient, checkpoint_of: Callable[[str], Path], draft: Path
) -> None:
    """Pitfall 13 too: layers with a sliding window keep all rows, so trees commit there.

    Each family drafts in its own shape and in one of the others; the three fast ones have another one each.
    """
    folder = checkpoint_of(variant)
    expected: list[int] = []
    for other, shape in ((folder, OWN), (draft, SHAPES[sorted(VARIANTS).index(variant) % len(SHAPES)])):
        reply = client.answer(PROMPT, folder, draft=str(other), mode="dovetail", weights="fp32", max_tokens=64, **shape)
        expected = expected or reference_greedy(load_reference(folder), reply.prompt_ids, 64)
        assert list(reply.token_ids) == expected
        assert reply.timings.draft_n > 0
        assert (reply.mode, reply.drafts) == ("dovetail", (str(other),))
        assert reply.devices == {"target": "cpu", "draft": "cpu"}
        assert reply.memory.host_to_device_bytes == 0
        if other == folder:
            # A draft has fewer bits than this target, and a random router makes another expert of the difference.
            assert reply.timings.acceptance_rate >= (0.5 if all_experts(variant) else 1.0)


def test_a_seed_gives_one_text_with_and_without_the_draft(
    client: EngineClient, llama_folder: Path, draft: Path
) -> None:
    for seed in range(4):
        settings = {"temperature": 0.8, "top_p": 0.95, "repetition_penalty": 1.1, "seed": seed}
        texts = [
            client.answer(
                PROMPT, llama_folder, draft=str(draft), mode=mode, weights="fp32", max_tokens=40, **settings
            ).token_ids
            for mode in ("plain", "dovetail")
        ]
        assert texts[0] == texts[1]


def test_auto_leaves_a_draft_that_reads_much_of_the_model(
    client: EngineClient, llama_folder: Path, draft: Path
) -> None:
    reply = client.answer("a", llama_folder, draft=str(draft), max_tokens=4)
    assert (reply.mode, reply.drafts) == ("lookup", ())
    assert "of the model for each guess: not worth it without a GPU." in client.seen(PlanChosen)[-1].plan.reason
    asked = client.answer("a", llama_folder, draft=str(draft), mode="dovetail", max_tokens=4)
    assert (asked.mode, asked.drafts) == ("dovetail", (str(draft),))
    plain = client.answer("a", llama_folder, draft=str(draft), mode="plain", max_tokens=4)
    assert (plain.mode, plain.drafts, plain.devices["draft"]) == ("plain", (), None)
    assert plain.timings.draft_n == 0
    assert plain.timings.load_ms is None


def test_a_machine_without_a_gpu_is_told_once(client: EngineClient, llama_folder: Path, draft: Path) -> None:
    before = len(client.seen(Notice))
    for nodes in (4, 8):
        client.answer(
            "a", llama_folder, draft=str(draft), mode="dovetail", context=64 + 16, max_tokens=2, draft_nodes=nodes
        )
    notices = [notice.text for notice in client.seen(Notice)[before:]]
    assert notices == ["There is no GPU that Tenon can use here, so the draft runs on the CPU beside the model."]


def test_the_next_reply_reuses_both_caches(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The draft runs in 16 bits, so of a few nodes the one that the target says may be missing.
    monkeypatch.setattr(Worth, "_choose", lambda self: 15)
    options = {"draft": str(llama_folder), "mode": "dovetail", "weights": "fp32"}
    first = client.answer(PROMPT, llama_folder, max_tokens=20, **options)
    again = client.answer(PROMPT + first.text, llama_folder, max_tokens=20, **options)
    assert again.timings.cache_n > len(first.prompt_ids) // 2
    assert again.timings.acceptance_rate == 1.0


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("out of memory"), RuntimeError("device lost")])
def test_a_draft_that_fails_in_mid_reply_is_left_behind(
    error: RuntimeError, client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"draft": str(llama_folder), "mode": "dovetail", "weights": "fp32", "max_tokens": 40}
    whole = client.answer(PROMPT, llama_folder, **options)
    propose = DraftModelDrafter.propose
    calls = 0

    def fail(drafter: DraftModelDrafter, budget: int) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise error
        return propose(drafter, budget)

    with monkeypatch.context() as patched:
        patched.setattr(DraftModelDrafter, "propose", fail)
        before = len(client.seen(Notice))
        reply = client.answer(PROMPT, llama_folder, **options)
    assert reply.token_ids == whole.token_ids
    (notice,) = client.seen(Notice)[before:]
    assert "the reply goes on without it" in notice.text
    assert calls == 2
    # The next reply has it again.
    assert client.answer(PROMPT, llama_folder, **options).timings.acceptance_rate == 1.0


def test_a_draft_that_loses_seconds_is_left_in_mid_reply(
    client: EngineClient, llama_folder: Path, draft: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose, calls = DraftModelDrafter.propose, 0

    def slow(drafter: DraftModelDrafter, shape: DraftShape) -> Draft:
        nonlocal calls
        calls += 1
        time.sleep(0.15)
        return propose(drafter, shape)

    plain = client.answer(PROMPT, llama_folder, mode="plain", weights="fp32", max_tokens=60, draft=str(draft))
    before = len(client.seen(Notice))
    monkeypatch.setattr(DraftModelDrafter, "propose", slow)
    monkeypatch.setattr(Worth, "shape", lambda self: DraftShape(1))
    monkeypatch.setattr(ReplyRun, "_plain_s", lambda self, cost: 0.01)
    reply = client.answer(PROMPT, llama_folder, mode="dovetail", weights="fp32", max_tokens=60, draft=str(draft))
    (notice,) = [one for one in client.seen(Notice)[before:] if "no GPU" not in one.text]
    assert "goes on without the draft" in notice.text
    assert calls < 45
    assert reply.token_ids == plain.token_ids


def test_bad_pairs_are_refused(client: EngineClient, llama_folder: Path, tmp_path: Path) -> None:
    other = write_checkpoint(tmp_path / "other", "llama")
    tokenizer = json.loads((other / "tokenizer.json").read_text(encoding="utf-8"))
    last = max(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    tokenizer["model"]["vocab"]["replaced"] = tokenizer["model"]["vocab"].pop(last[0])
    tokenizer["model"]["merges"].pop()
    (other / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    head = tmp_path / "head"
    head.mkdir()
    save_file({"fc.weight": torch.zeros(4, 8), "layers.0.x": torch.zeros(1)}, head / "model.safetensors")
    (head / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}', encoding="utf-8")

    def message(model: object, **options: object) -> str:
        return client.failure("a", model, **options).error.message

    assert "made for another vocabulary" in message(llama_folder, draft=str(other))
    assert "holds a draft head and not a whole model" in message(head)
    assert "no model 'nowhere'" in message(llama_folder, draft="nowhere")
    assert "needs a draft" in message(llama_folder, mode="dovetail")
    for name, value, most in (("draft_width", 65, 64), ("draft_depth", 0, 16), ("draft_nodes", 100, 64)):
        refusal = message(llama_folder, draft=str(llama_folder), **{name: value})
        assert f"choose a whole number from 1 to {most}, not {value}." in refusal
    # The engine is as it was.
    assert client.answer("a", llama_folder, max_tokens=2).token_ids


@pytest.mark.skipif(library.available() is None, reason=library.reason())
@pytest.mark.parametrize("weights", ["bf16", "q8_0", "q4_k_m"])
def test_packed_formats_are_lossless_too(client: EngineClient, tmp_path: Path, weights: str) -> None:
    """On the kernel library a row depends on its path alone, so that not even a near tie is decided otherwise."""
    folder = write_checkpoint(tmp_path / "target", "llama", seed=3)
    near = write_checkpoint(tmp_path / "draft", "llama", seed=3, dtype=torch.bfloat16)
    options = {"weights": weights, "max_tokens": 96, "temperature": 0.0}
    plain = client.answer(PROMPT, folder, mode="plain", **options)
    drafted = 0
    for mode, draft in (("dovetail", str(near)), ("lookup", None)):
        reply = client.answer(PROMPT, folder, mode=mode, draft=draft, **options)
        assert reply.token_ids == plain.token_ids
        drafted += reply.timings.draft_n
    assert drafted > 0  # by one of them: a schedule drafts nothing where a busy machine makes it a loss


def test_a_bundled_model_brings_its_own_draft(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(tmp_path, monkeypatch)
    reply = client.answer("What is a token?", "toy", mode="dovetail", max_tokens=24, temperature=0.0)
    plain = client.answer("What is a token?", "toy", mode="plain", max_tokens=24, temperature=0.0)
    assert reply.drafts == ("toy-draft",)
    assert reply.token_ids == plain.token_ids
    assert reply.timings.draft_n > 0  # how often it drafts is for the schedule and the clock to say
    assert plain.timings.load_ms is None


def test_each_mode_takes_a_draft_of_its_own_kind(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(tmp_path, monkeypatch, ("toy-head", "toy-draft"))
    drafts = {}
    for mode in ("dovetail", "llmcad", "plain", "dovetail"):
        reply = client.answer("What is a token?", "toy", mode=mode, max_tokens=4, temperature=0.0)
        drafts[mode] = reply.drafts
    assert drafts == {"dovetail": ("toy-head",), "llmcad": ("toy-draft",), "plain": ()}


def test_a_cancel_while_the_draft_runs_is_seen_and_leaves_both_caches_right(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy the machine is: the schedule goes by measured times, and would draft less or nothing.
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 8)
    options = {"draft": str(llama_folder), "mode": "dovetail", "weights": "fp32", "max_tokens": 200}
    whole = client.answer(PROMPT, llama_folder, **options)
    expand = DraftModel.run
    calls = 0

    def stop_in_the_tree(model: DraftModel, *arguments: Any, **values: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 6:
            client.engine.submit(Cancel(request.request_id))
        return expand(model, *arguments, **values)

    request = client.request(PROMPT, llama_folder, **options)
    with monkeypatch.context() as patched:
        patched.setattr(DraftModel, "run", stop_in_the_tree)
        last = client.finish(request)
    assert isinstance(last, Finished)
    assert (last.reply.stop_reason, calls) == ("cancelled", 6)
    assert whole.token_ids[: len(last.reply.token_ids)] == last.reply.token_ids
    again = client.answer(PROMPT, llama_folder, **options)
    assert again.token_ids == whole.token_ids
    # The draft is the target itself: a wrong cache would guess next to nothing. Not 1.0: trees of different widths add
    # up in different orders, and a tie between two tokens may fall otherwise.
    assert again.timings.acceptance_rate is not None
    assert again.timings.acceptance_rate > 0.9


@pytest.fixture
def second_device(monkeypatch: pytest.MonkeyPatch) -> str:
    """A stand-in for a GPU: the CPU under another name, so that placing and counting run."""
    use_gpu(monkeypatch)
    return "cpu:0"


def test_layers_move_to_the_device_by_budget(
    second_device: str, client: EngineClient, llama_folder: Path, draft: Path
) -> None:
    options = {"draft": str(draft), "weights": "fp32", "max_tokens": 40, "context": 256}
    alone = client.answer(PROMPT, llama_folder, mode="plain", vram_budget_bytes=0, **options)
    assert alone.memory.host_to_device_bytes == 0
    devices = []
    for budget in (300_000, 1_150_000, None):
        reply = client.answer(PROMPT, llama_folder, mode="dovetail", vram_budget_bytes=budget, **options)
        assert reply.token_ids == alone.token_ids
        assert reply.memory.host_to_device_bytes > 0
        devices.append(reply.devices["target"])
    assert devices[-1] == f"{second_device} (3 of 3 layers), cpu"
    assert len(set(devices)) == 3


def test_a_packed_model_s_layers_are_packed_on_the_device_too(
    second_device: str, client: EngineClient, tmp_path: Path, draft: Path
) -> None:
    folder = write_checkpoint(tmp_path / "target", "llama", seed=2)
    options = {"draft": str(draft), "weights": "q8_0", "mode": "dovetail", "max_tokens": 20}
    reply = client.answer(PROMPT, folder, **options)
    assert reply.devices["target"] == f"{second_device} (3 of 3 layers), cpu"
    assert (reply.weights, len(reply.token_ids)) == ("q8_0", 20)
    # Another mode that puts them there computes the same.
    other = client.answer(PROMPT, folder, **(options | {"draft": None, "mode": "offload"}))
    assert other.token_ids == reply.token_ids


def test_a_draft_too_large_for_the_device_runs_on_the_cpu(
    second_device: str, client: EngineClient, llama_folder: Path, draft: Path
) -> None:
    before = len(client.seen(Notice))
    options = {"draft": str(draft), "mode": "dovetail", "vram_budget_bytes": 1000}
    reply = client.answer("a", llama_folder, max_tokens=4, **options)
    assert reply.devices == {"target": "cpu", "draft": "cpu"}
    (notice,) = client.seen(Notice)[before:]
    assert "so it runs on the CPU" in notice.text
