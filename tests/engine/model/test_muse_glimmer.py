"""Muse-Glimmer: the text part of a checkpoint gives the logits and the greedy text of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.kernels import library
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.fused_layer import FusedLayer
from engine.model.packed_loader import load_packed
from engine.model.weight_format import weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import muse_glimmer, save
from tests.support.decoders import greedy, load_decoder
from tests.support.gguf_files import write_gguf

PROMPT = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(7))
TOKENS = 40


def written(folder: Path, **changes: Any) -> Any:
    """A checkpoint of six layers, the second and the last of which see all positions."""
    model = muse_glimmer(**changes)
    save(model, folder)
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "qk_scale_factor": 1.5,
            "output_multiplier": 0.7,
            "post_norm_eps": 0.5,
            "final_logit_softcapping": 3.0,
        },
        {"layer_rope_theta": [1e4, 0, 1e4, 1e4, 0, 1e4]},
        {"attention_bias": True, "tie_word_embeddings": True},
    ],
    ids=["usual", "factors", "rotation", "biases"],
)
@torch.no_grad()
def test_logits_and_greedy_text_are_those_of_transformers(tmp_path: Path, changes: dict[str, Any]) -> None:
    model = written(tmp_path, **changes)
    decoder = load_decoder(tmp_path)
    theirs = model(PROMPT[None]).logits[0]
    ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(len(PROMPT))).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    generated = model.generate(
        PROMPT[None],
        attention_mask=torch.ones(1, len(PROMPT), dtype=torch.long),
        do_sample=False,
        min_new_tokens=TOKENS,
        max_new_tokens=TOKENS,
        eos_token_id=None,
    )[0, len(PROMPT) :]
    assert greedy(decoder, PROMPT, TOKENS) == generated.tolist()


@pytest.mark.skipif(library.available() is None, reason="there is no kernel library")
@torch.no_grad()
def test_the_library_computes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = written(tmp_path, post_norm_eps=0.5)
    theirs, checkpoint = model(PROMPT[None]).logits[0], Checkpoint(tmp_path)
    config, errors = read_config(checkpoint), []
    for made_of in (FusedLayer.made_of, lambda *arguments: None):
        monkeypatch.setattr(FusedLayer, "made_of", made_of)
        decoder = Decoder(config, Resident(load_packed(checkpoint, config, weight_format("q8_0"))))
        assert bool(decoder.most_next) == (not errors)
        ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(len(PROMPT))).logits
        errors.append(float((ours - theirs).abs().mean()))
    assert errors[0] < 1.2 * errors[1]  # 8 bits are coarse for this model, in one call or in many


class MuseGlimmerForCausalLM:
    """The text part as llama.cpp's converter takes it, which makes the factor of queries the weight of a norm."""

    def __init__(self, model: Any) -> None:
        self.config = model.config.text_config
        self._model = model

    def state_dict(self) -> dict[str, torch.Tensor]:
        own = self._model.state_dict().items()
        found = {name.replace(".language_model", ""): value for name, value in own if ".vision_" not in name}
        ones = torch.ones(self.config.head_dim)
        for layer in range(self.config.num_hidden_layers):
            found[f"model.layers.{layer}.self_attn.q_norm.weight"] = ones * self.config.qk_scale_factor
            found[f"model.layers.{layer}.self_attn.k_norm.weight"] = ones
        return found


@torch.no_grad()
def test_a_gguf_file_gives_the_logits_of_transformers(tmp_path: Path) -> None:
    model = written(tmp_path / "folder", qk_scale_factor=1.5, output_multiplier=0.7)
    write_gguf(MuseGlimmerForCausalLM(model), tmp_path / "model.gguf")
    decoder = load_decoder(tmp_path / "model.gguf")
    ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(len(PROMPT))).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)


def test_the_config_is_that_of_the_published_model(tmp_path: Path) -> None:
    written(tmp_path)
    config = read_config(Checkpoint(tmp_path))
    assert config.windows == (24, None, 24, 24, 24, None)
    assert config.layer_ropes == (0, None, 0, 0, 0, None)
    assert (config.query_scale, config.end_norm_epsilon) == (3.87, 1e-8)
    assert config.logit_scale == pytest.approx((6656 / 256) ** -0.5)
