"""The mode that is planned on each machine, and why: a table of machines and models that are written down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.drafting.block import BlockDraft
from engine.drafting.fixed_trees import SparseTree, StateTree
from engine.drafting.kinds import DRAFT_KINDS
from engine.drafting.medusa import HeadCalibration, MedusaDraft, MedusaLayout, write_beside
from engine.drafting.mlp import MlpDraft
from engine.drafting.mtp import NextLayerDraft
from engine.drafting.prompt_tokens import PromptTokenCalibration, PromptTokenDraft, PromptTokenLayout
from engine.errors import InvalidOption
from engine.gguf.stored_tensor import BF16
from engine.kernels import blocks
from engine.messages import LoadOptions
from engine.messages.machine import MachineReport
from engine.model.tensors import Slot
from engine.model_file import OpenedModel
from engine.modes import MODES as ALL_MODES
from engine.planning.cost_model import KINDS, published_expectation
from engine.planning.machine_planner import PROMPT_TOKENS, MachinePlan, MachinePlanner, ModePlan, reason
from engine.planning.profile import Profile, Spoken, Yielded, drafter_key
from tests.support.machines import (
    dovetail_head,
    machine,
    machine_names,
    plan_machine,
    small_draft,
    stored_in,
    target,
)

# The models of the table: name, weight format asked for, and whether the 1.1 B Llama is there to draft.
MODELS = {
    "0.5B": ("qwen-0.5b", "auto", False),
    "1B": ("llama-1b", "auto", False),
    "7B": ("llama-7b", "auto", True),
    "7B in 16 bits": ("llama-7b", "bf16", True),
    "13B in 4 bits": ("llama-13b", "q4_k_m", True),
    "70B": ("llama-70b", "auto", True),
}


def planned(report: MachineReport, model: str) -> MachinePlan:
    name, weights, drafted = MODELS[model]
    return plan_machine(report, target(name), small_draft() if drafted else None, LoadOptions(weights=weights))


# For each machine: the mode that auto takes for each model of MODELS, in order, with its weight format; a sentence's
# beginning where nothing can run; a * for keys and values in 8 bits. What each machine is about stands beside it.
EXPECTED: dict[str, list[str]] = {
    # One pool: what the GPU takes the host lacks, and on the CPU packed weights are read as fast as on the
    # GPU.
    "apple-16gb": [
        "lookup bf16: all in memory",
        "lookup q8_0: all in memory",
        "dovetail q8_0: draft on the CPU, all in memory *",
        "llmcad bf16: draft on the CPU, 14 of 32 layers in memory, the others read from the disk *",
        "lookup q4_k_m: all in memory *",
        "llmcad q4_k_m: draft on the CPU, 9 of 80 layers in memory, the others read from the disk *",
    ],
    # 16 bits run well on the card, so what fits there whole does; of larger targets it computes a share, or nothing
    # where dequantizing and the operators of a divided layer take too long.
    "desktop-16gb-6gb": [
        "lookup bf16: all 24 layers on the GPU",
        "lookup bf16: all 22 layers on the GPU",
        "dovetail q8_0: draft on the GPU, all in memory",
        "dovetail bf16: draft on the GPU, 6 of 32 layers on the GPU, the others in memory *",
        "dovetail q4_k_m: draft on the GPU, 32 % of each layer's columns on the GPU, the others in memory",
        "llmcad q4_k_m: draft on the GPU, 15 of 80 layers in memory, the others read from the disk *",
    ],
    # The same with more room: a 7 B fits in 16 bits when card and host share its layers.
    "desktop-16gb-8gb": [
        "lookup bf16: all 24 layers on the GPU",
        "lookup bf16: all 22 layers on the GPU",
        "dovetail q8_0: draft on the GPU, 34 % of each layer's columns on the GPU, the others in memory",
        "dovetail bf16: draft on the GPU, 10 of 32 layers on the GPU, the others in memory",
        "dovetail q4_k_m: draft on the GPU, all in memory",
        "llmcad q4_k_m: draft on the GPU, 16 of 80 layers in memory, the others read from the disk *",
    ],
    # Whatever fits on the card in 16 bits is there as a whole; packed weights are dequantized there, so the CPU helps.
    "desktop-24gb-card": [
        "lookup bf16: all 24 layers on the GPU",
        "lookup bf16: all 22 layers on the GPU",
        "dovetail bf16: draft on the GPU, all 32 layers on the GPU",
        "dovetail bf16: draft on the GPU, all 32 layers on the GPU",
        "dovetail q4_k_m: draft on the GPU, 53 % of each layer's columns on the GPU, the others in memory",
        "dovetail q4_k_m: draft on the GPU, 48 % of each layer's columns on the GPU, the others in memory",
    ],
    # Many cores, much memory, a small card: Dovetail's own machine. Launches take a small model longer than the CPU.
    "dovetail-server-8gb": [
        "lookup bf16: all in memory",
        "lookup bf16: all 22 layers on the GPU",
        "dovetail q8_0: draft on the GPU, all in memory",
        "dovetail bf16: draft on the GPU, 10 of 32 layers on the GPU, the others in memory",
        "dovetail q4_k_m: draft on the GPU, all in memory",
        "dovetail q8_0: draft on the GPU, all in memory",
    ],
    # One pool and a slow bus: launches and dequantizing on the GPU cost more than the CPU's kernels.
    "jetson-orin-nx-8gb": [
        "plain bf16: all in memory",
        "plain q8_0: all in memory",
        "plain q4_k_m: all in memory *",
        "llmcad bf16: draft on the CPU, 5 of 32 layers in memory, the others read from the disk *",
        "llmcad q4_k_m: draft on the CPU, 13 of 40 layers in memory, the others read from the disk *",
        "llmcad q4_k_m: draft on the CPU, 2 of 80 layers in memory, the others read from the disk *",
    ],
    # The card is too small for the draft, whose tree the CPU drafts as well.
    "laptop-16gb-2gb": [
        "lookup bf16: all 24 layers on the GPU",
        "lookup q8_0: all in memory",
        "dovetail q8_0: draft on the CPU, all in memory",
        "llmcad bf16: draft on the CPU, 16 of 32 layers in memory, the others read from the disk *",
        "dovetail q4_k_m: draft on the CPU, all in memory *",
        "llmcad q4_k_m: draft on the CPU, 11 of 80 layers in memory, the others read from the disk *",
    ],
    # The card takes the draft and some layers.
    "laptop-16gb-4gb": [
        "lookup bf16: all 24 layers on the GPU",
        "lookup bf16: all 22 layers on the GPU",
        "dovetail q8_0: draft on the GPU, all in memory",
        "lookup bf16: 7 of 32 layers on the GPU, the others in memory *",
        "dovetail q4_k_m: draft on the GPU, 11 % of each layer's columns on the GPU, the others in memory",
        "llmcad q4_k_m: draft on the GPU, 14 of 80 layers in memory, the others read from the disk *",
    ],
    # Weights that must be packed first have no room on the disk.
    "laptop-16gb-low-disk": [
        "lookup bf16: all in memory",
        "lookup q8_0: all in memory",
        "dovetail q8_0: draft on the CPU, all in memory",
        "llmcad bf16: draft on the CPU, 16 of 32 layers in memory, the others read from the disk *",
        "dovetail q4_k_m: draft on the CPU, all in memory *",
        "Its files need 42.2 GB",
    ],
    # A 7 B fits alone in 4 bits, but not beside its draft; what is larger comes from the disk.
    "laptop-8gb": [
        "lookup bf16: all in memory",
        "lookup q8_0: all in memory",
        "lookup q4_k_m: all in memory *",
        "llmcad bf16: draft on the CPU, 4 of 32 layers in memory, the others read from the disk *",
        "llmcad q4_k_m: draft on the CPU, 12 of 40 layers in memory, the others read from the disk *",
        "llmcad q4_k_m: draft on the CPU, 2 of 80 layers in memory, the others read from the disk *",
    ],
    # Streaming costs so much that a 7 B is better off without a draft.
    "laptop-8gb-slow-disk": [
        "lookup bf16: all in memory",
        "lookup q8_0: all in memory",
        "lookup q4_k_m: all in memory *",
        "llmcad bf16: draft on the CPU, 4 of 32 layers in memory, the others read from the disk *",
        "llmcad q4_k_m: draft on the CPU, 11 of 40 layers in memory, the others read from the disk *",
        "llmcad q4_k_m: draft on the CPU, 2 of 80 layers in memory, the others read from the disk *",
    ],
    # Little arithmetic: small drafts pay, and only just.
    "raspberry-pi-5-8gb": [
        "lookup bf16: all in memory",
        "lookup q8_0: all in memory",
        "dovetail q4_k_m: draft on the CPU, all in memory *",
        "llmcad bf16: draft on the CPU, 7 of 32 layers in memory, the others read from the disk *",
        "llmcad q4_k_m: draft on the CPU, 19 of 40 layers in memory, the others read from the disk *",
        "Its files need 42.2 GB",
    ],
    # No room but for the smallest, streamed.
    "tablet-2gb": [
        "It needs 415 MB",
        "It needs 207 MB",
        "It needs 623 MB",
        "It needs 1.32 GB",
        "It needs 889 MB",
        "It needs 1.6 GB",
    ],
}


def test_every_machine_is_in_the_table() -> None:
    assert sorted(EXPECTED) == machine_names()
    assert len(EXPECTED) >= 12
    assert len(MODELS) >= 5


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [(name, model, mode) for name, row in EXPECTED.items() for model, mode in zip(MODELS, row, strict=True)],
)
def test_the_mode_for_each_machine_and_model(name: str, model: str, expected: str) -> None:
    report = machine(name)
    plan = planned(report, model)
    check_whole(plan, report)
    if not plan.chosen:
        assert plan.reason.startswith(expected)
        return
    best = plan.mode(plan.chosen)
    assert f"{plan.chosen} {plan.weights}: {best.summary}" == expected.replace(" *", ", 8-bit cache (lossy)")
    assert plan.reason.startswith(f"Auto: {plan.chosen}, predicted at ")


@pytest.mark.parametrize(
    ("name", "contexts"),
    [
        ("apple-16gb", {"lookup": 21_504, "dovetail": 11_264}),
        ("desktop-16gb-8gb", {"dovetail": 32_768}),
        ("desktop-24gb-card", {"dovetail": 68_608}),
        ("laptop-8gb", {"lookup": 4096}),
        ("tablet-2gb", {}),
    ],
)
def test_a_context_that_was_not_asked_for_grows_and_changes_nothing_else(name: str, contexts: dict[str, int]) -> None:
    """A model and a draft of 131,072 tokens are placed as those of 8,192 are, and run in the same mode as fast."""
    report, draft = machine(name), small_draft()
    model = replace(target("llama-8b"), config=stored_in(target("llama-8b").config, blocks.NAMES["Q4_K"], "Q4_K_M"))

    def plan(tokens: int) -> MachinePlan:
        own = (replace(each, config=replace(each.config, context_length=tokens)) for each in (model, draft))
        return plan_machine(report, *own)  # type: ignore[arg-type]

    short, long = plan(8192), plan(131_072)
    assert (long.chosen, long.reason) == (short.chosen, short.reason)
    assert [mode.mode for mode in long.modes] == [mode.mode for mode in short.modes]
    for before, after in zip(short.modes, long.modes, strict=True):
        beside = {"load", "context", "memory_bytes", "text_bytes"}
        assert {key: value for key, value in vars(before).items() if key not in beside} == {
            key: value for key, value in vars(after).items() if key not in beside
        }
        assert (after.context or 0) >= (before.context or 0)
        for device, taken in before.memory_bytes.items():  # what a text adds is told apart
            empty = after.memory_bytes[device] - after.text_bytes[device]
            assert empty == pytest.approx(taken - before.text_bytes[device], rel=0.03)
    assert {mode: long.mode(mode).context for mode in contexts} == contexts
    check_whole(long, report)


def check_whole(plan: MachinePlan, report: MachineReport) -> None:
    assert sorted(mode.mode for mode in plan.modes) == sorted(ALL_MODES)
    speeds = [mode.tokens_per_second or 0.0 for mode in plan.modes]
    assert speeds == sorted(speeds, reverse=True)
    for mode in plan.modes:
        if mode.refusal:
            assert mode.refusal.endswith(".")
            assert (mode.tokens_per_second, mode.memory_bytes) == (None, {})
            continue
        assert mode.tokens_per_second is not None
        assert mode.tokens_per_second > 0
        assert mode.first_token_s is not None
        assert mode.memory_bytes["host"] <= report.memory.available_bytes + 350_000_000
        gpus = {gpu.device: gpu for gpu in report.gpus}
        for device, taken in mode.memory_bytes.items():
            if device != "host":
                assert taken <= gpus[device].free_bytes
                if gpus[device].unified:  # one pool
                    assert taken + mode.memory_bytes["host"] <= report.memory.available_bytes + 350_000_000
        assert (mode.mode in ("dovetail", "llmcad", "minions")) == bool(mode.load.drafts)
    if not plan.mode("plain").refusal:
        assert plan.chosen


@pytest.mark.parametrize("weights", ["bf16", "fp32"])
@pytest.mark.parametrize("draft", [dovetail_head(), small_draft()], ids=["head", "model"])
def test_dovetails_own_setting_is_dovetail(weights: str, draft: object) -> None:
    report = machine("dovetail-server-8gb")
    plan = plan_machine(report, target("llama-7b"), draft, LoadOptions(weights=weights))  # type: ignore[arg-type]
    assert plan.chosen == "dovetail"
    best, plain = plan.mode("dovetail"), plan.mode("plain")
    assert best.draft_devices == ("cuda:0",)
    assert best.tokens_per_second is not None
    # The paper has 2.25 to 2.77 with 3 GB of the card and up to 3.08 with 7 GB.
    assert best.tokens_per_second > 1.8 * plain.tokens_per_second


def test_a_card_that_holds_the_model_holds_all_of_it() -> None:
    report = machine("desktop-24gb-card")
    for draft, mode in ((None, "lookup"), (small_draft(), "dovetail")):
        plan = plan_machine(report, target("llama-7b"), draft, LoadOptions(weights="bf16"))
        assert plan.chosen == mode
        load = plan.mode(mode).load
        assert load.placement.device_layers == target("llama-7b").config.layers
        assert "all 32 layers on the GPU" in plan.reason
        refused = plan.mode("layer-offload").refusal
        assert "Every layer fits on the GPU" in refused


@pytest.mark.parametrize("name", ["laptop-8gb", "laptop-8gb-slow-disk", "raspberry-pi-5-8gb"])
def test_a_13b_in_4_bits_on_8_gb_is_llmcad(name: str) -> None:
    plan = plan_machine(machine(name), target("llama-13b"), small_draft(), LoadOptions(weights="q4_k_m"))
    assert plan.chosen == "llmcad"
    best = plan.mode("llmcad")
    assert best.disk_bytes_per_round > 0
    assert best.load.placement.streams


def test_what_a_mode_lacks_is_said_in_a_sentence() -> None:
    plan = plan_machine(machine("laptop-8gb"), target("llama-1b"))
    refusals = {mode.mode: mode.refusal for mode in plan.modes}
    assert refusals["dovetail"]
    assert "needs a draft" in refusals["dovetail"]
    assert refusals["offload"] == refusals["layer-offload"] == "There is no GPU that Tenon can use here."
    assert refusals["llmcad"] == "It is for models larger than memory, and this one fits."
    headed = plan_machine(machine("laptop-8gb"), target("llama-13b"), dovetail_head(), LoadOptions(weights="q4_k_m"))
    refused = headed.mode("llmcad").refusal
    assert "small model" in refused
    with pytest.raises(KeyError):
        plan.mode("magic")


def test_budgets_are_kept_to() -> None:
    report = machine("desktop-16gb-8gb")
    free = plan_machine(report, target("llama-7b"), small_draft(), LoadOptions(weights="q8_0"))
    tight = plan_machine(
        report,
        target("llama-7b"),
        small_draft(),
        LoadOptions(weights="q8_0", ram_budget_bytes=4_000_000_000, vram_budget_bytes=0),
    )
    assert free.chosen != "llmcad"
    assert tight.chosen == "llmcad"
    assert tight.mode("offload").refusal == "There is no GPU that Tenon can use here."
    for mode in tight.modes:
        assert mode.memory_bytes.get("host", 0) <= 4_000_000_000
    nothing = plan_machine(
        report, target("llama-7b"), options=LoadOptions(weights="q8_0", ram_budget_bytes=500_000_000)
    )
    refused = nothing.mode("plain").refusal
    assert "even when its layers are read from the disk" in refused


def test_no_more_layers_go_to_the_gpu_than_were_asked_for() -> None:
    report, model = machine("desktop-24gb-card"), target("llama-7b")

    def planned(gpu_layers: int | None) -> dict[str, int | str]:
        plan = plan_machine(report, model, small_draft(), LoadOptions(weights="q8_0", gpu_layers=gpu_layers))
        modes = (plan.mode(name) for name in ("offload", "layer-offload", "dovetail"))
        return {
            mode.mode: mode.refusal or (0 if mode.load is None else mode.load.placement.device_layers) for mode in modes
        }

    every = planned(None)
    assert every["offload"] == every["dovetail"] == model.config.layers
    assert planned(5) == {"offload": 5, "layer-offload": 5, "dovetail": 5}
    assert planned(model.config.layers) == every
    # One less than all: the two buffers that the others pass through take the place of another.
    assert planned(model.config.layers - 1)["layer-offload"] == model.config.layers - 2
    none = planned(0)
    assert (none["layer-offload"], none["dovetail"]) == (0, 0)
    assert none["offload"] == "It needs layers on the GPU, and the setting for GPU layers is 0."


def test_a_model_that_is_not_here_needs_room_on_the_disk() -> None:
    report = machine("laptop-16gb-low-disk")
    here = target("llama-1b")
    assert plan_machine(report, here).chosen is not None
    away = replace(here, missing_bytes=2_200_000_000)
    plan = plan_machine(report, away)
    assert plan.chosen == ""
    assert plan.reason.startswith("Its files need ")
    assert all(mode.refusal == plan.reason for mode in plan.modes)
    assert "and 3 GB are free" in plan.reason
    # Converted weights are written only where they are streamed.
    assert plan_machine(report, target("llama-7b"), options=LoadOptions(weights="q8_0")).chosen is not None
    streamed = plan_machine(report, target("llama-70b"), options=LoadOptions(weights="q8_0"))
    assert streamed.chosen == ""
    assert streamed.reason.startswith("Its files need ")
    assert plan_machine(report, target("llama-70b"), options=LoadOptions(weights="bf16")).chosen is not None


def test_a_context_that_was_not_asked_for_shrinks_before_layers_are_streamed() -> None:
    report = machine("laptop-8gb")
    wished = plan_machine(report, target("llama-7b"), options=LoadOptions(weights="q4_k_m")).mode("plain")
    assert wished.load.context < 4096
    assert wished.disk_bytes_per_round == 0
    asked = plan_machine(report, target("llama-7b"), options=LoadOptions(weights="q4_k_m", context=4096)).mode("plain")
    assert asked.load.context == 4096
    assert asked.disk_bytes_per_round > 0


@pytest.mark.parametrize(
    "asked",
    [
        LoadOptions(weights="int2"),
        LoadOptions(context=4),
        LoadOptions(gpu_layers=-1),
    ],
)
def test_unknown_values_are_refused(asked: LoadOptions) -> None:
    with pytest.raises(InvalidOption):
        plan_machine(machine("laptop-8gb"), target("llama-1b"), options=asked)


def test_a_machine_that_was_not_measured_is_planned_with_guesses() -> None:
    report = replace(machine("laptop-16gb-4gb"), speeds=None)
    plan = plan_machine(report, target("llama-7b"), small_draft(), LoadOptions(weights="q8_0"))
    assert not plan.measured
    assert plan.chosen


def test_what_rests_on_speeds_of_a_busy_machine_is_marked_until_replies_have_shown_more() -> None:
    report = machine("laptop-8gb")
    assert report.speeds is not None
    busy = replace(report, speeds=replace(report.speeds, busy=True))
    assert not plan_machine(report, target("llama-1b")).mode("plain").busy
    plain = plan_machine(busy, target("llama-1b")).mode("plain")
    assert (plain.busy, plain.measured) == (True, False)
    known = Profile(forwards={plain.load.placement.key: {"1": 0.05}})
    assert not plan_machine(busy, target("llama-1b"), profiles=lambda weights: known).mode("plain").busy


def test_what_replies_measured_moves_the_plan() -> None:
    report = machine("laptop-16gb-4gb")
    draft = small_draft()
    request = LoadOptions(weights="q8_0", vram_budget_bytes=0)

    def plan(profile: Profile) -> MachinePlan:
        return plan_machine(report, target("llama-7b"), draft, request, profiles=lambda weights: profile)

    before = plan(Profile())
    assert before.chosen == "dovetail"
    assert not before.profiled
    useless = dict.fromkeys(KINDS, Yielded(rounds=500.0, drafted=500.0, tokens=505.0, nodes=2000.0))
    after = plan(Profile(yields={drafter_key("dovetail", draft.digest): useless}))  # type: ignore[dict-item]
    assert after.chosen == "lookup"
    plain = before.mode("plain").tokens_per_second
    slow = plan(Profile(forwards={"resident 0 0": {"1": 2.0 / plain, "16": 3.0 / plain}}))
    assert slow.profiled
    assert slow.mode("plain").tokens_per_second == pytest.approx(plain / 2.0, rel=0.02)
    # A machine of other speeds has its own figures for what was not measured.
    assert slow.mode("plain").first_token_s == before.mode("plain").first_token_s


def test_published_figures_stand_in_for_each_kind() -> None:
    for kind in DRAFT_KINDS.values():
        expected = published_expectation(kind.published)
        assert set(expected) == set(KINDS)
        # Table I of Dovetail; half the gain of Ghidorah's for Medusa heads, speculators and blocks, and of PPD's for
        # prompt tokens: of these nothing was counted yet.
        least = {MedusaDraft: 1.9, MlpDraft: 1.9, BlockDraft: 1.9, PromptTokenDraft: 1.7, NextLayerDraft: 2.5}.get(
            kind, 4
        )
        assert expected["chat"].tokens(15) > least
        # Of the layer that a model comes with no figure by kinds is published.
        assert expected["code"].tokens(15) > expected["chat"].tokens(15) or kind is NextLayerDraft


def test_what_options_of_drafting_have_shown_is_kept_apart() -> None:
    draft, report = small_draft(), machine("laptop-16gb-4gb")
    useless = dict.fromkeys(KINDS, Yielded(rounds=500.0, drafted=500.0, tokens=505.0, nodes=2000.0))
    profile = Profile(yields={drafter_key("dovetail+as_published", draft.digest): useless})  # type: ignore[dict-item]

    def speed(found: Profile, **options: bool) -> float:
        asked = LoadOptions(weights="q8_0", vram_budget_bytes=0, mode_options=options)
        made = plan_machine(report, target("llama-7b"), draft, asked, profiles=lambda weights: found)
        return made.mode("dovetail").tokens_per_second or 0.0

    assert speed(profile) == speed(Profile())
    assert speed(profile, as_published=True) < speed(Profile(), as_published=True)


def test_matches_beside_poor_prompt_tokens_are_expected_to_give_what_lookup_gives() -> None:
    config = target("llama-7b").config
    layout = PromptTokenLayout(3, 1, config.hidden_size, config.layers, config.heads, "ensemble")
    tree = SparseTree((StateTree(((0,),), (1, 1)),) * 3, 1.01)
    tokens = PromptTokenDraft(
        OpenedModel("set", Path("set")), "digest", layout, config, PromptTokenCalibration((3,), (tree,))
    )
    report = machine("laptop-8gb")

    def speed(**options: bool) -> float:
        asked = LoadOptions(weights="q8_0", vram_budget_bytes=0, ram_budget_bytes=3 << 30, mode_options=options)
        return plan_machine(report, target("llama-7b"), tokens, asked).mode("llmcad").tokens_per_second or 0.0

    assert speed(look_up=True) > 1.02 * speed() > 0.0


def heads(searched: tuple[float, ...] | None) -> MedusaDraft:
    """Four Medusa heads for the 7 B Llama, with the tokens of a round that were counted by width."""
    config = target("llama-7b").config
    hidden = config.hidden_size
    blocks = tuple((Slot(f"{head}.0.linear.weight", (hidden, hidden), "block0"),) for head in range(4))
    layout = MedusaLayout(blocks, 1, hidden, config.vocabulary_size, None)
    calibration = None if searched is None else HeadCalibration((), searched, (1.0,) * 7, follows=True)
    return MedusaDraft(OpenedModel("heads", Path("heads")), "digest", layout, config, calibration)


def with_heads(searched: tuple[float, ...] | None, name: str = "laptop-8gb") -> MachinePlan:
    request = LoadOptions(weights="q4_k_m", vram_budget_bytes=0)
    return plan_machine(machine(name), target("llama-7b"), heads(searched), request)


def test_heads_are_expected_to_give_what_was_counted_of_them() -> None:
    poor = with_heads((1.0, 1.02, 1.05, 1.08, 1.1, 1.12, 1.13))
    good = with_heads((1.0, 1.8, 2.3, 2.8, 3.1, 3.3, 3.4))
    unknown = with_heads(None)
    speeds = [plan.mode("ghidorah").tokens_per_second or 0.0 for plan in (poor, unknown, good)]
    assert speeds == sorted(speeds)
    assert speeds[0] < speeds[1] < speeds[2]
    assert (poor.chosen, good.chosen) == ("lookup", "ghidorah")
    best = good.mode("ghidorah")
    widths = {width.rows: width.expected for width in best.widths}
    assert list(widths) == [1, 2, 4, 8, 16, 32, 64]
    assert widths[best.draft_nodes + 1] == max(widths.values()) == best.tokens_per_second
    assert best.tokens_per_round == pytest.approx({4: 2.3, 8: 2.8, 16: 3.1, 32: 3.3}[best.draft_nodes + 1])
    assert good.mode("dovetail").draft_nodes <= 15


def test_votes_are_taken_only_where_they_were_measured_to_be_faster() -> None:
    """Yields of other replies promise more of them than of a draft alone, which they did not keep."""
    drafts = small_draft(), heads((1.0, 1.6, 1.8, 1.9, 1.9, 1.9, 1.9))
    alone, other = drafter_key("dovetail", drafts[0].digest), drafter_key("ghidorah", drafts[1].digest)
    votes = drafter_key("minions", *(draft.digest for draft in drafts))
    much = dict.fromkeys(KINDS, Yielded(rounds=500.0, drafted=500.0, tokens=2500.0, nodes=2000.0))
    promised = Profile(yields={votes: much})  # type: ignore[dict-item]
    request = LoadOptions(weights="q4_k_m", vram_budget_bytes=0)

    def plan(profile: Profile) -> MachinePlan:
        return MachinePlanner(
            machine("desktop-16gb-8gb"), target("llama-7b"), drafts, request, profiles=lambda weights: profile
        ).plan()

    before = plan(promised)
    assert before.modes[0].mode == "minions"
    assert (before.modes[0].measured, before.chosen) == (False, before.modes[1].mode)
    assert "measured to be faster" in before.modes[0].passed_over
    load = before.modes[0].load
    for speed, chosen in ((9.0, "minions"), (7.0, "dovetail")):
        measured = promised
        for drafter, own in ((votes, speed), (alone, 8.0), (other, 6.0), (drafter_key("plain"), 5.0)):
            for kind in KINDS:
                measured = measured.with_spoken(load.placement, drafter, kind, Spoken(60, 60 / own, busy=False))
        assert plan(measured).chosen == chosen


def test_a_head_is_expected_to_give_what_its_training_counted(tmp_path: Path) -> None:
    """A weak head is promised no gain; without a count the published figures of its kind stand in."""
    five = dovetail_head().layout
    layout = replace(five, blocks=replace(five.blocks, layers=1), layers=five.layers[:1])
    draft = replace(dovetail_head(), layout=layout, opened=OpenedModel("head", tmp_path))
    request = LoadOptions(weights="q4_k_m", vram_budget_bytes=0)
    taus = {"poor": (1.0, *(1.05,) * 6), "good": (1.0, 1.7, 2.2, 2.8, 3.1, 3.3, 3.4)}
    plans = {"unknown": plan_machine(machine("laptop-8gb"), target("llama-7b"), draft, request)}
    for name, counted in taus.items():
        write_beside(tmp_path, HeadCalibration((), counted, counted, follows=False))
        read = replace(draft)
        plans[name] = plan_machine(machine("laptop-8gb"), target("llama-7b"), read, request)
    speeds = [plans[name].mode("dovetail").tokens_per_second or 0.0 for name in ("poor", "good", "unknown")]
    assert speeds == sorted(speeds)
    plain = plans["poor"].mode("plain").tokens_per_second or 0.0
    assert 0.0 < speeds[0] < 1.2 * plain < speeds[1]  # lookup, which the mode takes in, brings as much
    assert (plans["poor"].chosen, plans["good"].chosen) == ("lookup", "dovetail")


def test_heads_and_columns_are_planned_together() -> None:
    """Packed weights are dequantized on the card, so that the processor has its share of each matrix."""
    report, model = machine("desktop-24gb-card"), target("llama-7b")
    draft = heads((1.0, 1.8, 2.3, 2.8, 3.1, 3.3, 3.4))
    plan = plan_machine(report, model, draft, LoadOptions(weights="q4_k_m"))
    best = plan.mode("ghidorah")
    assert plan.chosen == "ghidorah"
    assert best.placement["kind"] == "columns"
    share = sum(place.device for place in best.load.placement.layers) / model.config.layers
    assert f"{100 * share:.0f} % of each layer's columns on the GPU" in plan.reason
    assert best.memory_bytes["cuda:0"] == best.load.on_device.total
    # Without columns, as a person may ask for, it is slower by more than predictions are off.
    for options in (LoadOptions(weights="q4_k_m", gpu_layers=0), LoadOptions(weights="q4_k_m", gpu_layers=9)):
        other = plan_machine(report, model, draft, options).mode("ghidorah")
        assert other.placement["kind"] == ("resident" if options.gpu_layers == 0 else "offload")
        assert best.tokens_per_second > 1.15 * other.tokens_per_second  # type: ignore[operator]


def test_no_placement_is_taken_for_its_speed_that_costs_context() -> None:
    """A slow GPU holds what memory lacks: taken where that costs a little time, and not where it costs much."""
    report, options = machine("laptop-16gb-2gb"), LoadOptions(weights="q4_k_m")
    plain = plan_machine(report, target("llama-13b"), options=options).mode("plain")
    assert plain.placement["kind"] == "columns"
    assert "lossy" not in plain.summary
    slow = replace(report.speeds.gpus["cuda:0"], operator_s=1e-3)
    crawling = replace(report, speeds=replace(report.speeds, gpus={"cuda:0": slow}))
    plain = plan_machine(crawling, target("llama-13b"), options=options).mode("plain")
    assert plain.summary == "all in memory, 8-bit cache (lossy)"


def test_experts_come_from_the_disk_where_a_gpu_is_slower() -> None:
    """A card holds what memory lacks; a fast disk brings the chosen experts in less time than the card computes."""
    model = target("qwen3-30b-a3b")
    model = replace(model, config=stored_in(model.config, blocks.NAMES["Q4_K"], "Q4_K_S"))
    report = machine("desktop-16gb-8gb")
    assert report.speeds is not None

    def plain(machine: MachineReport = report, **asked: int | str) -> ModePlan:
        return plan_machine(machine, model, options=LoadOptions(context=8192, **asked)).mode("plain")

    best, card = plain(), plain(gpu_layers=19)
    assert (best.placement["kind"], card.placement["kind"]) == ("stream-experts", "offload")
    assert best.tokens_per_second > 1.15 * card.tokens_per_second  # type: ignore[operator]
    assert "lossy" not in best.summary  # as on the card
    # A slow disk brings them later than the card computes; and without speeds nothing is compared.
    slow = replace(report, speeds=replace(report.speeds, disks={"models": 1e9}))
    for other in (slow, replace(report, speeds=None)):
        assert plain(other).placement["kind"] == "offload"
    # Weights that had to be converted first need room on the disk.
    converted = replace(model, config=stored_in(model.config, BF16))
    larger = replace(report, memory=replace(report.memory, available_bytes=13_500_000_000))
    full = replace(larger, disks=tuple(replace(disk, free_bytes=2 << 30) for disk in report.disks))
    for other, kind in ((larger, "stream-experts"), (full, "offload")):
        plan = plan_machine(other, converted, options=LoadOptions(context=8192, weights="q4_k_m"))
        assert plan.mode("plain").placement["kind"] == kind


def test_wide_trees_are_taken_where_rows_cost_little() -> None:
    """On a processor that multiplies as fast as it likes, every row that gains is worth its time."""
    report = machine("laptop-8gb")
    host = report.speeds.host
    formats = {name: replace(speed, products_per_s=1e15) for name, speed in host.formats.items()}
    fast = replace(report, speeds=replace(report.speeds, host=replace(host, formats=formats)))
    request = LoadOptions(weights="q4_k_m", vram_budget_bytes=0)
    for taus, nodes in (
        ((1.0, 1.8, 2.3, 2.8, 3.1, 3.4, 3.4), 31),
        ((1.0, 1.8, 2.3, 2.8, 3.1, 3.4, 3.7), 63),
    ):
        plan = plan_machine(fast, target("llama-7b"), heads(taus), request)
        assert plan.mode("ghidorah").draft_nodes == nodes


def test_drafts_of_a_streamed_model_are_as_wide_as_its_schedule_makes_them() -> None:
    plan = plan_machine(machine("laptop-16gb-2gb"), target("llama-7b"), small_draft(), LoadOptions(weights="bf16"))
    assert plan.mode("plain").load.placement.streams
    assert [plan.mode(name).draft_nodes for name in ("dovetail", "llmcad", "lookup")] == [63, 63, 31]
    for options in ({"as_published": True}, {"draft_nodes": 15}):
        wanted = LoadOptions(weights="bf16", mode_options=options)
        plan = plan_machine(machine("laptop-16gb-2gb"), target("llama-7b"), small_draft(), wanted)
        assert plan.mode("dovetail").draft_nodes == 15
    mixture = plan_machine(machine("laptop-8gb"), target("qwen3-30b-a3b"), small_draft(), LoadOptions(weights="bf16"))
    assert mixture.mode("dovetail").load.placement.name == "stream"
    assert mixture.mode("dovetail").draft_nodes <= 15  # more rows read more experts


def with_prompt_tokens(name: str, model: str, tokens: tuple[float, ...] = ()) -> MachinePlan:
    """Three prompt tokens, with the tokens of a round of 3, 7 and 15 rows that were counted."""
    config = target(model).config
    layout = PromptTokenLayout(3, 1, config.hidden_size, config.layers, config.heads, "ensemble")
    state = StateTree(((0,),), (1, 1))
    trees = tuple(SparseTree((state,) * 3, each) for each in tokens)
    beside = PromptTokenCalibration((3, 7, 15)[: len(trees)], trees) if trees else None
    draft = PromptTokenDraft(OpenedModel("set", Path("set")), "digest", layout, config, beside)
    return plan_machine(machine(name), target(model), draft, LoadOptions(weights="q4_k_m"))


def test_prompt_tokens_are_expected_to_pay_where_rows_are_cheap() -> None:
    """A pass over weights from the disk takes what it takes for any rows; on a slow processor each row costs."""
    streamed = with_prompt_tokens("laptop-16gb-2gb", "llama-70b")
    for mode in ("ppd", "llmcad"):
        speed = streamed.mode(mode).tokens_per_second or 0.0
        assert speed > 1.5 * (streamed.mode("plain").tokens_per_second or 1.0)
        assert streamed.mode(mode).draft_nodes >= 15
    poor, good = (1.05, 1.1, 1.15), (1.4, 1.7, 1.9)
    for counted, wins in ((poor, False), (good, True)):
        plan = with_prompt_tokens("raspberry-pi-5-8gb", "llama-7b", counted)
        assert ((plan.mode("ppd").tokens_per_second or 0.0) > (plan.mode("plain").tokens_per_second or 0.0)) == wins
        assert plan.mode("ppd").draft_devices == ("cpu",)


def test_no_other_mode_is_faster_only_where_none_is() -> None:
    plain, lookup = ModePlan("plain", tokens_per_second=2.90), ModePlan("lookup", tokens_per_second=2.92)
    assert reason(plain, [plain, lookup]) == "Auto: plain, predicted at 2.9 tok/s; others are hardly faster here."
    untried = ModePlan("dovetail", tokens_per_second=6.0, passed_over="It was never tried here.")
    assert "faster" not in reason(plain, [plain, untried])
    slower = replace(lookup, tokens_per_second=2.5)
    assert reason(plain, [plain, slower]) == "Auto: plain, predicted at 2.9 tok/s; no other mode is faster here."


def test_the_first_token_comes_after_the_rows_that_were_not_read_before() -> None:
    planner = MachinePlanner(machine("laptop-8gb"), target("llama-1b"), (), LoadOptions(weights="q4_k_m"))
    plain = planner.plan().mode("plain")
    assert plain.load is not None
    times = [planner.first_token_s(ALL_MODES["plain"], plain.load, (), tokens) for tokens in (1, 100, PROMPT_TOKENS)]
    assert times == sorted(times)
    assert times[-1] == plain.first_token_s
    assert times[0] < 0.1 * times[1]
