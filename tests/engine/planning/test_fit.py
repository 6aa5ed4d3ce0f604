from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import Allowed, InvalidOption, OutOfMemory
from engine.kernels import library
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.footprint import stored_layer_bytes
from engine.model.weight_format import weight_format
from engine.planning import fit
from engine.planning.fit import Fit, fit_model
from engine.planning.footprint import host_footprint
from engine.planning.placement_plan import PlacementPlan
from engine.planning.streaming import least_bytes
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint


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
    monkeypatch.setattr(fit, "available_memory_bytes", lambda: (256 << 20) + 100_000)
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
    assert fit_model(deep, options, taken_bytes=5000).plan == PlacementPlan("stream", 0, 0, 2)
    with pytest.raises(OutOfMemory, match=r"takes 3 MB, .*Set the budget to 0\.1 GB or more") as refused:
        fit_model(deep, replace(options, ram_budget_bytes=2_990_000 + least), taken_bytes=5000)
    allowed = refused.value.allowed
    assert allowed == Allowed("ram_budget_bytes", 100_000_000)
    assert pickle.loads(pickle.dumps(refused.value)).allowed == allowed
    assert fit_model(deep, replace(options, ram_budget_bytes=allowed.value), taken_bytes=5000).context == 64


def test_a_larger_budget_is_not_asked_for_where_memory_is_short_itself(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "available_memory_bytes", lambda: (256 << 20) + 100_000)
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
            budget = least + pinned * each + more
            plan = fit_model(deep, replace(options, ram_budget_bytes=budget)).plan
            assert plan == PlacementPlan("stream", pinned_layers=pinned, buffers=2)
    resident = host_footprint(deep, PlacementPlan(), weights, 64, baseline_bytes=0).total
    assert fit_model(deep, replace(options, ram_budget_bytes=resident)).plan.kind == "resident"
    almost = fit_model(deep, replace(options, ram_budget_bytes=resident - 1)).plan
    assert almost.kind == "stream"
    assert almost.pinned_layers + almost.buffers < 12


def test_auto_takes_the_fastest_that_fits_and_four_bits_only_when_nothing_else_does(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(budget: int | None = None) -> str:
        return fit_model(config, LoadOptions(ram_budget_bytes=budget, context=16)).weights.name

    assert chosen() == "fp32"
    monkeypatch.setattr(fit, "SMALL_MODEL_BYTES", 0)
    seconds = {"fp32": 4.0, "bf16": 9.0, "int8": 3.0, "int4": 1.0}
    monkeypatch.setattr(fit, "format_seconds", lambda folder: seconds)
    assert chosen() == "int8"
    seconds["bf16"] = 2.0
    assert chosen() == "bf16"
    int4 = fit_model(config, LoadOptions(weights="int4", context=16))
    assert chosen(whole_bytes(config, int4)) == "int4"
    assert int4.plan.kind == "resident"


@pytest.mark.parametrize(("stored", "expected"), [("Q4_0", "int4"), ("Q4_K", "int8"), (None, "int8")])
def test_four_bits_are_for_files_that_lose_nothing_in_them(
    stored: str | None, expected: str, config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "SMALL_MODEL_BYTES", 0)
    seconds = {"fp32": 4.0, "bf16": 2.0, "int8": 1.0, "int4": 0.5}
    monkeypatch.setattr(fit, "format_seconds", lambda folder: seconds)
    quantized = replace(config, quantization=stored)
    assert fit_model(quantized, LoadOptions(context=16)).weights.name == expected


@pytest.mark.parametrize(
    "options", [LoadOptions(weights="int2"), LoadOptions(context=4), LoadOptions(context=10**7)]
)
def test_unknown_values_are_refused(options: LoadOptions, config: ModelConfig) -> None:
    with pytest.raises(InvalidOption):
        fit_model(config, options)


def test_a_large_draft_takes_the_fastest_format(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    small = fit.fit_draft(config, LoadOptions(weights="int4")).weights
    assert small.name == ("fp32" if library.available() is None else "bf16")
    monkeypatch.setattr(library, "available", lambda: None)
    assert fit.fit_draft(config, LoadOptions()).weights.name == "fp32"
    monkeypatch.setattr(fit, "SMALL_DRAFT_BYTES", 0)
    seconds = {"fp32": 4.0, "bf16": 2.0, "int8": 1.0, "int4": 0.5}
    monkeypatch.setattr(fit, "format_seconds", lambda folder: seconds)
    settled = fit.fit_draft(config, LoadOptions(context=64))
    assert (settled.weights.name, settled.context) == ("int8", 64)


def test_a_draft_takes_its_share_of_the_memory_first(config: ModelConfig) -> None:
    whole = fit_model(config, LoadOptions(weights="fp32"))
    budget = whole_bytes(config, whole)
    options = LoadOptions(weights="fp32", ram_budget_bytes=budget)
    assert fit_model(config, options).context == whole.context
    assert fit_model(config, options, taken_bytes=1000).context < whole.context
