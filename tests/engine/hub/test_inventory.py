from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import CheckpointError, InvalidOption, ModelNotFound
from engine.hub.installed import find_model, installed_model, installed_models, plan_removal, remove, verify
from engine.hub.model_folders import models_folder
from engine.hub.record import RECORD, ModelFile, ModelRecord, read_record, write_record


def install(name: str, **more: object) -> ModelRecord:
    folder = models_folder() / name
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"w" * 100)
    values = {"kind": "target", "format": "safetensors", **more}
    record = ModelRecord(name, files=(ModelFile("model.safetensors", 100, "0" * 64),), **values)  # type: ignore[arg-type]
    write_record(folder, record)
    return record


def test_a_record_survives_the_disk_and_a_damaged_one_is_said(tmp_path: Path) -> None:
    record = install("m", repo="a/m", base=("b/m",), belongs_to=("c/m",), location="/x", licence="mit")
    assert read_record(models_folder() / "m") == record
    assert read_record(tmp_path) is None
    for text in ("{", "[]", '{"version": 1}', '{"version": 99}'):
        (tmp_path / RECORD).write_text(text)
        with pytest.raises(CheckpointError, match="download or import the model again"):
            read_record(tmp_path)


def test_everything_installed_is_listed_and_nothing_unfinished(tmp_path: Path) -> None:
    assert installed_models() == ()
    install("B", repo="x/b")
    install("a", location=str(tmp_path / "gone"))
    (models_folder() / "by hand").mkdir()
    (models_folder() / ".incoming" / "half" / "model").mkdir(parents=True)
    (models_folder() / "broken").mkdir()
    (models_folder() / "broken" / RECORD).write_text("{")
    found = {model.name: model for model in installed_models()}
    assert list(found) == ["a", "B", "broken", "by hand"]
    assert "is not there any more" in str(found["a"].problem)
    assert "cannot be read" in str(found["broken"].problem)
    assert (found["by hand"].record, found["by hand"].problem) == (None, None)
    assert find_model("B") == find_model("x/b") == (models_folder() / "B").resolve()
    for hidden in (".incoming", ".incoming/half/model", "../models/B"):
        with pytest.raises(ModelNotFound):
            find_model(hidden)
    with pytest.raises(ModelNotFound, match="plug its disk in"):
        find_model("a")


def test_two_models_of_one_repository_are_asked_about() -> None:
    install("m-Q4_K_M", repo="a/m")
    install("m-Q8_0", repo="a/m")
    for look in (find_model, installed_model):
        with pytest.raises(ModelNotFound, match="name m-Q4_K_M or m-Q8_0"):
            look("a/m")


def test_removing_frees_what_it_says_and_offers_drafts_along() -> None:
    install("big", repo="q/big-GGUF", base=("o/big",))
    install("head", kind="head", belongs_to=("o/big",))
    install("shared", kind="draft", belongs_to=("o/big", "o/other"))
    install("other", repo="o/other")
    (models_folder() / "big" / "tenon-q8_0.packed").write_bytes(b"p" * 1000)
    removal = plan_removal("big")
    held = sum(path.stat().st_size for path in (models_folder() / "big").iterdir())
    assert (removal.freed_bytes, removal.drafts, removal.kept_location) == (held, ("head",), None)
    assert held > 1100
    assert remove("q/big-GGUF") == held
    assert [model.name for model in installed_models()] == ["head", "other", "shared"]
    assert plan_removal("other").drafts == ("shared",)
    assert [path.name for path in models_folder().iterdir() if path.name.startswith(".")] == []


def test_files_used_in_place_stay(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "model.safetensors").write_bytes(b"w" * 100)
    (place / "tenon-q8_0.packed").write_bytes(b"p" * 1000)
    (place / "other.packed").write_bytes(b"p")
    install("m", location=str(place))
    (models_folder() / "m" / "model.safetensors").unlink()
    removal = plan_removal("m")
    record_bytes = (models_folder() / "m" / RECORD).stat().st_size
    assert (removal.freed_bytes, removal.kept_location) == (1000 + record_bytes, str(place))
    remove("m")
    assert {path.name for path in place.iterdir()} == {"model.safetensors", "other.packed"}
    assert installed_models() == ()


def test_what_is_not_installed_cannot_be_removed() -> None:
    with pytest.raises(ModelNotFound, match="those that are installed"):
        remove("nothing")
    with pytest.raises(InvalidOption, match="ships with Tenon"):
        remove("smollm2")


def test_verifying_tells_changed_missing_and_whole_files() -> None:
    import hashlib

    folder = models_folder() / "m"
    folder.mkdir(parents=True)
    contents = {"a": b"aaa", "b": b"bbb", "c": b"ccc", "d": b"ddd"}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    files = tuple(ModelFile(name, 3, hashlib.sha256(content).hexdigest()) for name, content in contents.items())
    write_record(folder, ModelRecord("m", "target", "safetensors", files))
    (folder / "b").write_bytes(b"bxb")
    (folder / "c").write_bytes(b"cccc")
    (folder / "d").unlink()
    progress: list[tuple[int, int]] = []
    checks = verify(installed_model("m"), lambda done, total: progress.append((done, total)))
    assert [(check.name, check.state) for check in checks] == [
        ("a", "ok"),
        ("b", "changed"),
        ("c", "changed"),
        ("d", "missing"),
    ]
    assert progress == sorted(progress)
    assert progress[-1] == (12, 12)
    (models_folder() / "by hand").mkdir()
    with pytest.raises(CheckpointError, match="import it first"):
        verify(installed_model("by hand"))


def test_the_record_is_plain_json() -> None:
    install("größer", licence="Ω")
    found = json.loads((models_folder() / "größer" / RECORD).read_text(encoding="utf-8"))
    assert (found["version"], found["licence"]) == (1, "Ω")
