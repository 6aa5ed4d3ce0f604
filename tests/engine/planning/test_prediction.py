"""Predictions for models that are not here, through the engine's own commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.hub.local_import import import_model
from engine.hub.model_folders import models_folder
from engine.hub.offer import find_or_outline
from engine.messages import (
    Cancel,
    Failed,
    FindPairs,
    LoadOptions,
    ModelOutline,
    ModelPredicted,
    PairsFound,
    PredictModels,
)
from engine.model_file import open_model
from engine.planning.planner import predict
from tests.support.checkpoints import train_tokenizer, write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.machines import machine
from tests.support.quantized_checkpoints import FORMATS, write_quantized
from tests.support.toy import TOY


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


def outline(name: str, draft: str | None = None) -> ModelOutline:
    place = str(find_or_outline(name))
    return ModelOutline(name, place, None if draft is None else str(find_or_outline(draft)))


def test_a_model_that_fits_gets_its_mode_speed_and_memory() -> None:
    found = predict(outline("qwen3-8b", "qwen3-0.6b"), LoadOptions(), machine("desktop-16gb-8gb"))
    assert (found.problem, found.basis) == ("", "rest")
    assert found.mode is not None
    assert found.tokens_per_second is not None
    assert found.memory_bytes + found.gpu_bytes > 0
    assert found.memory_bytes <= found.room_bytes
    assert found.with_draft == (found.mode in ("dovetail", "llmcad"))
    assert not found.from_disk


def test_a_draft_that_does_not_pay_is_told_before_it_is_fetched() -> None:
    found = predict(outline("llama-3.2-3b-instruct", "llama-3.2-1b-instruct"), LoadOptions(), machine("laptop-8gb"))
    assert found.dear == "The draft reads 0.40 of the model for each guess: not worth it without a GPU."
    assert not found.with_draft
    assert not predict(outline("qwen3-8b", "qwen3-0.6b"), LoadOptions(), machine("laptop-8gb")).dear


def test_what_cannot_run_says_why_and_what_is_larger_than_memory_comes_from_the_disk() -> None:
    wanted = LoadOptions()
    low = predict(outline("llama-3.3-70b-instruct"), wanted, machine("laptop-16gb-low-disk"))
    assert low.mode is None
    assert "of disk" in low.problem
    large = predict(outline("llama-3.3-70b-instruct"), wanted, machine("apple-16gb"))
    assert large.from_disk


def test_a_config_that_tenon_does_not_run_is_a_problem_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["MambaForCausalLM"], "model_type": "mamba"}')
    found = predict(ModelOutline("odd", str(tmp_path)), LoadOptions(), machine("apple-16gb"))
    assert "Mamba" in found.problem


def test_the_engine_answers_for_each_model_in_order_and_can_be_stopped(client: EngineClient) -> None:
    names = ("smollm2-360m-instruct", "qwen3-0.6b")
    client.engine.submit(PredictModels("ask", tuple(map(outline, names)), LoadOptions(context=2048)))
    events = [client.wait_for(ModelPredicted) for _ in names]
    assert [event.reference for event in events if isinstance(event, ModelPredicted)] == list(names)
    client.engine.submit(Cancel("late"))
    client.engine.submit(PredictModels("late", tuple(map(outline, names))))
    failed = client.wait_for(Failed)
    assert isinstance(failed, Failed)
    assert failed.error.kind == "Cancelled"


def test_pairs_come_with_their_reasons(client: EngineClient, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "model", "llama", num_hidden_layers=4)
    small = write_checkpoint(tmp_path / "small", "llama", num_hidden_layers=1)
    import_model(models_folder(), [folder], name="target")
    import_model(models_folder(), [TOY], name="toy")
    import_model(models_folder(), [small], name="small", kind="draft", belongs_to=("target",))
    client.engine.submit(FindPairs("pairs"))
    event = client.wait_for(PairsFound)
    assert isinstance(event, PairsFound)
    problems = {(pair.target, pair.draft): pair.problem for pair in event.pairs}
    assert problems["target", "small"] == ""
    assert "another vocabulary" in problems["toy", "small"]


@pytest.mark.parametrize(
    ("name", "offered"), [("fp8-block", True), ("int8-bitsandbytes", True), ("nf4", False), ("awq", False)]
)
def test_a_smaller_copy_is_predicted_of_what_can_be_copied(name: str, offered: bool, tmp_path: Path) -> None:
    """As `tenon models convert` has it: plain numbers, or 8 bits of others."""
    write_quantized(tmp_path, FORMATS[name])
    train_tokenizer().save_pretrained(tmp_path)
    own, copy = (
        predict(ModelOutline(str(tmp_path), str(tmp_path), smaller=smaller), LoadOptions(), machine("laptop-8gb"))
        for smaller in (False, True)
    )
    assert (copy.problem == "") == offered
    assert (0 < copy.copy_bytes < open_model(str(tmp_path)).checkpoint.size_bytes) == offered
    assert own.tokens_per_second
    assert not offered or copy.tokens_per_second > own.tokens_per_second
