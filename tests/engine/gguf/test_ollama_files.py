"""Files as Ollama's own converter lays them out: the model that llama.cpp's converter makes, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.gguf.config import read_gguf_config
from engine.gguf.header import read_header
from engine.model.config_values import complete
from engine.weights.checkpoint import Checkpoint
from tests.published.families import FAMILIES
from tests.published.ollama import LAYOUTS, as_ollama_writes
from tests.support.checkpoints import reference_model
from tests.support.decoders import load_decoder
from tests.support.gguf_files import edit_gguf, write_gguf

TOKENS = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(3))


def logits(path: Path) -> torch.Tensor:
    decoder = load_decoder(path)
    return decoder.forward(TOKENS, torch.arange(len(TOKENS)), decoder.new_cache(len(TOKENS))).logits


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layout_changes_nothing(name: str, tmp_path: Path) -> None:
    family = FAMILIES[name]
    write_gguf(reference_model(family.variant, **family.changes), tmp_path / "usual.gguf")
    ollama = as_ollama_writes(name, tmp_path / "usual.gguf", tmp_path / "sha256-0123")
    torch.testing.assert_close(logits(ollama), logits(tmp_path / "usual.gguf"), atol=1e-5, rtol=1e-5)
    assert Checkpoint(ollama).text_alone == name.startswith(("gemma", "ministral"))
    assert not Checkpoint(tmp_path / "usual.gguf").text_alone


def config_of(path: Path, **changes: Any) -> dict[str, Any]:
    header = read_header(path)
    metadata = {key: value for key, value in {**header.metadata, **changes}.items() if value is not None}
    shapes = {name: tensor.shape for name, tensor in header.tensors.items()}
    config = read_gguf_config(metadata, shapes, lambda name: [1.0])
    return complete(config, config["model_type"])


def test_values_that_are_left_out_are_the_family_s_own(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write_gguf(reference_model("gemma3", num_hidden_layers=6, layer_types=None), path)
    left_out = {
        f"gemma3.{key}": None
        for key in (
            *(
                "attention.layer_norm_rms_epsilon",
                "rope.freq_base",
                "rope.freq_base_swa",
                "rope.scaling.type",
            ),
            *("rope.scaling.factor", "attention.sliding_window_pattern", "attention.scale"),
        )
    }
    found = config_of(path, **left_out)
    assert found["rms_norm_eps"] == 1e-6
    assert found["rope_parameters"]["full_attention"]["rope_type"] == "default"
    assert found["rope_parameters"]["full_attention"]["rope_theta"] == 1e6
    assert found["rope_parameters"]["sliding_attention"]["rope_theta"] == 1e4
    assert found["layer_types"] == ["sliding_attention"] * 5 + ["full_attention"]
    # The larger sizes reach 131,072 tokens by frequencies that their files say nothing of.
    large = config_of(path, **left_out, **{"gemma3.context_length": 131_072})
    assert large["rope_parameters"]["full_attention"]["factor"] == 8.0
    named = config_of(path, **left_out, **{"gemma3.rope.global.freq_base": 5e5, "gemma3.rope.local.freq_base": 2e4})
    assert named["rope_parameters"]["full_attention"]["rope_theta"] == 5e5
    assert named["rope_parameters"]["sliding_attention"]["rope_theta"] == 2e4


@pytest.mark.parametrize("variant", ["llama", "qwen2", "qwen3", "gemma2", "phi3", "granite", "smollm3", "lfm2"])
def test_no_family_needs_what_it_has_a_default_for(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write_gguf(reference_model(variant, sliding_window=None) if variant == "phi3" else reference_model(variant), path)
    metadata = dict(read_header(path).metadata)
    for key in [key for key in metadata if key.endswith(("rms_epsilon", "freq_base", "context_length"))]:
        del metadata[key]
    less = edit_gguf(path, tmp_path / "less.gguf", metadata)
    assert torch.isfinite(logits(less)).all()
