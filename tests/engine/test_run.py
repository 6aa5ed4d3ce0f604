"""The engine says that a request's model is in memory if, and only if, it then loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.loaded_model import LoadedModel
from engine.messages import (
    ChatMessage,
    CheckLoaded,
    Finished,
    LoadedChecked,
    LoadOptions,
    LoadProgress,
    ModelLoaded,
    TokensAdded,
    Unload,
)
from engine.modes import MODES, in_mode
from tests.support.engine_client import EngineClient, engine_client
from tests.support.fast_cases import covering

ASKED = [ChatMessage("user", "Hello")]


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    with engine_client() as client:
        yield client


def in_memory(client: EngineClient, options: LoadOptions) -> bool:
    client.engine.submit(CheckLoaded("check", options))
    answer = client.wait_for(LoadedChecked)
    assert isinstance(answer, LoadedChecked)
    return answer.loaded


@pytest.mark.parametrize(("held", "wanted"), covering(["auto", "ghidorah"], ["auto", *MODES], together=1))
def test_what_is_said_to_be_in_memory_is_not_loaded(client: EngineClient, held: str, wanted: str) -> None:
    client.answer(ASKED, "smollm2", mode=held, max_tokens=1)
    request = client.request(ASKED, "smollm2", mode=wanted, max_tokens=1)
    said = in_memory(client, request.options)
    client.events.clear()
    client.finish(request)
    assert said == (not client.seen(ModelLoaded))
    assert in_memory(client, request.options)


def test_a_draft_that_is_not_loaded_is_not_in_memory(client: EngineClient) -> None:
    client.engine.submit(Unload())
    client.answer(ASKED, "smollm2", mode="auto", max_tokens=1)
    options = client.request(ASKED, "smollm2").options
    assert in_memory(client, in_mode("plain", options))
    assert not in_memory(client, in_mode("ghidorah", options))


def test_nothing_is_in_memory_without_a_model_nor_another_one(client: EngineClient, llama_folder: Path) -> None:
    client.answer("a", llama_folder, max_tokens=1)
    own = client.request("a", llama_folder).options
    assert in_memory(client, own)
    assert not in_memory(client, replace(own, model="smollm2"))
    assert not in_memory(client, replace(own, context=20))
    assert not in_memory(client, replace(own, memory="no-such-memory"))
    client.engine.submit(Unload())
    assert not in_memory(client, own)


def test_a_draft_that_auto_no_longer_takes_leaves_the_memory(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []
    monkeypatch.setattr("engine.run._left", lambda options, planner: left[-1])
    client.engine.submit(Unload())
    request = client.request("abc", llama_folder, draft=llama_folder, max_tokens=5)
    texts, drafts = [], []
    for why in ("", "It gains nothing.", "It gains nothing."):
        left.append(why)
        client.events.clear()
        finished = client.finish(request)
        assert isinstance(finished, Finished)
        model = client.engine._model
        assert isinstance(model, LoadedModel)
        texts.append(finished.reply.text)
        drafts.append((len(model.drafts), len(model.plan.drafts), len(client.seen(ModelLoaded))))
        assert all(len(sequence.drafts) == len(model.drafts) for sequence in model.sequences._kept)
        model.settle_anew()
    assert drafts == [(1, 1, 1), (0, 0, 1), (0, 0, 0)]
    assert len(set(texts)) == 1
    assert not client.seen(LoadProgress)


def test_a_draft_of_a_mode_that_was_named_stays_in_memory(client: EngineClient, llama_folder: Path) -> None:
    for mode in ("minions", "off"):
        request = client.request("abc", llama_folder, draft=llama_folder, max_tokens=5)
        chosen = replace(request.options, drafts=("off",)) if mode == "off" else in_mode(mode, request.options)
        assert isinstance(client.finish(replace(request, options=chosen)), Finished)
        model = client.engine._model
        assert isinstance(model, LoadedModel)
        assert len(model.drafts) == 1


def test_it_is_said_while_a_reply_runs(client: EngineClient, llama_folder: Path) -> None:
    request = client.request("abc", llama_folder, max_tokens=200)
    client.engine.submit(request)
    client.wait_for(TokensAdded)
    client.engine.submit(CheckLoaded("check", request.options))
    assert isinstance(client.wait_for((LoadedChecked, Finished)), LoadedChecked)
    client.wait_for(Finished)
