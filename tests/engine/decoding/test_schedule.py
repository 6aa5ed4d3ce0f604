from __future__ import annotations

from engine.decoding.schedule import AdaptiveLength, FixedLength


def run(schedule: AdaptiveLength, acceptance: int, row_cost_s: float, rounds: int = 60) -> list[int]:
    """Budgets chosen when ``acceptance`` drafted tokens hold and a forward costs 1 + rows * row_cost_s."""
    budgets = []
    for _ in range(rounds):
        budget = schedule.budget()
        budgets.append(budget)
        accepted = min(acceptance, budget)
        schedule.observe(budget + 1, min(accepted + 1, budget), accepted, 1.0 + row_cost_s * budget)
    return budgets


def test_long_drafts_where_width_is_cheap_and_everything_holds() -> None:
    assert run(AdaptiveLength(), acceptance=100, row_cost_s=0.01)[-1] == 15


def test_nothing_at_zero_acceptance_but_a_probe_now_and_then() -> None:
    """Pitfall 15 of the fifteen: speculation must not be the reason for being slow."""
    budgets = run(AdaptiveLength(), acceptance=0, row_cost_s=1.0, rounds=80)[20:]
    assert budgets.count(0) >= len(budgets) * 15 // 17
    assert max(budgets) == 3


def test_short_drafts_where_width_is_dear() -> None:
    assert run(AdaptiveLength(), acceptance=3, row_cost_s=0.9)[-1] <= 3


def test_comes_back_when_the_text_begins_to_repeat() -> None:
    schedule = AdaptiveLength()
    run(schedule, acceptance=0, row_cost_s=0.05)
    assert run(schedule, acceptance=100, row_cost_s=0.05, rounds=300)[-1] >= 7


def test_fixed_is_fixed() -> None:
    schedule = FixedLength(5)
    schedule.observe(6, 5, 0, 1.0)
    assert schedule.budget() == 5
