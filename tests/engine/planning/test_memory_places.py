from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.drafting.kind import DraftPlan
from engine.messages import MemoryPlace, MemoryShare
from engine.messages.machine import HostMemory
from engine.model.config import ModelConfig, read_config
from engine.model.footprint import layer_bytes
from engine.model.text_states import MOST_STATES, state_bytes
from engine.model.weight_format import WeightFormat, weight_format
from engine.placement import (
    ColumnsPlan,
    PlacementPlan,
    ResidentPlan,
    SplitExpertsPlan,
    SplitPlan,
    StreamedExpertsPlan,
    StreamedPlan,
)
from engine.placement.columns import Ratios
from engine.placement.plan import Room, Sizes
from engine.planning.hardware import read_host_memory
from engine.planning.load_plan import GpuInUse, LoadPlan, memory_places
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder

Q8_0 = weight_format("q8_0")
MEMORY = HostMemory(16_000_000_000, 9_600_000_000, process_bytes=400_000_000)


@pytest.fixture
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


def sizes(place: MemoryPlace) -> dict[str, int]:
    return {share.use: share.size_bytes for share in place.shares}


def loaded(
    config: ModelConfig,
    placement: PlacementPlan,
    draft_bytes: int = 0,
    gpu: str = "",
    weights: WeightFormat = Q8_0,
) -> LoadPlan:
    sizes = Sizes(config, weights, 128)
    here, there = (0, draft_bytes) if gpu else (draft_bytes, 0)
    on_host, on_gpu = placement.host(sizes, here, MEMORY.process_bytes), placement.device(sizes, there)
    return LoadPlan("plain", weights, 128, MOST_STATES, 0, placement, gpu, on_host, on_gpu)


def test_drafts_are_counted_where_they_are(config: ModelConfig) -> None:
    here, there = (DraftPlan(Q8_0, device, 128, 5_000) for device in ("cpu", "cuda:0"))
    plan = replace(loaded(config, ResidentPlan.of(3), 10_000), drafts=(here, here, there))
    (ram,) = memory_places(plan, config, MEMORY)
    assert {share.use: share.drafts for share in ram.shares if share.drafts} == {"draft": 2}


def test_a_model_in_memory_is_all_there(config: ModelConfig) -> None:
    plan = loaded(config, ResidentPlan.of(3), 5_000)
    (ram,) = memory_places(plan, config, MEMORY)
    assert (ram.place, ram.total_bytes) == ("ram", MEMORY.total_bytes)
    assert sizes(ram) == {
        "draft": 5_000,
        "weights": plan.host.weights,
        "caches": plan.host.cache,
        "buffers": plan.host.activations,
        "engine": MEMORY.process_bytes,
        "others": MEMORY.others_bytes,
    }
    assert sum(sizes(ram).values()) == plan.host.total + MEMORY.others_bytes
    assert ram.shares[1].layers == 3


def test_layers_that_are_divided_are_whole_in_neither_place(config: ModelConfig) -> None:
    plan = loaded(config, ColumnsPlan.of(Sizes(config, Q8_0, 128), Ratios.even(0.5)), 0, "cuda:0")
    there, here = memory_places(plan, config, MEMORY, GpuInUse("cuda:0", 4_000_000_000))
    assert sum(sizes(there).values()) == plan.on_device.total
    assert sizes(here)["weights"] == plan.host.weights < loaded(config, ResidentPlan.of(3)).host.weights
    # So that nobody is told of twice as many layers as the model has.
    assert {share.layers for place in (there, here) for share in place.shares} == {0}


def test_layers_and_draft_on_a_gpu(config: ModelConfig) -> None:
    plan = loaded(config, SplitPlan.of(3, 2), 5_000, "cuda:0")
    places = memory_places(plan, config, MEMORY, GpuInUse("cuda:0", 4_000_000_000))
    assert [place.place for place in places] == ["cuda:0", "ram"]
    assert sum(sizes(places[0]).values()) == plan.on_device.total
    assert (sizes(places[0])["draft"], "draft" in sizes(places[1])) == (5_000, False)
    assert [share.layers for place in places for share in place.shares if share.use == "weights"] == [2, 1]


def test_experts_that_lie_elsewhere_are_told_apart(tmp_path: Path) -> None:
    """A layer of which experts alone are elsewhere counts where it is computed, and the words say which experts."""
    mixture = read_config(Checkpoint(write_checkpoint(tmp_path, "qwen3-moe", tokenizer=False)))
    measure, layers = Sizes(mixture, Q8_0, 128), mixture.layers
    experts = mixture.mixture.experts

    def weights(placement: PlacementPlan) -> list[MemoryShare]:
        gpu = GpuInUse("cuda:0", 4_000_000_000) if placement.uses_gpu else None
        plan = loaded(mixture, placement, 0, "cuda:0" if gpu else "")
        places = memory_places(plan, mixture, MEMORY, gpu)
        return [share for place in places for share in place.shares if share.use == "weights"]

    ram, disk = weights(StreamedExpertsPlan.of(measure, 2))
    assert (ram.layers, ram.part) == (layers, f"2 of {experts} experts of each layer")
    assert (disk.layers, disk.part) == (0, "chosen experts")
    assert disk.size_bytes == StreamedExpertsPlan.of(measure, 2).read_bytes(measure, 1)
    gpu, ram = weights(SplitExpertsPlan.of(measure, 1))
    assert (gpu.layers, gpu.part) == (layers, f"{layers} layers, 1 with experts")
    assert (ram.layers, ram.part) == (0, f"experts of {layers - 1} layers")
    gpu, ram = weights(SplitExpertsPlan.of(measure, 0))
    assert gpu.part == f"{layers} layers without experts"


@pytest.mark.parametrize("variant", ["gemma4-inputs", "granite-hybrid", "nemotron-h-moe", "qwen35"])
def test_each_side_has_the_rows_and_states_of_its_own_layers(
    variant: str, checkpoint_of: Callable[[str], Path]
) -> None:
    folder = checkpoint_of(variant)
    config, gpu = read_config(Checkpoint(folder)), GpuInUse("cuda:0", 4_000_000_000)
    fp32 = weight_format("fp32")
    cache = load_decoder(folder).new_cache(128)
    rows = [
        cache.store(layer).nbytes if isinstance(shape, tuple) else 0 for layer, shape in enumerate(config.cache_shapes)
    ]
    states = [state_bytes(config, MOST_STATES) * config.convolves(layer) for layer in range(config.layers)]
    for there in range(1, config.layers):
        plan = loaded(config, SplitPlan.of(config.layers, there), gpu="cuda:0", weights=fp32)
        for place, part in zip(
            memory_places(plan, config, MEMORY, gpu), (slice(there), slice(there, None)), strict=True
        ):
            kept = sizes(place)
            assert (kept.get("caches", 0), kept.get("states", 0)) == (sum(rows[part]), sum(states[part]))
        room = Room(1 << 30, "cuda:0", plan.on_device.total)
        shared = any(shape.keys_of is not None for shape in config.shapes)
        assert shared or SplitPlan.fit(Sizes(config, fp32, 128), room, config.layers) == plan.placement


def test_what_is_streamed_is_on_the_disk(config: ModelConfig) -> None:
    ram, disk = memory_places(loaded(config, StreamedPlan.of(3, 1, 1)), config, MEMORY)
    assert sizes(disk) == {"weights": 2 * layer_bytes(config, Q8_0)}
    assert (disk.place, disk.total_bytes, disk.shares[0].layers) == ("disk", 0, 2)
    assert next(share.layers for share in ram.shares if share.use == "weights") == 1


def test_the_memory_of_this_machine_adds_up() -> None:
    memory = read_host_memory()
    assert 0 < memory.process_bytes < memory.total_bytes
    assert 0 <= memory.others_bytes < memory.total_bytes
