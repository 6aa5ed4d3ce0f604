from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import InvalidOption, OutOfMemory
from engine.kernels import library
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.planning import fit, hardware
from engine.planning.fit import fit_model
from engine.weights.checkpoint import Checkpoint


@pytest.fixture
def config(llama_folder: Path) -> ModelConfig:
    return read_config(Checkpoint(llama_folder))


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
    tight = whole.weight_bytes + whole.cache_bytes * 3 // 4
    assert (
        fit_model(config, LoadOptions(weights="fp32", ram_budget_bytes=tight)).context == whole.context // 2
    )
    with pytest.raises(OutOfMemory, match=f"{whole.context:,} tokens"):
        fit_model(config, LoadOptions(weights="fp32", ram_budget_bytes=tight, context=whole.context))


def test_too_little_memory_is_refused_with_the_numbers(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "available_memory_bytes", lambda: (256 << 20) + 100_000)
    with pytest.raises(OutOfMemory, match=r"needs .* MB .* free are 0.1 MB"):
        fit_model(config, LoadOptions())


def test_auto_takes_the_fastest_that_fits_and_four_bits_only_when_nothing_else_does(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(budget: int | None = None) -> str:
        return fit_model(config, LoadOptions(ram_budget_bytes=budget, context=16)).weights.name

    assert chosen() == "fp32"
    monkeypatch.setattr(fit, "_SMALL_MODEL_BYTES", 0)
    seconds = {"fp32": 4.0, "bf16": 9.0, "int8": 3.0, "int4": 1.0}
    monkeypatch.setattr(fit, "format_seconds", lambda folder: seconds)
    assert chosen() == "int8"
    seconds["bf16"] = 2.0
    assert chosen() == "bf16"
    int4 = fit_model(config, LoadOptions(weights="int4", context=16))
    assert chosen(int4.weight_bytes + int4.cache_bytes) == "int4"


@pytest.mark.parametrize(
    "options", [LoadOptions(weights="int2"), LoadOptions(context=4), LoadOptions(context=10**7)]
)
def test_unknown_values_are_refused(options: LoadOptions, config: ModelConfig) -> None:
    with pytest.raises(InvalidOption):
        fit_model(config, options)


def test_a_control_group_caps_memory_and_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outer = tmp_path / "outer"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    (outer / "memory.max").write_text("3000000\n")
    (outer / "memory.current").write_text("2500000\n")
    (outer / "memory.stat").write_text("anon 1\ninactive_file 200000\n")
    (inner / "memory.max").write_text("max\n")
    (inner / "cpu.max").write_text("100000 100000\n")
    monkeypatch.setattr(hardware, "_control_groups", lambda: [inner, outer])
    assert hardware.available_memory_bytes() == 700_000
    assert hardware.usable_cores() == 1


def test_a_large_draft_takes_the_fastest_format(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    small = fit.fit_draft(config, LoadOptions(weights="int4")).weights
    assert small.name == ("fp32" if library.available() is None else "bf16")
    monkeypatch.setattr(library, "available", lambda: None)
    assert fit.fit_draft(config, LoadOptions()).weights.name == "fp32"
    monkeypatch.setattr(fit, "_SMALL_DRAFT_BYTES", 0)
    seconds = {"fp32": 4.0, "bf16": 2.0, "int8": 1.0, "int4": 0.5}
    monkeypatch.setattr(fit, "format_seconds", lambda folder: seconds)
    settled = fit.fit_draft(config, LoadOptions(context=64))
    assert (settled.weights.name, settled.context) == ("int8", 64)


def test_a_draft_takes_its_share_of_the_memory_first(config: ModelConfig) -> None:
    whole = fit_model(config, LoadOptions(weights="fp32"))
    budget = whole.weight_bytes + whole.cache_bytes
    options = LoadOptions(weights="fp32", ram_budget_bytes=budget)
    assert fit_model(config, options).context == whole.context
    assert fit_model(config, options, taken_bytes=1000).context < whole.context
