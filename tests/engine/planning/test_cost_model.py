from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.drafting.block import BlockDraft
from engine.drafting.block_layout import BlockLayout
from engine.drafting.medusa import MedusaDraft, MedusaLayout
from engine.drafting.small_model import ModelDraft
from engine.families import SUPPORTED
from engine.messages.machine import FormatSpeed, GpuSpeed, HostSpeed
from engine.model.footprint import (
    activation_bytes,
    layer_bytes,
    layer_elements,
    read_bytes,
    stored_layer_bytes,
    text_read_bytes,
)
from engine.model.mixture import Mixture
from engine.model.tensors import Slot, layer_slots
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement import (
    LayerOffloadPlan,
    PlacementPlan,
    ResidentPlan,
    SplitPlan,
    StreamedExpertsPlan,
    StreamedPlan,
)
from engine.placement.columns import Boundary, ColumnsPlan, Ratios
from engine.placement.plan import Sizes
from engine.planning.cost_model import (
    KINDS,
    DraftCost,
    DraftsCost,
    Expectation,
    TargetCost,
    TokenYield,
    drafted_round,
    fit_yield,
    plain_round,
)
from engine.planning.machine_speeds import MachineSpeeds, UnitTimes
from tests.support.machines import target

Q8_0 = weight_format("q8_0")
BF16 = weight_format("bf16")
MODEL = target("llama-1b")
# Operators take no time, so that what is left can be computed by hand.
HOST = HostSpeed(20e9, 0.0, {name: FormatSpeed(10e9, 100e9, 0.0) for name in ("fp32", "bf16", "q8_0")})
SPEEDS = MachineSpeeds(HOST, GpuSpeed(200e9, 5e12, 0.0, 8e9), disk_bytes_per_s=1e9, measured=True)
RESIDENT = ResidentPlan.of(22)
DRAFT = ModelDraft(
    OpenedModel("draft", Path("draft")),
    "",
    replace(MODEL.config, layers=12, hidden_size=512, intermediate_size=1536, heads=8, kv_heads=8),
)


def cost(plan: PlacementPlan, speeds: MachineSpeeds = SPEEDS, measured: dict[int, float] | None = None) -> TargetCost:
    return TargetCost(MODEL, Q8_0, plan, speeds, position=0, measured=measured)


def everywhere(gain: float, finds: float = 1.0) -> Expectation:
    return dict.fromkeys(KINDS, TokenYield(gain, finds))


def test_equation_3_and_4_for_each_layer_and_the_head() -> None:
    config = MODEL.config
    weights = config.layers * stored_layer_bytes(config, Q8_0)
    weights += Q8_0.matrix_bytes(config.vocabulary_size, config.hidden_size)
    products = config.layers * layer_elements(config) + config.vocabulary_size * config.hidden_size
    assert cost(RESIDENT).forward_s(1) == pytest.approx(weights / 10e9)
    # Enough tokens that multiplying takes longer than reading.
    assert cost(RESIDENT).forward_s(64) == pytest.approx(64 * products / 100e9)


def test_rows_read_the_experts_that_some_of_them_chose() -> None:
    mixture = Mixture(experts=16, chosen=2, width=512, layers=(False, *(True,) * 21))
    config = replace(MODEL.config, family=SUPPORTED["Qwen3MoeForCausalLM"], mixture=mixture)
    each = 3 * Q8_0.matrix_bytes(512, config.hidden_size) * 21 / 22
    dense = layer_bytes(config, Q8_0) - 16 * each
    assert [read_bytes(config, Q8_0, rows) for rows in (1, 2, 10000)] == pytest.approx(
        [dense + 2 * each, dense + (2 + 2 * 14 / 16) * each, dense + 16 * each]
    )
    head = Q8_0.matrix_bytes(config.vocabulary_size, config.hidden_size)
    facts = replace(MODEL, config=config)
    forward_s = TargetCost(facts, Q8_0, RESIDENT, SPEEDS, position=0).forward_s(1)
    assert forward_s == pytest.approx((22 * (dense + 2 * each) + head) / 10e9)
    # On a GPU each expert that some row chose is dequantized by operators of its own.
    speeds = replace(SPEEDS, gpu=replace(SPEEDS.gpu, operator_s=1e-3))
    device = [UnitTimes(config, Q8_0, speeds, 0).at(rows).device for rows in (1, 2)]
    assert device[1].operators - device[0].operators == pytest.approx(1e-3 * 54 * (2 * 14 / 16) * 21 / 22)
    elements = 14 / 16 * 2 * 3 * 512 * config.hidden_size * 21 / 22
    more = (14 / 16 * 2 * each + 20 * elements) / 200e9
    assert device[1].products - device[0].products == pytest.approx(more)


def test_rows_that_choose_the_same_experts_again_read_fewer() -> None:
    chance = Mixture(experts=16, chosen=2, width=512, layers=(True,) * 22)
    apart, alike = replace(chance, reuse=0.0), replace(chance, reuse=1.0)
    for rows in (1, 2, 5, 64):
        for kept in (0, 1, 2, 8, 15):
            # Rows that repeat as much as chance does read what rows read that choose for themselves.
            same = replace(chance, reuse=2 / 16)
            assert same.read(rows) == pytest.approx(16 * (1 - (14 / 16) ** rows))
            assert chance.brought(rows, kept) == pytest.approx(chance.read(rows) * (1 - kept / 16))
            assert same.brought(rows, kept) == pytest.approx(chance.brought(rows, kept))
    assert [alike.read(rows) for rows in (1, 2, 1000)] == [2.0, 2.0, 2.0]
    assert apart.read(2) == pytest.approx(4.0)
    assert apart.read(1000) == pytest.approx(16.0)
    # Of a token's experts those that the one before took are there, if there is room for them.
    assert [alike.brought(1, kept) for kept in (0, 1, 2, 8)] == pytest.approx([2.0, 1.0, 0.0, 0.0])
    assert replace(chance, reuse=0.45).brought(1, 2) == pytest.approx(2 * 0.55)
    # Where all experts are chosen there is nothing to choose.
    assert replace(chance, chosen=16, reuse=0.9).read(3) == 16.0


def test_a_draft_is_worth_more_where_its_rows_choose_the_same_experts() -> None:
    mixture = Mixture(experts=128, chosen=8, width=512, layers=(True,) * 22)
    config = replace(MODEL.config, family=SUPPORTED["Qwen3MoeForCausalLM"], mixture=mixture)
    facts = replace(MODEL, config=config)
    streamed = StreamedExpertsPlan.of(Sizes(config, Q8_0, 64), 16)
    worth, from_disk = [], []
    for reuse in (0.0, 0.45, 0.9):
        target = TargetCost(facts.reusing(reuse), Q8_0, RESIDENT, SPEEDS, position=0)
        drafted = drafted_round(target, None, everywhere(4.0))
        worth.append(drafted.tokens_per_second / plain_round(target).tokens_per_second)
        from_disk.append(TargetCost(facts.reusing(reuse), Q8_0, streamed, SPEEDS, position=0).forward_s(1))
    assert worth[0] < worth[1] < worth[2]
    assert worth[0] < 1.0 < worth[2]  # nothing, and something
    assert from_disk[0] > from_disk[1] > from_disk[2]
    assert MODEL.reusing(0.9) is MODEL  # without experts there is nothing to choose


def test_attention_reads_what_was_said_before() -> None:
    later = TargetCost(MODEL, Q8_0, RESIDENT, SPEEDS, position=1000)
    cached = 2 * MODEL.config.layers * MODEL.config.kv_size * 2 * 1000
    extra = later.forward_s(1) - cost(RESIDENT).forward_s(1)
    assert extra == pytest.approx(cached / HOST.memory_bytes_per_s)


def test_streaming_takes_as_long_as_the_disk_or_the_processor() -> None:
    plan = StreamedPlan.of(22, 10)
    streamed = cost(plan)
    assert streamed.forward_s(1) == pytest.approx(12 * stored_layer_bytes(MODEL.config, Q8_0) / 1e9)
    assert streamed.waiting_s(1) == pytest.approx(streamed.forward_s(1) - cost(RESIDENT).forward_s(1))
    fast = cost(plan, replace(SPEEDS, disk_bytes_per_s=1e12))
    assert fast.forward_s(1) == cost(RESIDENT).forward_s(1)
    assert fast.waiting_s(1) == 0.0


def test_what_the_disk_brings_is_put_into_the_kernels_order_by_the_processor() -> None:
    formats = {"q8_0": replace(HOST.formats["q8_0"], arranging_s_per_byte=1e-9 / 4)}
    speeds = replace(SPEEDS, host=replace(HOST, formats=formats))
    plan, read = StreamedPlan.of(22, 10), 12 * stored_layer_bytes(MODEL.config, Q8_0)
    busy = cost(RESIDENT).forward_s(1) + read / 4e9
    assert cost(RESIDENT, speeds).forward_s(1) == cost(RESIDENT).forward_s(1)
    assert cost(plan, replace(speeds, disk_bytes_per_s=1e12)).forward_s(1) == pytest.approx(busy)
    assert cost(plan, speeds).forward_s(1) == cost(plan).forward_s(1)  # while the next layers are read
    assert cost(plan, speeds).waiting_s(1) == pytest.approx(read / 1e9 - busy)


def test_layers_on_a_gpu_are_read_there_and_packed_ones_are_dequantized() -> None:
    head = Q8_0.matrix_bytes(MODEL.config.vocabulary_size, MODEL.config.hidden_size) / 10e9
    dense = TargetCost(MODEL, BF16, SplitPlan.of(22, 22), SPEEDS, position=0)
    layers = 22 * stored_layer_bytes(MODEL.config, BF16) / 200e9
    wide = BF16.matrix_bytes(MODEL.config.vocabulary_size, MODEL.config.hidden_size) / 10e9
    assert dense.forward_s(1) == pytest.approx(layers + wide, rel=0.02)
    packed = cost(SplitPlan.of(22, 22))
    assert packed.forward_s(1) - head == pytest.approx(22 * layer_elements(MODEL.config) * 21 / 200e9, rel=0.01)
    half = TargetCost(MODEL, BF16, SplitPlan.of(22, 11), SPEEDS, position=0)
    assert dense.forward_s(1) < half.forward_s(1)


def test_layers_that_are_copied_take_as_long_as_the_bus() -> None:
    copied = TargetCost(MODEL, BF16, LayerOffloadPlan.of(22, 2), SPEEDS, 0)
    assert copied.forward_s(1) == pytest.approx(20 * layer_bytes(MODEL.config, BF16) / 8e9)


def test_columns_take_as_long_as_the_slower_unit_and_what_crosses_is_priced() -> None:
    config, position = MODEL.config, 1024
    sizes = Sizes(config, BF16, 4096)
    plan = ColumnsPlan.of(sizes, Ratios.even(0.5), Boundary(0.5))
    host, gpu = cost(RESIDENT), SPEEDS.gpu
    assert gpu is not None

    def forward_s(plan: ColumnsPlan, speeds: MachineSpeeds = SPEEDS) -> float:
        return TargetCost(MODEL, BF16, plan, speeds, position).forward_s(1)

    # The host is slower with its half than the GPU is with the other.
    whole = TargetCost(MODEL, BF16, RESIDENT, SPEEDS, position).forward_s(1)
    assert host.forward_s(1) < whole
    passing = 12 * config.layers * activation_bytes(config, 1, 0) / HOST.memory_bytes_per_s
    assert forward_s(plan) == pytest.approx(whole / 2 + passing, rel=1e-3)
    # With all of it on the GPU its time counts, and a slow bus carries two bytes for each number.
    there = ColumnsPlan.of(sizes, Ratios.even(1.0), Boundary(1.0))
    each = layer_bytes(config, BF16) + text_read_bytes(config, position, BF16)
    weights = config.layers * each + BF16.matrix_bytes(config.vocabulary_size, config.hidden_size)
    hidden, wide, kv = config.hidden_size, config.intermediate_size, config.kv_size
    layer = 2 * (hidden + (hidden + 2 * kv)) + 2 * (2 * hidden) + 2 * (hidden + 2 * wide) + 2 * (wide + hidden)
    attention = 2 * hidden + 4 * (hidden + config.heads) + 2 * 2 * kv
    crossing = config.layers * (layer + attention) + 2 * (hidden + config.vocabulary_size)
    found = forward_s(there)
    assert found == pytest.approx(passing + weights / 200e9 + crossing / 8e9, rel=1e-3)
    assert forward_s(replace(there, shared=True)) == pytest.approx(passing + weights / 200e9, rel=1e-3)
    waiting = replace(SPEEDS, gpu=replace(gpu, operator_s=1e-6))
    exchanges = 5 * config.layers + 1
    assert forward_s(there, waiting) - found == pytest.approx(4e-6 * exchanges)
    # Fused layers give way to operators.
    slow = replace(SPEEDS, host=replace(HOST, operator_s=1e-6))
    few = ColumnsPlan.of(Sizes(config, Q8_0, 4096), Ratios.even(0.0))
    extra = TargetCost(MODEL, Q8_0, few, slow, 0).forward_s(1) - cost(RESIDENT, slow).forward_s(1)
    assert extra == pytest.approx(config.layers * (210 - 8) * 1e-6 + passing)


def test_one_memory_gives_two_units_no_more_than_the_faster_one_gets_alone() -> None:
    plan = ColumnsPlan.of(Sizes(MODEL.config, BF16, 4096), Ratios.even(0.5), shared=True)
    gpu = SPEEDS.gpu
    assert gpu is not None
    apart = replace(SPEEDS, gpu=replace(gpu, memory_bytes_per_s=10e9))
    alone, together = (
        TargetCost(MODEL, BF16, plan, speeds, 0).forward_s(1) for speeds in (apart, replace(apart, unified=True))
    )
    # Alone each reads 10 GB/s, and the memory is known to give 20.
    assert together == pytest.approx(alone, rel=1e-3)
    slow = replace(HOST, memory_bytes_per_s=12e9)
    crowded = TargetCost(MODEL, BF16, plan, replace(apart, host=slow, unified=True), 0).forward_s(1)
    assert crowded == pytest.approx(together * 20 / 12, rel=1e-3)


def test_a_trees_draft_costs_its_depth_and_not_its_nodes() -> None:
    draft = DraftCost(DRAFT, Q8_0, SPEEDS, on_gpu=False)
    assert draft.tree_s(15) == pytest.approx(7 * draft.forward_s(2))
    assert draft.tree_s(3) == pytest.approx(3 * draft.forward_s(1))
    assert DraftCost(DRAFT, Q8_0, SPEEDS, on_gpu=True).forward_s(1) == pytest.approx(2 * DRAFT.read_elements / 200e9)
    slow = DraftsCost([draft], {3: 2 * draft.tree_s(3)})
    assert slow.tree_s(7) == 2 * draft.tree_s(7)


def test_several_drafts_take_the_sum_of_their_times() -> None:
    """On one processor they share its cores."""
    draft = DraftCost(DRAFT, Q8_0, SPEEDS, on_gpu=False)
    three = DraftsCost([draft] * 3)
    assert three.tree_s(7) == pytest.approx(3 * draft.tree_s(7))
    assert three.forward_s(1) == pytest.approx(3 * draft.forward_s(1))
    alone, together = (drafted_round(cost(RESIDENT), one, everywhere(5.0)) for one in (DraftsCost([draft]), three))
    assert together.tokens_per_second < alone.tokens_per_second


def test_medusa_heads_draft_any_tree_in_one_pass_that_nothing_hides() -> None:
    config = MODEL.config
    width, rows = config.hidden_size, config.vocabulary_size
    heads = tuple(
        (
            Slot("", (width, width), "block0"),
            Slot("", (width,), "block0_bias"),
            Slot("", (rows, width), "map"),
        )
        for _ in range(5)
    )
    draft = MedusaDraft(OpenedModel("heads", Path("heads")), "", MedusaLayout(heads, 1, width, rows, None), config)
    cost_of = DraftCost(draft, Q8_0, SPEEDS, on_gpu=False)
    read = Q8_0.matrix_bytes(5 * (width + rows), width)
    assert cost_of.tree_s(1) == cost_of.tree_s(63) == pytest.approx(read / 10e9, rel=1e-3)
    assert cost_of.forward_s(1000) == cost_of.forward_s(1)  # a prompt is none of theirs
    streamed = cost(StreamedPlan.of(22, 0))
    ahead = drafted_round(streamed, DraftsCost([cost_of]), everywhere(5.0), 63, ahead=True)
    assert ahead.tokens_per_second == pytest.approx(
        ahead.tokens / (cost_of.tree_s(1) + streamed.forward_s(ahead.nodes + 1) + streamed.loop_s)
    )


def block_cost(layers: int, rows: int) -> tuple[DraftCost, int]:
    """The cost of a draft of a block of so many rows, and its elements."""
    config = replace(MODEL.config, layers=layers)
    slots = tuple(tuple(layer_slots(config, layer)) for layer in range(layers))
    joined = (Slot("fc.weight", (config.hidden_size, 3 * config.hidden_size), "fc"),)
    layout = BlockLayout(
        blocks=config,
        target_hidden_size=config.hidden_size,
        hidden_layers=(2, 4, 6),
        draft_vocabulary_size=config.vocabulary_size,
        block_size=rows,
        mask_token=3,
        causal=(False,) * layers,
        from_anchor=True,
        markov_rank=0,
        markov_kind="vanilla",
        outer=joined,
        layers=slots,
    )
    draft = BlockDraft(OpenedModel("block", Path("block")), "", layout, MODEL.config)
    return DraftCost(draft, Q8_0, SPEEDS, on_gpu=False), draft.read_elements


def test_a_block_is_one_forward_of_its_rows_and_is_drafted_where_that_pays() -> None:
    small, elements = block_cost(1, 16)
    # 16 rows take longer to multiply than their weights to read.
    assert small.tree_s(1) == small.tree_s(15) == pytest.approx(16 * elements / 100e9, rel=1e-3)
    assert block_cost(1, 4)[0].tree_s(15) == pytest.approx(Q8_0.matrix_bytes(32, elements) / 32 / 10e9, rel=1e-2)
    plain = plain_round(cost(RESIDENT)).tokens_per_second
    large, _ = block_cost(22, 16)  # as large as the target
    assert drafted_round(cost(RESIDENT), DraftsCost([small]), everywhere(2.0)).tokens_per_second > plain
    assert drafted_round(cost(RESIDENT), DraftsCost([large]), everywhere(2.0)).tokens_per_second < plain


def test_equation_1_and_the_best_size_of_draft() -> None:
    plain = plain_round(cost(RESIDENT))
    assert plain.tokens_per_second == pytest.approx(1 / cost(RESIDENT).forward_s(1))
    good = drafted_round(cost(RESIDENT), DraftsCost([DraftCost(DRAFT, Q8_0, SPEEDS, False)]), everywhere(5.0))
    draft = DraftCost(DRAFT, Q8_0, SPEEDS, False)
    seconds = draft.tree_s(good.nodes) + cost(RESIDENT).forward_s(good.nodes + 1)
    assert good.tokens_per_second == pytest.approx(good.tokens / seconds)
    assert good.tokens_per_second > plain.tokens_per_second
    others = [
        TokenYield(5.0).tokens(nodes) / (draft.tree_s(nodes) + cost(RESIDENT).forward_s(nodes + 1))
        for nodes in (1, 3, 7, 15)
    ]
    assert good.tokens_per_second == pytest.approx(max(others))


def test_a_useless_draft_costs_little() -> None:
    plain = plain_round(cost(RESIDENT)).tokens_per_second
    useless = drafted_round(cost(RESIDENT), DraftsCost([DraftCost(DRAFT, Q8_0, SPEEDS, False)]), everywhere(0.0))
    assert 0.9 * plain < useless.tokens_per_second < plain
    assert (useless.tokens, useless.nodes) == (1.0, 0)


def test_rounds_without_a_draft_are_plain_ones() -> None:
    half = drafted_round(cost(RESIDENT), None, everywhere(8.0, finds=0.5))
    target_cost = cost(RESIDENT)
    tokens = 0.5 + 0.5 * TokenYield(8.0).tokens(half.nodes)
    seconds = 0.5 * target_cost.forward_s(1) + 0.5 * target_cost.forward_s(half.nodes + 1)
    assert half.tokens_per_second == pytest.approx(tokens / seconds)


def test_drafting_ahead_hides_some_of_the_drafting_while_the_target_waits() -> None:
    streamed = cost(StreamedPlan.of(22, 0))
    usual = DraftCost(DRAFT, Q8_0, SPEEDS, False)
    slow = DraftsCost([usual], {7: 10 * usual.tree_s(7)})
    ahead, behind = (
        drafted_round(streamed, slow, everywhere(5.0), 63, ahead=True),
        drafted_round(streamed, slow, everywhere(5.0)),
    )
    assert ahead.tokens_per_second > 1.05 * behind.tokens_per_second


def test_what_was_measured_stands_for_the_widths_around_it() -> None:
    predicted = cost(RESIDENT)
    measured = cost(RESIDENT, measured={1: 2 * predicted.forward_s(1), 4: predicted.forward_s(4)})
    factors = [measured.forward_s(width) / predicted.forward_s(width) for width in (1, 2, 4, 64)]
    assert factors == pytest.approx([2.0, 2.0 - 1 / 3, 1.0, 1.0])
    assert measured.predicted_s(1) == predicted.predicted_s(1)
    # A prompt is read in forwards that are wider than anything that was measured.
    assert measured.prefill_s(600, 512) == predicted.prefill_s(600, 512)


def test_a_prompt_s_rows_see_those_before_them_and_only_the_last_of_a_piece_goes_through_the_head() -> None:
    own = MODEL.config.vocabulary_size * MODEL.config.hidden_size
    rows, one = 88 * own / 100e9, Q8_0.matrix_bytes(MODEL.config.vocabulary_size, MODEL.config.hidden_size) / 10e9
    each = [cost(RESIDENT).predicted_s(width) - rows * width / 88 + one for width in (512, 88)]
    attending = 22 * 2 * MODEL.config.query_size * (600 * 600 / 2) / 100e9
    assert cost(RESIDENT).prefill_s(600, 512) == pytest.approx(sum(each) + attending)
    windows = replace(MODEL.config, windows=(100,) * 22)
    narrow = TargetCost(replace(MODEL, config=windows), Q8_0, RESIDENT, SPEEDS, 0)
    shorter = 22 * 2 * MODEL.config.query_size * 100 * (600 - 50) / 100e9
    assert narrow.prefill_s(600, 512) == pytest.approx(sum(each) + shorter)


@pytest.mark.parametrize(("tokens", "nodes"), [(4.99, 15), (1.0, 7), (2.5, 3.5)])
def test_a_yield_goes_through_what_was_measured(tokens: float, nodes: float) -> None:
    assert 1 + fit_yield(tokens, nodes).gain * (TokenYield(1.0).tokens(50) - 1) >= tokens - 1e-9
    if isinstance(nodes, int):
        assert fit_yield(tokens, nodes).tokens(nodes) == pytest.approx(tokens)


def test_a_draft_gives_no_more_tokens_than_it_has() -> None:
    assert TokenYield(100.0).tokens(3) == 4.0
    assert fit_yield(3.0, 0).gain == 0.0


# Medians of 200 forwards on 2 cores of a Xeon with AMX where nothing else ran, 2026-11-22, in ms.
@pytest.mark.parametrize(
    ("model", "weights", "measured_ms"),
    [
        ("tiny", "q8_0", 2.28),
        ("smollm2", "q8_0", 7.22),
        ("llama-1b", "q8_0", 49.9),
        ("llama-1b", "q4_k_m", 33.4),
    ],
)
def test_a_forward_takes_as_long_as_was_measured(model: str, weights: str, measured_ms: float) -> None:
    """From the speeds of the same machine: small models are not all operators, and large ones not all bandwidth."""
    formats = {"q8_0": FormatSpeed(25e9, 500e9, 0.75), "q4_k_m": FormatSpeed(25e9, 530e9, 1.0)}
    speeds = MachineSpeeds(HostSpeed(25e9, 1.6e-6, formats), None, 1e9, measured=True)
    facts = target(model)
    resident = ResidentPlan.of(facts.config.layers)
    found = TargetCost(facts, weight_format(weights), resident, speeds, position=64)
    assert 1e3 * found.forward_s(1) == pytest.approx(measured_ms, rel=0.2)


def test_a_third_of_what_is_drafted_ahead_is_of_use_at_most() -> None:
    """The drafting that the target's waiting hides counts by the rounds in which the whole best branch held."""
    streamed = cost(StreamedPlan.of(22, 0))
    usual = DraftCost(DRAFT, Q8_0, SPEEDS, False)
    drafts = DraftsCost([usual])
    expected = everywhere(5.0)
    found = drafted_round(streamed, drafts, expected, 63, ahead=True)
    given = TokenYield(5.0).tokens(found.nodes)
    drafting_s = drafts.tree_s(found.nodes)
    assert drafting_s < streamed.waiting_s(found.nodes + 1)  # so all of it is hidden where it is of use
    seconds = given / found.tokens_per_second - streamed.forward_s(found.nodes + 1) - streamed.loop_s
    assert 0.65 * drafting_s <= seconds <= 0.75 * drafting_s


def test_of_drafts_of_which_one_is_made_in_one_pass_nothing_is_hidden() -> None:
    usual = DraftCost(DRAFT, Q8_0, SPEEDS, False)
    block, _ = block_cost(1, 16)
    assert not block.by_levels
    found = [DraftsCost(drafts).ahead_holds for drafts in ([usual], [usual, usual], [usual, block], [block])]
    assert found == [0.3, 0.3, 0.0, 0.0]
