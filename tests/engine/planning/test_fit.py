from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.errors import Allowed, InvalidOption, OutOfMemory
from engine.gguf.stored_tensor import BF16, F32, TensorTypes
from engine.kernels import blocks, library
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.footprint import stored_layer_bytes
from engine.model.tensors import expected_tensors
from engine.model.weight_format import weight_format
from engine.planning import fit, format_choice
from engine.planning.fit import Fit, fit_model
from engine.planning.footprint import host_footprint
from engine.planning.machine_planner import plan_machine
from engine.planning.machine_speeds import format_seconds
from engine.planning.placement_plan import PlacementPlan
from engine.planning.streaming import least_bytes
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.machines import machine, target


@pytest.fixture
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


@pytest.fixture(autouse=True)
def _process_without_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "process_bytes", lambda: 0)


def whole_bytes(config: ModelConfig, settled: Fit) -> int:
    """What a budget must allow for all of it to be in memory."""
    return host_footprint(config, PlacementPlan(), settled.weights, settled.context, baseline_bytes=0).total


def test_weights_and_context_are_settled_and_sized(config: ModelConfig) -> None:
    settled = fit_model(config, LoadOptions())
    assert (settled.weights.name, settled.context) == ("fp32", config.context_length)
    assert settled.weight_bytes == 4 * sum((384 * 64, 384 * 64, 64)) + 3 * 4 * (
        64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64
    )
    assert settled.cache_bytes == 2 * 3 * 2 * 16 * 4 * settled.context
    assert fit_model(config, LoadOptions(weights="bf16", context=100)).context == 100


def test_a_context_that_was_not_asked_for_shrinks_first(config: ModelConfig) -> None:
    whole = fit_model(config, LoadOptions())
    tight = whole_bytes(config, whole) - whole.cache_bytes // 4
    shrunk = fit_model(config, LoadOptions(weights="fp32", ram_budget_bytes=tight))
    assert (shrunk.context, shrunk.plan.kind) == (whole.context // 2, "resident")
    asked = fit_model(config, LoadOptions(weights="fp32", ram_budget_bytes=tight, context=whole.context))
    assert (asked.context, asked.plan.kind) == (whole.context, "stream")


def test_too_little_memory_is_refused_with_the_numbers(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "available_memory_bytes", lambda: 100_000)
    with pytest.raises(OutOfMemory, match=r"needs .* MB .* free are 100 kB: close other programs"):
        fit_model(config, LoadOptions())


def test_a_budget_too_small_for_streaming_is_refused_with_the_least_that_would_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deep = read_config(Checkpoint(write_checkpoint(tmp_path / "deep", num_hidden_layers=12)))
    weights = weight_format("fp32")
    monkeypatch.setattr(fit, "process_bytes", lambda: 3_000_000)
    monkeypatch.setattr(fit, "available_memory_bytes", lambda: 16 << 30)
    least = least_bytes(deep, weights, 64, 5000)
    options = LoadOptions(weights="fp32", context=64, ram_budget_bytes=3_000_000 + least)
    assert fit_model(deep, options, taken_bytes=5000).plan == PlacementPlan("stream", 0, 0, 1)
    with pytest.raises(OutOfMemory, match=r"takes 3 MB, .*Set the budget to 0\.1 GB or more") as refused:
        fit_model(deep, replace(options, ram_budget_bytes=2_990_000 + least), taken_bytes=5000)
    allowed = refused.value.allowed
    assert allowed == Allowed("ram_budget_bytes", 100_000_000)
    assert pickle.loads(pickle.dumps(refused.value)).allowed == allowed
    assert fit_model(deep, replace(options, ram_budget_bytes=allowed.value), taken_bytes=5000).context == 64


def test_a_larger_budget_is_not_asked_for_where_memory_is_short_itself(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "available_memory_bytes", lambda: 100_000)
    with pytest.raises(OutOfMemory, match="close other programs") as refused:
        fit_model(config, LoadOptions(ram_budget_bytes=1_000))
    assert refused.value.allowed is None
    assert refused.value.short_bytes > 0
    assert pickle.loads(pickle.dumps(refused.value)).short_bytes == refused.value.short_bytes


def test_as_many_layers_stay_as_the_budget_allows(tmp_path: Path) -> None:
    deep = read_config(
        Checkpoint(write_checkpoint(tmp_path / "deep", num_hidden_layers=12, intermediate_size=512))
    )
    weights = weight_format("fp32")
    least, each = least_bytes(deep, weights, 64), stored_layer_bytes(deep, weights)
    options = LoadOptions(weights="fp32", context=64)
    for pinned in (0, 1, 5):
        for more in (0, each - 1):
            budget = least + (pinned + 1) * each + more
            plan = fit_model(deep, replace(options, ram_budget_bytes=budget)).plan
            assert plan == PlacementPlan("stream", pinned_layers=pinned, buffers=2)
    resident = host_footprint(deep, PlacementPlan(), weights, 64, baseline_bytes=0).total
    assert fit_model(deep, replace(options, ram_budget_bytes=resident)).plan.kind == "resident"
    almost = fit_model(deep, replace(options, ram_budget_bytes=resident - 1)).plan
    assert almost.kind == "stream"
    assert almost.pinned_layers + almost.buffers < 12


def stored_in(config: ModelConfig, kind: int, quantization: str | None = None) -> ModelConfig:
    """The same model with every matrix in a type."""
    types = TensorTypes(dict.fromkeys(expected_tensors(config), kind))
    return replace(config, types=types, quantization=quantization)


def test_auto_is_what_the_file_is_in_as_long_as_that_fits(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(stored: ModelConfig, budget: int | None = None) -> str:
        options = LoadOptions(ram_budget_bytes=budget, context=16, kv_cache="full")
        return fit_model(stored, options).weights.name

    config = replace(config, layers=40, intermediate_size=512)
    exact, half = stored_in(config, F32), stored_in(config, BF16)
    assert (chosen(exact), chosen(half)) == ("fp32", "bf16")
    monkeypatch.setattr(format_choice, "EXACT_FILE_BYTES", 0)
    assert chosen(exact) == "bf16"
    sizes = {
        name: whole_bytes(config, fit_model(half, LoadOptions(weights=name, context=16)))
        for name in ("bf16", "q8_0", "q4_k_m")
    }
    assert chosen(half, sizes["bf16"]) == "bf16"
    assert chosen(half, sizes["bf16"] - 1) == "q8_0"
    assert chosen(half, sizes["q8_0"] - 1) == "q4_k_m"
    # A large one takes what is clearly faster, and never more bits than it has.
    monkeypatch.setattr(format_choice, "SMALL_MODEL_BYTES", 0)
    seconds = {"fp32": 0.1, "bf16": 2.0, "q8_0": 1.9, "q4_k_m": 0.1}
    monkeypatch.setattr(fit, "format_seconds", lambda folder: seconds)
    assert chosen(half) == "bf16"
    seconds["q8_0"] = 1.0
    assert chosen(half) == "q8_0"


@pytest.mark.skipif(
    library.available() is None, reason="only the kernel library has keys and values in 8 bits"
)
def test_keys_and_values_take_8_bits_before_a_context_shrinks(config: ModelConfig) -> None:
    config = stored_in(replace(config, context_length=512), BF16)

    def settled(kv_cache: str, budget: int | None = None) -> tuple[torch.dtype, int]:
        fit = fit_model(config, LoadOptions(kv_cache=kv_cache, ram_budget_bytes=budget))
        return fit.weights.cache, fit.context

    full = fit_model(config, LoadOptions())
    assert settled("auto") == settled("full") == (torch.bfloat16, 512)
    assert settled("q8_0") == (torch.int8, 512)
    tight = whole_bytes(config, full) - 1
    assert settled("auto", tight) == (torch.int8, 512)
    assert settled("full", tight) == (torch.bfloat16, 256)
    eight = fit_model(config, LoadOptions(kv_cache="q8_0"))
    assert settled("auto", whole_bytes(config, eight) - 1) == (torch.int8, 256)
    # 32-bit weights have a cache of 32 bits, which the kernel library does not read.
    assert fit_model(config, LoadOptions(kv_cache="q8_0", weights="fp32")).weights.cache == torch.float32


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q6_K", "Q8_0", "IQ4_NL"])
def test_a_quantized_file_stays_as_it_is(kind: str, config: ModelConfig) -> None:
    stored = stored_in(replace(config, layers=12), blocks.NAMES[kind], f"{kind}_X")
    options = LoadOptions(context=16, kv_cache="full")
    settled = fit_model(stored, options)
    assert settled.weights.name == f"{kind}_X"
    assert settled.weights.kind == blocks.NAMES[kind]
    tight = fit_model(stored, replace(options, ram_budget_bytes=whole_bytes(stored, settled) - 1))
    assert (tight.weights, tight.plan.kind) == (settled.weights, "stream")
    converted = fit_model(stored, LoadOptions(context=16, weights="q8_0"))
    assert converted.weights == weight_format("q8_0")


@pytest.mark.parametrize(
    ("kind", "quantization"), [("Q4_0", "Q4_0"), ("Q4_K", "Q4_K_M"), ("Q8_0", "Q8_0"), ("BF16", None)]
)
@pytest.mark.parametrize("name", ["laptop-8gb", "laptop-16gb-low-disk", "raspberry-pi-5-8gb"])
def test_a_plan_and_a_load_agree(
    name: str, kind: str, quantization: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Q4_0 of 7 B was planned as 9.5 GB in 8 bits, and loaded as 4 GB in 4 bits."""
    report, facts = machine(name), target("llama-7b")
    stored = stored_in(facts.config, blocks.NAMES[kind], quantization)
    monkeypatch.setattr(fit, "available_memory_bytes", lambda: report.memory.available_bytes)
    assert report.speeds is not None
    host = report.speeds.host
    monkeypatch.setattr(fit, "format_seconds", lambda folder: format_seconds(host))
    plan = plan_machine(report, replace(facts, config=stored))
    settled = fit_model(stored, LoadOptions())
    assert plan.weights == settled.weights.name
    placement = plan.mode("plain").placement
    assert placement is not None
    assert (placement.kind, plan.mode("plain").context) == (settled.plan.kind, settled.context)
    memory = plan.mode("plain").memory_bytes
    assert memory is not None
    loaded = host_footprint(stored, settled.plan, settled.weights, settled.context).total
    assert memory["host"] == loaded


@pytest.mark.parametrize(
    "options",
    [
        LoadOptions(weights="int2"),
        LoadOptions(context=4),
        LoadOptions(context=10**7),
        LoadOptions(kv_cache="q2"),
    ],
)
def test_unknown_values_are_refused(options: LoadOptions, config: ModelConfig) -> None:
    with pytest.raises(InvalidOption):
        fit_model(config, options)


def test_a_large_draft_takes_the_fastest_format(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    small = fit.fit_draft(config, LoadOptions(weights="q4_k_m")).weights
    assert small.name == ("fp32" if library.available() is None else "bf16")
    monkeypatch.setattr(library, "available", lambda: None)
    assert fit.fit_draft(config, LoadOptions()).weights.name == "fp32"
    monkeypatch.setattr(format_choice, "SMALL_DRAFT_BYTES", 0)
    seconds = {"fp32": 4.0, "bf16": 2.0, "q8_0": 1.0, "q4_k_m": 0.5}
    monkeypatch.setattr(fit, "format_seconds", lambda folder: seconds)
    settled = fit.fit_draft(config, LoadOptions(context=64))
    assert (settled.weights.name, settled.context) == ("q8_0", 64)


def test_a_draft_takes_its_share_of_the_memory_first(config: ModelConfig) -> None:
    whole = fit_model(config, LoadOptions(weights="fp32"))
    budget = whole_bytes(config, whole)
    options = LoadOptions(weights="fp32", ram_budget_bytes=budget)
    assert fit_model(config, options).context == whole.context
    assert fit_model(config, options, taken_bytes=1000).context < whole.context
