"""Models of other programs are found where they are, run from there, and nothing there is ever changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType as Kind

from engine.errors import ModelNotFound
from engine.hub import model_folders
from engine.hub.installed import cache_folder, find_model
from engine.hub.model_folders import (
    add_folder,
    data_folder,
    forget_folder,
    is_others,
    other_models,
    read_folders,
)
from engine.hub.titles import title_of_model
from tests.support.checkpoints import reference_model, train_tokenizer, write_checkpoint
from tests.support.engine_client import engine_client
from tests.support.gguf_files import write_gguf, write_small_gguf

PROGRAMS = model_folders._programs


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(model_folders, "_programs", PROGRAMS)
    for name in ("OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return home


def lm_studio(home: Path) -> Path:
    file = home / ".lmstudio/models/someone/Small-GGUF/Small-Q8_0.gguf"
    file.parent.mkdir(parents=True)
    write_small_gguf(file)
    (file.parent / "mmproj-Small.gguf").write_bytes(b"eyes")
    return file


def ollama(home: Path) -> Path:
    models = home / ".ollama/models"
    made = models / "made.gguf"
    models.mkdir(parents=True)
    write_gguf(reference_model("qwen2", num_hidden_layers=1), made, Kind.Q4_0, train_tokenizer())
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    blob = models / "blobs" / f"sha256-{digest}"
    blob.parent.mkdir()
    made.rename(blob)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}"}
    template = {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:00"}
    for name, layers in (("library/small/1b", [template, layer]), ("someone/odd/latest", [template])):
        manifest = models / "manifests/registry.ollama.ai" / name
        manifest.parent.mkdir(parents=True)
        manifest.write_text(json.dumps({"layers": layers}))
    (models / "manifests/registry.ollama.ai/library/small/broken").write_text("{")
    return blob


def hugging_face(home: Path, folder: Path) -> Path:
    """A snapshot as the hub's client keeps it: links to files called after their hashes."""
    own = home / ".cache/huggingface/hub/models--someone--Tiny-Llama"
    snapshot = own / "snapshots" / "abc123"
    snapshot.mkdir(parents=True)
    (own / "blobs").mkdir()
    (own / "refs").mkdir()
    (own / "refs/main").write_text("abc123")
    (own / "snapshots/old").mkdir()
    for file in folder.iterdir():
        blob = own / "blobs" / hashlib.sha256(file.name.encode()).hexdigest()
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(os.path.relpath(blob, snapshot))
    return snapshot


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (
            path.lstat().st_mtime_ns,
            path.lstat().st_mode,
            b"" if path.is_dir() else path.read_bytes(),
        )
        for path in sorted(folder.rglob("*"))
    }


def test_models_of_every_program_are_found_by_their_own_names(home: Path, tmp_path: Path) -> None:
    assert other_models() == ()
    file, blob = lm_studio(home), ollama(home)
    snapshot = hugging_face(home, write_checkpoint(tmp_path / "llama", "llama", num_hidden_layers=1))
    mine = tmp_path / "mine"
    write_checkpoint(mine / "deep" / "thesis", "llama", num_hidden_layers=1)
    add_folder(mine)
    add_folder(mine)
    add_folder(tmp_path / "gone")
    found = {model.reference: (model.name, model.source, model.location) for model in other_models()}
    thesis = mine / "deep" / "thesis"
    assert found == {
        str(file): ("Small-Q8_0", "LM Studio", file),
        "ollama:small:1b": ("small:1b", "Ollama", blob),
        "huggingface:someone/Tiny-Llama": ("Tiny-Llama", "Hugging Face", snapshot),
        str(thesis): ("thesis", str(mine), thesis),
    }
    for reference, (name, _, location) in found.items():
        assert find_model(reference) == location
        assert title_of_model(reference) == name.removesuffix("-Q8_0")
        assert is_others(location)
    assert not is_others(tmp_path / "elsewhere.gguf")
    forget_folder(str(mine))
    assert str(thesis) not in {model.reference for model in other_models()}
    assert thesis.is_dir()
    shutil.rmtree(home / ".ollama/models/manifests")
    with pytest.raises(ModelNotFound, match="Ollama has no model small:1b"):
        find_model("ollama:small:1b")


def test_a_file_of_folders_that_cannot_be_read_settles_nothing(home: Path) -> None:
    data_folder().mkdir(parents=True, exist_ok=True)
    for text in ("", "[]", '{"own": "", "former": [], "added": [1]}'):
        (data_folder() / "model-folders.json").write_text(text)
        assert read_folders().added == ()


def test_nothing_is_written_where_they_lie(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies from each, in formats that are converted and kept: the folders stay as they were, byte for byte."""
    monkeypatch.setattr("engine.placement.source._WORTH_KEEPING_BYTES", 1)
    ollama(home)
    hugging_face(home, write_checkpoint(tmp_path / "llama", "llama", num_hidden_layers=2))
    before = state_of(home)
    with engine_client() as client:
        for reference, weights in (
            ("ollama:small:1b", "auto"),
            ("huggingface:someone/Tiny-Llama", "auto"),
            ("huggingface:someone/Tiny-Llama", "q8_0"),
        ):
            client.answer("Hello", reference, weights=weights, max_tokens=4)
        packed = cache_folder() / "packed"
        while not list(packed.glob("*-q8_0.packed")):  # what was converted is kept elsewhere, in the background
            time.sleep(0.01)
    assert state_of(home) == before
