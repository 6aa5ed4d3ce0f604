"""The adaptive schedule on machines with a clock of their own, where plain decoding takes 1 s for a token."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from engine.decoding.costs import Costs
from engine.decoding.worth import Worth
from engine.drafting.drafter import NoDrafter
from tests.support.fake_machine import FakeMachine

SEEDS = range(10)
#: Timings off by up to 30 %, and exact ones.
NOISE = [0.0, 0.3]


def sized(largest: int, cost: Costs | None = None, counted: dict[int, float] | None = None) -> Worth:
    """The schedule of a drafter without chances of its own."""
    drafter = NoDrafter()
    drafter.counted = counted or {}
    return Worth(drafter, largest, cost)


def _always(acceptance: float) -> Callable[[int], float]:
    return lambda at: acceptance


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(
    ("draft_s", "node_s", "row_s"),
    [(2.5, 0.0, 0.1), (1.0, 0.0, 0.3), (0.3, 0.0, 0.05), (0.0, 0.0, 0.2), (0.1, 0.15, 0.1)],
    ids=["dear", "wide", "cheap", "free", "by size"],
)
def test_a_useless_draft_costs_a_tenth_at_most(draft_s: float, node_s: float, row_s: float, noise: float) -> None:
    """Pitfall 15 of the fifteen: whatever the draft costs, speculation is not the reason for being slow."""
    for seed in SEEDS:
        machine = FakeMachine(_always(0.0), row_s, draft_s, node_s, catch_up_s=0.02, noise=noise, seed=seed)
        machine.run(sized(16), 200)
        assert machine.time_s / machine.tokens <= 1.10


@pytest.mark.parametrize("noise", NOISE)
def test_a_draft_that_reads_the_prompt_first_is_not_judged_by_that(noise: float) -> None:
    """Neither what a draft costs nor how soon it is tried again after a bad beginning."""

    def late(at: int) -> float:
        return 0.0 if at < 30 else 0.8

    for seed in SEEDS:
        at_once, after_reading = (
            FakeMachine(late, draft_s=0.3, catch_up_s=0.02, prompt_s=prompt_s, noise=noise, seed=seed)
            for prompt_s in (0.0, 20.0)
        )
        budgets = at_once.run(sized(16), 200).budgets
        assert after_reading.run(sized(16), 200).budgets == budgets


@pytest.mark.parametrize("noise", NOISE)
def test_a_good_draft_is_nearly_always_used(noise: float) -> None:
    drafted = [
        FakeMachine(_always(0.85), draft_s=0.3, noise=noise, seed=seed).run(sized(16), 300).share_drafted(3)
        for seed in SEEDS
    ]
    assert sorted(drafted)[2] > 0.97
    assert min(drafted) > 0.8


@pytest.mark.parametrize("noise", NOISE)
def test_rows_that_are_probes_cost_and_yield_nothing(noise: float) -> None:
    """A try begins with probes alone, goes on with what they asked for, and is judged by that."""
    for seed in SEEDS:
        useless = FakeMachine(_always(0.0), 0.1, noise=noise, seed=seed, probes=0.5)
        assert useless.run(sized(16), 200).time_s / useless.tokens <= 1.10
        good = FakeMachine(_always(0.85), 0.05, noise=noise, seed=seed, probes=0.5)
        good.run(sized(16), 300)
        assert good.time_s / good.tokens < 0.6
        for before, after in itertools.pairwise(good.records):
            if before.probes and not before.tokens:
                assert after.tokens
        plain = [record for record in good.records if not record.drafted_rows]
        assert 2 <= len(plain) < len(good.records) / 2


def test_plain_decoding_is_measured_again_now_and_then() -> None:
    budgets = FakeMachine(_always(1.0), draft_s=0.1).run(sized(4), 1500).budgets
    assert 2 <= budgets[3:].count(0) <= len(budgets) // 30


def test_a_reply_need_not_measure_what_an_earlier_one_did() -> None:
    cost = Costs()
    first = FakeMachine(_always(0.9), draft_s=0.1).run(sized(4, cost), 60).budgets
    second = FakeMachine(_always(0.9), draft_s=0.1).run(sized(4, cost), 60).budgets
    assert first[:2] == [0, 0]
    assert second[0] > 0


@pytest.mark.parametrize("noise", NOISE)
def test_what_rows_cost_is_found_out_step_by_step(noise: float) -> None:
    """A first draft of 63 nodes takes as long as ten plain rounds where each row adds 0.15 of one."""
    for seed in SEEDS:
        counted = {1: 1.24, 3: 1.37, 7: 1.47, 15: 1.56, 31: 1.67, 63: 1.69}
        machine = FakeMachine(_always(0.25), row_s=0.15, noise=noise, seed=seed)
        budgets = machine.run(sized(63, counted=counted), 30).budgets
        assert all(
            nodes <= 2 * widest + 1
            for widest, nodes in zip(itertools.accumulate(budgets, max), budgets[1:], strict=False)
        )


@pytest.mark.parametrize("noise", NOISE)
def test_stops_soon_after_the_text_changes_for_the_worse(noise: float) -> None:
    for seed in SEEDS:
        machine = FakeMachine(_always(0.9), draft_s=0.5, row_s=0.1, noise=noise, seed=seed)
        schedule = sized(16)
        rounds = len(machine.run(schedule, 200).budgets)
        machine.acceptance = _always(0.0)
        machine.run(schedule, 100)
        assert max(machine.budgets[rounds:][:2]) > 0
        assert machine.share_drafted(rounds + 25) < 0.2


@pytest.mark.parametrize("noise", NOISE)
def test_comes_back_when_the_text_changes_for_the_better(noise: float) -> None:
    back = 0
    for seed in SEEDS:
        machine = FakeMachine(_always(0.0), draft_s=0.3, catch_up_s=0.02, noise=noise, seed=seed)
        schedule = sized(16)
        rounds = len(machine.run(schedule, 100).budgets)
        machine.acceptance = _always(0.9)
        machine.run(schedule, 1500)
        back += machine.share_drafted(rounds + 70) > 0.95
    # One in ten probes meets a token that does not hold, and the next is 64 rounds away.
    assert back >= 7


def test_probes_become_rarer_while_drafting_loses() -> None:
    machine = FakeMachine(_always(0.0), draft_s=0.4).run(sized(16), 500)
    probes = [at for at, budget in enumerate(machine.budgets) if budget]
    pauses = [later - earlier for earlier, later in itertools.pairwise(probes[2:])]
    assert pauses == sorted(pauses)
    assert pauses[-1] > 2 * pauses[0]


def test_a_drafter_that_fell_behind_is_not_judged_by_catching_up() -> None:
    """Catching up makes a probe dear, which makes probes rarer, but a good draft is taken up again after one."""
    machine = FakeMachine(_always(0.0), draft_s=0.3, catch_up_s=0.1)
    schedule = sized(16)
    rounds = len(machine.run(schedule, 100).budgets)
    machine.acceptance = _always(1.0)
    machine.run(schedule, 400)
    probe = next(at for at in range(rounds, len(machine.budgets)) if machine.budgets[at])
    assert machine.records[probe].draft_ms > 1000
    assert all(machine.budgets[probe : probe + 10])


@pytest.mark.parametrize(
    ("acceptance", "row_s", "sizes"),
    [(1.0, 0.01, {15}), (0.5, 0.6, {1, 3}), (0.8, 0.15, {3, 7})],
    ids=["wide", "narrow", "between"],
)
def test_the_size_follows_acceptance_and_cost(acceptance: float, row_s: float, sizes: set[int]) -> None:
    budgets: list[int] = []
    for seed in SEEDS:
        machine = FakeMachine(_always(acceptance), row_s=row_s, seed=seed)
        budgets += machine.run(sized(15), 300).budgets[10:]
    drafted = [budget for budget in budgets if budget]
    assert sum(budget in sizes for budget in drafted) > 0.8 * len(drafted)


def test_small_drafts_are_tried_where_large_ones_take_too_long() -> None:
    drafted: list[int] = []
    for seed in SEEDS:
        machine = FakeMachine(_always(0.7), row_s=0.02, node_s=0.2, seed=seed)
        drafted += [budget for budget in machine.run(sized(16), 300).budgets[10:] if budget]
    assert sum(budget <= 4 for budget in drafted) > 0.8 * len(drafted)


def test_long_drafts_return_when_the_text_begins_to_repeat() -> None:
    """Short drafts that are accepted to their end say that longer ones would be too."""
    machine = FakeMachine(_always(0.45), row_s=0.1)
    schedule = sized(15)
    rounds = len(machine.run(schedule, 150).budgets)
    assert machine.budgets[rounds - 1] <= 3
    machine.acceptance = _always(1.0)
    machine.run(schedule, 300)
    assert 15 in machine.budgets[rounds + 24 : rounds + 26]  # one of both may be a plain round


def test_rounds_in_which_nothing_was_found_say_nothing_about_drafts() -> None:
    machine = FakeMachine(_always(0.9), row_s=0.05, finds=0.2).run(sized(15), 400)
    assert machine.share_drafted(3) > 0.9


def test_a_long_reply_of_short_drafts_stays_finite() -> None:
    machine = FakeMachine(_always(0.3), row_s=0.2).run(sized(64), 20_000)
    assert machine.time_s / machine.tokens < 1.02


@pytest.mark.parametrize("noise", NOISE)
def test_a_target_that_waits_for_its_weights_drafts_from_the_first_round_on(noise: float) -> None:
    for seed in SEEDS:
        machine = FakeMachine(_always(0.8), row_s=0.0, draft_s=0.05, noise=noise, seed=seed)
        budgets = machine.run(sized(63, Costs(flat=True)), 300).budgets
        assert budgets[0] == 63
        # A plain round is measured in the end, and is one of few; here nothing tells that the disk decides.
        assert 1 <= budgets.count(0) <= 2 + len(budgets) // 8


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("draft_s", "row_s"), [(0.3, 0.0), (0.05, 0.0), (0.0, 0.0), (1.0, 0.002)])
def test_a_useless_draft_costs_a_tenth_at_most_there_too(draft_s: float, row_s: float, noise: float) -> None:
    for seed in SEEDS:
        machine = FakeMachine(_always(0.0), row_s, draft_s, catch_up_s=0.002, noise=noise, seed=seed)
        machine.run(sized(63, Costs(flat=True)), 200)
        assert machine.time_s / machine.tokens <= 1.10


@pytest.mark.parametrize("noise", NOISE)
def test_a_draft_gets_all_nodes_while_the_disk_decides_what_a_forward_takes(noise: float) -> None:
    for seed in SEEDS:
        machine = FakeMachine(_always(0.8), row_s=0.0, draft_s=0.05, waits=0.7, noise=noise, seed=seed)
        assert set(machine.run(sized(63, Costs(flat=True)), 300).budgets) == {63}
        useless = FakeMachine(_always(0.0), row_s=0.0, draft_s=0.3, waits=0.7, noise=noise, seed=seed)
        useless.run(sized(63, Costs(flat=True)), 200)
        assert useless.time_s / useless.tokens <= 1.10


@pytest.mark.parametrize(("row_s", "best"), [(0.07, 7), (0.01, 31), (0.001, 63)])
def test_with_counted_trees_and_expected_forwards_the_best_size_is_the_first(row_s: float, best: int) -> None:
    cost = Costs()
    cost.expect({1: 1.0} | {1 << power: 1.0 + row_s * ((1 << power) - 1) for power in range(1, 7)})
    counted = {1: 1.5, 3: 2.0, 7: 2.6, 15: 2.9, 31: 3.4, 63: 3.6}
    machine = FakeMachine(_always(0.7), row_s=row_s)
    machine.run(sized(63, cost, counted), 5)
    assert machine.budgets[:3] == [0, 0, best]


def _tries(machine: FakeMachine, first: int) -> list[int]:
    """Rounds from one on between two that drafted."""
    drafted = [at for at, budget in enumerate(machine.budgets) if at >= first and budget]
    return [later - earlier for earlier, later in itertools.pairwise(drafted)]


@pytest.mark.parametrize("draft_s", [1.0, 2.0])
def test_what_drafts_have_gained_pays_for_looking_whether_they_gain_again(draft_s: float) -> None:
    """The text is drafted well at first and not at all then: pauses double up to 64 rounds, and losses forbid none."""
    machine = FakeMachine(_always(1.0), draft_s=draft_s)
    schedule = sized(15)
    rounds = len(machine.run(schedule, 600).budgets)
    machine.acceptance = _always(0.0)
    machine.run(schedule, 1200)
    tries = _tries(machine, rounds + 30)
    assert tries[:3] == [17, 33, 65]
    assert len(tries) > 15
    assert {*tries[2:]} == {65}


@pytest.mark.parametrize("draft_s", [1.0, 3.0, 10.0])
def test_what_tries_lose_stays_within_a_share_of_the_reply(draft_s: float) -> None:
    machine = FakeMachine(_always(0.0), draft_s=draft_s).run(sized(15), 2000)
    assert machine.time_s / machine.tokens < 1.035
