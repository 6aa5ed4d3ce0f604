"""Drafts held against a model through the engine: what fits, what does not and why, with nothing loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import torch

from engine import engine as engine_module
from engine.loaded_model import LoadedModel
from engine.messages import (
    Cancel,
    CheckDrafts,
    DraftChecked,
    EngineReady,
    Failed,
    FindPairs,
    Load,
    LoadOptions,
    ModelLoaded,
    ModelUnloaded,
    PairsFound,
)
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.heads import make_head
from tests.support.toy import TOY, TOY_DRAFT


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


def _problems(client: EngineClient, model: Path, *drafts: Path | str) -> dict[str, str]:
    names = tuple(map(str, drafts))
    client.engine.submit(CheckDrafts("check", LoadOptions(model=str(model)), names))
    found = [client.wait_for(DraftChecked) for _ in names]
    return {event.draft: event.problem for event in found if isinstance(event, DraftChecked)}


def test_each_draft_gets_its_own_sentence(client: EngineClient, tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path / "model", "llama", num_hidden_layers=6, intermediate_size=4096)
    small = write_checkpoint(tmp_path / "small", "llama", seed=5, num_hidden_layers=1, vocab_size=376)
    head = make_head("eagle").write(tmp_path / "head", safetensors=True)
    narrow = write_checkpoint(tmp_path / "narrow", "llama", hidden_size=32)
    gone = tmp_path / "gone"
    problems = _problems(client, model, small, head, gone, TOY_DRAFT)
    assert problems[str(small)] == problems[str(head)] == ""
    assert "There is no model" in problems[str(gone)]
    assert "The draft was made for another vocabulary: it cuts text" in problems[str(TOY_DRAFT)]
    assert "for a model with hidden size 64, and this model's is 32" in _problems(client, narrow, head)[str(head)]


def test_drafts_and_pairs_are_looked_at_while_a_model_is_loaded(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = write_checkpoint(tmp_path / "model", "llama", num_hidden_layers=6)
    small = write_checkpoint(tmp_path / "small", "llama", seed=5, num_hidden_layers=1)
    begun, answered = Event(), Event()
    load = engine_module.load_model

    def slow(*given: Any) -> LoadedModel:
        begun.set()
        assert answered.wait(60)
        return load(*given)

    monkeypatch.setattr(engine_module, "load_model", slow)
    client.engine.submit(Load("load", LoadOptions(model=str(model))))
    assert begun.wait(60)
    assert _problems(client, model, small) == {str(small): ""}
    client.engine.submit(FindPairs("pairs"))
    client.wait_for(PairsFound)
    assert not client.seen(ModelLoaded)
    client.engine.submit(Cancel("check"))
    client.engine.submit(CheckDrafts("check", LoadOptions(model=str(model)), (str(small),)))
    failed = client.wait_for(Failed)
    assert isinstance(failed, Failed)
    assert failed.error.kind == "Cancelled"
    answered.set()
    client.wait_for(ModelLoaded)


def test_a_draft_is_judged_without_the_one_before(client: EngineClient, tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path / "model", "llama", num_hidden_layers=6)
    head = make_head("eagle").write(tmp_path / "head", safetensors=True)
    options = LoadOptions(model=str(model), drafts=(str(tmp_path / "gone"),))
    client.engine.submit(CheckDrafts("check", options, (str(head),)))
    checked = client.wait_for(DraftChecked)
    assert isinstance(checked, DraftChecked)
    assert checked.problem == ""


def test_a_loaded_model_stays(client: EngineClient, tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path / "model", "llama")
    client.answer("one two", model, max_tokens=2)
    _problems(client, model, TOY_DRAFT)
    client.answer("one two", model, max_tokens=2)
    assert len(client.seen(ModelLoaded)) == 1
    assert client.seen(ModelUnloaded) == []


def test_a_model_that_is_gone_fails_the_check_and_a_cancelled_one_ends(client: EngineClient, tmp_path: Path) -> None:
    client.engine.submit(CheckDrafts("check", LoadOptions(model=str(tmp_path / "gone")), (str(TOY_DRAFT),)))
    failed = client.wait_for(Failed)
    assert isinstance(failed, Failed)
    assert failed.error.kind == "ModelNotFound"
    client.engine.submit(Cancel("later"))
    client.engine.submit(CheckDrafts("later", LoadOptions(model=str(TOY)), (str(TOY_DRAFT),)))
    failed = client.wait_for(Failed)
    assert isinstance(failed, Failed)
    assert failed.error.kind == "Cancelled"


def test_the_engine_names_the_gpu_once_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    for gpu, name in ((torch.device("cuda", 0), "cuda:0"), (None, "")):
        monkeypatch.setattr("engine.engine.find_gpu", lambda gpu=gpu: gpu)
        with engine_client() as opened:
            ready = opened.wait_for(EngineReady)
        assert isinstance(ready, EngineReady)
        assert ready.gpu == name
