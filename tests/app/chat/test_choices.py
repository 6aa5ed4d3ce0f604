from __future__ import annotations

from pathlib import Path

from app.chat.model_entries import InstalledEntry
from app.chat.modes import draft_choices, model_choices
from engine.messages import DEFAULT_MODEL, ModePrediction, PlanReport


def test_choices(tmp_path: object) -> None:
    bundled = InstalledEntry(DEFAULT_MODEL, DEFAULT_MODEL, bundled=True)
    choices = model_choices([str(tmp_path), "/no/such/folder"], [bundled])
    assert [choice.key for choice in choices] == [DEFAULT_MODEL, str(tmp_path), "/no/such/folder"]
    assert choices[0].title == "SmolLM2 135M"
    assert choices[2].title == "folder"
    assert choices[2].detail.startswith("Not found")


def test_drafts_to_choose(tmp_path: Path) -> None:
    folder = str(tmp_path)
    refs = {"smollm2-draft": "dovetail", folder: "", "/gone/draft": ""}
    auto, off, lookup, bundled, own, gone = draft_choices(
        refs, ["smollm2-draft"], [folder], {folder: "Bad."}, {}, {folder: "Q8_0"}
    )
    assert [(choice.key, choice.checked) for choice in (auto, off, lookup)] == [
        ("", False),
        ("off", False),
        ("lookup", False),
    ]
    assert bundled.title == "Draft head of SmolLM2"
    assert bundled.detail.startswith("Minions: ")  # beside the one that is chosen
    assert bundled.detail.endswith(" Built in")
    assert (own.checked, own.problem) == (True, "Bad.")
    assert own.detail.endswith(str(tmp_path.parent))
    assert gone.detail.endswith(f"Not found: {Path('/gone/draft')}")
    assert "Q8_0, " in own.detail
    assert draft_choices({}, [], [], {}, {}, {})[0].checked


def test_automatic_says_why_it_leaves_the_fastest() -> None:
    left = ModePrediction("dovetail", tokens_per_second=12.0, passed_over="It was not tried.")
    modes = (left, ModePrediction("plain", tokens_per_second=10.0))
    plan = PlanReport("smollm2", "Q4_1", 512, 8192, modes, "plain", "", True)
    auto = draft_choices({}, [], [], {}, {"": plan}, {})[0]
    assert auto.detail.endswith(" Dovetail: It was not tried.")
