"""The modes that are about a GPU, through the engine: on a stand-in for one, and on a machine without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.messages import Notice, Reply
from engine.model.config import read_config
from engine.model.weight_format import weight_format
from engine.placement import LayerOffloadPlan, SplitPlan
from engine.placement.plan import Sizes
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.packed_models import PACKED
from tests.support.stand_in import use_gpu, use_no_baseline, use_no_gpu

PROMPT = "one two three four one two three four one two " * 3
LAYERS = 5
KINDS = {"offload": SplitPlan, "layer-offload": LayerOffloadPlan}
MODES = ("offload", "layer-offload")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("deep") / "llama", "llama", num_hidden_layers=LAYERS)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    use_gpu(monkeypatch)


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


def room_for(folder: Path, mode: str, layers: int, weights: str = "fp32") -> int:
    """The smallest budget that takes so many layers."""
    config = read_config(Checkpoint(folder))
    return KINDS[mode].of(config.layers, layers).device(Sizes(config, weight_format(weights), 512)).total


def ask(client: EngineClient, folder: Path, mode: str, **options: object) -> Reply:
    settings = {"weights": "fp32", "context": 512, "max_tokens": 12} | options
    return client.answer(PROMPT, folder, mode=mode, **settings)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("mode", MODES)
def test_layers_are_there_by_budget_and_the_text_is_plain_decoding_s(
    mode: str, client: EngineClient, folder: Path
) -> None:
    plain = ask(client, folder, "plain", vram_budget_bytes=0)
    assert plain.devices["target"] == "cpu"
    for layers in (1, 2, LAYERS):
        reply = ask(client, folder, mode, vram_budget_bytes=room_for(folder, mode, layers))
        assert reply.token_ids == plain.token_ids
        stay = " stay there" if mode == "layer-offload" else ""
        assert reply.devices["target"] == f"cpu:0 ({layers} of {LAYERS} layers{stay}), cpu"
        assert (reply.mode, reply.drafts) == (mode, ())
        assert reply.memory.host_to_device_bytes > 0
    passing = ask(client, folder, mode, gpu_layers=2)
    assert passing.token_ids == plain.token_ids
    layer_bytes = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 96)
    crossed = passing.memory.host_to_device_bytes
    if mode == "layer-offload":
        forwards = passing.timings.target_forwards
        assert 3 * layer_bytes * forwards < crossed < 3 * layer_bytes * (forwards + 12)
    else:
        assert crossed < layer_bytes * passing.timings.target_forwards


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("weights", PACKED)
def test_both_modes_compute_the_same_with_packed_layers(client: EngineClient, tmp_path: Path, weights: str) -> None:
    folder = write_checkpoint(tmp_path / "own", "llama", num_hidden_layers=LAYERS)
    replies = [
        ask(client, folder, mode, weights=weights, gpu_layers=layers)
        for mode, layers in (("offload", LAYERS), ("layer-offload", LAYERS), ("layer-offload", 1))
    ]
    assert len({reply.token_ids for reply in replies}) == 1
    assert {reply.weights for reply in replies} == {weights}


@pytest.mark.usefixtures("gpu")
def test_what_could_not_be_done_is_said(client: EngineClient, folder: Path) -> None:
    for mode in MODES:
        before = len(client.seen(Notice))
        tight = ask(client, folder, mode, gpu_layers=3, vram_budget_bytes=room_for(folder, mode, 2))
        assert f"(2 of {LAYERS} layers" in str(tight.devices["target"])
        small = ask(client, folder, mode, vram_budget_bytes=100_000)
        assert small.devices["target"] == "cpu"
        fewer, none = (notice.text for notice in client.seen(Notice)[before:])
        assert "takes 2 of the 3 layers" in fewer
        assert "The model runs on the CPU alone." in none
    failed = client.failure(PROMPT, folder, mode="offload", gpu_layers=-1)
    assert "at least 0" in failed.error.message


def test_without_a_gpu_both_modes_answer_and_say_so(
    client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_no_gpu(monkeypatch)
    plain = ask(client, folder, "plain")
    for mode in MODES:
        reply = ask(client, folder, mode)
        assert (reply.token_ids, reply.devices["target"], reply.mode) == (plain.token_ids, "cpu", mode)
        assert client.seen(Notice)[-1].text == (
            "There is no GPU that Tenon can use here. The model runs on the CPU alone."
        )


@pytest.mark.usefixtures("gpu")
def test_a_mode_about_another_placement_loads_again(client: EngineClient, folder: Path) -> None:
    first = ask(client, folder, "offload")
    assert ask(client, folder, "offload").timings.load_ms is None
    # Plain decoding takes what is there.
    assert ask(client, folder, "plain").devices == first.devices
    assert ask(client, folder, "layer-offload").timings.load_ms is not None


@pytest.mark.usefixtures("gpu")
def test_layers_on_the_gpu_need_no_memory_on_the_host(
    client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = read_config(Checkpoint(folder))
    use_no_baseline(monkeypatch)
    plain = ask(client, folder, "plain").token_ids
    for mode, layers in (("layer-offload", 2), ("offload", 3), ("offload", 1)):
        placed = KINDS[mode].of(LAYERS, layers)
        least = placed.host(Sizes(config, weight_format("fp32"), 512)).total
        room = {"vram_budget_bytes": room_for(folder, mode, layers), "ram_budget_bytes": least}
        reply = ask(client, folder, mode, **room)
        assert f"({layers} of {LAYERS} layers" in str(reply.devices["target"])
        assert reply.token_ids == plain
    before = len(client.seen(Notice))
    streamed = ask(client, folder, "offload", **room | {"ram_budget_bytes": least - 1})
    assert (streamed.devices["target"], streamed.token_ids) == ("cpu, disk", plain)
    assert "The model runs on the CPU alone." in client.seen(Notice)[before].text
    # Memory that is both the host's and the GPU's holds all of it either way.
    use_gpu(monkeypatch, unified=True)
    assert ask(client, folder, "offload", **room, threads=2).devices["target"] == "cpu, disk"
