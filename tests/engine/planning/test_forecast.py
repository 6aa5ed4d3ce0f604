"""Forecasts of every mode for the person, and a model in memory that does not stand in its own way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine import run as run_module
from engine.cli import main
from engine.errors import InvalidOption, ModelNotFound, TokenizerInvalid
from engine.gguf.header import read_header
from engine.gguf.tokenizer import Vocabulary
from engine.loaded_model import load_model
from engine.messages import LoadOptions, ModelOutline
from engine.messages.machine import MachineReport
from engine.planning.planner import predict
from engine.run import forecast, settle
from tests.support.checkpoints import reference_model, train_tokenizer
from tests.support.gguf_files import edit_gguf, write_gguf
from tests.support.machines import CONFIGS, machine, write_outline
from tests.support.toy import TOY, ship

Here = Callable[[MachineReport], None]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Lets a report be this machine's; nothing is held on its GPU."""

    def become(report: MachineReport) -> None:
        monkeypatch.setattr(run_module, "read_report", lambda: report)
        monkeypatch.setattr(run_module, "held_device_bytes", lambda device: 0)

    return become


def test_every_mode_has_figures_or_a_sentence(here: Here, tmp_path: Path) -> None:
    here(machine("laptop-16gb-4gb"))
    model = str(write_outline(tmp_path / "llama-7b", CONFIGS["llama-7b"], size_bytes=1000))
    draft = str(write_outline(tmp_path / "llama-1b", CONFIGS["llama-1b"], size_bytes=1000))
    plan = forecast(LoadOptions(model=model, drafts=(draft,), weights="q8_0", memory="gpu"))
    assert {mode.mode for mode in plan.modes} == {
        "plain", "lookup", "dovetail", "ghidorah", "offload", "layer-offload", "llmcad", "ppd", "minions"
    }  # fmt: skip
    for mode in plan.modes:
        assert bool(mode.refusal) != bool(mode.tokens_per_second and mode.first_token_s and mode.memory_bytes)
    assert (plan.chosen, plan.weights, plan.measured) == ("dovetail", "q8_0", True)
    assert plan.reason.startswith("Dovetail was chosen: ")
    assert (plan.drafts, plan.context_limit) == ((draft,), 4096)
    assert plan.modes[0].mode == "dovetail"
    assert set(plan.modes[0].memory_bytes) == {"host", "cuda:0"}


def test_modes_with_a_draft_are_planned_with_the_bundled_one(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(machine("laptop-8gb"))
    ship(tmp_path, monkeypatch)
    plan = forecast(LoadOptions(model="toy"))
    dovetail = next(mode for mode in plan.modes if mode.mode == "dovetail")
    assert dovetail.refusal == ""
    assert plan.drafts == ("toy-draft",)
    # Before replies have shown what that draft is worth, auto leaves it alone, and says why where it seems faster.
    assert plan.chosen in ("plain", "lookup")
    taken = next(mode for mode in plan.modes if mode.mode == plan.chosen)
    assert dovetail.tokens_per_second is not None
    assert taken.tokens_per_second is not None
    faster = dovetail.tokens_per_second > taken.tokens_per_second
    assert dovetail.passed_over.startswith("It may be faster, and is taken once replies") == faster


def test_a_machine_that_was_not_measured_says_so(here: Here) -> None:
    here(replace(machine("laptop-8gb"), speeds=None))
    plan = forecast(LoadOptions(model=str(TOY)))
    assert not plan.measured
    assert plan.reason == "Auto: lookup needs no second model, and drafts only while that is faster than plain."


def test_what_the_loaded_model_holds_counts_as_free(here: Here, tmp_path: Path) -> None:
    report = machine("laptop-16gb-4gb")
    full = replace(report, gpus=(), memory=replace(report.memory, available_bytes=4_000_000_000))
    here(full)
    model = str(write_outline(tmp_path / "llama-7b", CONFIGS["llama-7b"], size_bytes=1000))
    options = LoadOptions(model=model, weights="q8_0")
    plain = {held: forecast(options, held).modes for held in (0, 6_000_000_000)}
    streams = {
        held: [mode.disk_bytes_per_round > 0 for mode in modes if not mode.refusal] for held, modes in plain.items()
    }
    assert all(streams[0])
    assert not any(streams[6_000_000_000])


def test_what_a_gpu_holds_of_the_loaded_model_counts_as_free(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = machine("laptop-16gb-4gb")
    here(replace(report, gpus=(replace(report.gpus[0], free_bytes=300_000_000),)))
    model = str(write_outline(tmp_path / "llama-7b", CONFIGS["llama-7b"], size_bytes=1000))
    options = LoadOptions(model=model, weights="q8_0")

    def offload() -> str:
        return next(mode for mode in forecast(options).modes if mode.mode == "offload").refusal

    assert offload().startswith("Not even one layer fits")
    monkeypatch.setattr(run_module, "held_device_bytes", lambda device: 3_200_000_000)
    assert offload() == ""


def test_nothing_runs_where_the_disk_is_full(here: Here, tmp_path: Path) -> None:
    here(replace(machine("laptop-8gb"), disks=machine("laptop-16gb-low-disk").disks))
    model = str(write_outline(tmp_path / "llama-7b", CONFIGS["llama-7b"], size_bytes=90_000_000_000))
    plan = forecast(LoadOptions(model=model))
    assert plan.chosen == ""
    assert plan.reason == plan.modes[0].refusal


def test_models_and_values_that_are_not_there_are_refused(here: Here) -> None:
    here(machine("laptop-8gb"))
    with pytest.raises(ModelNotFound):
        forecast(LoadOptions(model="no-such-model"))
    with pytest.raises(InvalidOption, match="at least 0"):
        forecast(LoadOptions(gpu_layers=-1))


def test_no_plan_promises_a_tokenizer_that_loading_refuses_and_loading_reads_it_once(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(machine("laptop-8gb"))
    sound, broken = tmp_path / "sound.gguf", tmp_path / "broken.gguf"
    write_gguf(reference_model("llama"), sound, tokenizer=train_tokenizer())
    metadata = read_header(sound).metadata
    edit_gguf(sound, broken, metadata | {"tokenizer.ggml.merges": ["a unheard-of"]})
    assert forecast(LoadOptions(model=str(sound))).chosen
    with pytest.raises(TokenizerInvalid, match="damaged") as refused:
        forecast(LoadOptions(model=str(broken)))
    outline = ModelOutline("broken", str(broken))
    assert predict(outline, LoadOptions(), machine("laptop-8gb")).problem == refused.value.message
    assert main(["plan", "--model", str(broken)]) == 2
    read = []
    usual = Vocabulary._read
    monkeypatch.setattr(Vocabulary, "_read", lambda vocabulary: read.append(vocabulary) or usual(vocabulary))
    load_model(settle(LoadOptions(model=str(sound))), lambda done, total: None, lambda: None)
    assert len(read) == 1
