"""The same machine gives the same recommendations, whatever it does meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.chat.model_entries import ListedModel
from app.storage.kept_values import RECOMMENDED_FILE, KeptChoice
from engine.files import write_cached
from engine.messages import Basis, Prediction

SIZES = (1, 3, 8, 14)
MODELS = tuple(ListedModel(f"m{size}", f"M {size}", "someone", parameters=size * 10**9) for size in SIZES)


def known(speed: float, basis: Basis = "rest", machine: str = "here") -> dict[str, Prediction]:
    """Predictions for a machine that runs 1 billion parameters at this speed."""
    return {
        model.reference: Prediction("lookup", speed / size, size * 10**9, 16 * 10**9, basis=basis, machine=machine)
        for model, size in zip(MODELS, SIZES, strict=True)
    }


def names(choice: KeptChoice, predictions: dict[str, Prediction], whole: bool = True) -> list[str]:
    return [one.model.reference for one in choice.choose(MODELS, predictions, whole)]


def test_it_stays_however_the_speeds_come_out_and_over_a_restart(tmp_path: Path) -> None:
    fast, slow = known(80), known(20)
    assert names(KeptChoice(None), fast) != names(KeptChoice(None), slow)
    choice = KeptChoice(tmp_path)
    first = names(choice, fast)
    assert names(choice, slow) == first
    assert names(KeptChoice(tmp_path), slow) == first
    assert names(KeptChoice(tmp_path), slow, whole=False) == first
    assert names(KeptChoice(tmp_path), known(20, "busy")) == first


def test_better_knowledge_another_machine_and_what_runs_no_more_choose_again(tmp_path: Path) -> None:
    slow = known(20)
    assert names(KeptChoice(None), slow, whole=False) == []
    choice = KeptChoice(tmp_path)
    guessed = names(choice, known(80, "guess"))
    assert names(choice, known(20, "guess")) == guessed
    busy = names(choice, known(20, "busy"))
    assert busy == names(KeptChoice(None), slow) != guessed
    assert names(choice, known(80, "rest")) == guessed
    assert names(choice, known(20, "rest", machine="elsewhere")) == busy
    names(choice, known(80))
    gone = known(80)
    gone[guessed[0]] = replace(gone[guessed[0]], problem="It needs more memory.", mode=None)
    assert guessed[0] not in names(choice, gone)


@pytest.mark.parametrize("content", [None, {}, [1, 2, 3], {"key": 1}, {"key": "", "worth": 3, "strengths": {"m1": 1}}])
def test_a_file_of_another_version_was_never_written(content: object, tmp_path: Path) -> None:
    write_cached(tmp_path / RECOMMENDED_FILE, content)
    assert names(KeptChoice(tmp_path), known(80)) == names(KeptChoice(None), known(80))
