from __future__ import annotations

from pathlib import Path

from app.chat.model_entries import InstalledEntry
from app.chat.modes import draft_choices, model_choices
from engine.messages import DEFAULT_MODEL


def test_choices(tmp_path: object) -> None:
    bundled = InstalledEntry(DEFAULT_MODEL, DEFAULT_MODEL, bundled=True)
    choices = model_choices([str(tmp_path), "/no/such/folder"], [bundled])
    assert [choice.key for choice in choices] == [DEFAULT_MODEL, str(tmp_path), "/no/such/folder"]
    assert choices[0].title == "SmolLM2 135M"
    assert choices[2].title == "folder"
    assert choices[2].detail.startswith("Not found")


def test_drafts_to_choose(tmp_path: Path) -> None:
    folder = str(tmp_path)
    none, bundled, own, gone = draft_choices(
        ["smollm2-draft", folder, "/gone/draft"],
        ["smollm2-draft", "smollm2-medusa"],
        folder,
        {folder: "Bad."},
    )
    assert (none.key, none.checked, none.detail) == (
        "",
        False,
        "Modes that need a draft take smollm2-draft, smollm2-medusa",
    )
    assert (bundled.title, bundled.detail) == ("smollm2-draft", "Built in")
    assert (own.checked, own.problem, own.detail) == (True, "Bad.", str(tmp_path.parent))
    assert gone.detail.startswith("Not found")
    assert draft_choices([], [], "", {})[0].checked
