from __future__ import annotations

from app.chat.modes import mode_choices, plan_rows, predicted_speeds, with_plan
from tests.support.machine_scene import FITS, plan


def test_fastest_first_and_what_cannot_run_last() -> None:
    choices = mode_choices(lambda mode: "", "", None)
    rows = plan_rows(choices, {"plain": 6.0, "lookup": 9.0}, {"plain": 5.5})
    names = [row.name for row in rows]
    assert names[:2] == ["lookup", "plain"]
    assert "auto" not in names
    assert {row.name for row in rows if row.reason} == {
        "dovetail",
        "ghidorah",
        "offload",
        "layer-offload",
        "llmcad",
        "minions",
        "ppd",
    }
    assert all(row.reason for row in rows[2:])
    assert (rows[1].predicted, rows[1].measured, rows[1].expected) == (6.0, 5.5, 5.5)
    assert rows[0].expected == 9.0


def test_a_plan_says_what_auto_takes_and_why_a_mode_cannot_run() -> None:
    choices = mode_choices(lambda mode: "smollm2-draft", "", None)
    assert with_plan(choices, None) == choices
    told = {choice.key: choice for choice in with_plan(choices, plan())}
    assert told["auto"].detail == plan().reason
    assert told["auto"].problem == ""
    assert told["llmcad"].problem == FITS
    # The menu's own words name the remedy, so they stay.
    assert told["offload"].problem == next(one.problem for one in choices if one.key == "offload")
    assert told["plain"].problem == ""


def test_predictions_are_by_mode() -> None:
    assert predicted_speeds(None) == {}
    assert predicted_speeds(plan()) == {"dovetail": 14.5, "lookup": 8.9, "plain": 5.9}
