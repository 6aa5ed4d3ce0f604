"""A chat after a restart of the engine: what was read before is not read again, and replies are the same."""

from __future__ import annotations

import errno
import queue
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.decoding import kept_on_disk
from engine.engine import Engine
from engine.engine_process import EngineProcess, run_engine
from engine.messages import (
    Cancel,
    ChatMessage,
    CheckLoaded,
    Event,
    Failed,
    Finished,
    Generate,
    KeptChat,
    LoadedChecked,
    LoadOptions,
    Notice,
    Reply,
    SamplingOptions,
    Unload,
)
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.heads import make_head
from tests.support.stand_in import use_gpu

ASKED = ChatMessage("user", "The quick brown fox jumps over the lazy dog. " * 12)


@pytest.fixture
def place(tmp_path: Path) -> KeptChat:
    folder = tmp_path / "readings" / "7"
    folder.mkdir(parents=True)
    return KeptChat(str(folder), 1 << 40)


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.engine._IDLE_S", 0.0)


def wait_until_written(engine: Engine) -> None:
    model = engine._model
    while model.sequences.unwritten:
        time.sleep(0.005)


def first_turn(model: Path, place: KeptChat, **values: object) -> list[ChatMessage]:
    """Ask in an engine that ends; return the conversation with the next question."""
    with engine_client() as client:
        reply = client.answer([ASKED], model, max_tokens=12, kept=place, **values)
        wait_until_written(client.engine)
    return [ASKED, ChatMessage("assistant", reply.text), ChatMessage("user", "And the cat?")]


def next_turn(turns: list[ChatMessage], model: Path, place: KeptChat | None, **values: object) -> Reply:
    with engine_client() as client:
        return client.answer(turns, model, max_tokens=16, kept=place, **values)


@pytest.mark.parametrize("mode", ["plain", "lookup", "dovetail"])
@pytest.mark.parametrize("weights", ["fp32", "q8_0"])
def test_a_restart_reads_only_what_is_new(
    llama_folder: Path, draft: Path, place: KeptChat, mode: str, weights: str
) -> None:
    values = {"mode": mode, "draft": draft if mode == "dovetail" else None, "weights": weights}
    turns = first_turn(llama_folder, place, **values)
    kept, fresh = (next_turn(turns, llama_folder, one, **values) for one in (place, None))
    assert fresh.timings.cache_n == 0
    assert kept.timings.cache_n > len(fresh.prompt_ids) * 0.8
    assert kept.timings.cache_n + kept.timings.prompt_n == len(kept.prompt_ids)
    assert (kept.text, kept.token_ids) == (fresh.text, fresh.token_ids)


@pytest.mark.slow
def test_another_process_goes_on(llama_folder: Path, place: KeptChat) -> None:
    options = LoadOptions(str(llama_folder), ("lookup",), weights="q8_0", threads=1)

    def answer(turns: list[ChatMessage], kept: KeptChat | None) -> Reply:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        process = EngineProcess(run_engine, events.put, lambda code: None)
        try:
            sampling = SamplingOptions(temperature=0.0)
            process.send(Generate("one", options, tuple(turns), max_tokens=12, sampling=sampling, kept=kept))
            while not isinstance(event := events.get(timeout=300), Finished):
                assert not isinstance(event, Failed)
            while kept is not None and not list(Path(kept.folder).glob("*.rows")):
                time.sleep(0.05)
        finally:
            process.close()
        return event.reply

    first = answer([ASKED], place)
    turns = [ASKED, ChatMessage("assistant", first.text), ChatMessage("user", "And the cat?")]
    kept, fresh = answer(turns, place), answer(turns, None)
    assert (kept.timings.cache_n > 0.8 * len(kept.prompt_ids), fresh.timings.cache_n) == (True, 0)
    assert kept.token_ids == fresh.token_ids


@pytest.mark.parametrize(("layout", "mode"), [("eagle", "dovetail"), ("eagle3", "dovetail"), ("medusa", "ghidorah")])
def test_heads_go_on_without_the_rows_that_were_not_kept(
    place: KeptChat, tmp_path: Path, layout: str, mode: str
) -> None:
    target = write_checkpoint(tmp_path / "llama", num_hidden_layers=6)
    head = make_head(layout).write(tmp_path / layout, safetensors=True)
    values = {"mode": mode, "draft": head, "weights": "fp32"}
    turns = first_turn(target, place, **values)
    kept, fresh = (next_turn(turns, target, one, **values) for one in (place, None))
    assert kept.timings.cache_n > len(fresh.prompt_ids) * 0.8
    assert kept.token_ids == fresh.token_ids
    assert kept.timings.draft_n > 0


@pytest.mark.parametrize("weights", ["fp32", "q8_0"])
@pytest.mark.parametrize("variant", ["qwen35", "granite-hybrid"])
def test_a_hybrid_goes_on_from_its_last_state(
    checkpoint_of: Callable[[str], Path], place: KeptChat, variant: str, weights: str
) -> None:
    model, values = checkpoint_of(variant), {"mode": "lookup", "weights": weights}
    turns = first_turn(model, place, **values)
    kept, fresh = (next_turn(turns, model, one, **values) for one in (place, None))
    assert kept.timings.cache_n > len(fresh.prompt_ids) * 0.7
    assert kept.token_ids == fresh.token_ids


def test_layers_on_a_gpu_get_their_rows_back(
    checkpoint_of: Callable[[str], Path], place: KeptChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_gpu(monkeypatch)
    for model in (checkpoint_of("llama"), checkpoint_of("qwen35")):
        values = {"mode": "plain", "weights": "fp32", "gpu_layers": 1, "memory": "gpu"}
        turns = first_turn(model, place, **values)
        kept, fresh = (next_turn(turns, model, one, **values) for one in (place, None))
        assert "cpu:0" in str(kept.devices["target"])
        assert kept.timings.cache_n > len(fresh.prompt_ids) * 0.7
        assert kept.token_ids == fresh.token_ids


def test_other_cache_formats_and_requests_without_a_place_have_nothing(llama_folder: Path, place: KeptChat) -> None:
    turns = first_turn(llama_folder, place, weights="fp32")
    assert next_turn(turns, llama_folder, place, weights="bf16").timings.cache_n == 0
    with engine_client() as client:
        # The text that another request has taken over is not the chat's any more.
        client.answer([ASKED], llama_folder, max_tokens=4, kept=place)
        wait_until_written(client.engine)
        before = sorted((path.name, path.stat().st_mtime_ns) for path in Path(place.folder).iterdir())
        client.answer([ASKED, ChatMessage("assistant", "No."), ASKED], llama_folder, max_tokens=4)
        wait_until_written(client.engine)
    assert before == sorted((path.name, path.stat().st_mtime_ns) for path in Path(place.folder).iterdir())


def test_a_chat_whose_folder_is_gone_is_answered_and_not_written(llama_folder: Path, place: KeptChat) -> None:
    Path(place.folder).rmdir()
    first_turn(llama_folder, place)
    assert not Path(place.folder).exists()


@pytest.mark.parametrize("variant", ["llama", "qwen35"])
def test_a_chat_is_brought_in_before_its_next_message(
    checkpoint_of: Callable[[str], Path], place: KeptChat, variant: str
) -> None:
    model, values = checkpoint_of(variant), {"mode": "plain", "weights": "fp32"}
    turns = first_turn(model, place, **values)
    fresh = next_turn(turns, model, None, **values)

    def bring_in(client: EngineClient, cancelled: bool = False) -> type[Event]:
        options = client.request("", model, **values).options
        client.engine.submit(CheckLoaded("look", options, place))
        if cancelled:
            client.engine.submit(Cancel("look"))
        return type(client.wait_for((LoadedChecked, Failed)))

    with engine_client() as client:
        assert bring_in(client) is LoadedChecked  # another model, or none: nothing is read
        client.answer("Hello", model, max_tokens=1, **values)
        bring_in(client, cancelled=True)
        assert bring_in(client) is LoadedChecked
        files = {path.name: path.read_bytes() for path in Path(place.folder).iterdir()}
        for path in Path(place.folder).iterdir():
            path.unlink()
        kept = client.answer(turns, model, max_tokens=16, kept=place, **values)
    assert files
    assert kept.timings.cache_n > len(fresh.prompt_ids) * 0.7
    assert kept.token_ids == fresh.token_ids


def test_a_full_disk_is_told_of_once(llama_folder: Path, place: KeptChat, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *rest: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(kept_on_disk, "write_packed_file", refuse)
    with engine_client() as client:
        for turn in range(3):
            client.answer([ASKED, ChatMessage("assistant", "No."), ChatMessage("user", f"{turn}?")], llama_folder,
                          max_tokens=4, kept=place)  # fmt: skip
            wait_until_written(client.engine)
        told = [event.text for event in client.seen(Notice) if "No space left" in event.text]
    assert len(told) == 1


def test_a_model_that_leaves_the_memory_has_its_chats_written(
    llama_folder: Path, place: KeptChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.engine._IDLE_S", 600.0)
    monkeypatch.setattr("engine.engine._LAST_S", 60.0)
    with engine_client() as client:
        client.answer([ASKED], llama_folder, max_tokens=4, kept=place)
        assert not list(Path(place.folder).iterdir())
        client.engine.submit(Unload())
    assert list(Path(place.folder).iterdir())
