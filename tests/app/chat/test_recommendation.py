"""Recommendation of models from predictions alone."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.bridge.models.offers import listed as offered
from app.chat.model_entries import (
    Fit,
    InstalledEntry,
    ListedModel,
    Recommendation,
    Strength,
    fit_of,
    recommend,
)
from engine.hub.catalogue import CatalogueModel, catalogue
from engine.hub.offer import find_or_outline
from engine.messages import LoadOptions, ModelOutline, Prediction
from engine.messages.machine import HostMemory
from engine.planning.planner import predict
from tests.published.families import FAMILIES
from tests.support.checkpoints import VARIANTS
from tests.support.machines import machine

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


def test_every_model_is_larger_and_slower_than_the_next() -> None:
    models = [listed(f"m{billions}", billions) for billions in (0.5, 1, 1.2, 1.7, 3, 4, 7, 14)]
    speeds = {"m0.5": 60, "m1": 14, "m1.2": 14.5, "m1.7": 19, "m3": 7, "m4": 7.5, "m7": 3, "m14": 1.2}
    found = recommend(models, {name: runs(speed) for name, speed in speeds.items()})
    assert [one.model.reference for one in found] == ["m7", "m4", "m1.7"]
    strengths = [Strength.CAPABLE, Strength.BALANCED, Strength.FAST]
    assert [one.strength for one in found] == strengths
    # A weak machine: nothing large is bearable, so a small one comes in.
    slow = recommend(models, {name: runs(speed / 6) for name, speed in speeds.items()})
    assert [one.model.reference for one in slow] == ["m1.7", "m0.5"]
    assert recommend([listed("large", 4)], {"large": runs(1)}) == (
        Recommendation(listed("large", 4), Strength.CAPABLE),
    )


def test_an_older_model_is_recommended_only_where_no_other_fits() -> None:
    older = replace(listed("older", 8), older=True)
    models = [older, listed("today", 3)]
    known = {"older": runs(12), "today": runs(30)}
    assert [one.model.reference for one in recommend(models, known)] == ["today"]
    assert [one.model.reference for one in recommend(models, {"older": runs(12)})] == ["older"]


@given(st.lists(st.tuples(st.floats(0.3, 80), st.floats(0.2, 200)), min_size=1, max_size=24, unique_by=lambda m: m[0]))
def test_balanced_lies_between_the_others(sizes_and_speeds: list[tuple[float, float]]) -> None:
    models = [listed(str(number), size) for number, (size, _) in enumerate(sizes_and_speeds)]
    known = {str(number): runs(speed) for number, (_, speed) in enumerate(sizes_and_speeds)}
    found = recommend(models, known)
    assert 1 <= len(found) <= 3
    sizes = [one.model.parameters or 0 for one in found]
    speeds = [known[one.model.reference].tokens_per_second or 0 for one in found]
    assert sizes == sorted(set(sizes), reverse=True)
    assert speeds == sorted(set(speeds))


def test_what_does_not_fit_is_not_recommended() -> None:
    models = [listed("tiny", 0.5), listed("small", 1.2)]
    known = {"small": runs(3), "tiny": runs(8, from_disk=True)}
    assert [one.model.reference for one in recommend(models, known)] == ["small"]
    assert recommend(models, {}) == ()
    assert recommend(models, {"tiny": Prediction(problem="It needs more memory.")}) == ()


def test_a_model_whose_first_word_takes_longer_than_10_s_is_not_recommended() -> None:
    models = [listed("slow", 4), listed("swift", 1.2)]
    known = {"slow": replace(runs(6), first_word_s=10.1), "swift": replace(runs(20), first_word_s=3)}
    assert [one.model.reference for one in recommend(models, known)] == ["swift"]
    assert recommend(models[:1], known) == ()


# Boards as they report themselves before they are measured: name, gigabytes, cores, instruction set, and the peak of
# their memory that is published.
BOARDS = [
    ("Raspberry Pi 4 Model B Rev 1.5", 1, 4, "neon", 12.8e9),
    ("Raspberry Pi 4 Model B Rev 1.5", 4, 4, "neon", 12.8e9),
    ("Raspberry Pi 4 Model B Rev 1.5", 4, 4, "portable", 12.8e9),
    ("Raspberry Pi 5 Model B Rev 1.0", 2, 4, "dotprod", 17.1e9),
    ("Raspberry Pi 5 Model B Rev 1.0", 8, 4, "dotprod", 17.1e9),
    ("Orange Pi 5", 16, 8, "dotprod", 33.8e9),
    ("NVIDIA Jetson Orin Nano Developer Kit", 8, 6, "dotprod", 68e9),
    ("A board that nobody knows", 8, 8, "dotprod", 17.1e9),
]


@pytest.mark.parametrize(("name", "gigabytes", "cores", "kernels", "peak"), BOARDS)
def test_an_unmeasured_board_is_predicted_from_what_is_published_of_it(
    name: str, gigabytes: int, cores: int, kernels: str, peak: float
) -> None:
    base = machine("raspberry-pi-5-8gb")
    sets = ("NEON", "dotprod") if kernels == "dotprod" else ("NEON",)
    processor = replace(
        base.processor, physical_cores=cores, logical_cores=cores, usable_cores=cores, instruction_sets=sets
    )
    report = replace(
        base,
        machine=name,
        processor=processor,
        memory=HostMemory(gigabytes << 30, int(0.7 * (gigabytes << 30))),
        kernels=kernels,
        speeds=None,
    )
    models = [model for model in catalogue() if model.parameters < 10e9]
    outlines = [ModelOutline(model.name, str(find_or_outline(model.name))) for model in models]
    known = {one.reference: predict(one, LoadOptions(), report) for one in outlines}
    found = [one.model for one in recommend([offered(model) for model in models], known)]
    # With plain C a Cortex-A72 takes longer than 10 s to read a question with any of them.
    assert bool(found) == (kernels != "portable")
    for model in found:
        prediction = known[model.reference]
        assert prediction.basis == "guess"
        assert 0 < prediction.first_word_s <= 10
        assert prediction.memory_bytes <= prediction.room_bytes <= gigabytes << 30
        active = 4 / 8 * (model.active_parameters or prediction.memory_bytes)  # four bits a weight at least
        read = active if model.active_parameters else 0.4 * active  # but for embeddings, of which a token reads a row
        assert 1 < (prediction.tokens_per_second or 0) < peak / read


def test_a_model_whose_files_were_never_tried_is_not_recommended() -> None:
    models = [replace(listed("untried", 8), tried=False), listed("tried", 3)]
    known = {"untried": runs(30), "tried": runs(12)}
    assert [one.model.reference for one in recommend(models, known)] == ["tried"]
    assert recommend(models[:1], known) == ()


def test_every_model_of_the_catalogue_is_tried_but_for_those_without_a_published_template() -> None:
    assert [model.name for model in catalogue() if not model.tried_as] == ["lfm3-1.7b"]


@pytest.mark.parametrize("model", [model for model in catalogue() if model.tried_as], ids=lambda model: model.name)
def test_a_model_is_tried_as_a_family_of_its_kind(model: CatalogueModel) -> None:
    family = FAMILIES[model.tried_as]
    architecture, values = {**VARIANTS, "muse-glimmer": ("MuseGlimmerForConditionalGeneration", {})}[family.variant]
    own, tried = (re.sub("(Unified)?For.*", "", name) for name in (*model.config["architectures"], architecture))
    assert own == tried
    for feature in ("num_kv_shared_layers", "enable_moe_block", "kv_lora_rank"):
        assert bool(model.config.get(feature)) == bool(values.get(feature)), feature


def test_a_copy_is_known_by_the_catalogue_or_by_its_repository() -> None:
    model = listed("qwen3-4b", 4)
    assert InstalledEntry("a", "/a", catalogue_name="qwen3-4b").comes_from(model)
    assert InstalledEntry("b", "/b", repo="someone/qwen3-4b").comes_from(model)
    assert not InstalledEntry("qwen3-4b", "/c").comes_from(model)


@pytest.mark.parametrize("gigabytes", [12, 16])
def test_the_model_in_two_bits_is_offered_to_12_and_16_gb_without_a_gpu(gigabytes: int) -> None:
    """Bonsai 2 27B on a laptop whose memory is read at 60 GB/s: its weights are what a token takes."""
    base = machine("laptop-16gb-low-disk")
    host = replace(base.speeds.host, memory_bytes_per_s=60e9)
    host = replace(host, formats={name: replace(one, bytes_per_s=45e9) for name, one in host.formats.items()})
    report = replace(
        base,
        memory=HostMemory(gigabytes * GB, int(0.68 * gigabytes * GB)),
        disks=tuple(replace(disk, free_bytes=300 * GB) for disk in base.disks),
        speeds=replace(base.speeds, host=host),
    )
    outlines = [ModelOutline(model.name, str(find_or_outline(model.name))) for model in catalogue()]
    known = {one.reference: predict(one, LoadOptions(), report) for one in outlines}
    found = [one.model.reference for one in recommend([offered(model) for model in catalogue()], known)]
    bonsai, (model,) = known["bonsai-2-27b"], (one for one in catalogue() if one.name == "bonsai-2-27b")
    assert found[0] == "bonsai-2-27b"
    assert not bonsai.from_disk
    embedding = 248_320 * 5120
    read = model.parameters - embedding
    speed = host.formats["q4_k_m"]
    seconds = speed.seconds(read * 28 / 128, read)
    assert bonsai.tokens_per_second == pytest.approx(1 / seconds, rel=0.05)
    assert bonsai.memory_bytes == pytest.approx(
        model.parameters * 28 / 128, rel=0.15
    )  # and the process and its scratch memory
