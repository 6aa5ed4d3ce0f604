"""Replies of a model that is read from the disk, and everything that can go wrong with the disk meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.engine import Engine
from engine.hub.installed import cache_folder
from engine.kernels import library
from engine.messages import Cancel, Finished, ModelUnloaded, Notice, PrefillProgress, TokensAdded
from engine.model.config import read_config
from engine.model.footprint import layer_bytes, stored_layer_bytes
from engine.model.mixture import Repeats
from engine.model.weight_format import weight_format
from engine.placement import StreamedExpertsPlan
from engine.placement.plan import Sizes
from engine.placement.streamed import Streamed, StreamedPlan
from engine.planning.profile import read_profile
from engine.weights.checkpoint import Checkpoint
from engine.weights.direct_reader import DirectReader
from engine.weights.packed_file import PackedFile
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.stand_in import use_no_baseline
from tests.support.streams import delay_reads, poison_what_is_let_go

PROMPT = "The model that guesses and the model"
LAYERS, PINNED = 12, 2


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deep") / "model"
    return write_checkpoint(folder, num_hidden_layers=LAYERS, intermediate_size=512)


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """The checkpoint, with packed files of its own."""
    copy = tmp_path / "model"
    copy.mkdir()
    for path in original.iterdir():
        if path.suffix != ".packed":
            (copy / path.name).symlink_to(path)
    return copy


@pytest.fixture(autouse=True)
def _small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    use_no_baseline(monkeypatch)
    poison_what_is_let_go(monkeypatch)


def options(folder: Path, weights: str = "fp32", **more: Any) -> dict[str, Any]:
    """With a budget that a few layers fit into."""
    config, format_ = read_config(Checkpoint(folder)), weight_format(weights)
    budget = StreamedPlan.least_bytes(Sizes(config, format_, 128)) + (PINNED + 1) * stored_layer_bytes(config, format_)
    return {
        "weights": weights,
        "kv_cache": "full",
        "context": 128,
        "ram_budget_bytes": budget,
        "mode": "plain",
        "max_tokens": 16,
        "threads": 1,
        "temperature": 0.0,
        **more,
    }


def readers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "tenon-reader"]


@pytest.mark.parametrize("weights", ["fp32", "bf16"])
@pytest.mark.parametrize("mode", ["plain", "lookup", "dovetail"])
def test_a_reply_from_the_disk_is_the_one_from_memory(
    mode: str, weights: str, folder: Path, client: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = {"draft": str(folder)} if mode == "dovetail" else {}
    if draft:
        monkeypatch.setattr("engine.placement.plan.Room.beside", lambda room, host, device: room)
    asked = options(folder, weights, mode=mode, **draft)
    streamed = client.answer(PROMPT, folder, **asked)
    (note,) = [one.text for one in client.seen(Notice) if "larger than the memory" in one.text]
    assert f"{LAYERS - PINNED} of its {LAYERS} layers" in note
    assert streamed.devices["target"] == "cpu, disk"
    assert readers()
    each = layer_bytes(read_config(Checkpoint(folder)), weight_format(weights))
    assert streamed.memory.disk_read_bytes > streamed.timings.target_forwards * (LAYERS - PINNED - 2) * each
    resident = client.answer(PROMPT, folder, **{**asked, "ram_budget_bytes": None})
    assert not readers()
    assert (streamed.token_ids, streamed.text) == (resident.token_ids, resident.text)
    assert (resident.devices["target"], resident.memory.disk_read_bytes) == ("cpu", 0)


@pytest.mark.parametrize(("weights", "devices"), [("fp32", "cpu, disk"), ("q8_0", "cpu")])
def test_a_reply_teaches_how_often_its_rows_choose_the_same_experts(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: str, devices: str
) -> None:
    if devices == "cpu" and library.available() is None:
        pytest.skip(library.reason())
    monkeypatch.setattr("engine.reply.OtherWork", lambda: SimpleNamespace(busy=False))
    folder = write_checkpoint(tmp_path / "mixture", "qwen3-moe", num_hidden_layers=3, mlp_only_layers=[])
    sizes = Sizes(read_config(Checkpoint(folder)), weight_format(weights), 128)
    budget = StreamedExpertsPlan.of(sizes, 1).host(sizes).total if "disk" in devices else None
    taken: list[float | None] = []
    take = Repeats.take

    def logged(repeats: Repeats) -> float | None:
        taken.append(take(repeats))
        return taken[-1]

    monkeypatch.setattr(Repeats, "take", logged)
    reply = client.answer(PROMPT, folder, **options(folder, weights, ram_budget_bytes=budget))
    assert reply.devices["target"] == devices
    (share,) = taken
    assert share is not None
    assert 0.0 <= share <= 1.0
    (kept,) = (cache_folder() / "profiles").iterdir()
    assert read_profile(kept).reuse == share


@pytest.mark.parametrize(("kind", "words"), [("network", "a network drive"), ("spinning", "a spinning disk")])
def test_a_slow_kind_of_disk_is_said(
    kind: str, words: str, folder: Path, client: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.placement.from_disk.disk_kind", lambda path: kind)
    for speed in (100e6, 2e9):
        monkeypatch.setattr(Streamed, "measure_disk", lambda placement, meanwhile, speed=speed: speed)
        client.answer(PROMPT, folder, **options(folder, max_tokens=1, context=100 + int(speed // 1e9)))
    slow, fast = [one.text for one in client.seen(Notice) if "larger than the memory" in one.text]
    assert f"Its file lies on {words}" in slow
    assert "lies on" not in fast
    assert "which takes about" in fast


def test_a_second_prompt_goes_on_where_the_ring_is(folder: Path, client: EngineClient) -> None:
    asked = options(folder)
    for prompt in (PROMPT, PROMPT + " that checks", "user assistant"):
        streamed = client.answer(prompt, folder, **asked)
        with engine_client() as other:
            assert other.answer(prompt, folder, **{**asked, "ram_budget_bytes": None}).text == streamed.text


def damage(folder: Path, name: str) -> None:
    """Flip a bit in the middle of a section of the file that a first load has left."""
    path = folder / "tenon-q8_0.packed"
    section = PackedFile(path, Checkpoint(folder).digest(), "q8_0").sections[name]
    data = bytearray(path.read_bytes())
    data[section.offset + section.size_bytes // 2] ^= 8
    path.write_bytes(data)


def test_a_damaged_streamed_layer_ends_the_reply_and_the_next_one_finds_a_new_file(
    folder: Path, client: EngineClient
) -> None:
    asked = options(folder, "q8_0")
    whole = client.answer(PROMPT, folder, **asked)
    client.engine.close()
    damage(folder, "model.layers.3.mlp.down_proj.weight")
    with engine_client() as other:
        failed = other.failure(PROMPT, folder, **asked)
        assert failed.error.kind == "WeightsUnreadable"
        assert "is damaged, so this reply ends here" in failed.error.message
        assert "layers.3.mlp.down_proj" in failed.error.details
        assert isinstance(other.wait_for(ModelUnloaded), ModelUnloaded)
        assert not readers()
        assert other.answer(PROMPT, folder, **asked).text == whole.text


@pytest.mark.parametrize(
    "name",
    ["model.layers.11.self_attn.q_proj.weight", "lm_head.weight", "model.layers.11.mlp.up_proj.weight"],
)
def test_what_stays_in_memory_is_made_again_at_once_where_it_is_damaged(
    name: str, folder: Path, client: EngineClient
) -> None:
    asked = options(folder, "q8_0")
    whole = client.answer(PROMPT, folder, **asked)
    client.engine.close()
    damage(folder, name)
    with engine_client() as other:
        assert other.answer(PROMPT, folder, **asked).text == whole.text


def test_a_disk_that_fails_in_mid_reply_leaves_the_text_so_far(
    folder: Path, client: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(folder)
    whole = client.answer(PROMPT, folder, **asked)
    client.events.clear()
    read: Callable[..., None] = DirectReader._read_block
    left = 8 * (LAYERS - PINNED)

    def failing(reader: DirectReader, *arguments: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(5, "Input/output error")
        read(reader, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(DirectReader, "_read_block", failing)
        failed = client.failure(PROMPT, folder, **asked)
    assert failed.error.kind == "WeightsUnreadable"
    assert "could not be read from the disk any more" in failed.error.message
    assert "Input/output error" in failed.error.details
    partial = "".join(event.text for event in client.seen(TokensAdded))
    assert partial
    assert whole.text.startswith(partial)
    assert client.answer(PROMPT, folder, **asked).text == whole.text


def test_what_could_not_be_read_ahead_is_read_again_when_it_is_needed(
    folder: Path, client: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a disk that was away between two replies."""
    asked = options(folder)
    whole = client.answer(PROMPT, folder, **asked)
    read: Callable[..., None] = DirectReader._read_block
    failures = [OSError(5, "Input/output error")]

    def failing_once(reader: DirectReader, *arguments: Any) -> None:
        if failures:
            raise failures.pop()
        read(reader, *arguments)

    monkeypatch.setattr(DirectReader, "_read_block", failing_once)
    assert client.answer(PROMPT, folder, **asked).text == whole.text
    assert not failures


def test_a_cancel_is_seen_while_the_disk_is_waited_for(
    folder: Path, client: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(folder)
    whole = client.answer(PROMPT, folder, **asked)
    with monkeypatch.context() as patch:
        delay_reads(patch, 5, 0.1)
        request = client.request("user " + PROMPT, folder, **asked)
        client.engine.submit(request)
        client.wait_for(PrefillProgress)
        client.engine.submit(Cancel(request.request_id))
        finished = client.wait_for(Finished)
    assert isinstance(finished, Finished)
    assert finished.reply.stop_reason == "cancelled"
    assert client.answer(PROMPT, folder, **asked).text == whole.text


def test_no_thread_outlives_the_engine(folder: Path) -> None:
    events: list[object] = []
    engine = Engine(events.append)
    client = EngineClient()
    try:
        client.answer(PROMPT, folder, **options(folder))
        assert readers()
    finally:
        client.engine.close()
        engine.close()
    assert not readers()
