"""The mode that auto takes on this machine, by its predictions or its measurements."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from engine.errors import DraftMismatch, InvalidOption, ModelNotFound, TensorMismatch
from engine.messages import LoadOptions, Promise, RoundRecord
from engine.messages.machine import MachineReport
from engine.modes import MEMORY_TITLES, MODES, in_mode
from engine.placement import ResidentPlan
from engine.planning import planner as planner_module
from engine.planning.planner import ModelPlanner, model_planner
from engine.planning.profile import Profile
from engine.run import planned, settle
from tests.support.checkpoints import write_assistant, write_checkpoint
from tests.support.fast_cases import covering
from tests.support.machines import CONFIGS, machine, write_outline
from tests.support.toy import ship


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[[MachineReport], None]:
    """Lets a report be this machine's."""

    def become(report: MachineReport) -> None:
        monkeypatch.setattr(planner_module, "read_report", lambda: report)

    return become


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[str], str]:
    return lambda name: str(write_outline(tmp_path / name, CONFIGS[name], size_bytes=1000))


Here = Callable[[MachineReport], None]
Folders = Callable[[str], str]


@pytest.fixture
def ships(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets a draft ship for every model, which replies have tried."""

    def become(draft: str) -> None:
        monkeypatch.setattr(planner_module, "bundled_drafts", lambda reference: (draft,))
        monkeypatch.setattr(Profile, "knows_draft", lambda profile, digest: True)

    return become


def test_auto_takes_what_is_predicted_to_be_fastest_and_says_why(
    here: Here, folders: Folders, ships: Callable[[str], None]
) -> None:
    here(machine("laptop-16gb-4gb"))
    draft = folders("llama-1b")
    ships(draft)
    options = LoadOptions(model=folders("llama-7b"), weights="q8_0")
    planner = model_planner(options)
    run = settle(options, planner)
    plan = run.plan
    # Of the modes that this build has.
    assert plan.mode == "dovetail"
    assert plan.reason.startswith("Auto: dovetail, predicted at ")
    assert plan.promise == Promise(planner.plan.mode("dovetail").tokens_per_second)
    assert [draft.name for draft in run.drafts] == [draft]


def test_a_draft_that_does_not_pay_is_not_loaded_unless_its_mode_is_named(
    here: Here, folders: Folders, ships: Callable[[str], None]
) -> None:
    here(machine("laptop-8gb-slow-disk"))
    draft = folders("llama-1b")
    ships(draft)
    options = LoadOptions(model=folders("llama-7b"))
    run = settle(options)
    assert (run.plan.mode, run.drafts) == ("lookup", ())
    named = replace(options, drafts=(draft,))
    run = settle(named)
    assert (run.plan.mode, run.drafts, run.load.drafts) == ("lookup", (), ())
    said = "The draft llama-1b is not used: with it, LLMCad is predicted at 0."
    assert run.plan.reason.startswith(said)
    found = re.search(
        r"speed. Beside the draft (\d+) of the model's layers stay in memory, without it (\d+). Auto: lookup",
        run.plan.reason,
    )
    assert int(found[1]) < int(found[2])
    assert run.load.notes[-1].startswith(said)
    plan = planned(named, run.planner)
    assert (plan.chosen, plan.reason) == ("lookup", run.plan.reason)
    # The next request finds it in memory.
    assert run.settled(named) is not None
    for insists in (in_mode("llmcad", named), replace(named, memory="disk")):
        again = settle(insists)
        assert (again.plan.mode, [one.name for one in again.drafts]) == ("llmcad", [draft])
        assert again.load.drafts
        assert run.settled(insists) is None
    # More layers have room without the draft, so that replies go on beside it only if they use it.
    beside = settle(in_mode("llmcad", named))
    assert beside.settled(in_mode("llmcad", named)) is not None
    assert beside.settled(in_mode("plain", options)) is None


def test_of_several_drafts_those_guess_with_which_the_model_is_promised_to_be_fastest(
    here: Here, folders: Folders, tmp_path: Path
) -> None:
    here(machine("laptop-16gb-4gb"))
    drafts = folders("llama-1b"), str(write_outline(tmp_path / "other", CONFIGS["llama-1b"], size_bytes=1000))
    options = LoadOptions(model=folders("llama-7b"), weights="q8_0", drafts=drafts)
    run = settle(options)
    alone, together = (run.planner.plan.mode(name).tokens_per_second or 0.0 for name in ("dovetail", "minions"))
    assert alone > together
    assert (run.plan.mode, [draft.name for draft in run.drafts]) == ("dovetail", [drafts[0]])
    assert run.plan.reason.startswith("The draft other is not used: with it, Minions is predicted at ")
    assert run.settled(options) is not None
    assert [draft.name for draft in settle(in_mode("minions", options)).drafts] == list(drafts)
    here(replace(machine("laptop-16gb-4gb"), speeds=None))  # which was never measured
    run = settle(options)
    assert (run.plan.mode, [draft.name for draft in run.drafts]) == ("dovetail", [drafts[0]])
    assert run.plan.reason.startswith("The draft other is not used: this machine was never measured")


def test_what_the_person_chose_stays_and_is_predicted_too(here: Here, folders: Folders) -> None:
    here(machine("laptop-16gb-4gb"))
    options = in_mode("plain", LoadOptions(model=folders("llama-7b")))
    planner = model_planner(options)
    plan = settle(options, planner).plan
    assert plan.mode == "plain"
    assert plan.promise == Promise(planner.plan.mode("plain").tokens_per_second)
    assert settle(options, planner).drafts == ()


def test_llmcad_on_a_model_that_fits_says_what_really_happens(here: Here, folders: Folders) -> None:
    here(machine("laptop-8gb"))
    options = in_mode("llmcad", LoadOptions(folders("llama-13b"), drafts=(folders("llama-1b"),), weights="q4_k_m"))
    assert "read from the disk, and meanwhile" in settle(options, model_planner(options)).plan.reason
    run = settle(replace(options, model=folders("llama-1b")))
    assert run.plan.mode == "llmcad"
    assert run.load.notes[-1] == (
        "Disk was chosen for the model and gains nothing here. It is for models larger than memory, and this one fits."
    )


def test_a_machine_that_was_not_measured_gets_no_figures(here: Here, folders: Folders) -> None:
    here(replace(machine("laptop-16gb-4gb"), speeds=None, gpus=()))
    alone = LoadOptions(model=folders("llama-7b"))
    paired = replace(alone, drafts=(folders("llama-1b"),))
    for options, usual in ((alone, "lookup"), (paired, "dovetail")):
        run = settle(options)
        assert (run.plan.mode, run.plan.promise) == (usual, None)
        assert [draft.name for draft in run.drafts] == list(options.drafts)


def test_nothing_is_promised_of_a_mode_in_other_places_than_planned(here: Here, folders: Folders) -> None:
    """Neither where it was put there, nor where Auto goes on with it."""
    here(machine("laptop-16gb-4gb"))
    auto = LoadOptions(model=folders("llama-7b"))
    run = settle(replace(auto, drafts=("lookup",), memory="gpu"))
    assert (run.plan.mode, run.load.placement.name, run.plan.promise) == ("lookup", "offload", None)
    goes_on = run.settled(auto)
    assert (goes_on.mode.memory, goes_on.plan.promise) == ("auto", None)
    assert settle(auto).load.placement.name == "resident"
    assert settle(auto).plan.promise is not None


@pytest.mark.parametrize("measured", [False, True])
def test_a_draft_that_reads_a_third_of_the_model_is_left_until_a_reply_has_tried_it(
    here: Here, folders: Folders, monkeypatch: pytest.MonkeyPatch, measured: bool
) -> None:
    report = replace(machine("laptop-16gb-4gb"), gpus=())
    here(report if measured else replace(report, speeds=None))
    draft = folders("qwen-0.5b")
    named = LoadOptions(model=folders("llama-1b"), drafts=(draft,))
    run = settle(named)
    assert (run.plan.mode, run.drafts, run.load.drafts) == ("lookup", (), ())
    assert "The draft reads 0.48 of the model for each guess: not worth it without a GPU." in run.plan.reason
    assert [one.name for one in settle(in_mode("dovetail", named)).drafts] == [draft]
    monkeypatch.setattr(Profile, "knows_draft", lambda profile, digest: True)
    assert not model_planner(named).plan.mode("dovetail").dear
    here(replace(report, gpus=machine("laptop-16gb-4gb").gpus))
    assert not model_planner(named).plan.mode("dovetail").dear


def test_a_draft_larger_than_its_target_is_refused(here: Here, folders: Folders) -> None:
    here(machine("laptop-16gb-4gb"))
    options = LoadOptions(model=folders("llama-1b"), drafts=(folders("llama-7b"),))
    for asked in (options, in_mode("dovetail", options)):
        with pytest.raises(DraftMismatch, match=r"reads 6.4 times as many weights as the model for each guess"):
            settle(asked)


def test_layers_for_a_gpu_are_loaded_in_the_planned_format(here: Here, folders: Folders) -> None:
    here(machine("desktop-24gb-card"))
    options = LoadOptions(model=folders("llama-7b"), drafts=(folders("llama-1b"),))
    plan = settle(options).load
    assert (plan.mode, plan.weights.name, plan.device) == ("dovetail", "bf16", "cuda:0")


def test_names_of_modes_stand_for_a_draft_and_a_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ship(tmp_path, monkeypatch, ("toy-head", "toy-draft"))
    toy = LoadOptions(model="toy")
    found = {name: in_mode(name, toy) for name in ("auto", *MODES) if name not in ("ghidorah", "ppd")}
    assert {name: (options.drafts, options.memory) for name, options in found.items()} == {
        "auto": ((), "auto"),
        "plain": (("off",), "auto"),
        "lookup": (("lookup",), "auto"),
        "dovetail": (("toy-head",), "auto"),
        "minions": (("lookup", "toy-head", "toy-draft"), "auto"),
        "offload": (("off",), "gpu"),
        "layer-offload": (("off",), "gpu-copy"),
        "llmcad": (("toy-draft",), "disk"),  # which takes no such head
    }
    for name, options in found.items():
        if name not in ("auto", "offload", "layer-offload"):  # which need a GPU to be what they say
            assert settle(options, model_planner(options, machine("laptop-8gb"))).plan.mode == name
    both = replace(toy, drafts=("toy-head", "toy-draft"))
    for name, taken, left in (("llmcad", "toy-draft", "toy-head"), ("dovetail", "toy-head", "toy-draft")):
        with pytest.raises(InvalidOption, match=f"drafts with {taken} alone: leave out {left}"):
            in_mode(name, both)
    for name, memory in (("lookup", "gpu"), ("dovetail", "disk"), ("llmcad", "disk")):
        assert in_mode(name, replace(toy, memory=memory)).memory == memory
    with pytest.raises(InvalidOption, match="Partial offload stands for the memory 'gpu': leave out the memory 'disk'"):
        in_mode("offload", replace(toy, memory="disk"))
    assert in_mode("ghidorah", toy, ("heads",)).drafts == ("heads",)


@pytest.mark.parametrize(
    ("mode", "draft"),
    [
        *((mode, "off") for mode in MODES if MODES[mode].drafts or MODES[mode].drafter),
        *((mode, "lookup") for mode in MODES if mode not in ("lookup", "minions")),
        *((mode, "toy-draft") for mode in MODES if not MODES[mode].drafts),
    ],
)
def test_a_mode_that_does_not_guess_with_the_named_draft_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, draft: str
) -> None:
    ship(tmp_path, monkeypatch, ("toy-head", "toy-draft"))
    for drafts in ((draft,), ("toy-draft", draft), (draft, "toy-draft")):
        with pytest.raises(InvalidOption, match=f"contradicts the draft .*{draft}"):
            in_mode(mode, LoadOptions(model="toy", drafts=drafts))


def test_a_mode_agrees_with_a_draft_that_it_stands_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ship(tmp_path, monkeypatch, ("toy-head", "toy-draft"))
    for mode, drafts, taken in (
        ("plain", ("off",), ("off",)),
        ("offload", ("off",), ("off",)),
        ("lookup", ("lookup",), ("lookup",)),
        ("minions", ("lookup",), ("lookup", "toy-head", "toy-draft")),
        ("minions", ("lookup", "toy-draft"), ("lookup", "toy-draft")),
        ("dovetail", ("toy-draft",), ("toy-draft",)),
        ("auto", ("off",), ("off",)),
    ):
        assert in_mode(mode, LoadOptions(model="toy", drafts=drafts)).drafts == taken


def test_what_cannot_be_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: Folders) -> None:
    ship(tmp_path, monkeypatch)
    with pytest.raises(InvalidOption, match="no mode 'magic'"):
        in_mode("magic", LoadOptions())
    with pytest.raises(InvalidOption, match=r"The mode Dovetail cannot run\. It needs a draft"):
        in_mode("dovetail", LoadOptions(model=folders("llama-1b")))
    with pytest.raises(InvalidOption, match="Medusa heads"):
        in_mode("ghidorah", LoadOptions(model="toy"))
    with pytest.raises(InvalidOption, match="Medusa heads"):
        in_mode("ghidorah", LoadOptions(model="toy", drafts=("toy-draft",)))
    with pytest.raises(InvalidOption, match="no choice of memory 'tape': choose auto, gpu, gpu-copy or disk"):
        settle(LoadOptions(model="toy", memory="tape"))
    with pytest.raises(ModelNotFound):
        settle(LoadOptions(model="toy", drafts=("gone",)))


DRAFTS_AND_MODES = (
    ((), "lookup"),
    (("off",), "plain"),
    (("lookup",), "lookup"),
    (("toy-draft",), "dovetail"),
    (("toy-head",), "dovetail"),
    (("toy-draft", "toy-head"), "minions"),
    (("lookup", "toy-draft"), "minions"),
)


@pytest.mark.parametrize(("memory", "drafted"), covering(MEMORY_TITLES, DRAFTS_AND_MODES, together=1))
def test_every_draft_goes_with_every_memory(
    memory: str, drafted: tuple[tuple[str, ...], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts, mode = drafted
    ship(tmp_path, monkeypatch, ("toy-draft", "toy-head"))
    options = LoadOptions(model="toy", drafts=drafts, insists=True, memory=memory)
    named = drafts or (("toy-draft",) if memory == "disk" else ())
    run = settle(options, model_planner(replace(options, drafts=named), machine("desktop-16gb-6gb")))
    if not drafts and memory == "auto":
        assert run.plan.mode == run.planner.plan.chosen
        return
    named = {
        ("plain", "gpu"): "offload",
        ("plain", "gpu-copy"): "layer-offload",
        ("lookup", "disk"): "lookup" if drafts else "llmcad",
    }
    wanted = named.get((mode, memory), mode)
    if memory == "disk" and drafts == ("toy-draft",):  # a head cannot guess ahead
        wanted = "llmcad"
    assert run.plan.mode == wanted
    assert run.mode.memory == memory
    place = {"gpu": "offload", "gpu-copy": "layer-offload"}.get(memory)
    assert place in (None, run.load.placement.name)
    assert [draft.name for draft in run.drafts] == (
        [draft for draft in drafts if draft.startswith("toy")] or ["toy-draft"] * (wanted == "llmcad")
    )


def drafted(tokens: int) -> list[RoundRecord]:
    chain = tuple(range(tokens))
    record = RoundRecord(0, chain, tuple(node - 1 for node in chain), (), chain, (0,) * (tokens + 1), 0.1, 1.0)
    return [record] * 200


def test_replies_teach_and_a_bundled_draft_counts_once_it_has_shown_its_worth(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(replace(machine("laptop-8gb")))
    small = str(write_checkpoint(tmp_path / "draft"))
    model = str(write_checkpoint(tmp_path / "model", num_hidden_layers=12, hidden_size=256, intermediate_size=1024))
    monkeypatch.setattr(planner_module, "bundled_drafts", lambda reference: (small,))
    # By itself the format is the one that was measured to be fastest here, and what replies teach is of one format.
    options = LoadOptions(model=model, weights="fp32")
    first = model_planner(options).plan
    assert first.mode("dovetail").drafts == (small,)
    assert (first.modes[0].mode, first.chosen) == ("dovetail", "lookup")
    assert first.modes[0].passed_over.startswith("It may be faster, and is taken once replies have shown")
    explicit = settle(replace(options, drafts=(small,)))
    assert explicit.planner.plan.mode("dovetail").drafts == (small,)
    explicit.planner.learn(drafted(7), "fp32", ResidentPlan.of(12), explicit.mode, explicit.drafts, {}, "chat")
    explicit.planner.learn(drafted(0), "fp32", ResidentPlan.of(12), MODES["plain"], (), {}, None)
    later = model_planner(options)
    assert later.plan.mode("dovetail").passed_over == ""
    assert later.plan.profiled
    run = settle(options, later)
    assert (run.plan.mode, [draft.name for draft in run.drafts]) == ("dovetail", [small])


def test_a_plan_follows_how_often_replies_choose_the_same_experts(here: Here, tmp_path: Path) -> None:
    here(replace(machine("laptop-8gb")))
    folder = write_checkpoint(
        tmp_path / "model",
        "qwen3-moe",
        num_experts=32,
        num_experts_per_tok=2,
        hidden_size=256,
        moe_intermediate_size=512,
    )
    planner = model_planner(LoadOptions(model=str(folder), weights="fp32"))
    before = planner.plan.mode("lookup")
    speeds = []
    for reuse in (None, 0.0, 1.0):
        planner.learn((), "fp32", before.load.placement, MODES["plain"], (), {}, None, reuse=reuse)
        known = model_planner(LoadOptions(model=str(folder), weights="fp32")).plan
        lookup, plain = known.mode("lookup"), known.mode("plain")
        speeds.append(lookup.tokens_per_second / plain.tokens_per_second)
    assert planner.profile("fp32").reuse == pytest.approx(0.3)  # the newer reply's part of 0 and 1
    chance, apart, alike = speeds
    assert apart < chance < alike


def test_a_plan_for_another_machine_learns_nothing(tmp_path: Path, llama_folder: Path) -> None:
    options = LoadOptions(model=str(llama_folder))
    elsewhere = model_planner(options, machine("laptop-8gb"))
    elsewhere.learn(drafted(0), "fp32", ResidentPlan.of(12), MODES["plain"], (), {}, None)
    assert not model_planner(options, machine("laptop-8gb")).plan.profiled
    assert not list(tmp_path.rglob("profiles/*"))


def test_a_model_that_is_not_here_is_planned_from_its_config(tmp_path: Path) -> None:
    folder = write_outline(tmp_path / "remote", CONFIGS["llama-7b"], size_bytes=13_500_000_000)
    asked: list[str] = []

    def fetch(reference: str) -> Path:
        asked.append(reference)
        return folder

    options = LoadOptions(model="someone/llama-7b")
    found: ModelPlanner = model_planner(options, machine("laptop-8gb"), fetch)
    assert asked == ["someone/llama-7b"]
    assert found.plan.model == "someone/llama-7b"
    assert found.plan.chosen
    assert json.dumps(found.plan.as_json())
    full = replace(machine("laptop-8gb"), disks=machine("laptop-16gb-low-disk").disks)
    assert "13.5" not in str(found.plan.reason)
    assert model_planner(options, full, fetch).plan.chosen == ""


def test_a_model_whose_weights_do_not_fit_its_config_is_not_planned(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "mixture", "qwen3-moe", tokenizer=False)
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.2.mlp.experts.11.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(TensorMismatch, match=r"1 missing \(model\.layers\.2\.mlp\.experts\.11\.up_proj"):
        model_planner(LoadOptions(model=str(folder)), machine("laptop-8gb"))


def test_a_draft_of_another_model_is_not_planned(tmp_path: Path, llama_folder: Path) -> None:
    write_assistant(tmp_path / "assistant")
    options = LoadOptions(model=str(llama_folder), drafts=(str(tmp_path / "assistant"),))
    with pytest.raises(DraftMismatch, match="choose a draft that was made for this model"):
        model_planner(options, machine("laptop-8gb"))
