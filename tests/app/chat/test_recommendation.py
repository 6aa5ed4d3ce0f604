"""Which models are recommended, from predictions alone."""

from __future__ import annotations

from app.chat.model_entries import Fit, InstalledEntry, ListedModel, fit_of
from app.chat.recommendation import Strength, recommend
from engine.messages import Prediction

GB = 1_000_000_000


def listed(name: str, billions: float) -> ListedModel:
    return ListedModel(name, name, "someone", parameters=int(billions * GB), repos=(f"someone/{name}",))


def runs(tokens_per_second: float, memory_gb: float = 4, from_disk: bool = False) -> Prediction:
    return Prediction("lookup", tokens_per_second, int(memory_gb * GB), 16 * GB, from_disk=from_disk)


def test_how_a_model_stands_in_memory() -> None:
    assert fit_of(runs(9, 4)) is Fit.EASY
    assert fit_of(runs(9, 12)) is Fit.FITS
    assert fit_of(runs(9, 12, from_disk=True)) is Fit.DISK
    assert fit_of(Prediction(problem="Its files need 41 GB of disk.")) is Fit.NO


def test_the_largest_at_reading_speed_a_swift_one_and_the_fastest() -> None:
    models = [
        listed("tiny", 0.5),
        listed("small", 1.2),
        listed("middle", 4),
        listed("large", 14),
        listed("huge", 70),
    ]
    known = {
        "tiny": runs(90),
        "small": runs(40),
        "middle": runs(15),
        "large": runs(6, 12),
        "huge": runs(0.4, 15, from_disk=True),
    }
    found = [(one.model.reference, one.strength) for one in recommend(models, known)]
    assert found == [("large", Strength.CAPABLE), ("middle", Strength.BALANCED), ("small", Strength.FAST)]


def test_where_one_is_the_best_in_everything_there_is_another_one_to_choose() -> None:
    models = [listed("small", 1.2), listed("middle", 1.7), listed("large", 4)]
    known = {"small": runs(5.5), "middle": runs(5.9), "large": runs(2)}
    found = [(one.model.reference, one.strength) for one in recommend(models, known)]
    assert found == [("middle", Strength.CAPABLE), ("small", Strength.BALANCED)]
    known = {"middle": runs(5.9), "large": runs(2)}
    found = [(one.model.reference, one.strength) for one in recommend(models, known)]
    assert found == [("large", Strength.CAPABLE), ("middle", Strength.FAST)]


def test_one_model_is_recommended_once_and_a_weak_machine_gets_what_runs() -> None:
    models = [listed("tiny", 0.5), listed("small", 1.2)]
    assert [one.model.reference for one in recommend(models, {"small": runs(3), "tiny": runs(8)})] == [
        "small"
    ]
    assert [one.model.reference for one in recommend(models, {"tiny": runs(8)})] == ["tiny"]
    assert recommend(models, {}) == ()
    assert recommend(models, {"tiny": Prediction(problem="It needs more memory.")}) == ()


def test_a_copy_is_known_by_the_catalogue_or_by_its_repository() -> None:
    model = listed("qwen3-4b", 4)
    assert InstalledEntry("a", "/a", catalogue_name="qwen3-4b").comes_from(model)
    assert InstalledEntry("b", "/b", repo="someone/qwen3-4b").comes_from(model)
    assert not InstalledEntry("qwen3-4b", "/c").comes_from(model)
