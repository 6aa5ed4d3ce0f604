from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import ConfigInvalid, ModelNotFound
from engine.gguf.stored_tensor import TensorTypes
from engine.model.config import read_config
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from tests.support.machines import CONFIGS, write_outline


def test_a_config_says_what_a_checkpoint_says(llama_folder: Path) -> None:
    outline = CheckpointOutline(llama_folder)
    whole = read_config(Checkpoint(llama_folder))
    assert read_config(outline) == replace(whole, types=TensorTypes())
    assert outline.size_bytes == Checkpoint(llama_folder).size_bytes


def test_an_index_tells_the_size_of_what_is_not_here(tmp_path: Path) -> None:
    outline = CheckpointOutline(write_outline(tmp_path, CONFIGS["llama-7b"], size_bytes=123))
    assert outline.size_bytes == 123
    assert outline.names == {"model.embed_tokens.weight"}
    (tmp_path / "model.safetensors.index.json").write_text("[]")
    assert CheckpointOutline(tmp_path).size_bytes is None
    assert CheckpointOutline(tmp_path).names == frozenset()


def test_what_is_no_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        CheckpointOutline(tmp_path / "none")
    with pytest.raises(ConfigInvalid):
        CheckpointOutline(tmp_path)
