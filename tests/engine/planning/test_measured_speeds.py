"""One figure for each mode: as measured here, else as predicted; and all who show it or choose by it read that one."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from engine import run as run_module
from engine.cli import main
from engine.decoding.statistics import ReplyClock
from engine.messages import LoadOptions, ModelOutline, ModePrediction, PredictModels, Promise, PromptKind
from engine.messages.machine import HostSpeed, MachineReport
from engine.model.tensors import layer_slots
from engine.modes import MODES
from engine.placement import ResidentPlan
from engine.planning import hardware
from engine.planning import planner as planner_module
from engine.planning.cost_model import KINDS
from engine.planning.machine_planner import MachinePlan, MachinePlanner, ModePlan, drafter_of
from engine.planning.planner import model_planner, predictions
from engine.planning.profile import Profile, Spoken
from engine.run import forecast, planned, settle
from tests.support.checkpoints import write_checkpoint
from tests.support.machines import machine, machine_names, plan_machine, small_draft, target, write_outline

RESIDENT = ResidentPlan.of(12)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoadOptions:
    """A model with a bundled draft, on a machine that is this one."""
    for module in (planner_module, run_module):
        monkeypatch.setattr(module, "read_report", lambda: machine("laptop-8gb"))
    draft = str(write_checkpoint(tmp_path / "draft"))
    monkeypatch.setattr(planner_module, "bundled_drafts", lambda reference: (draft,))
    folder = write_checkpoint(tmp_path / "model", num_hidden_layers=12, hidden_size=256, intermediate_size=1024)
    return LoadOptions(model=str(folder), weights="fp32")


def measure(
    options: LoadOptions, speeds: dict[str, float], busy: bool = False, kinds: tuple[PromptKind, ...] = KINDS
) -> None:
    """Measure modes: two standard prompts of each kind, as `engine.benchmark` has them."""
    planner = model_planner(options)
    for name, speed in speeds.items():
        mode, drafts = MODES[name], planner.drafts_of(MODES[name])
        for kind in 2 * kinds:
            spoken = Spoken(60, 60 / speed, busy)
            planner.learn((), "fp32", RESIDENT, mode, drafts, {}, kind, spoken=spoken)


def figures(plan: MachinePlan) -> dict[str, float]:
    return {mode.mode: round(mode.tokens_per_second, 1) for mode in plan.modes if mode.tokens_per_second}


def test_what_was_measured_is_the_figure_of_all_places_and_their_order_is_autos(
    model: LoadOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = {"plain": 30.0, "lookup": 35.7, "dovetail": 30.6, "minions": 32.0}
    measure(model, measured)
    plan = model_planner(model).plan
    assert {name: figures(plan)[name] for name in measured} == measured
    assert all(plan.mode(name).measured and not plan.mode(name).busy for name in measured)
    window = forecast(model)
    assert [mode.mode for mode in window.modes if mode.measured] == ["lookup", "minions", "dovetail", "plain"]
    assert (window.chosen, window.modes[0].mode, window.modes[0].passed_over) == ("lookup", "lookup", "")
    assert window.reason == "Auto: lookup, measured at 35.7 tok/s, 1.2 times the usual speed (all in memory)."
    assert settle(model).plan.mode == "lookup"
    assert main(["plan", "--model", model.model, "--weights", "fp32", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [mode["mode"] for mode in told["modes"]] == [mode.mode for mode in window.modes]
    assert [mode["tokens_per_second"] for mode in told["modes"]] == [mode.tokens_per_second for mode in window.modes]
    assert told["chosen"] == window.chosen


@pytest.mark.parametrize(
    ("speeds", "chosen", "why"),
    [
        ({"plain": 30.0, "lookup": 30.3, "dovetail": 9.0}, "plain", "not faster than the mode taken by more"),
        ({"plain": 30.0, "lookup": 29.0, "dovetail": 9.0}, "plain", ""),
        ({"plain": 1.0, "lookup": 1.1}, "lookup", "taken once replies have shown"),
        ({"plain": 1.0, "lookup": 1.1, "dovetail": 9.0, "minions": 9.5}, "dovetail", "one draft only"),
    ],
)
def test_a_mode_that_is_first_and_not_taken_says_why(
    model: LoadOptions, speeds: dict[str, float], chosen: str, why: str
) -> None:
    measure(model, speeds)
    plan = forecast(model)
    assert plan.chosen == chosen
    ahead = [mode.mode for mode in plan.modes].index(chosen)
    assert all(mode.passed_over for mode in plan.modes[:ahead])
    assert not any(mode.passed_over for mode in plan.modes[ahead:])
    assert why in plan.modes[0].passed_over


def test_a_plan_with_a_named_draft_names_the_mode_that_a_question_runs_in(model: LoadOptions) -> None:
    measure(model, {"plain": 30.0, "lookup": 35.7, "dovetail": 25.0})
    (draft,) = (one.name for one in model_planner(model).drafts)
    for drafts in ((draft,), ("lookup", draft), ("lookup",), ("off",)):
        options = replace(model, drafts=drafts)
        plan = planned(options, model_planner(options))
        assert plan.chosen == settle(options).plan.mode
        first = plan.modes[0]
        assert bool(first.passed_over) == (first.mode != plan.chosen)


def test_a_measurement_counts_once_every_kind_of_text_was_there_and_quiet_ones_before_busy_ones(
    model: LoadOptions,
) -> None:
    measure(model, {"plain": 10.0}, kinds=KINDS[:2])
    assert not model_planner(model).plan.mode("plain").measured
    measure(model, {"plain": 10.0}, busy=True)
    plain = model_planner(model).plan.mode("plain")
    assert (plain.measured, plain.busy, plain.tokens_per_second) == (True, True, pytest.approx(10.0))
    measure(model, {"plain": 20.0})
    measure(model, {"plain": 5.0}, busy=True)
    plain = model_planner(model).plan.mode("plain")
    assert (plain.measured, plain.busy, plain.tokens_per_second) == (True, False, pytest.approx(20.0))
    # What is said of before is the prediction from the machine's speeds alone.
    assert (
        plain.predicted_per_second == model_planner(model, machine("laptop-8gb")).plan.mode("plain").tokens_per_second
    )


def test_a_model_in_memory_follows_what_was_measured_since(model: LoadOptions) -> None:
    run = settle(model)
    assert run.plan.mode == "lookup"
    for name, speed in {"plain": 30.0, "lookup": 38.0, "dovetail": 40.0}.items():
        for kind in 2 * KINDS:
            spoken = Spoken(60, 60 / speed)
            drafts = run.planner.drafts_of(MODES[name])
            run.planner.learn((), "fp32", RESIDENT, MODES[name], drafts, {}, kind, spoken=spoken)
    # The draft is not in memory, and loading it anew for a twentieth is not worth it.
    again = run.settled(model)
    assert (again.plan.mode, again.plan.reason[:27]) == ("lookup", "The mode in memory goes on:")
    measure(model, {"plain": 50.0})
    run.planner.outdated = True
    again = run.settled(model)
    assert (again.plan.mode, again.drafts) == ("plain", ())
    measure(model, {"dovetail": 80.0})
    run.planner.outdated = True
    assert run.settled(model) is None


@pytest.mark.parametrize("name", machine_names())
@pytest.mark.parametrize("slower", [0.6, 1.0, 2.5])
def test_a_measurement_makes_no_prediction_worse(name: str, slower: float) -> None:
    """Replay machines that are slower than they say: with one mode measured, the others have no larger error."""
    report, draft = machine(name), small_draft()
    options = LoadOptions(weights="q8_0", context=512)

    def plan(profile: Profile) -> MachinePlan:
        return plan_machine(report, target("llama-7b"), draft, options, profiles=lambda weights: profile)

    before = plan(Profile())
    runs = [mode for mode in before.modes if mode.load is not None and mode.tokens_per_second]
    truth = {mode.mode: (mode.tokens_per_second or 0.0) / slower for mode in runs}

    def error(mode: ModePrediction) -> float:
        return abs(math.log((mode.tokens_per_second or 0.0) / truth[mode.mode]))

    for told in runs:
        kept = MODES[told.mode]
        key = drafter_of(kept, {}, kept.taken([draft]))
        profile = Profile()
        for kind in KINDS:
            profile = profile.with_spoken(told.load.placement, key, kind, Spoken(60, 60 / truth[told.mode]))
        after = plan(profile)
        for mode in runs:
            if after.mode(mode.mode).placement == mode.placement:
                assert error(after.mode(mode.mode)) <= error(mode) + 1e-6, (told.mode, mode.mode)
        assert error(after.mode(told.mode)) < 1e-6


_SIZES = ("smollm2", "qwen-0.5b", "llama-1b", "llama-7b")


@pytest.mark.parametrize("name", ["laptop-8gb", "desktop-24gb-card", "raspberry-pi-5-8gb"])
@pytest.mark.parametrize("fault", ["slow memory", "fast memory", "dear operators", "few products"])
def test_a_measurement_makes_no_prediction_of_another_model_worse(name: str, fault: str) -> None:
    """Replay machines that are not what was measured of them: any model may be the one that was measured."""
    report, options = machine(name), LoadOptions(weights="q4_k_m", context=512, vram_budget_bytes=0)
    memory = {"slow memory": 0.6, "fast memory": 1.5}.get(fault, 1.0)
    host = report.speeds.host
    formats = {
        format_: replace(
            one,
            bytes_per_s=memory * one.bytes_per_s,
            products_per_s=one.products_per_s * (0.6 if fault == "few products" else 1.0),
        )
        for format_, one in host.formats.items()
    }
    operator_s = host.operator_s * (3.0 if fault == "dear operators" else 1.0)
    true_host = HostSpeed(memory * host.memory_bytes_per_s, operator_s, formats)
    true = replace(report, speeds=replace(report.speeds, host=true_host))

    def plain(report: MachineReport, model: str) -> tuple[MachinePlanner, ModePlan]:
        planner = MachinePlanner(report, replace(target(model), digest=model), (), options)
        return planner, planner.plan().mode("plain")

    truth = {model: plain(true, model)[1].tokens_per_second or 0.0 for model in _SIZES}
    before = {model: plain(report, model) for model in _SIZES}
    for told in _SIZES:
        planner, plan = before[told]
        kept = planner.plain_error(replace(plan, measured=True, tokens_per_second=truth[told]))
        assert kept is not None
        known = replace(report, speeds=replace(report.speeds, errors=dict([kept])))
        for other in set(_SIZES) - {told}:
            was, now = (
                abs(math.log((found.tokens_per_second or 0.0) / truth[other]))
                for found in (before[other][1], plain(known, other)[1])
            )
            assert now <= was + 1e-6, (told, other)


def test_other_models_take_the_error_of_one_that_was_measured(
    model: LoadOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card's figure and the one after the download are the same; measuring the machine again forgets no error."""
    report = keep_speeds(machine("laptop-8gb"))
    for module in (planner_module, run_module):
        monkeypatch.setattr(module, "read_report", lambda: keep_speeds(report, again=False))
    config = {"num_hidden_layers": 12, "hidden_size": 320, "intermediate_size": 1024}
    other = LoadOptions(model=str(write_checkpoint(tmp_path / "other", **config)), weights="fp32")
    card = write_outline(tmp_path / "card", json.loads(Path(other.model, "config.json").read_text()), 10_000_000)

    def figures_of_other() -> tuple[float, float]:
        outline = ModelOutline("card", str(card))
        (told,) = predictions(PredictModels("", (outline,), replace(other, model="")), lambda: None)
        assert layer_slots.cache_info().currsize == 0  # the slots of a catalogue take 40 MB
        return (forecast(other).taken or plain).tokens_per_second or 0.0, told.prediction.tokens_per_second or 0.0

    plain = forecast(model).modes[0]
    before, on_card = figures_of_other()
    assert on_card == pytest.approx(before)
    predicted = model_planner(model).plan.mode("plain").tokens_per_second or 0.0
    measure(model, {"plain": 0.6 * predicted}, busy=True)
    assert figures_of_other() == (before, on_card)
    measure(model, {"plain": 0.6 * predicted})
    slower, on_card = figures_of_other()
    assert on_card == pytest.approx(slower)
    assert 0.6 * before < slower < 0.7 * before  # it is a little larger
    # Its own plan says both, and the prediction that it was measured beside.
    own = model_planner(model).plan.mode("plain")
    assert (own.predicted_per_second, own.tokens_per_second) == pytest.approx((predicted, 0.6 * predicted))
    report = keep_speeds(replace(report, speeds=replace(report.speeds, measured_at="later")))
    assert figures_of_other()[0] == pytest.approx(before)
    forecast(model)
    assert figures_of_other()[0] == pytest.approx(slower)


def keep_speeds(report: MachineReport, again: bool = True) -> MachineReport:
    """Keep a report's speeds as if they were measured here, or read those that are kept."""
    if again:
        hardware._keep_speeds(report, report.speeds)
    return replace(report, speeds=hardware.kept_speeds(report))


def test_plain_is_compared_where_its_layers_would_be_without_the_draft() -> None:
    report = machine("laptop-8gb")
    facts, draft, options = target("llama-13b"), small_draft(), LoadOptions(weights="q4_k_m")
    planner = MachinePlanner(report, facts, [draft], options)
    plain, ahead = (planner.plan().mode(name).load for name in ("plain", "llmcad"))
    assert plain.placement.key != ahead.placement.key  # the draft has taken memory of some layers
    share = planner.share_of(plain, ahead)
    assert share < 1.0
    clock, behind = ReplyClock(), ReplyClock(plain_share=share)
    for one in (clock, behind):
        one.prompt_done()
        one.recalled_plain_s = 0.2
        one.emitted(40)
        one.target_forwards = 20
        one._last_token = (one._prompt_done or 0.0) + 8.0
    speeds = [one.timings().plain_per_second or 0.0 for one in (clock, behind)]
    assert speeds[1] > speeds[0]


def test_replies_to_any_text_correct_the_promise_and_choose_no_mode(model: LoadOptions) -> None:
    before = model_planner(model).plan
    mode = before.mode("lookup")
    assert mode.tokens_per_second is not None
    slow = mode.tokens_per_second / 2
    planner = model_planner(model)
    for busy in (False, True):  # a busy machine's reply says nothing
        planner.learn((), "fp32", RESIDENT, MODES["lookup"], (), {}, None, spoken=Spoken(640, 640 / slow, busy))
        after = model_planner(model).plan
        promised = after.mode("lookup")
        # 640 tokens at half of the speed, beside 64 as they were predicted.
        assert promised.promised_per_second == pytest.approx(704 / (64 / (2 * slow) + 640 / slow))
        assert settle(model, model_planner(model)).plan.promise == Promise(promised.promised_per_second)
        assert promised.message == mode.message
        assert after.mode("plain").promised_per_second == before.mode("plain").tokens_per_second
