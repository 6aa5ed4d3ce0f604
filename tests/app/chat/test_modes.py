from __future__ import annotations

from dataclasses import replace

import pytest

from app.chat.modes import UNUSABLE, draft_choices, memory_choices, mode_title, toggled
from app.settings.settings import Settings
from app.ui.chat_page.header import draft_words
from app.ui.choice_popup import figure_words
from engine.errors import InvalidOption
from engine.messages import PlanReport
from engine.modes import MEMORY_TITLES
from tests.support.machine_scene import as_measured, plan


def test_places_in_memory_say_what_they_lack() -> None:
    def lacking(gpu: str | None, vram_budget_bytes: int | None = None) -> list[str]:
        choices = memory_choices("disk", gpu, vram_budget_bytes, None)
        assert [choice.key for choice in choices if choice.checked] == ["disk"]
        assert all(choice.detail for choice in choices if not choice.problem)
        return [choice.title for choice in choices if choice.problem]

    assert lacking("A GPU") == lacking(None) == []
    assert lacking("") == lacking("A GPU", 0) == ["2 cannot be used here"]
    planned = {choice.key: choice for choice in memory_choices("auto", None, None, plan())}
    assert planned[UNUSABLE].problem.startswith("GPU; GPU, layer by layer: ")
    assert planned["disk"].detail.startswith("LLMCad: ")
    # Automatic has the speed of the mode that it takes, and how that compares.
    assert (planned["auto"].speed, planned["auto"].times) == (plan().modes[0], pytest.approx(14.5 / 5.9))
    assert planned["disk"].speed is None


def test_rows_have_the_figures_of_the_plan_and_those_that_cannot_be_used_are_one() -> None:
    refs = {"small": "dovetail", "other": "", "third": ""}
    problems = {"other": "Its vocabulary is another.", "third": "Its vocabulary is another."}
    plans = {"": replace(plan(), chosen="lookup"), "small": replace(drafting(5.0), chosen="lookup")}
    rows = draft_choices(refs, (), (), problems, plans, {})
    assert [row.key for row in rows] == ["", "off", "lookup", "small", UNUSABLE]
    assert [figure_words(row) for row in rows] == [
        "8.9 tok/s predicted, 1.5 times the usual speed",
        "5.9 tok/s predicted",
        "8.9 tok/s predicted, 1.5 times the usual speed",
        "5.0 tok/s, 0.8 times the usual speed",
        "",
    ]
    assert rows[-1].problem == "other; third: Its vocabulary is another."
    dear = "The draft reads 0.44 of the model for each guess: not worth it without a GPU."
    dears = tuple(replace(mode, dear=dear if mode.drafts else "") for mode in plans["small"].modes)
    row = draft_choices(refs, (), (), {}, {"small": replace(plans["small"], modes=dears)}, {})[3]
    assert row.detail.endswith(dear)
    assert (row.speed, row.times) == (None, None)
    chosen = draft_choices(refs, (), ("other",), problems, plans, {})
    assert [row.key for row in chosen if row.problem] == ["other", UNUSABLE]


def test_a_chosen_draft_that_gains_nothing_is_said_beside_the_model() -> None:
    assert draft_words(drafting(5.0), ("d",)) == "draft: measured 0.8 times the usual speed"
    left = replace(drafting(5.0), chosen="lookup")
    assert draft_words(left, ("d",)) == "draft not used: measured 0.8 times the usual speed"
    predicted = replace(left, modes=tuple(replace(mode, measured=False) for mode in left.modes))
    assert draft_words(predicted, ("d",)) == "draft not used: predicted 0.8 times the usual speed"
    nothing = [(drafting(5.0), ()), (drafting(12.0), ("d",)), (plan(), ("d",)), (None, ("d",))]
    assert [draft_words(*case) for case in nothing] == [""] * 4


def drafting(speed: float) -> PlanReport:
    """A plan with a draft that was measured at some speed, and taken."""
    made = as_measured(plan(), {"dovetail": speed})
    modes = (replace(mode, drafts=("d",)) if mode.mode == "dovetail" else mode for mode in made.modes)
    return replace(made, modes=tuple(modes), chosen="dovetail")


def test_every_paper_is_found_by_its_name() -> None:
    refs = {"small": "dovetail", "heads": "ghidorah", "tokens": "ppd"}
    alone = draft_choices(refs, ("heads",), (), {}, {}, {})
    assert [choice.key for choice in alone] == ["", "off", "lookup", *refs]
    assert [choice.detail.partition(":")[0] for choice in alone[3:]] == ["Dovetail", "Ghidorah", "PPD"]
    assert "Built in" in alone[4].detail
    together = draft_choices(refs, (), ("small",), {}, {}, {})
    assert [choice.detail.partition(":")[0] for choice in together[3:]] == ["Dovetail", "Minions", "Minions"]
    assert [mode_title(name) for name in ("llmcad", "layer-offload", "new")] == [
        "LLMCad",
        "Layer offload",
        "New",
    ]


@pytest.mark.parametrize(
    ("chosen", "ref", "wanted"),
    [
        ((), "a", ("a",)),
        (("a",), "b", ("b", "a")),
        (("a",), "a", ()),
        (("a", "b"), "off", ("off",)),
        (("off",), "a", ("a",)),
        (("lookup",), "off", ("off",)),
        (("a", "b"), "", ()),
        (("off",), "off", ("off",)),
    ],
)
def test_words_stand_alone_and_drafts_beside_each_other(
    chosen: tuple[str, ...], ref: str, wanted: tuple[str, ...]
) -> None:
    assert toggled(chosen, ref) == wanted


def test_every_place_can_be_kept_in_the_settings() -> None:
    settings = Settings()
    for memory in MEMORY_TITLES:
        settings.memory = memory
    with pytest.raises(InvalidOption):
        settings.memory = "warp"
