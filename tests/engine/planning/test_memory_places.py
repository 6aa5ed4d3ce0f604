from __future__ import annotations

from pathlib import Path

import pytest

from engine.messages import MemoryPlace
from engine.model.config import ModelConfig, read_config
from engine.model.footprint import layer_bytes
from engine.model.weight_format import weight_format
from engine.planning.footprint import device_footprint, device_format, host_footprint
from engine.planning.memory_places import Gpu, MachineMemory, memory_places
from engine.planning.placement_plan import PlacementPlan
from engine.weights.checkpoint import Checkpoint

Q8_0 = weight_format("q8_0")
MEMORY = MachineMemory(total=16_000_000_000, engine=400_000_000, others=6_000_000_000)


@pytest.fixture
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


def sizes(place: MemoryPlace) -> dict[str, int]:
    return {share.use: share.size_bytes for share in place.shares}


def test_a_model_in_memory_is_all_there(config: ModelConfig) -> None:
    (ram,) = memory_places(config, PlacementPlan(), Q8_0, 128, MEMORY, draft_bytes=5_000)
    planned = host_footprint(config, PlacementPlan(), Q8_0, 128, 5_000, MEMORY.engine)
    assert (ram.place, ram.total_bytes) == ("ram", MEMORY.total)
    assert sizes(ram) == {
        "draft": 5_000,
        "weights": planned.weights,
        "caches": planned.cache,
        "buffers": planned.activations,
        "engine": MEMORY.engine,
        "others": MEMORY.others,
    }
    assert sum(sizes(ram).values()) == planned.total + MEMORY.others
    assert ram.shares[1].layers == 3


def test_layers_and_draft_on_a_gpu(config: ModelConfig) -> None:
    plan = PlacementPlan(device_layers=2)
    places = memory_places(config, plan, Q8_0, 128, MEMORY, 5_000, Gpu("cuda:0", 4_000_000_000), True)
    assert [place.place for place in places] == ["cuda:0", "ram"]
    there = device_footprint(config, plan, device_format(Q8_0), 128, 5_000)
    assert sum(sizes(places[0]).values()) == there.total
    assert (sizes(places[0])["draft"], "draft" in sizes(places[1])) == (5_000, False)
    assert [share.layers for place in places for share in place.shares if share.use == "weights"] == [2, 1]


def test_what_is_streamed_is_on_the_disk(config: ModelConfig) -> None:
    plan = PlacementPlan("stream", pinned_layers=1, buffers=1)
    ram, disk = memory_places(config, plan, Q8_0, 128, MEMORY)
    assert sizes(disk) == {"weights": 2 * layer_bytes(config, Q8_0, 0)}
    assert (disk.place, disk.total_bytes, disk.shares[0].layers) == ("disk", 0, 2)
    assert next(share.layers for share in ram.shares if share.use == "weights") == 1


def test_the_memory_of_this_machine_adds_up() -> None:
    memory = MachineMemory.now()
    assert 0 < memory.engine < memory.total
    assert 0 <= memory.others < memory.total
