from __future__ import annotations

from dataclasses import replace

from app.chat.modes import plan_rows
from tests.support.machine_scene import FITS, NO_GPU, plan


def test_fastest_first_and_what_cannot_run_last() -> None:
    rows = plan_rows(plan(), {"plain": 5.5, "ppd": 7.0})
    assert [(row.name, row.expected) for row in rows[:4]] == [
        ("dovetail", 14.5),
        ("lookup", 8.9),
        ("ppd", 7.0),
        ("plain", 5.5),
    ]
    assert (rows[3].predicted, rows[3].measured) == (5.9, 5.5)
    reasons = {row.name: row.reason for row in rows if row.reason}
    assert (reasons["llmcad"], reasons["offload"]) == (FITS, NO_GPU)
    assert all(row.reason for row in rows[-len(reasons) :])


def test_without_a_plan_every_mode_is_listed() -> None:
    rows = plan_rows(None, {"lookup": 3.0})
    assert rows[0].name == "lookup"
    assert [row.expected for row in rows[1:]] == [None] * (len(rows) - 1)
    assert plan_rows(replace(plan(), modes=()), {"lookup": 3.0}) == rows
