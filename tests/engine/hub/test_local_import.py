from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType as Kind

from engine.drafting.kinds import read_draft
from engine.errors import (
    CheckpointError,
    InvalidOption,
    ModelNotFound,
    OutOfDisk,
    TenonError,
    UnsupportedModel,
    WeightsCorrupt,
    WeightsMissing,
)
from engine.gguf.writing import head_of, pair
from engine.hub import local_import, model_folders
from engine.hub.installed import find_model, installed_model, installed_models, remove, verify
from engine.hub.local_import import adopt, import_model, look_at
from engine.hub.model_folders import models_folder
from engine.hub.model_head import read_head
from engine.model_file import OpenedModel
from engine.weights.draft_kind import draft_kind
from tests.engine.vision.test_mmproj import write_mmproj, write_text_part
from tests.engine.vision.test_towers import loaded
from tests.support.gguf_files import write_small_gguf
from tests.support.heads import make_head
from tests.support.next_layers import write_gguf_with_next_layer
from tests.support.prompt_tokens import write_prompt_tokens


@pytest.fixture
def mine(llama_folder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "mein Modell, größer"
    shutil.copytree(llama_folder, folder)
    (folder / "README.md").write_text("read me")
    (folder / "pytorch_model.bin").write_bytes(b"a second copy")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_is_used_in_place(mine: Path) -> None:
    before = files_of(mine)
    record = import_model(models_folder(), [mine])
    assert (record.name, record.kind, record.format, record.location) == (
        mine.name,
        "target",
        "safetensors",
        str(mine),
    )
    assert {file.name for file in record.files} >= {"config.json", "model.safetensors", "tokenizer.json"}
    assert not {file.name for file in record.files} & {"README.md", "pytorch_model.bin"}
    assert find_model(mine.name) == mine.resolve()
    assert files_of(mine) == before
    assert {check.state for check in verify(installed_model(mine.name))} == {"ok"}


def test_a_copy_needs_its_source_no_more(mine: Path) -> None:
    wanted = (mine / "model.safetensors").read_bytes()
    progress: list[tuple[int, int]] = []
    record = import_model(
        models_folder(),
        [mine],
        copy=True,
        name="copied",
        progress=lambda *at: progress.append(at),
        reserve_bytes=0,
    )
    shutil.rmtree(mine)
    assert record.location is None
    assert (find_model("copied") / "model.safetensors").read_bytes() == wanted
    assert {check.state for check in verify(installed_model("copied"))} == {"ok"}
    assert progress == sorted(progress)
    assert progress[-1] == (record.size_bytes, record.size_bytes)


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("by", ["file", "folder", "both"])
def test_the_encoder_of_pictures_goes_with_its_model(tmp_path: Path, by: str, copy: bool) -> None:
    write_text_part(tmp_path)
    folder, tower = tmp_path / "gguf", tmp_path / "gguf" / "mmproj-f32.gguf"
    write_mmproj(tower, loaded(tmp_path / "whole"))
    model = folder / "tiny-gemma.gguf"
    paths = {"file": [model], "folder": [folder], "both": [model, tower]}
    whole = model.stat().st_size + tower.stat().st_size
    assert look_at(models_folder(), paths[by]).size_bytes == whole
    record = import_model(models_folder(), paths[by], copy=copy, name="model", reserve_bytes=0)
    assert ([file.name for file in record.files], record.size_bytes) == ([model.name, tower.name], whole)
    assert {check.state for check in verify(installed_model("model"))} == {"ok"}
    # That of another model stays where it is.
    write_mmproj(tower, loaded(tmp_path / "whole"), **{"clip.projector_type": "ultravox"})
    assert len(import_model(models_folder(), [model], copy=copy, name="other", reserve_bytes=0).files) == 1
    tower.write_bytes(b"GGUF")
    assert len(import_model(models_folder(), [model], copy=copy, name="third", reserve_bytes=0).files) == 1
    if copy:
        shutil.rmtree(folder)
        assert read_head(find_model("model")).sees


@pytest.mark.parametrize("by", ["file", "folder", "both"])
def test_the_layer_that_drafts_goes_with_its_model(tmp_path: Path, by: str) -> None:
    _, model = write_gguf_with_next_layer(tmp_path / "files", "glm4-moe", Kind.Q8_0, beside=True)
    head = model.with_name("mtp-model-BF16.gguf")
    paths = {"file": [model], "folder": [model.parent], "both": [model, head]}
    if by == "both":
        (tmp_path / "elsewhere").mkdir()
        paths["both"][1] = head.rename(tmp_path / "elsewhere" / head.name)
    whole = sum(path.stat().st_size for path in (model, paths["both"][1]))
    assert look_at(models_folder(), paths[by]).size_bytes == whole
    record = import_model(models_folder(), paths[by], copy=True, name="model", reserve_bytes=0)
    assert (record.size_bytes, record.quantization) == (whole, "Q8_0")
    shutil.rmtree(model.parent)
    opened = OpenedModel("model", find_model("model"))
    assert opened.own_head is not None
    assert read_draft(opened.own_head, opened.config).name == "mtp"
    assert {check.name: check.state for check in verify(installed_model("model"))} == {
        model.name: "ok",
        head.name: "ok",
    }
    assert remove("model") > whole
    assert not list(models_folder().glob("model*"))


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("by", ["file", "folder"])
def test_a_draft_of_whole_blocks_in_gguf_is_a_draft(tmp_path: Path, by: str, copy: bool) -> None:
    file = tmp_path / "draft" / "m-DSpark-Q8_0.gguf"
    file.parent.mkdir()
    file.write_bytes(head_of({"general.architecture": pair("dspark")}, [])[0])
    record = import_model(models_folder(), [file if by == "file" else file.parent], copy=copy, name="its draft")
    assert (record.kind, record.format, record.quantization) == ("head", "gguf", "Q8_0")
    found = models_folder() / "its draft" / file.name if copy else file
    assert find_model("its draft") == found.resolve()
    assert draft_kind(found) == "head"
    # One that was put there by hand, too
    (models_folder() / "by hand").mkdir()
    shutil.copy(file, models_folder() / "by hand")
    assert installed_model("by hand").location.name == file.name
    assert {check.state for check in verify(installed_model("its draft"))} == {"ok"}
    remove("its draft")
    assert not (models_folder() / "its draft").exists()
    assert file.exists()


def test_a_draft_in_gguf_beside_a_model_in_safetensors_is_not_that_model(llama_folder: Path) -> None:
    import_model(models_folder(), [llama_folder], copy=True, name="model")
    (models_folder() / "model" / "m-DSpark-Q8_0.gguf").write_bytes(
        head_of({"general.architecture": pair("dspark")}, [])[0]
    )
    assert find_model("model").name == "model"
    again = import_model(models_folder(), [models_folder() / "model"], copy=True, name="again")
    assert (again.kind, again.format) == ("target", "safetensors")


def test_the_layer_of_another_model_stays_where_it_is(tmp_path: Path) -> None:
    _, model = write_gguf_with_next_layer(tmp_path / "files", "glm4-moe", beside=True)
    _, other = write_gguf_with_next_layer(tmp_path / "other", "deepseek-v3", beside=True)
    other.with_name("mtp-model-BF16.gguf").replace(model.with_name("mtp-model-BF16.gguf"))
    for copy in (True, False):
        record = import_model(models_folder(), [model], copy=copy, name=f"model {copy}", reserve_bytes=0)
        assert [file.name for file in record.files] == [model.name]


@pytest.mark.parametrize("name", ["mtp-model-BF16.gguf", "MTP-model-BF16.GGUF"])
def test_a_layer_that_is_still_being_downloaded_stops_no_import(tmp_path: Path, name: str) -> None:
    _, model = write_gguf_with_next_layer(tmp_path / "files", "glm4-moe", beside=True)
    head = model.with_name("mtp-model-BF16.gguf").rename(model.with_name(name))
    record = import_model(models_folder(), [model], copy=False, name="whole", reserve_bytes=0)
    assert {file.name for file in record.files} == {model.name, name}
    head.write_bytes(head.read_bytes()[:100])
    record = import_model(models_folder(), [model], copy=False, name="cut", reserve_bytes=0)
    assert [file.name for file in record.files] == [model.name]
    with pytest.raises(CheckpointError):
        import_model(models_folder(), [model, head], copy=False, name="named", reserve_bytes=0)


def test_a_gguf_file_and_its_other_parts(tmp_path: Path) -> None:
    single = tmp_path / "Qwen-Q4_0.gguf"
    write_small_gguf(single)
    record = import_model(models_folder(), [single])
    assert (record.name, record.format, record.quantization) == ("Qwen-Q4_0", "gguf", "Q4_0")
    assert record.location == str(single)
    assert record.files[0].sha256 == hashlib.sha256(single.read_bytes()).hexdigest()
    assert installed_model("Qwen-Q4_0").location == single
    for part in (1, 2):
        write_small_gguf(tmp_path / f"m-Q8_0-0000{part}-of-00002.gguf", values=part * 32)
    record = import_model(models_folder(), [tmp_path / "m-Q8_0-00002-of-00002.gguf"], copy=True, reserve_bytes=0)
    assert (record.name, len(record.files)) == ("m-Q8_0", 2)
    (tmp_path / "m-Q8_0-00001-of-00002.gguf").unlink()
    with pytest.raises(WeightsMissing, match="1 of 2 parts are missing"):
        import_model(models_folder(), [tmp_path / "m-Q8_0-00002-of-00002.gguf"], name="again")


def test_a_look_tells_name_format_and_size_before_anything_is_done(mine: Path, tmp_path: Path) -> None:
    seen = look_at(models_folder(), [mine])
    assert (seen.name, seen.format) == (mine.name, "safetensors")
    assert seen.size_bytes == import_model(models_folder(), [mine]).size_bytes
    write_small_gguf(tmp_path / "m.gguf", "mamba")
    with pytest.raises(UnsupportedModel):
        look_at(models_folder(), [tmp_path / "m.gguf"])


def test_a_model_is_adopted_at_once_and_once(mine: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    write_small_gguf(file)
    assert adopt(models_folder(), file) == file
    assert adopt(models_folder(), mine) == mine
    assert adopt(models_folder(), file) == file
    found = {model.name: model for model in installed_models()}
    assert set(found) == {"m", mine.name}
    assert found["m"].location == file
    record = found["m"].record
    assert not record.hashed
    with pytest.raises(CheckpointError, match="no record"):
        verify(found["m"])
    other = tmp_path / "other" / "m.gguf"
    other.parent.mkdir()
    write_small_gguf(other)
    adopt(models_folder(), other)
    assert {model.name for model in installed_models()} == {"m", "m 2", mine.name}
    with pytest.raises(ModelNotFound):
        adopt(models_folder(), tmp_path / "gone.gguf")
    assert not list(models_folder().glob(".incoming/*"))


def test_files_of_two_folders_can_only_be_copied(mine: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(mine / "tokenizer.json", elsewhere)
    paths = [mine / "config.json", mine / "model.safetensors", elsewhere / "tokenizer.json"]
    with pytest.raises(InvalidOption, match="have them copied"):
        import_model(models_folder(), paths)
    record = import_model(models_folder(), paths, copy=True, name="both", reserve_bytes=0)
    assert {file.name for file in record.files} == {"config.json", "model.safetensors", "tokenizer.json"}


def test_a_head_is_known_by_its_weights(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    folder = tmp_path / "eagle"
    folder.mkdir()
    save_file(
        {"fc.weight": torch.zeros(2), "layers.0.mlp.up_proj.weight": torch.zeros(2)},
        folder / "model.safetensors",
    )
    (folder / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    record = import_model(models_folder(), [folder], belongs_to=("a/target",))
    assert (record.kind, record.belongs_to) == ("head", ("a/target",))
    for safetensors in (True, False):
        heads = make_head("medusa").write(tmp_path / f"medusa-{safetensors}", safetensors)
        assert import_model(models_folder(), [heads]).kind == "head"


@pytest.mark.parametrize("safetensors", [True, False], ids=["safetensors", "bin"])
def test_prompt_tokens_are_a_draft_and_know_their_model(safetensors: bool, tmp_path: Path) -> None:
    folder = write_prompt_tokens(tmp_path / "set", safetensors=safetensors)
    for copy in (True, False):
        record = import_model(models_folder(), [folder], copy=copy, name=f"set {copy}")
        assert (record.kind, record.belongs_to) == ("head", ("a/model",))
        assert "adapter_config.json" in {file.name for file in record.files}


def test_another_adapter_is_refused(tmp_path: Path) -> None:
    folder = write_prompt_tokens(tmp_path / "lora", num_special_tokens=None)
    with pytest.raises(
        UnsupportedModel, match=r"The adapter lora has peft_type .*, and of adapters Tenon merges plain"
    ):
        import_model(models_folder(), [folder])


def break_truncated(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def break_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def break_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").unlink()


def break_html(folder: Path) -> None:
    break_weights(folder)
    (folder / "m.gguf").write_bytes(b"<html>sign in</html>")


def break_gguf(folder: Path) -> None:
    break_weights(folder)
    write_small_gguf(folder / "m.gguf", values=4096)
    whole = (folder / "m.gguf").read_bytes()
    (folder / "m.gguf").write_bytes(whole[: len(whole) // 2])


def break_family(folder: Path) -> None:
    break_weights(folder)
    write_small_gguf(folder / "m.gguf", "mamba")


def break_two(folder: Path) -> None:
    break_weights(folder)
    for name in ("a-Q4_0.gguf", "b-Q8_0.gguf"):
        (folder / name).write_bytes(b"GGUF")


@pytest.mark.parametrize(
    ("damage", "error", "sentence"),
    [
        (break_truncated, WeightsCorrupt, "truncated"),
        (break_config, WeightsMissing, "no config.json"),
        (break_weights, WeightsMissing, "no weights"),
        (break_html, WeightsCorrupt, "not a GGUF file"),
        (break_gguf, WeightsCorrupt, "damaged or cut short"),
        (break_family, UnsupportedModel, "cannot run GGUF files of the architecture mamba"),
        (break_two, InvalidOption, "more than one GGUF"),
    ],
)
def test_what_cannot_be_used_is_not_installed(
    damage: object, error: type[TenonError], sentence: str, mine: Path
) -> None:
    damage(mine)  # type: ignore[operator]
    with pytest.raises(error, match=sentence):
        import_model(models_folder(), [mine])
    assert not (models_folder() / mine.name).exists()


def test_no_room_and_a_full_disk_leave_nothing_behind(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(model_folders, "free_bytes", lambda folder: 1000)
        with pytest.raises(OutOfDisk, match="free some room"):
            import_model(models_folder(), [mine], copy=True)

    def full(done: int, total: int) -> None:
        if done:
            raise OSError(28, "No space left on device")

    with pytest.raises(OutOfDisk, match="disk is full"):
        import_model(models_folder(), [mine], copy=True, progress=full, reserve_bytes=0)
    assert not (models_folder() / mine.name).exists()
    assert list((models_folder() / local_import.INCOMING).glob("*/")) == []


def test_a_stop_leaves_nothing_behind(mine: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_model(models_folder(), [mine], progress=stop)
    assert not (models_folder() / mine.name).exists()
    import_model(models_folder(), [mine])


def test_a_name_of_a_bundled_model_is_given_to_no_other_one(mine: Path) -> None:
    """It would name the bundled one for ever, and what was imported could be neither used nor removed."""
    named = mine.rename(mine.with_name("smollm2-draft"))
    adopt(models_folder(), named)
    assert [model.name for model in installed_models()] == ["smollm2-draft 2"]
    record = models_folder() / "smollm2-draft 2"
    record.rename(models_folder() / "smollm2-draft")  # as an older version did
    assert installed_model("smollm2-draft").location == named


def test_names_and_paths_that_cannot_be(mine: Path) -> None:
    import_model(models_folder(), [mine], name="Taken")
    for name in ("taken", "a/b", ".x", " ", "SmolLM2", "smollm2-draft"):
        with pytest.raises(InvalidOption):
            import_model(models_folder(), [mine], name=name)
    for paths in ([], [mine, mine / "config.json"], [mine / "config.json", mine / "config.json"]):
        with pytest.raises(InvalidOption):
            import_model(models_folder(), paths, name="other")
    with pytest.raises(ModelNotFound, match="nothing at"):
        import_model(models_folder(), [mine / "not there"])
