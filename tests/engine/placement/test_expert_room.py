"""Places of experts: whatever stops a reading, none is lost, and who lies elsewhere than before is told."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import Cancelled
from engine.model.linear import JoinedLinear, Linear, LinearMap, PackedLinear
from engine.model.weight_format import weight_format
from engine.placement.streamed_experts import ExpertRoom, Places, StreamedExperts
from tests.support.checkpoints import write_checkpoint
from tests.support.streams import streamed_experts_decoder

EXPERTS, KEPT, LAYERS = 8, 2, 3


@pytest.fixture(scope="module", params=["fp32", "q8_0"])
def room(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExpertRoom]:
    folder = write_checkpoint(
        tmp_path_factory.mktemp("mixture") / "model",
        "qwen3-moe",
        num_hidden_layers=LAYERS,
        num_experts=EXPERTS,
        num_experts_per_tok=2,
        mlp_only_layers=[],
    )
    decoder = streamed_experts_decoder(folder, weight_format(request.param), KEPT)
    assert isinstance(decoder.source, StreamedExperts)
    yield decoder.source._room
    decoder.source.release()


def check_places(room: ExpertRoom, layer: int) -> None:
    """Each place is free or an expert's, and no two have one."""
    own, shared = room._own[layer], room._shared
    for places, count in ((own, KEPT), (shared, EXPERTS - KEPT)):
        taken = [*places.free, *places.found.values()]
        assert len(taken) == len({*taken}) == count
    if room._shared_by == layer:
        assert not own.found.keys() & shared.found.keys()


def addresses(room: ExpertRoom, layer: int) -> list[tuple[int, ...]]:
    """Where each expert's maps take their matrices from."""
    experts = room._experts[layer]
    return [tuple(map(_address, maps)) for maps in zip(experts.gate_up, experts.down, strict=True)]


def _address(linear: LinearMap) -> int:
    part = linear.parts[0] if isinstance(linear, JoinedLinear) else linear
    if isinstance(part, Linear):
        return part.weight.data_ptr()
    assert isinstance(part, PackedLinear)
    return part.matrix.data.data_ptr()


CALLS = st.lists(
    st.tuples(
        st.integers(0, LAYERS - 1),
        st.lists(st.integers(0, EXPERTS - 1), min_size=1, max_size=EXPERTS, unique=True),
        st.none() | st.integers(0, 12),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CALLS)
def test_whenever_a_reading_is_stopped_no_place_is_lost_and_all_that_moved_are_told(
    room: ExpertRoom, calls: list[tuple[int, list[int], int | None]]
) -> None:
    told: dict[int, list[tuple[int, ...]]] = {layer: addresses(room, layer) for layer in range(LAYERS)}
    for layer in range(LAYERS):
        room._moved[layer].clear()
    check = room._check
    for layer, chosen, stop in calls:
        left = stop

        def stopping(*arguments: object) -> None:
            nonlocal left
            check(*arguments)  # type: ignore[arg-type]
            if left is not None:
                left -= 1
                if left < 0:
                    raise Cancelled("stop")

        room._check = stopping
        try:
            moved = room.bring(layer, chosen)
        except Cancelled:
            assert stop is not None
            check_places(room, layer)
            continue
        finally:
            room._check = check
        check_places(room, layer)
        now = addresses(room, layer)
        before, told[layer] = told[layer], now
        elsewhere = {expert for expert in range(EXPERTS) if now[expert] != before[expert]}
        assert elsewhere <= {*moved}
        there = {*room._own[layer].found, *room._shared.found}
        assert {*chosen} <= there


def test_the_experts_used_last_stay_the_last_row_s_above_all(room: ExpertRoom) -> None:
    chance = random.Random(1)
    for _ in range(20):
        chosen = chance.sample(range(EXPERTS), 4)
        room.bring(0, chosen)
        kept = [*room._own[0].found]
        assert len(kept) == KEPT
        assert {*chosen} <= {*kept, *room._shared.found}
        room.bring(1, [0])  # the shared places are another layer's
        before = room.reader.read_bytes
        room.bring(0, kept)
        assert room.reader.read_bytes == before


def test_a_place_is_taken_from_the_expert_used_longest_ago_that_is_not_needed() -> None:
    places = Places(3, 4096)
    for expert in (5, 6, 7):
        start = places.take(())
        assert start is not None
        places.found[expert] = start
    assert places.take({5, 6, 7}) is None
    places.use(5)
    first = places.found[6]
    assert places.take({7}) == first
    assert [*places.found] == [7, 5]
    places.clear()
    assert (places.found, sorted(places.free)) == ({}, [0, 4096, 8192])
