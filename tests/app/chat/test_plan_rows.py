from __future__ import annotations

from app.chat.modes import plan_rows
from tests.support.machine_scene import FITS, NO_GPU, as_measured, plan


def test_the_order_is_the_plans_with_what_was_measured_and_predicted() -> None:
    rows = plan_rows(as_measured(plan(), {"plain": 9.5}))
    assert [(row.name, row.measured, row.predicted) for row in rows[:3]] == [
        ("dovetail", None, 14.5),
        ("plain", 9.5, 5.9),
        ("lookup", None, 8.9),
    ]
    reasons = {row.name: row.reason for row in rows if row.reason}
    assert (reasons["llmcad"], reasons["offload"]) == (FITS, NO_GPU)


def test_without_a_plan_every_mode_is_listed() -> None:
    rows = plan_rows(None)
    assert len(rows) == 9
    assert all(row.expected is None for row in rows)
