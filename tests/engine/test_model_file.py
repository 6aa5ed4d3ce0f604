"""A model is opened once: for planning, its load, its drafts and the first reply together."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from engine.errors import TokenizerInvalid
from engine.gguf import header
from engine.loaded_model import load_model
from engine.messages import LoadOptions
from engine.model_file import open_model
from engine.planning.planner import model_planner
from engine.run import settle
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import reference_model, train_tokenizer, write_checkpoint
from tests.support.gguf_files import write_gguf
from tests.support.heads import make_head

Pair = tuple[str, str]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file was opened, by the class that opened it and its name."""
    counts: Counter[str] = Counter()

    def counted(kind: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, path: Path, *rest: Any) -> Any:
            counts[f"{kind} {path.name}"] += 1
            return method(self, path, *rest)

        return call

    for kind in (Checkpoint, HeadCheckpoint, Tokenizer, header._Reader):
        monkeypatch.setattr(kind, "__init__", counted(kind.__name__, kind.__init__))
    return counts


def ask(model: str, *drafts: str) -> None:
    """Ask as `tenon ask` does."""
    named = [part for draft in drafts for part in ("--draft", draft)]
    assert main(["ask", "--model", model, *named, "--max-tokens", "4", "--temperature", "0", "Hello"]) == 0


def test_two_gguf_files_with_one_vocabulary_are_read_once(opened: Counter[str], tmp_path: Path) -> None:
    files = [tmp_path / name / f"{name}.gguf" for name in ("model", "draft")]
    for layers, file in zip((2, 1), files, strict=True):
        file.parent.mkdir()
        write_gguf(reference_model("qwen2", num_hidden_layers=layers), file, tokenizer=train_tokenizer())
    ask(*map(str, files))
    assert opened == {
        "_Reader model.gguf": 1,
        "_Reader draft.gguf": 1,
        "Checkpoint model.gguf": 1,
        "Checkpoint draft.gguf": 1,
        "Tokenizer model.gguf": 1,
    }


def test_folders_are_read_once(opened: Counter[str], tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "model")
    write_checkpoint(tmp_path / "draft", seed=5, num_hidden_layers=1)
    ask(str(tmp_path / "model"), str(tmp_path / "draft"))
    names = [f"{kind} {name}" for kind in ("Checkpoint", "Tokenizer") for name in ("model", "draft")]
    assert opened == dict.fromkeys(names, 1)


def test_a_head_is_read_once(opened: Counter[str], tmp_path: Path) -> None:
    model, head = write_checkpoint(tmp_path / "model"), make_head("eagle3").write(tmp_path / "head", True)
    ask(str(model), str(head))
    assert opened == {"Checkpoint model": 1, "Tokenizer model": 1, "HeadCheckpoint head": 1}


@pytest.mark.usefixtures("smollm2")
def test_the_bundled_model_and_its_drafts_are_read_once(opened: Counter[str]) -> None:
    ask("smollm2", "smollm2-draft")
    assert set(opened.values()) == {1}
    opened.clear()
    ask("smollm2", "smollm2-medusa")
    assert set(opened.values()) == {1}


def test_a_reference_is_one_model_until_its_files_change(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "model")
    first = open_model(str(folder))
    assert open_model(str(folder)) is first
    assert model_planner(LoadOptions(model=str(folder))).opened is first
    weights = folder / "model.safetensors"
    (folder / "notes.packed").write_text("Tenon's own")
    assert open_model(str(folder)) is first
    for file in (weights, folder / "config.json", folder / "tokenizer.json"):
        os.utime(file, ns=(1, 1))
        again = open_model(str(folder))
        assert again is not first
        first = again
    (folder / "chat_template.jinja").write_text("Hi")
    assert open_model(str(folder)) is not first


def test_the_tokenizer_is_made_while_the_weights_are_read(
    llama_folder: Path, no_gpu: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def made(*places: Any) -> Tokenizer:
        assert begun.wait(60), "the weights wait for the tokenizer"
        return Tokenizer(*places)

    monkeypatch.setattr("engine.model_file.Tokenizer", made)
    run = settle(LoadOptions(model=str(shutil.copytree(llama_folder, tmp_path / "M"))))
    load_model(run, lambda done, total: begun.set()).release()


def test_a_tokenizer_that_cannot_be_made_ends_the_load(
    llama_folder: Path, no_gpu: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*places: Any) -> Tokenizer:
        raise TokenizerInvalid("It is none.")

    monkeypatch.setattr("engine.model_file.Tokenizer", broken)
    with pytest.raises(TokenizerInvalid, match="It is none"):
        load_model(settle(LoadOptions(model=str(shutil.copytree(llama_folder, tmp_path / "M")))))
