from __future__ import annotations

from app.chat.choices import mode_choices
from app.chat.plan_rows import plain_speed, plan_rows


def test_fastest_first_and_what_cannot_run_last() -> None:
    choices = mode_choices("", "", None)
    rows = plan_rows(choices, {"plain": 6.0, "lookup": 9.0}, {"plain": 5.5})
    names = [row.name for row in rows]
    assert names[:2] == ["lookup", "plain"]
    assert "auto" not in names
    assert {row.name for row in rows if row.reason} == {"dovetail", "offload", "layer-offload", "llmcad"}
    assert all(row.reason for row in rows[2:])
    assert (rows[1].predicted, rows[1].measured, rows[1].expected) == (6.0, 5.5, 5.5)
    assert rows[0].expected == 9.0
    assert plain_speed(rows) == 5.5
    assert plain_speed(rows[:1]) is None
    assert plain_speed(plan_rows(choices, {}, {})) is None
