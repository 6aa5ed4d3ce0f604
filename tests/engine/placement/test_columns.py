"""Matrices and attention divided between two units: the same logits and text, and no more crosses than predicted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.trees import TreeShape
from engine.errors import InvalidOption
from engine.messages.machine import FormatSpeed, GpuSpeed, HostSpeed
from engine.model.attention import FOLD_LIMIT_ROWS
from engine.model.config import ModelConfig, read_config
from engine.model.converted import Conversion
from engine.model.decoder import Decoder
from engine.model.weight_format import weight_format
from engine.placement.column_linear import ColumnLinear
from engine.placement.columns import Boundary, Columns, ColumnsPlan, Ratios
from engine.placement.device import Link, SharedLink
from engine.placement.plan import Room, Sizes, Units
from engine.placement.source import TargetSource
from engine.planning.machine_speeds import MachineSpeeds, UnitTimes
from engine.weights.checkpoint import Checkpoint
from tests.support.decoders import greedy, load_decoder
from tests.support.fast_cases import chosen, covering
from tests.support.packed_models import PACKED, dequantized, load
from tests.support.replies import run_reply
from tests.support.sides import DEVICE, HOST, GuardedLink, Sides

CPU = torch.device("cpu")
FP32 = weight_format("fp32")
CONTEXT = 300
PROMPT = torch.arange(3, 90)
WIDE = FOLD_LIMIT_ROWS + 6  # heads are not folded into so many rows
RATIOS = (0.0, 0.3, 0.7, 1.0)
HALF = Boundary(0.5)
UNEVEN = Ratios(qkv=0.5, output=1.0, gate_up=0.3, down=0.0, head=0.7)
VARIANTS = ["llama", "qwen3", "gemma2", "gemma3", "phi3-longrope"]


def divided(
    folder: Path, ratios: Ratios, boundary: Boundary = HALF, link: Link | None = None
) -> tuple[Decoder, Columns]:
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    conversion = Conversion(checkpoint, config, weight_format("fp32"), folder.parent)
    source = TargetSource(conversion, link or Link(CPU), lambda done, total: None, lambda: None)
    columns = Columns(source.host(()), source, ColumnsPlan((), ratios=ratios, boundary=boundary))
    return Decoder(config, columns), columns


def logits_of(decoder: Decoder) -> list[torch.Tensor]:
    """Of a prompt, of a tree behind it, of a token behind the branch that was kept, and of a long piece of text."""
    cache, count = decoder.new_cache(CONTEXT), len(PROMPT)
    found = [decoder.forward(PROMPT, torch.arange(count), cache).logits]
    cache.commit(range(count))
    tree = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]]).bool()
    positions = torch.tensor([0, 1, 1, 2]) + count
    found.append(decoder.forward(torch.tensor([5, 6, 7, 8]), positions, cache, tree).logits)
    cache.commit([0, 2, 3])
    found.append(decoder.forward(torch.tensor([9]), torch.tensor([count + 3]), cache).logits)
    cache.commit([0])
    found.append(decoder.forward(PROMPT[:WIDE], torch.arange(count + 4, count + 4 + WIDE), cache).logits)
    return found


@pytest.mark.parametrize("variant", chosen(VARIANTS, ("gemma3", "phi3-longrope")))
def test_logits_and_greedy_text_are_the_resident_model_s(variant: str, checkpoint_of: Callable[[str], Path]) -> None:
    folder = checkpoint_of(variant)
    whole = load_decoder(folder)
    expected, text = logits_of(whole), greedy(whole, PROMPT, 40)
    # With all rows before the boundary some of a window's are there, and some of the text before it.
    for ratios, boundary in (*((Ratios.even(ratio), HALF) for ratio in RATIOS), (UNEVEN, Boundary(1.0))):
        decoder, _ = divided(folder, ratios, boundary)
        for found, wanted in zip(logits_of(decoder), expected, strict=True):
            torch.testing.assert_close(found, wanted, atol=1e-4, rtol=0)
        assert greedy(decoder, PROMPT, 40) == text


@pytest.mark.parametrize("variant", ["llama", "gemma3"])
def test_drafted_trees_and_other_texts_change_nothing(variant: str, checkpoint_of: Callable[[str], Path]) -> None:
    folder = checkpoint_of(variant)
    whole = load_decoder(folder)
    decoder, _ = divided(folder, Ratios.even(0.3), Boundary(1.0))
    target = TokenSequence(Target(decoder), CONTEXT)
    model = DraftModel(load_decoder(folder), whole.config.vocabulary_size, CONTEXT, Link(CPU), lambda: None)
    drafter = DraftModelDrafter(model, TreeShape(3, 4, 10))
    # The second text leaves the first one before the boundary, so that the device's rows must be read again.
    for prompt in (PROMPT, torch.cat((PROMPT[:20], PROMPT[:70] + 100)), PROMPT):
        assert run_reply(target, drafter, prompt.tolist(), 60)[0] == greedy(whole, prompt, 60)


@pytest.mark.parametrize(
    ("variant", "ratios"),
    covering(["llama", "gemma3"], [Ratios.even(0.3), Ratios.even(1.0), UNEVEN], together=1),
)
def test_what_crosses_is_what_was_predicted(variant: str, ratios: Ratios, checkpoint_of: Callable[[str], Path]) -> None:
    folder = checkpoint_of(variant)
    sides = Sides()
    link = GuardedLink(sides)
    decoder, columns = divided(folder, ratios, link=link)
    config = decoder.config
    plan = ColumnsPlan.of(Sizes(config, FP32, CONTEXT), ratios, HALF)
    assert link.to_device_bytes == plan.device(Sizes(config, FP32, CONTEXT)).weights
    decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(CONTEXT))  # tables grow once
    for layer in columns._held().layers:
        for part in layer.parts():
            if isinstance(part, ColumnLinear) and part._here is not None:
                sides.mark(iter([part._here.weight]), HOST)  # type: ignore[attr-defined]
    link.to_device_bytes = link.to_host_bytes = 0
    with sides:
        logits_of(decoder)
    rows = len(PROMPT) + 4 + 1 + WIDE
    *layer_maps, head = plan.exchanges
    there = rows * (config.layers * sum(one.in_bytes for one in layer_maps) + head.in_bytes)
    back = rows * (config.layers * sum(one.out_bytes for one in layer_maps) + head.out_bytes)
    # Nothing was committed before the prompt; windows do not reach back to where the boundary is here.
    attended = (rows - len(PROMPT)) * sum(window is None for window in config.windows)
    committed = config.layers * HALF.rows(len(PROMPT) + 4)
    there += attended * plan.queries[0] + committed * plan.committed_bytes
    back += attended * plan.queries[1]
    assert (link.to_device_bytes, link.to_host_bytes) == (there, back)
    assert min(sides.operations[HOST], sides.operations[DEVICE]) > 100


class OneMemory(SharedLink):
    """A stand-in for memory that both see."""

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def empty(self, *shape: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype)

    def fetch(self, far: torch.Tensor, part: torch.Tensor) -> None:
        part.copy_(far)


def test_within_one_memory_nothing_crosses_and_no_row_is_there_twice(llama_folder: Path) -> None:
    link = OneMemory(CPU)
    decoder, _ = divided(llama_folder, Ratios.even(0.3), link=link)
    for found, wanted in zip(logits_of(decoder), logits_of(load_decoder(llama_folder)), strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=0)
    rows = decoder.new_cache(CONTEXT).far_rows
    assert rows._mirror is None
    assert (link.to_device_bytes, link.to_host_bytes) == (0, 0)


@pytest.mark.parametrize("name", PACKED)
def test_packed_matrices_are_cut_between_panels_and_stay_packed(
    name: str, checkpoint_of: Callable[[str], Path]
) -> None:
    weights = load(checkpoint_of("qwen2"), name)
    layer, exact = weights.layers[0], dequantized(weights).layers[0]
    rows = torch.randn(3, 64, generator=torch.Generator().manual_seed(0))
    for whole, wanted in ((layer.qkv, exact.qkv), (layer.gate_up, exact.gate_up)):
        for ratio in RATIOS:
            part = ColumnLinear(whole, ratio, torch.float32, Link(CPU), Link(CPU))
            found, here = part(rows), part._columns
            assert torch.equal(found[:, :here], whole(rows)[:, :here])
            torch.testing.assert_close(found[:, here:], wanted(rows)[:, here:], atol=1e-4, rtol=1e-4)
            assert part.size_bytes + part.device_bytes == whole.size_bytes


@pytest.mark.parametrize("ratio", [-0.1, 1.01, float("nan")])
def test_a_ratio_out_of_range_is_refused(ratio: float) -> None:
    with pytest.raises(InvalidOption) as caught:
        replace(Ratios.even(0.5), down=ratio)
    message = f"The GPU's share of the matrices down is {ratio:g}, but it must be from 0 to 1."
    assert caught.value.message == message


def test_the_boundary_moves_as_the_text_grows() -> None:
    boundary = Boundary(0.75, 40.0)
    assert [boundary.rows(length) for length in (0, 50, 100, 128, 1000)] == [0, 0, 32, 32, 704]
    rows = [Boundary(1.0).rows(length) for length in range(200)]
    assert rows == sorted(rows)
    assert all(length - 32 < row <= length for length, row in enumerate(rows))


@pytest.fixture(scope="module")
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


def units(operator_s: float = 0.0, products_per_s: float = 1e15) -> Callable[[Sizes, int], Units]:
    """A processor and a GPU that reads three times as fast; four operators exchange rows."""
    host = HostSpeed(1e9, 0.0, {"fp32": FormatSpeed(1e9, products_per_s, 0.0)})
    speeds = MachineSpeeds(host, GpuSpeed(3e9, 1e15, operator_s, 1e15), 1e9, measured=True)
    return lambda sizes, width: UnitTimes(sizes.config, sizes.weights, speeds, sizes.context).at(width)


def test_both_units_get_what_takes_them_as_long(config: ModelConfig) -> None:
    sizes = Sizes(config, FP32, CONTEXT)

    def fit(room: Room, most: int = config.layers) -> ColumnsPlan | None:
        return ColumnsPlan.fit(sizes, room, most)

    room = Room(1 << 40, "cuda:0", 1 << 40, units=units())
    plan = fit(room)
    assert list(vars(plan.ratios).values()) == pytest.approx([0.75] * 5)
    assert plan.boundary == Boundary(0.75)
    assert not plan.shared
    # The smallest matrix is 16 KB, which takes the host 16 us and the GPU 5 us.
    slow = fit(replace(room, units=units(operator_s=2.5e-6)))
    assert slow.ratios.output < slow.ratios.gate_up < slow.ratios.head < 0.75
    assert slow.boundary.rows(100) < plan.boundary.rows(100)
    assert [fit(replace(room, device="")), fit(room, 0)] == [None, None]
    eight_bits = replace(sizes, weights=replace(weight_format("q8_0"), cache=torch.int8))
    assert ColumnsPlan.suited(eight_bits).weights == weight_format("q8_0")
    assert ColumnsPlan.suited(sizes) == sizes
    unified = fit(replace(room, unified=True))
    assert unified.shared
    assert unified.device(sizes).cache == 0
    apple = fit(replace(room, device="mps:0", unified=True))
    assert not apple.shared  # torch lets nobody see its memory there
    few = fit(room, 1)
    assert few.ratios == Ratios.even(1 / config.layers)


def test_wide_forwards_leave_more_to_the_gpu_where_the_processor_multiplies_slowly(
    config: ModelConfig,
) -> None:
    sizes = Sizes(config, FP32, CONTEXT)
    room = Room(1 << 40, "cuda:0", 1 << 40, units=units(products_per_s=1e9))
    shares = [plan.ratios.down for plan in ColumnsPlan.choices(sizes, room, config.layers)]
    # The processor reads four bytes for each product, so that from 4 rows on it multiplies for longer.
    assert shares == pytest.approx([0.75] * 3 + [6 / 7, 12 / 13, 24 / 25, 48 / 49])
    useless = replace(room, units=units(operator_s=1.0))
    assert list(ColumnsPlan.choices(sizes, useless, config.layers)) == []


def test_short_memory_moves_the_shares(config: ModelConfig) -> None:
    sizes = Sizes(config, FP32, CONTEXT)
    roomy = ColumnsPlan.fit(sizes, Room(1 << 40, "cuda:0", 1 << 40, units=units()), config.layers)
    host, device = roomy.host(sizes).total, roomy.device(sizes).total
    tight = ColumnsPlan.fit(sizes, Room(1 << 40, "cuda:0", device - 1, units=units()), config.layers)
    assert 0.0 < tight.ratios.down < 0.75
    crowded = ColumnsPlan.fit(sizes, Room(host - 1, "cuda:0", 1 << 40, units=units()), config.layers)
    assert 0.75 < crowded.ratios.down <= 1.0
    least = ColumnsPlan.of(sizes, Ratios.even(1 / 32)).device(sizes).total
    assert least < device
    # A part of attention is what is given up last.
    bare = ColumnsPlan.fit(sizes, Room(1 << 40, "cuda:0", least, units=units()), config.layers)
    assert bare.boundary == Boundary()
    assert ColumnsPlan.fit(sizes, Room(1 << 40, "cuda:0", 1000, units=units()), config.layers) is None


def test_memory_is_counted_and_given_back(llama_folder: Path) -> None:
    link = Link(torch.device("cpu", 0))
    decoder, columns = divided(llama_folder, Ratios.even(0.7), link=link)
    there = link.to_device_bytes
    assert columns.bytes_by_device["cpu:0"] == there > 0
    sizes = Sizes(decoder.config, FP32, CONTEXT)
    plan = ColumnsPlan.of(sizes, Ratios.even(0.7))
    assert plan.device(sizes).weights == there
    assert columns.bytes_by_device["cpu"] == plan.host(sizes).weights
    assert columns.whole_head.size_bytes == sizes.head
    columns.release()
    assert columns._weights is None
