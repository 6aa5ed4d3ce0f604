"""Plans of loads: format, context and placement by memory, and the words for them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.errors import Allowed, InvalidOption, OutOfMemory
from engine.gguf.stored_tensor import BF16, F32
from engine.kernels import blocks, library
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.footprint import activation_bytes
from engine.model.linear import DEQUANTIZING_BYTES
from engine.model.tensors import layer_slots
from engine.model.text_states import LEAST_STATES, MOST_STATES
from engine.model.weight_format import weight_format
from engine.modes import MODES
from engine.placement import LayerOffloadPlan, ResidentPlan, SplitPlan, StreamedPlan
from engine.placement.plan import Room, Sizes, device_format
from engine.planning import hardware
from engine.planning import load_plan as load_plan_module
from engine.planning.load_plan import LoadPlan, memory_places
from engine.planning.machine_planner import MachinePlanner
from engine.planning.model_facts import TargetFacts
from engine.planning.probes.host import read_group_limits
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.machines import machine, small_draft, stored_in, target
from tests.support.packed_models import PACKED

RESERVE = 256 << 20


@pytest.fixture
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


@pytest.fixture
def deep(tmp_path: Path) -> ModelConfig:
    return read_config(Checkpoint(write_checkpoint(tmp_path / "deep", num_hidden_layers=12, intermediate_size=512)))


def planned(
    config: ModelConfig,
    mode: str = "plain",
    free_bytes: int = 16 << 30,
    own_bytes: int = 0,
    **asked: object,
) -> LoadPlan:
    """The load on a laptop without a GPU whose process takes so much."""
    report = machine("laptop-8gb")
    memory = replace(report.memory, available_bytes=free_bytes + RESERVE, process_bytes=own_bytes)
    planner = MachinePlanner(replace(report, memory=memory), TargetFacts("model", config), options=LoadOptions(**asked))
    return planner.load(MODES[mode], ())


def whole_bytes(config: ModelConfig, plan: LoadPlan) -> int:
    """Bytes that a budget must allow for all of it to be in memory."""
    return ResidentPlan.of(config.layers).host(plan.sizes(config)).total


def test_weights_and_context_are_settled_and_sized(config: ModelConfig) -> None:
    plan = planned(config)
    assert (plan.weights.name, plan.context) == ("fp32", config.context_length)
    assert plan.host.weights == 4 * sum((384 * 64, 384 * 64, 64)) + 3 * 4 * (64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64)
    assert plan.host.cache == 2 * 3 * 2 * 16 * 4 * plan.context
    assert planned(config, weights="bf16", context=100).context == 100


def test_a_context_beyond_the_positions_that_were_trained_is_the_model_s_own_and_noted(config: ModelConfig) -> None:
    plan = planned(config, context=config.context_length + 1)
    assert plan.context == config.context_length
    [note] = plan.notes
    assert note.startswith(f"The model was trained on texts of up to {config.context_length:,} tokens")
    assert not planned(config, context=config.context_length).notes


def test_a_context_that_was_not_asked_for_shrinks_first(config: ModelConfig) -> None:
    whole = planned(config)
    tight = whole.host.total - whole.host.cache // 4
    shrunk = planned(config, weights="fp32", ram_budget_bytes=tight)
    assert (shrunk.context, shrunk.placement.name) == (whole.context // 2, "resident")
    asked = planned(config, weights="fp32", ram_budget_bytes=tight, context=whole.context)
    assert (asked.context, asked.placement.streams) == (whole.context, True)


def test_fewer_states_are_kept_before_the_context_shrinks(checkpoint_of: Callable[[str], Path]) -> None:
    hybrid = read_config(Checkpoint(checkpoint_of("qwen35")))
    whole = planned(hybrid, weights="fp32")
    less = planned(hybrid, weights="fp32", ram_budget_bytes=whole.host.total - 1)
    assert (whole.states, less.states) == (MOST_STATES, MOST_STATES - 1)
    one_state = whole.host.total - less.host.total
    bound = whole.host.total - (MOST_STATES - LEAST_STATES) * one_state
    fewer = planned(hybrid, weights="fp32", ram_budget_bytes=bound)
    assert (fewer.states, fewer.host.total) == (LEAST_STATES, bound)
    assert (fewer.context, fewer.placement) == (whole.context, whole.placement)
    each = (whole.state_bytes - fewer.state_bytes) // (MOST_STATES - LEAST_STATES)
    assert each == 3 * 4 * (4 * 16 * 32 + 3 * (2 * 2 * 16 + 4 * 32))  # three layers of states and convolutions
    (ram,) = memory_places(whole, hybrid, machine("laptop-8gb").memory)
    shares = {share.use: share.size_bytes for share in ram.shares}
    assert (shares["states"], shares["states"] + shares["caches"]) == (whole.state_bytes, whole.host.cache)
    least = planned(hybrid, weights="fp32", ram_budget_bytes=fewer.host.total - 1)
    assert (least.states, least.context) == (LEAST_STATES, whole.context // 2)


def test_a_context_that_was_not_asked_for_takes_half_of_what_is_left_until_it_is_the_models_own(
    config: ModelConfig,
) -> None:
    long = replace(config, context_length=32_768)
    usual = planned(long, weights="fp32", context=8192)
    own = planned(long, weights="fp32", context=32_768)
    assert planned(long, weights="fp32") == own
    assert own.text_bytes == {"host": own.host.cache}
    more = (own.host.total - usual.host.total) // 24  # for 1,024 tokens
    for spare, context in ((2 * 24 * more, 32_768), (24 * more, 20_480), (2 * more, 9216), (more, 8192)):
        budget = usual.host.total + spare + 2 * 24
        grown = planned(long, weights="fp32", ram_budget_bytes=budget)
        assert (grown.context, grown.placement) == (context, usual.placement)
    assert planned(long, weights="fp32", context=8192).context == 8192


def test_too_little_memory_is_refused_with_the_numbers(config: ModelConfig) -> None:
    with pytest.raises(OutOfMemory, match=r"needs .* MB .* free are 100 kB: close other programs"):
        planned(config, free_bytes=100_000)


def test_a_budget_too_small_for_streaming_is_refused_with_the_least_that_would_do(deep: ModelConfig) -> None:
    least = StreamedPlan.least_bytes(Sizes(deep, weight_format("fp32"), 64))
    request = {"weights": "fp32", "context": 64}
    enough = planned(deep, own_bytes=3_000_000, ram_budget_bytes=3_000_000 + least, **request)
    assert enough.placement == StreamedPlan.of(12, 0, 1)
    with pytest.raises(OutOfMemory, match=r"takes 3 MB, .*Set the budget to 0\.1 GB or more") as refused:
        planned(deep, own_bytes=3_000_000, ram_budget_bytes=2_990_000 + least, **request)
    allowed = refused.value.allowed
    assert allowed == Allowed("ram_budget_bytes", 100_000_000)
    assert pickle.loads(pickle.dumps(refused.value)).allowed == allowed
    assert planned(deep, own_bytes=3_000_000, ram_budget_bytes=allowed.value, **request).context == 64


@pytest.mark.parametrize(("free_bytes", "context"), [(16_000_000_000, 8192), (300_000_000, 256)])
def test_the_budget_that_is_offered_gives_a_whole_context_where_memory_has_it(
    config: ModelConfig, free_bytes: int, context: int
) -> None:
    wide = replace(config, context_length=32768, kv_heads=4, head_dim=512)
    own = {"weights": "fp32", "own_bytes": 3_000_000, "free_bytes": free_bytes}
    with pytest.raises(OutOfMemory, match=rf"{context:,}\b") as refused:
        planned(wide, ram_budget_bytes=3_100_000, **own)
    allowed = refused.value.allowed
    assert "256" in refused.value.message
    assert planned(wide, ram_budget_bytes=allowed.value, **own).context >= context


def test_a_budget_that_its_group_has_needs_no_reserve_beside_it(
    config: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """600 MB for a process of 350 in a group of 630: who names a budget has left the others theirs."""
    (tmp_path / "own").write_text("0::/\n")
    (tmp_path / "memory.max").write_text("630000000\n")
    (tmp_path / "memory.current").write_text("350000000\n")
    limits = read_group_limits(tmp_path, tmp_path / "own")
    monkeypatch.setattr(hardware, "read_group_limits", lambda: limits)
    monkeypatch.setattr(hardware, "process_bytes", lambda: 350_000_000)
    report = replace(machine("laptop-8gb"), memory=hardware.read_host_memory())
    large = TargetFacts("model", replace(config, intermediate_size=60_000))

    def load(budget: int | None) -> LoadPlan:
        options = LoadOptions(weights="fp32", context=64, ram_budget_bytes=budget)
        return MachinePlanner(report, large, options=options).load(MODES["plain"], ())

    assert not load(600_000_000).placement.streams
    for budget in (None, 700_000_000):  # all that is free but the reserve; and what the group does not have
        with pytest.raises(OutOfMemory, match=r"free are 11\.6 MB: close other programs"):
            load(budget)
    with pytest.raises(OutOfMemory, match="Set the budget to"):
        load(360_000_000)


def test_a_larger_budget_is_not_asked_for_where_memory_is_short_itself(config: ModelConfig) -> None:
    with pytest.raises(OutOfMemory, match="close other programs") as refused:
        planned(config, free_bytes=100_000 - RESERVE, ram_budget_bytes=1_000)
    assert refused.value.allowed is None
    assert refused.value.short_bytes > 0
    assert pickle.loads(pickle.dumps(refused.value)).short_bytes == refused.value.short_bytes


def test_as_many_layers_stay_as_the_budget_allows(deep: ModelConfig) -> None:
    sizes = Sizes(deep, weight_format("fp32"), 64)
    least, each = StreamedPlan.least_bytes(sizes), sizes.read_layer
    for pinned in (0, 1, 5):
        for more in (0, each - 1):
            budget = least + (pinned + 1) * each + more
            plan = planned(deep, weights="fp32", context=64, ram_budget_bytes=budget)
            assert plan.placement == StreamedPlan.of(12, pinned)
    resident = ResidentPlan.of(12).host(sizes).total
    whole = planned(deep, weights="fp32", context=64, ram_budget_bytes=resident)
    assert whole.placement == ResidentPlan.of(12)
    almost = planned(deep, weights="fp32", context=64, ram_budget_bytes=resident - 1).placement
    assert almost.streams
    assert almost.pinned_layers + almost.buffers < 12


def test_a_streamed_model_is_promised_to_hold_the_rows_of_the_prompts_that_there_were(deep: ModelConfig) -> None:
    sizes = Sizes(deep, weight_format("fp32"), 64)
    budget = StreamedPlan.least_bytes(sizes) + 2 * sizes.read_layer
    streamed, whole = (planned(deep, weights="fp32", context=64, ram_budget_bytes=most) for most in (budget, None))
    short, full, beyond = (streamed.holds_bytes(deep, 64, prompt, 1) for prompt in (8, 64, 500))
    assert full == beyond == streamed.host.total - sizes.computing + sizes.computes(1)
    assert full - short == activation_bytes(deep, 64, 1) - activation_bytes(deep, 8, 1) > 0
    assert streamed.holds_bytes(deep, 64, 8, 32) > short  # a draft's rows are rows too
    assert whole.holds_bytes(deep, 64, 8, 1) == whole.holds_bytes(deep, 64, 64, 1)


def test_auto_is_what_the_file_is_in_as_long_as_that_fits(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(stored: ModelConfig, budget: int | None = None) -> str:
        return planned(stored, ram_budget_bytes=budget, context=16, kv_cache="full").weights.name

    config = replace(config, layers=40, intermediate_size=512)
    exact, half = stored_in(config, F32), stored_in(config, BF16)
    assert (chosen(exact), chosen(half)) == ("fp32", "bf16")
    monkeypatch.setattr(load_plan_module, "_EXACT_FILE_BYTES", 0)
    assert chosen(exact) == "bf16"
    sizes = {name: whole_bytes(config, planned(half, weights=name, context=16)) for name in ("bf16", "q8_0", "q4_k_m")}
    assert chosen(half, sizes["bf16"]) == "bf16"
    assert chosen(half, sizes["bf16"] - 1) == "q8_0"
    assert chosen(half, sizes["q8_0"] - 1) == "q4_k_m"
    # A large one takes what is clearly faster, and never more bits than it has.
    monkeypatch.setattr(load_plan_module, "_SMALL_MODEL_BYTES", 0)
    seconds = {"fp32": 0.1, "bf16": 2.0, "q8_0": 1.9, "q4_k_m": 0.1}

    def measured() -> str:
        facts = TargetFacts("model", half)
        request = LoadOptions(context=16, kv_cache="full")
        planner = MachinePlanner(machine("laptop-8gb"), facts, options=request, seconds=lambda: seconds)
        return planner.load(MODES["plain"], ()).weights.name

    assert measured() == "bf16"
    seconds["q8_0"] = 1.0
    assert measured() == "q8_0"


@pytest.mark.skipif(library.available() is None, reason="only the kernel library has keys and values in 8 bits")
def test_keys_and_values_take_8_bits_before_a_context_shrinks(config: ModelConfig) -> None:
    config = stored_in(replace(config, context_length=512), BF16)

    def settled(kv_cache: str, budget: int | None = None) -> tuple[torch.dtype, int]:
        plan = planned(config, kv_cache=kv_cache, ram_budget_bytes=budget)
        said = any("8 bits, which is lossy" in note for note in plan.notes)
        assert said == (plan.weights.cache == torch.int8 and kv_cache == "auto")
        return plan.weights.cache, plan.context

    full = planned(config)
    assert settled("auto") == settled("full") == (torch.bfloat16, 512)
    assert settled("q8_0") == (torch.int8, 512)
    tight = whole_bytes(config, full) - 1
    assert settled("auto", tight) == (torch.int8, 512)
    assert settled("full", tight) == (torch.bfloat16, 256)
    eight = planned(config, kv_cache="q8_0")
    assert settled("auto", whole_bytes(config, eight) - 1) == (torch.int8, 256)
    # 32-bit weights have a cache of 32 bits, which the kernel library does not read.
    assert planned(config, kv_cache="q8_0", weights="fp32").weights.cache == torch.float32


@pytest.mark.skipif(library.available() is None, reason="only the kernel library has keys and values in 8 bits")
@pytest.mark.parametrize(("room_bytes", "cache"), [(700 << 20, torch.int8), (720 << 20, torch.bfloat16)])
def test_a_streamed_model_whose_context_shrinks_loses_nothing_where_that_suffices(
    room_bytes: int, cache: torch.dtype
) -> None:
    config = stored_in(replace(target("llama-1b").config, context_length=8192, intermediate_size=22528), BF16)
    plan = planned(config, ram_budget_bytes=room_bytes)
    assert plan.placement.streams
    assert (plan.weights.cache, plan.context) == (cache, 4096)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q6_K", "Q8_0", "IQ4_NL"])
def test_a_quantized_file_stays_as_it_is(kind: str, config: ModelConfig) -> None:
    stored = stored_in(replace(config, layers=12), blocks.NAMES[kind], f"{kind}_X")
    whole = planned(stored, context=16, kv_cache="full")
    assert whole.weights.name == f"{kind}_X"
    assert whole.weights.kind == blocks.NAMES[kind]
    tight = planned(stored, context=16, kv_cache="full", ram_budget_bytes=whole_bytes(stored, whole) - 1)
    assert (tight.weights, tight.placement.streams) == (whole.weights, True)
    assert planned(stored, context=16, weights="q8_0").weights == weight_format("q8_0")


@pytest.mark.parametrize(
    "asked",
    [{"weights": "int2"}, {"context": 4}, {"kv_cache": "q2"}, {"gpu_layers": -1}],
)
def test_unknown_values_are_refused(asked: dict[str, object], config: ModelConfig) -> None:
    with pytest.raises(InvalidOption):
        planned(config, **asked)


def test_a_draft_takes_its_share_of_the_memory_first(config: ModelConfig) -> None:
    whole = planned(config, weights="fp32")
    report = machine("laptop-8gb")
    memory = replace(report.memory, available_bytes=16 << 30, process_bytes=0)
    request = LoadOptions(weights="fp32", ram_budget_bytes=whole_bytes(config, whole) + 1000)
    draft = replace(small_draft(), config=config)
    planner = MachinePlanner(replace(report, memory=memory), TargetFacts("model", config), (draft,), request)
    alone, beside = (planner.load(MODES["dovetail"], loaded) for loaded in ((), (draft,)))
    assert alone.context == whole.context
    assert beside.context < whole.context
    assert beside.drafts


def test_a_large_draft_takes_the_fastest_format(config: ModelConfig) -> None:
    seconds = {"fp32": 4.0, "bf16": 2.0, "q8_0": 1.0, "q4_k_m": 0.5}
    large = small_draft()
    small = replace(large, config=config)
    assert [small.host_format(dict, kernels).name for kernels in (True, False)] == ["bf16", "fp32"]
    assert large.host_format(lambda: seconds, True).name == "q8_0"


def test_a_gpu_takes_as_many_layers_as_its_budget_holds(config: ModelConfig) -> None:
    sizes = Sizes(config, weight_format("fp32"), 100)
    each = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 2 * 16 * 4 * 100
    # A chunk of the prompt: queries, keys and values or both gates, what is between them, and five hidden rows.
    computing = 4 * 100 * (2 * 96 + 96 + 5 * 64)
    assert sizes.device_computing == computing
    logits, tokens = 3 * 4 * 64 * sizes.config.vocabulary_size, sizes.config.vocabulary_size
    assert sizes.computing - sizes.computes(1) == logits
    more = replace(sizes, config=replace(sizes.config, vocabulary_size=2 * tokens))
    assert more.computes(0) - sizes.computes(0) == 520 * tokens  # of the tokenizer

    def layers(budget: int, most: int = 3, host_bytes: int = 1 << 40) -> int | None:
        plan = SplitPlan.fit(sizes, Room(host_bytes, "cuda:0", budget), most)
        return None if plan is None else plan.device_layers

    budgets = (-1, each, computing + each - 1, computing + each, computing + 2 * each, 10**9)
    assert [layers(budget) for budget in budgets] == [None, None, None, 1, 2, 3]
    assert (layers(10**9, most=2), layers(10**9, most=0)) == (2, None)
    # The host must have room for the rest.
    rest = SplitPlan.of(3, 1).host(sizes).total
    assert (layers(computing + each, host_bytes=rest), layers(computing + each, host_bytes=rest - 1)) == (
        1,
        None,
    )
    for budget in range(0, 4_000_000, 100_000):
        for kind in (SplitPlan, LayerOffloadPlan):
            plan = kind.fit(sizes, Room(1 << 40, "cuda:0", budget), 3)
            assert plan is None or plan.device(sizes).total <= budget


@pytest.mark.parametrize("name", PACKED)
def test_packed_layers_stay_packed_there_and_a_piece_is_dequantized(config: ModelConfig, name: str) -> None:
    weights = weight_format(name)
    sizes = Sizes(config, weights, 100)
    slots = [slot for slot in layer_slots(config, 0) if len(slot.shape) == 2]
    each = sum(weights.slot_bytes(slot) for slot in slots) + 2 * 64 * 4 + 2 * 2 * 16 * 2 * 100
    computing = DEQUANTIZING_BYTES + 4 * 100 * (2 * 96 + 96 + 5 * 64)
    assert SplitPlan.of(3, 1).device(sizes).total == computing + each
    there = device_format(weights)
    assert (there.activations, there.kind) == (torch.bfloat16, weights.kind)


def test_layer_offload_keeps_room_for_its_ring_and_all_keys_and_values(config: ModelConfig) -> None:
    sizes = Sizes(config, weight_format("fp32"), 100)
    each, cache = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64), 3 * 2 * 2 * 16 * 4 * 100
    fixed = cache + 4 * 100 * (2 * 96 + 96 + 5 * 64)

    def fit(budget: int, most: int = 3) -> tuple[int, int] | None:
        plan = LayerOffloadPlan.fit(sizes, Room(1 << 40, "cuda:0", budget), most)
        return None if plan is None else (plan.device_layers, plan.buffers)

    assert fit(fixed + 2 * each - 1) is None
    assert fit(fixed + 2 * each) == (0, 2)
    assert fit(fixed + 3 * each) == (3, 0)
    assert fit(fixed + 9 * each, most=1) == (1, 2)


def test_memory_that_is_both_the_host_s_and_the_gpu_s_is_counted_once(config: ModelConfig) -> None:
    sizes = Sizes(config, weight_format("fp32"), 100)
    plan = SplitPlan.of(3, 3)
    pool = plan.host(sizes).total + plan.device(sizes).total
    assert SplitPlan.fit(sizes, Room(pool, "mps:0", pool, unified=True), 3) == plan
    assert SplitPlan.fit(sizes, Room(pool - 1, "mps:0", pool, unified=True), 3) is None
    assert Room(100, "mps:0", 80, unified=True).beside(0, 30) == Room(70, "mps:0", 50, unified=True)
    assert Room(100, "cuda:0", 80).beside(10, 30) == Room(90, "cuda:0", 50)
