from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ModelNotFound
from engine.hub import installed as installed_models
from engine.hub.installed import assets_folder, find_model, model_name, models_folder


def test_a_folder_an_installed_name_and_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ein Modell, größer"
    folder.mkdir()
    assert find_model(str(folder)) == folder
    installed = models_folder() / "smollm"
    installed.mkdir(parents=True)
    assert find_model("smollm") == installed
    assert (assets_folder() / "icons").is_dir()
    with monkeypatch.context() as patched:
        patched.setattr(installed_models, "assets_folder", lambda: tmp_path)
        with pytest.raises(ModelNotFound, match="bundled guide"):
            find_model("guide")
        (tmp_path / "models" / "guide").mkdir(parents=True)
        assert find_model("guide") == tmp_path / "models" / "guide"
    assert (model_name("guide", folder), model_name(str(folder), folder)) == ("Tenon guide", folder.name)


@pytest.mark.parametrize("reference", ["", "  ", "no-such-model", "/no/such/folder"])
def test_what_is_not_there_is_said(reference: str) -> None:
    with pytest.raises(ModelNotFound, match="guide"):
        find_model(reference)


def test_a_file_in_place_of_a_folder_is_said(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.touch()
    with pytest.raises(ModelNotFound, match="is a file"):
        find_model(str(file))
