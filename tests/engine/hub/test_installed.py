from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import ModelNotFound
from engine.hub import bundled
from engine.hub.bundled import assets_folder, bundled_targets, paired_drafts
from engine.hub.installed import find_model
from engine.hub.model_folders import models_folder
from engine.hub.titles import title_of_model


def test_a_folder_and_an_installed_name(tmp_path: Path) -> None:
    folder = tmp_path / "ein Modell, größer"
    folder.mkdir()
    assert find_model(str(folder)) == folder
    own = models_folder() / "smollm"
    own.mkdir(parents=True)
    assert find_model("smollm") == own
    assert title_of_model(str(folder)) == folder.name


def test_the_bundled_model_is_a_file_and_takes_the_draft_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (assets_folder() / "icons").is_dir()
    monkeypatch.setattr(bundled, "assets_folder", lambda: tmp_path)
    with pytest.raises(ModelNotFound, match=r"SmolLM2 135M, which ships with Tenon, is not in .*: install Tenon again"):
        find_model("smollm2")
    folder = tmp_path / "models" / "smollm2"
    folder.mkdir(parents=True)
    (folder / "README.md").touch()
    assert bundled_targets() == ()
    (folder / "SmolLM2-135M-Instruct.Q4_1.gguf").touch()
    assert find_model("smollm2") == folder / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert title_of_model("smollm2") == "SmolLM2 135M"
    kinds = ("model", "head", "medusa")
    assert paired_drafts("smollm2", kinds) == ()
    for name in ("smollm2-draft", "smollm2-medusa"):
        (tmp_path / "models" / name).mkdir()
        (tmp_path / "models" / name / "config.json").touch()
    assert paired_drafts("smollm2", kinds) == ("smollm2-draft",)
    assert paired_drafts("smollm2", ("model", "medusa")) == ("smollm2-medusa",)
    assert paired_drafts("smollm2", ("model",)) == ()
    assert paired_drafts("smollm2", ("prompt-tokens",)) == ()
    (tmp_path / "models" / "smollm2-prompt-tokens").mkdir()
    (tmp_path / "models" / "smollm2-prompt-tokens" / "adapter_config.json").touch()
    assert paired_drafts("smollm2", ("prompt-tokens",)) == ("smollm2-prompt-tokens",)
    assert [model.name for model in bundled_targets()] == ["smollm2"]


@pytest.mark.parametrize("reference", ["", "  ", "no-such-model", "/no/such/folder"])
def test_what_is_not_there_is_said(reference: str) -> None:
    with pytest.raises(ModelNotFound, match="smollm2"):
        find_model(reference)


def test_a_file_in_place_of_a_folder_is_said(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.touch()
    with pytest.raises(ModelNotFound, match="is a file"):
        find_model(str(file))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("name", ["model.gguf", "model"])
def test_a_pipe_or_a_device_is_called_so(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    for reference in (str(tmp_path / name), "/dev/zero"):
        with pytest.raises(ModelNotFound, match="is a pipe, a device or a socket: give the model folder"):
            find_model(reference)
